package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// AuditConfig says where it is written who did what.
type AuditConfig struct {
	// File takes one line of JSON for each refusal and for each question asked
	// and knowledge graph changed or exported. Lines are appended; several
	// services may share the file; one that was moved away is made anew. Empty
	// takes the service's log, with "audit": true, where callers are asked who
	// they are, and nothing where they are not.
	File string `koanf:"file" help:"file for a line of JSON on who did what; empty for the service's log"`
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
	// LeftOut counts the refusals of unknown callers before this one that have
	// no line.
	LeftOut int64 `json:"left_out,omitempty"`
}

// maxUnknown is how many refusals of callers who proved nothing have a line,
// in one second. Anybody can make more: they are counted, and the next line
// says how many they were.
const maxUnknown = 100

// audit writes down who did what.
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
		metric.WithDescription("Lines that could not be written to the audit file."), metric.WithUnit("{line}")); err != nil {
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

func (a *audit) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, acc := withAccount(ctx)
	resp, err := handler(ctx, req)
	if a.counts(info.FullMethod, err) {
		acc.look(req)
		acc.look(resp)
		a.write(ctx, info.FullMethod, acc, err)
	}
	return resp, err
}

func (a *audit) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, acc := withAccount(ss.Context())
	err := handler(srv, &accountStream{contextStream: contextStream{ss, ctx}, account: acc, answers: a.always(info.FullMethod)})
	if a.counts(info.FullMethod, err) {
		a.write(ctx, info.FullMethod, acc, err)
	}
	return err
}

// accountStream looks at the first message that comes in, and at those that go
// out where they say what came of it.
type accountStream struct {
	contextStream
	account *account
	answers bool
	looked  bool
}

func (s *accountStream) RecvMsg(m any) error {
	err := s.contextStream.RecvMsg(m)
	if err == nil && !s.looked {
		s.looked = true
		if u, ok := m.(*undecoded); ok {
			m = u.message
		}
		s.account.look(m)
	}
	return err
}

func (s *accountStream) SendMsg(m any) error {
	if s.answers {
		s.account.look(m)
	}
	return s.contextStream.SendMsg(m)
}

// counts says that an RPC has a line: what always has one, and what was
// refused. What another tenant has is NOT_FOUND, so that is a refusal too.
func (a *audit) counts(method string, err error) bool {
	if a.file == nil && !a.gate.On() {
		return false
	}
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.NotFound:
		return !isHealth(method)
	}
	return a.always(method)
}

// always says that an RPC has a line however it ends: it asks, changes
// something or takes a whole knowledge graph away.
func (a *audit) always(method string) bool {
	switch method {
	case orchestratorv1.OrchestratorService_Ask_FullMethodName, orchestratorv1.OrchestratorService_AskStream_FullMethodName,
		retrieverv1.KnowledgeGraphService_Export_FullMethodName:
		return true
	}
	scope := a.gate.Needs(method)
	return scope == authv1.Scope_SCOPE_KG_WRITE || scope == authv1.Scope_SCOPE_ADMIN
}

func (a *audit) write(ctx context.Context, method string, acc *account, err error) {
	code, caller, about := status.Code(err), acc.who(), acc.on()
	line := auditLine{
		Time: time.Now().UTC(), Service: a.tel.Service(), Method: method,
		Tenant: caller.Tenant.String(), Subject: caller.Subject, Via: caller.Via,
		KG: about.kg, Snapshot: about.snapshot, Run: about.run,
		Code: codeName(code), Reason: reasonOf(err), RequestID: telemetry.RequestID(ctx),
	}
	if code == codes.Unauthenticated {
		var write bool
		if line.LeftOut, write = a.unknownAt(line.Time); !write {
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
		// Questions go on, and the line is not gone: the log has it.
		a.lost.Add(ctx, 1)
		a.tel.Logger().ErrorContext(ctx, "a line could not be written to the audit file: it follows here", "file", a.file.path, "error", err)
	}
	a.tel.Logger().LogAttrs(ctx, slog.LevelInfo, "audit", line.attrs()...)
}

// unknownAt counts a refusal of a caller who proved nothing, and says whether
// it has a line, and how many before it have none.
func (a *audit) unknownAt(now time.Time) (leftOut int64, write bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if second := now.Unix(); second != a.second {
		a.second, a.unknown = second, 0
	}
	if a.unknown++; a.unknown > maxUnknown {
		a.leftOut++
		return 0, false
	}
	leftOut, a.leftOut = a.leftOut, 0
	return leftOut, true
}

// attrs is the line for the service's log, which adds the ids itself.
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
