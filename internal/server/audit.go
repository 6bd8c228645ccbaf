package server

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// AuditConfig configures the audit log.
type AuditConfig struct {
	// File receives a JSON line for each refusal, each question and each knowledge graph that is
	// changed or exported. Lines are appended; services may share the file; it is reopened after
	// rotation. If empty, lines go to the service's log with "audit": true, provided that
	// authentication is enabled.
	File string `koanf:"file" help:"audit log, a file of JSON lines; empty for the service's log"`
}

// auditLine is one line of the audit log. It never holds a question or a token.
type auditLine struct {
	Time      time.Time `json:"time"`
	Service   string    `json:"service"`
	Tenant    string    `json:"tenant,omitempty"`
	Subject   string    `json:"subject,omitempty"`
	Via       string    `json:"via,omitempty"` // the stage that called on their behalf
	Method    string    `json:"method"`
	KG        string    `json:"kg,omitempty"`
	Snapshot  uint64    `json:"snapshot,omitempty"`
	Run       string    `json:"run,omitempty"`
	Code      string    `json:"code"`
	Reason    string    `json:"reason,omitempty"`
	RequestID string    `json:"request_id"`
	TraceID   string    `json:"trace_id,omitempty"`
	Peer      string    `json:"peer,omitempty"`
	// LeftOut counts the refusals of unknown callers that were dropped before this line.
	LeftOut int64 `json:"left_out,omitempty"`
}

// maxUnknownPerSecond limits the lines about unauthenticated callers, which anybody can cause. The
// dropped ones are counted in the next line.
const maxUnknownPerSecond = 100

// audit writes the audit log.
type audit struct {
	gate *auth.Gate
	tel  *telemetry.Telemetry
	file *auditFile // nil for the service's log
	lost metric.Int64Counter

	mu      sync.Mutex
	second  int64 // in which unknown were refused
	unknown int64
	leftOut int64
}

func newAudit(cfg AuditConfig, gate *auth.Gate, tel *telemetry.Telemetry) (*audit, error) {
	a := &audit{gate: gate, tel: tel}
	var err error
	if a.lost, err = tel.Meter().Int64Counter("triplemesh.audit.lost",
		metric.WithDescription("Lines that could not be written to the audit file."),
		metric.WithUnit("{line}")); err != nil {
		return nil, err
	}
	if cfg.File != "" {
		a.file, err = openAuditFile(cfg.File)
	}
	return a, err
}

func (a *audit) close() error {
	if a.file == nil {
		return nil
	}
	return a.file.close()
}

func (a *audit) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo,
	handler grpc.UnaryHandler) (any, error) {
	ctx, acc := withAccount(ctx)
	resp, err := handler(ctx, req)
	if a.isLogged(info.FullMethod, err) {
		if status.Code(err) == codes.PermissionDenied && acc.identity().Subject != "" {
			_ = decodeRequest(ctx, "") // the caller is known, and the record says what was denied
		}
		acc.inspect(req)
		acc.inspect(resp)
		a.write(ctx, info.FullMethod, acc, err)
	}
	return resp, err
}

func (a *audit) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, acc := withAccount(ss.Context())
	err := handler(srv, &accountStream{WrappedServerStream: withContext(ctx, ss), account: acc,
		logsResponses: auth.LookupMethod(info.FullMethod).Audited})
	if a.isLogged(info.FullMethod, err) {
		a.write(ctx, info.FullMethod, acc, err)
	}
	return err
}

// accountStream inspects the first request, and the responses of audited methods.
type accountStream struct {
	*middleware.WrappedServerStream
	account       *account
	logsResponses bool
	inspected     bool
}

func (s *accountStream) RecvMsg(m any) error {
	err := s.WrappedServerStream.RecvMsg(m)
	if err == nil && !s.inspected {
		s.inspected = true
		if u, ok := m.(*undecoded); ok {
			m = u.message
		}
		s.account.inspect(m)
	}
	return err
}

func (s *accountStream) SendMsg(m any) error {
	if s.logsResponses {
		s.account.inspect(m)
	}
	return s.WrappedServerStream.SendMsg(m)
}

// isLogged reports whether an RPC is logged: audited methods and refusals. Another tenant's data is
// NOT_FOUND, so that counts as a refusal.
func (a *audit) isLogged(method string, err error) bool {
	if a.file == nil && !a.gate.Enabled() {
		return false
	}
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.NotFound:
		return !isHealth(strings.TrimPrefix(method, "/"))
	}
	return auth.LookupMethod(method).Audited
}

func (a *audit) write(ctx context.Context, method string, acc *account, err error) {
	code, caller, about := status.Code(err), acc.identity(), acc.target()
	line := auditLine{
		Time: time.Now().UTC(), Service: a.tel.Service(), Method: method,
		Tenant: caller.Tenant.String(), Subject: caller.Subject, Via: caller.Via,
		KG: about.kg, Snapshot: about.snapshot, Run: about.run,
		Code: codeName(code), Reason: reasonOf(err), RequestID: telemetry.RequestID(ctx),
	}
	if code == codes.Unauthenticated {
		var write bool
		if line.LeftOut, write = a.countUnknown(line.Time); !write {
			return
		}
	}
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		line.TraceID = sc.TraceID().String()
	}
	if p, ok := peer.FromContext(ctx); ok {
		line.Peer = p.Addr.String()
	}
	if a.file != nil {
		err := a.file.write(line)
		if err == nil {
			return
		}
		// The RPC does not fail; the line goes to the service's log.
		a.lost.Add(ctx, 1)
		a.tel.Logger().ErrorContext(ctx, logAuditFailed, "file", a.file.path, "error", err)
	}
	a.tel.Logger().LogAttrs(ctx, slog.LevelInfo, logAudit, line.attrs()...)
}

// countUnknown counts a refusal of an unauthenticated caller. It reports whether to write a line
// and how many were dropped before it.
func (a *audit) countUnknown(now time.Time) (leftOut int64, write bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if second := now.Unix(); second != a.second {
		a.second, a.unknown = second, 0
	}
	if a.unknown++; a.unknown > maxUnknownPerSecond {
		a.leftOut++
		return 0, false
	}
	leftOut, a.leftOut = a.leftOut, 0
	return leftOut, true
}

// attrs returns the line for the service's log, which adds the ids itself.
func (l auditLine) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.Bool("audit", true)}
	for _, a := range []struct{ key, value string }{
		{"tenant", l.Tenant}, {"subject", l.Subject}, {"via", l.Via}, {"method", l.Method},
		{"kg", l.KG}, {"run", l.Run}, {"code", l.Code}, {"reason", l.Reason}, {"peer", l.Peer},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.key, a.value))
		}
	}
	if l.Snapshot != 0 {
		attrs = append(attrs, slog.Uint64("snapshot", l.Snapshot))
	}
	if l.LeftOut != 0 {
		attrs = append(attrs, slog.Int64("left_out", l.LeftOut))
	}
	return attrs
}

// auditSubject names the resources of an RPC.
type auditSubject struct {
	kg       string
	snapshot uint64
	run      string
}

// maxName bounds a name in bytes: a refused request is not validated.
const maxName = 80

// nestedFields are the message fields that are searched for names. Nothing else is read: questions
// must not reach the audit log.
var nestedFields = []protoreflect.Name{"request", "header", "result", "snapshot"}

// fill adds the names in a message that are not set yet.
func (w *auditSubject) fill(m protoreflect.Message, depth int) {
	const deepest = 3
	if depth > deepest || !m.IsValid() {
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		message := f.Kind() == protoreflect.MessageKind && !f.IsList() && !f.IsMap()
		text := f.Kind() == protoreflect.StringKind && !f.IsList()
		switch name := f.Name(); {
		case name == "kg" && text:
			w.setKG(v.String(), 0)
		case name == "kg" && message:
			ref := v.Message()
			w.setKG(textField(ref, "name"), numberField(ref, "snapshot"))
		case name == "run" && message:
			w.setRun(textField(v.Message(), "id"))
			w.fill(v.Message(), depth+1)
		case name == "run_id" && text, name == "id" && text && depth == 0:
			w.setRun(v.String())
		case message && slices.Contains(nestedFields, name):
			w.fill(v.Message(), depth+1)
		}
		return true
	})
}

func (w *auditSubject) setKG(name string, snapshot uint64) {
	w.kg = cmp.Or(w.kg, truncateName(name))
	w.snapshot = cmp.Or(w.snapshot, snapshot)
}

func (w *auditSubject) setRun(id string) {
	w.run = cmp.Or(w.run, truncateName(id))
}

func textField(m protoreflect.Message, name protoreflect.Name) string {
	if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.StringKind && !f.IsList() {
		return m.Get(f).String()
	}
	return ""
}

func numberField(m protoreflect.Message, name protoreflect.Name) uint64 {
	if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.Uint64Kind && !f.IsList() {
		return m.Get(f).Uint()
	}
	return 0
}

func truncateName(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxName)], "")
}
