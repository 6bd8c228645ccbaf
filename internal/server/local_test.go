package server_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// locally is the server as called from within its process.
func (r *running) locally(t testing.TB) *running {
	t.Helper()
	conn, err := r.Local()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	by := *r
	by.conn = conn
	return &by
}

func TestALocalCallGoesThroughTheWholeChain(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.jsonl")
	k := newKeepers(t)
	r := start(t, "orchestrator", streaming(nil), k.enable,
		func(cfg *server.Config) { cfg.Audit.File = audit }).locally(t)
	ask := func(ctx context.Context, question string) error {
		_, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).Ask(ctx,
			&orchestratorv1.AskRequest{Question: question})
		return err
	}
	t.Run("without a token it is nobody's", func(t *testing.T) {
		wantInfo(t, wantCode(t, ask(t.Context(), "why"), codes.Unauthenticated), "TOKEN_MISSING", "orchestrator")
	})
	t.Run("it is no stage, whatever it says", func(t *testing.T) {
		// The tenant is left out on the way, so that the call gets through as ana's.
		wantCode(t, ask(withToken(t.Context(), k.asker, auth.TenantKey, "globex"), "why"), codes.Unimplemented)
		wantInfo(t, wantCode(t, ask(withToken(t.Context(), "", auth.TenantKey, "globex"), "why"),
			codes.Unauthenticated),
			"TOKEN_INVALID", "orchestrator")
	})
	t.Run("a token without the scope is not enough", func(t *testing.T) {
		wantInfo(t, wantCode(t, ask(withToken(t.Context(), k.reader), "why"), codes.PermissionDenied),
			"SCOPE_MISSING",
			"orchestrator")
	})
	t.Run("what it asks is validated", func(t *testing.T) {
		wantInfo(t, wantCode(t, ask(withToken(t.Context(), k.asker), ""), codes.InvalidArgument), "INVALID_REQUEST",
			"orchestrator")
	})
	t.Run("it is audited, with the address for which it was made", func(t *testing.T) {
		err := ask(server.WithPeerAddr(withToken(t.Context(), k.asker), "192.0.2.7:4711"), "why")
		wantCode(t, err, codes.Unimplemented)
		lines, err := os.ReadFile(audit)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(lines), `"peer":"192.0.2.7:4711"`) || !strings.Contains(string(lines),
			`"subject":"ana"`) {
			t.Errorf("got %s", lines)
		}
	})
}

func TestACallFromOutsideHasNoOtherAddress(t *testing.T) {
	seen := make(chan string, 1)
	r := start(t, "reflector",
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			p, _ := peer.FromContext(ctx)
			seen <- p.Addr.String()
			return echo(ctx, req)
		}))
	if _, err := r.reflect(server.WithPeerAddr(t.Context(), "192.0.2.7:4711"), "why"); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; !strings.HasPrefix(got, "127.0.0.1:") {
		t.Errorf("got %s, want the address that it came from", got)
	}
}

func TestALocalCallPassesTheTLSBy(t *testing.T) {
	certs := testkit.NewCerts(t, "orchestrator")
	r := start(t, "orchestrator", streaming(func(*orchestratorv1.AskStreamRequest,
		grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
		return nil
	}), withCerts(certs))
	wantCode(t, ask(t, r), codes.Unavailable)
	wantCode(t, ask(t, r.locally(t)), codes.OK)
}

func ask(t *testing.T, r *running) error {
	t.Helper()
	stream, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).AskStream(t.Context(), askStream)
	if err != nil {
		return err
	}
	if _, err = stream.Recv(); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func TestALocalCallCarriesItsTraceAndRequestID(t *testing.T) {
	type seen struct {
		trace trace.TraceID
		id    string
	}
	saw := make(chan seen, 1)
	r := start(t, "reflector",
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			saw <- seen{trace.SpanContextFromContext(ctx).TraceID(), telemetry.RequestID(ctx)}
			return echo(ctx, req)
		})).locally(t)
	tel, _ := telemetryFor(t, "door")
	ctx, span := tel.Tracer().Start(t.Context(), "request")
	defer span.End()
	var header metadata.MD
	if _, err := r.reflect(telemetry.WithRequestID(ctx, "r-17"), "why", grpc.Header(&header)); err != nil {
		t.Fatal(err)
	}
	if got := <-saw; got.trace != span.SpanContext().TraceID() || got.id != "r-17" {
		t.Errorf("got %+v, want trace %s and request id r-17", got, span.SpanContext().TraceID())
	}
	if got := header.Get(telemetry.RequestIDKey); len(got) != 1 || got[0] != "r-17" {
		t.Errorf("the header has %q", got)
	}
}
