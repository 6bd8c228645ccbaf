package server_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

const meshSecret = "a-secret-of-the-stages-of-this-test"

// keepers are the callers that a server under test knows.
type keepers struct {
	asker, reader, admin string // tokens of tenant acme
	config               auth.Config
}

func newKeepers(t testing.TB) keepers {
	t.Helper()
	k := keepers{asker: auth.NewToken(), reader: auth.NewToken(), admin: auth.NewToken(), config: auth.DefaultConfig()}
	file := auth.Tokens{Tokens: []auth.Token{
		{Name: "ana", Tenant: "acme", Scopes: []string{"ask"}, SHA256: auth.Hash(k.asker)},
		{Name: "ben", Tenant: "acme", Scopes: []string{"kg:read"}, SHA256: auth.Hash(k.reader)},
		{Name: "eve", Tenant: "acme", Scopes: []string{"admin"}, SHA256: auth.Hash(k.admin)},
	}}
	data, err := file.Format()
	if err != nil {
		t.Fatal(err)
	}
	k.config.TokensFile = filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(k.config.TokensFile, data, 0o600); err != nil {
		t.Fatal(err)
	}
	k.config.MeshToken = meshSecret
	return k
}

// enable asks callers of a server who they are.
func (k keepers) enable(cfg *server.Config) { cfg.Auth = k.config }

// withToken is a context of calls with a token, and pairs of other metadata.
func withToken(ctx context.Context, token string, others ...string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, append([]string{"authorization", "Bearer " + token}, others...)...)
}

// strange is the server as called by who may claim anything: a stage's own
// client says for whom it calls, and nothing else.
func (r *running) strange(t testing.TB) *running {
	t.Helper()
	conn, err := grpc.NewClient(r.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
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

// whoCalled notes the callers that handlers were given.
func whoCalled(seen *[]auth.Caller) func(grpc.ServiceRegistrar) {
	note := func(ctx context.Context) {
		caller, _ := auth.CallerFrom(ctx)
		*seen = append(*seen, caller)
	}
	return func(s grpc.ServiceRegistrar) {
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			note(ctx)
			return echo(ctx, req)
		})(s)
		streaming(func(_ *orchestratorv1.AskStreamRequest,
			stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
			note(stream.Context())
			return nil
		})(s)
	}
}

func (r *running) ask(ctx context.Context) error {
	stream, err := orchestratorv1.NewOrchestratorServiceClient(r.conn).AskStream(ctx, askStream)
	if err != nil {
		return err
	}
	if _, err = stream.Recv(); err == io.EOF {
		return nil
	}
	return err
}

func TestCallersMustSayWhoTheyAre(t *testing.T) {
	var seen []auth.Caller
	k := newKeepers(t)
	r := start(t, "orchestrator", whoCalled(&seen), k.enable).strange(t)
	reflect := func(ctx context.Context) error { _, err := r.reflect(ctx, "why"); return err }
	behalf := []string{auth.TenantKey, "globex", auth.SubjectKey, "zoe"}
	for _, c := range []struct {
		name    string
		call    func(context.Context) error
		ctx     context.Context
		code    codes.Code
		reason  string
		subject string
		tenant  string
	}{
		{"nobody may ask", r.ask, t.Context(), codes.Unauthenticated, "TOKEN_MISSING", "", ""},
		{"nobody may call a stage", reflect, t.Context(), codes.Unauthenticated, "TOKEN_MISSING", "", ""},
		{"nor with a token that nobody has", r.ask, withToken(t.Context(), auth.NewToken()), codes.Unauthenticated,
			"TOKEN_INVALID", "", ""},
		{"nor with two tokens", r.ask, withToken(withToken(t.Context(), k.asker), k.asker), codes.Unauthenticated,
			"TOKEN_INVALID", "", ""},
		{"who may ask may", r.ask, withToken(t.Context(), k.asker), codes.OK, "", "ana", "acme"},
		{"who may read may not ask", r.ask, withToken(t.Context(), k.reader), codes.PermissionDenied, "SCOPE_MISSING",
			"",
			""},
		{"who may ask may not call a stage", reflect, withToken(t.Context(), k.asker), codes.PermissionDenied,
			"SCOPE_MISSING", "", ""},
		{"nobody names a tenant", r.ask, withToken(t.Context(), k.admin, behalf...), codes.PermissionDenied,
			"TENANT_NOT_YOURS", "", ""},
		{"an admin may call a stage", reflect, withToken(t.Context(), k.admin), codes.OK, "", "eve", "acme"},
		{"a stage may, for somebody", reflect, withToken(t.Context(), meshSecret, behalf...), codes.OK, "",
			"zoe", "globex"},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen = nil
			st := wantCode(t, c.call(c.ctx), c.code)
			if c.code != codes.OK {
				wantInfo(t, st, c.reason, "orchestrator")
				if len(seen) > 0 {
					t.Error("the handler ran")
				}
				return
			}
			if len(seen) != 1 || seen[0].Subject != c.subject || seen[0].Tenant.String() != c.tenant {
				t.Errorf("the handler was called by %+v", seen)
			}
		})
	}
	t.Run("health is open", func(t *testing.T) {
		if _, err := healthpb.NewHealthClient(r.conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("no token and no question is in the log", func(t *testing.T) {
		for _, secret := range []string{k.asker, k.reader, k.admin, meshSecret, auth.Hash(k.asker), "why"} {
			if strings.Contains(r.log.String(), secret) {
				t.Errorf("the log has %q", secret)
			}
		}
	})
}

func TestReflectionIsForThoseWhoAreKnown(t *testing.T) {
	k := newKeepers(t)
	list := func(r *running, ctx context.Context) error {
		stream, err := reflectionpb.NewServerReflectionClient(r.conn).ServerReflectionInfo(ctx)
		if err != nil {
			return err
		}
		if err := stream.Send(&reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}); err != nil && err != io.EOF {
			return err
		}
		_, err = stream.Recv()
		return err
	}
	closed := start(t, "reflector", answering(echo), k.enable)
	wantCode(t, list(closed, t.Context()), codes.Unauthenticated)
	wantCode(t, list(closed, withToken(t.Context(), k.reader)), codes.OK)
	open := start(t, "reflector", answering(echo), k.enable,
		func(cfg *server.Config) { cfg.Auth.OpenReflection = true })
	wantCode(t, list(open, t.Context()), codes.OK)
}

func TestStrangersTakeNobodysPlace(t *testing.T) {
	k := newKeepers(t)
	begun, release := make(chan struct{}), make(chan struct{})
	r := start(t, "reflector",
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			close(begun)
			<-release
			return echo(ctx, req)
		}), k.enable, func(cfg *server.Config) { cfg.MaxInFlight = 1 })
	ended := make(chan error, 1)
	go func() {
		_, err := r.reflect(withToken(t.Context(), meshSecret), "why")
		ended <- err
	}()
	<-begun
	// The only place is taken, and the request is not even valid: neither is
	// looked at for somebody who is not known.
	_, err := r.reflect(t.Context(), "")
	wantCode(t, err, codes.Unauthenticated)
	_, err = r.reflect(withToken(t.Context(), k.admin), "why")
	wantCode(t, err, codes.ResourceExhausted)
	close(release)
	wantCode(t, <-ended, codes.OK)
	_, err = r.reflect(withToken(t.Context(), meshSecret), "")
	wantCode(t, err, codes.InvalidArgument)
}

func TestRefusalsAndTenantsAreCounted(t *testing.T) {
	k := newKeepers(t)
	addr := testkit.FreeAddr(t)
	r := start(t, "reflector", answering(echo), k.enable, func(cfg *server.Config) { cfg.MetricsAddr = addr }).strange(
		t)
	_, err := r.reflect(withToken(t.Context(), "made-up-by-acme", auth.TenantKey, "nobody"), "why")
	wantCode(t, err, codes.Unauthenticated)
	_, err = r.reflect(withToken(t.Context(), k.reader, auth.TenantKey, "globex"), "why")
	wantCode(t, err, codes.PermissionDenied)
	_, err = r.reflect(withToken(t.Context(), meshSecret, auth.TenantKey, "initech"), "why")
	wantCode(t, err, codes.OK)

	resp, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var handled [][]byte
	for line := range bytes.Lines(page) {
		if bytes.HasPrefix(line, []byte("triplemesh_rpc_handled_total{")) && bytes.Contains(line, []byte("Reflect")) {
			handled = append(handled, line)
		}
		if bytes.HasPrefix(line, []byte("triplemesh_auth_refusals_total{")) && !bytes.Contains(line,
			[]byte(`reason="TOKEN_INVALID"`)) && !bytes.Contains(line, []byte(`reason="TENANT_NOT_YOURS"`)) {
			t.Errorf("an unexpected refusal is counted: %s", line)
		}
	}
	text := string(bytes.Join(handled, nil))
	for _, want := range []string{`tenant="acme"`, `tenant="initech"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s:\n%s", want, text)
		}
	}
	for _, claimed := range []string{"nobody", "globex"} {
		if strings.Contains(text, claimed) {
			t.Errorf("a tenant that was only claimed is counted:\n%s", text)
		}
	}
	if !bytes.Contains(page, []byte("triplemesh_auth_refusals_total{")) {
		t.Error("no refusal is counted")
	}
}

func TestCallersOfAnIssuerThatIsDown(t *testing.T) {
	addr := testkit.FreeAddr(t)
	r := start(t, "orchestrator", whoCalled(new([]auth.Caller)), func(cfg *server.Config) {
		cfg.Auth.JWT.Issuer, cfg.Auth.JWT.Audience, cfg.Auth.JWT.JWKSURL = "https://issuer.test",
			"triplemesh", "http://"+addr
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Signed by a key that cannot be looked up: {"alg":"ES256","kid":"one"} and
	// no claims.
	st := wantCode(t, r.ask(withToken(ctx, "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSJ9.e30."+strings.Repeat("A", 86))),
		codes.Unavailable)
	wantInfo(t, st, "KEYS_UNAVAILABLE", "orchestrator")
}
