// Package mtls secures the connections between services by certificates that
// lie in files. A certificate names a stage of a trust domain as SPIFFE does,
// by the URI spiffe://TRUST-DOMAIN/STAGE; host names play no part.
package mtls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

const (
	// reloadInterval is the least time between two looks at the files. They are read
	// and compared, not watched: Kubernetes swaps links around them, and
	// watchers are known to lose sight of what lies behind such links.
	reloadInterval = time.Second
	// warnInterval is the least time between two warnings of the same expiry.
	warnInterval = time.Hour
	// warnShare is the share of a certificate's life in which its end is warned
	// of. Whoever renews does so after two thirds of it.
	warnShare = 0.2
)

// Source holds a service's certificate and authorities, as last loaded successfully. It is safe for
// concurrent use and has no goroutine: handshakes and metric scrapes check the files.
type Source struct {
	files    Files
	service  string
	log      *slog.Logger
	material atomic.Pointer[material]

	mu        sync.Mutex
	checked   time.Time
	loaded    contents  // what was last parsed, with or without success
	lastError string    // what was last logged of files that cannot be used
	warnedAt  time.Time // of an expiry
}

// Open reads the files of a service, by whose name the telemetry goes. The error names the file;
// later faults are logged, and what was read before holds until they are mended. An expired
// certificate is no fault of the files: it is logged, and may be replaced.
func Open(files Files, tel *telemetry.Telemetry) (*Source, error) {
	s, err := open(files, tel.Service(), tel.Logger())
	if err != nil {
		return nil, err
	}
	return s, s.registerMetrics(tel.Meter())
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
	s := &Source{files: files.forService(service), service: service, log: log, checked: time.Now()}
	read, err := s.files.load()
	if err != nil {
		return nil, err
	}
	m, err := s.files.parse(read, s.service)
	if err != nil {
		return nil, err
	}
	s.loaded = read
	s.material.Store(m)
	s.warnExpiry(m, s.checked)
	return s, nil
}

// current returns the material for a handshake, after reloading changed files.
func (s *Source) current() *material {
	// While another goroutine reloads, the loaded material is used.
	if s.mu.TryLock() {
		if now := time.Now(); now.Sub(s.checked) >= reloadInterval {
			s.checked = now
			s.reload()
			s.warnExpiry(s.material.Load(), now)
		}
		s.mu.Unlock()
	}
	return s.material.Load()
}

// reload takes up what the files hold where it has changed. A pair of which only
// one half was replaced as yet is a fault, and is whole at a later look.
func (s *Source) reload() {
	read, err := s.files.load()
	if err == nil && read.equal(s.loaded) && s.lastError == "" {
		return
	}
	var m *material
	if err == nil {
		m, err = s.files.parse(read, s.service)
	}
	if err != nil {
		if s.lastError != err.Error() {
			s.log.Error(logReloadFailed, "error", err)
			s.lastError = err.Error()
		}
		return
	}
	s.loaded, s.lastError, s.warnedAt = read, "", time.Time{}
	s.material.Store(m)
	s.log.Info(logReloaded, "identity", m.id.String(),
		"expires", m.certificate.Leaf.NotAfter, "authorities", len(m.authorities.X509Authorities()))
}

// warnExpiry warns of a certificate that expires soon or has expired.
func (s *Source) warnExpiry(m *material, now time.Time) {
	leaf, end := m.certificate.Leaf, m.expiry()
	left := end.Sub(now)
	soon := time.Duration(float64(leaf.NotAfter.Sub(leaf.NotBefore)) * warnShare)
	if now.Sub(s.warnedAt) < warnInterval || left > soon && !now.Before(leaf.NotBefore) {
		return
	}
	s.warnedAt = now
	attrs := []any{"identity", m.id.String(), "valid", validity(leaf), "authorities_expire", m.authorityExpiry(),
		"file", s.files.CertFile}
	switch {
	case now.Before(leaf.NotBefore):
		s.log.Error(logNotYetValid, attrs...)
	case left <= 0:
		s.log.Error(logExpired, attrs...)
	default:
		s.log.Warn(logExpiresSoon, append(attrs, "left", left.Round(time.Second).String())...)
	}
}

// registerMetrics shows how long the certificate and the authorities still hold.
func (s *Source) registerMetrics(meter metric.Meter) error {
	left, err := meter.Float64ObservableGauge("triplemesh.tls.expires_in",
		metric.WithDescription("Time until the certificate, and the last of the authorities, expires; negative when "+
			"it has."), metric.WithUnit("s"))
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

// Files are who a service is, and whom it believes. The zero value leaves connections plain. The
// files may be replaced while the service runs: they are looked at again when a connection is made.
type Files struct {
	// CertFile is the service's certificate, PEM, followed by those between it and an authority.
	// {stage} stands for the service's name, so that one setting serves all services of a machine.
	CertFile string `koanf:"cert_file" help:"certificate, PEM; {stage} is the service's name; empty for plaintext"`
	// KeyFile is its private key, PEM.
	KeyFile string `koanf:"key_file" help:"private key of the certificate, PEM"`
	// CAFile holds the authorities whose certificates are believed, PEM. While
	// one authority takes over from another, it holds both.
	CAFile string `koanf:"ca_file" help:"certificates of the trusted authorities, PEM"`
	// TrustDomain is what every identity must be of; empty takes that of the
	// service's own certificate.
	TrustDomain string `koanf:"trust_domain" help:"trust domain of all peers; empty for the service's own"`
}

// Enabled says that connections are to be secured.
func (f Files) Enabled() bool { return f != Files{} }

// Validate says which setting is missing.
func (f Files) Validate() error {
	if !f.Enabled() {
		return nil
	}
	var errs []error
	for _, file := range []struct{ key, value string }{{"cert_file", f.CertFile}, {"key_file", f.KeyFile},
		{"ca_file", f.CAFile}} {
		if file.value == "" {
			errs = append(errs, fmt.Errorf("%s is empty: connections are secured with cert_file, key_file and "+
				"ca_file, or with none of them", file.key))
		}
	}
	if _, err := f.trustDomain(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// forService puts the name of a service in its place.
func (f Files) forService(service string) Files {
	for _, path := range []*string{&f.CertFile, &f.KeyFile, &f.CAFile} {
		*path = strings.ReplaceAll(*path, "{stage}", service)
	}
	return f
}

// trustDomain is the one that is configured; zero where none is.
func (f Files) trustDomain() (spiffeid.TrustDomain, error) {
	if f.TrustDomain == "" {
		return spiffeid.TrustDomain{}, nil
	}
	td, err := ParseTrustDomain(f.TrustDomain)
	if err != nil {
		return td, fmt.Errorf("trust_domain: %w", err)
	}
	return td, nil
}

// ParseTrustDomain reads a trust domain, such as triplemesh.local.
func ParseTrustDomain(name string) (spiffeid.TrustDomain, error) {
	td, err := spiffeid.TrustDomainFromString(name)
	if err != nil || td.Name() != name {
		return td, fmt.Errorf("%q is no trust domain: want lower-case letters, digits, dots, dashes and underscores, "+
			"such as triplemesh.local", name)
	}
	return td, nil
}

// StageOf is the stage that an identity names.
func StageOf(id spiffeid.ID) string { return strings.TrimPrefix(id.Path(), "/") }
