package mtls

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

const (
	// lookEvery is the least time between two looks at the files. They are read
	// and compared, not watched: Kubernetes swaps links around them, and
	// watchers are known to lose sight of what lies behind such links.
	lookEvery = time.Second
	// warnEvery is the least time between two warnings of the same expiry.
	warnEvery = time.Hour
	// warnLeft is the share of a certificate's life in which its end is warned
	// of. Whoever renews does so after two thirds of it.
	warnLeft = 0.2
)

// Source is the certificate and the authorities of a service, as they were last
// read without a mistake. It is safe for concurrent use and runs nothing in the
// background: whoever makes a connection, or scrapes the metrics, looks at the
// files.
type Source struct {
	files   Files
	service string
	log     *slog.Logger
	good    atomic.Pointer[material]

	mu     sync.Mutex
	looked time.Time
	seen   contents  // what was last parsed, with or without success
	fault  string    // what was last logged of files that cannot be used
	warned time.Time // of an expiry
}

// Open reads the files of a service, by whose name the telemetry goes. The
// error names the file; later faults are logged, and what was read before holds
// until they are mended. An expired certificate is no fault of the files: it is
// logged, and may be replaced.
func Open(files Files, tel *telemetry.Telemetry) (*Source, error) {
	s, err := open(files, tel.Service(), tel.Logger())
	if err != nil {
		return nil, err
	}
	return s, s.observe(tel.Meter())
}

// OpenSilent is Open for files of which another Source of the service tells
// what becomes of them: it neither logs nor counts.
func OpenSilent(files Files, tel *telemetry.Telemetry) (*Source, error) {
	return open(files, tel.Service(), slog.New(slog.DiscardHandler))
}

func open(files Files, service string, log *slog.Logger) (*Source, error) {
	if err := files.Validate(); err != nil {
		return nil, err
	}
	s := &Source{files: files.of(service), service: service, log: log, looked: time.Now()}
	read, err := s.files.read()
	if err != nil {
		return nil, err
	}
	m, err := s.files.parse(read, s.service)
	if err != nil {
		return nil, err
	}
	s.seen = read
	s.good.Store(m)
	s.warn(m, s.looked)
	return s, nil
}

// current is what a handshake goes by.
func (s *Source) current() *material {
	// Whoever finds another looking goes on with what there is.
	if s.mu.TryLock() {
		if now := time.Now(); now.Sub(s.looked) >= lookEvery {
			s.looked = now
			s.look()
			s.warn(s.good.Load(), now)
		}
		s.mu.Unlock()
	}
	return s.good.Load()
}

// look takes up what the files hold where it has changed. A pair of which only
// one half was replaced as yet is a fault, and is whole at a later look.
func (s *Source) look() {
	read, err := s.files.read()
	if err == nil && read.equal(s.seen) && s.fault == "" {
		return
	}
	var m *material
	if err == nil {
		m, err = s.files.parse(read, s.service)
	}
	if err != nil {
		if s.fault != err.Error() {
			s.log.Error("the certificate files cannot be used; what they held before still holds", "error", err)
			s.fault = err.Error()
		}
		return
	}
	s.seen, s.fault, s.warned = read, "", time.Time{}
	s.good.Store(m)
	s.log.Info("the certificate files were read again", "identity", m.id.String(),
		"expires", m.certificate.Leaf.NotAfter, "authorities", len(m.authorities.X509Authorities()))
}

// warn says in time that the certificate ends, and that it has.
func (s *Source) warn(m *material, now time.Time) {
	leaf, end := m.certificate.Leaf, m.expiry()
	left := end.Sub(now)
	soon := time.Duration(float64(leaf.NotAfter.Sub(leaf.NotBefore)) * warnLeft)
	if now.Sub(s.warned) < warnEvery || left > soon && !now.Before(leaf.NotBefore) {
		return
	}
	s.warned = now
	attrs := []any{"identity", m.id.String(), "valid", validity(leaf), "authorities_expire", m.authorityExpiry(), "file", s.files.CertFile}
	switch {
	case now.Before(leaf.NotBefore):
		s.log.Error("the certificate is not valid yet: nobody believes it; compare the clocks", attrs...)
	case left <= 0:
		s.log.Error("the certificate has expired: nobody believes it; renew it", attrs...)
	default:
		s.log.Warn("the certificate expires soon; renew it", append(attrs, "left", left.Round(time.Second).String())...)
	}
}

// observe shows how long the certificate and the authorities still hold.
func (s *Source) observe(meter metric.Meter) error {
	left, err := meter.Float64ObservableGauge("triplemesh.tls.expires_in",
		metric.WithDescription("Time until the certificate, and the last of the authorities, expires; negative when it has."), metric.WithUnit("s"))
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	certificate := metric.WithAttributes(attribute.String("tls.file", "certificate"))
	authority := metric.WithAttributes(attribute.String("tls.file", "authority"))
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		m := s.current()
		o.ObserveFloat64(left, time.Until(m.certificate.Leaf.NotAfter).Seconds(), certificate)
		o.ObserveFloat64(left, time.Until(m.authorityExpiry()).Seconds(), authority)
		return nil
	}, left)
	return err
}
