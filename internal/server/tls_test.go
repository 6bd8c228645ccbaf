package server_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/testkit"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

var sixStages = []string{"orchestrator", "generator", "retriever", "verifier", "evaluator", "reflector"}

// withCerts secures a server by certificates.
func withCerts(certs *testkit.Certs) func(*server.Config) {
	return func(cfg *server.Config) { cfg.TLS.Files = certs.Files() }
}

// as dials a stage's server with the certificate of a stage.
func as(t testing.TB, who, stage string, files mtls.Files, addr string, set ...func(*client.Config)) *grpc.ClientConn {
	t.Helper()
	tel, _ := telemetryFor(t, who)
	cfg := client.DefaultConfig(addr)
	cfg.MaxAttempts = 1 // nothing is tried again unseen
	for _, f := range set {
		f(&cfg)
	}
	conn, err := client.Dial(cfg, tel, client.WithTLS(stage, files))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// visiting dials a stage's server as a caller from outside.
func visiting(t testing.TB, stage, addr string, v mtls.Visitor, set ...func(*client.Config)) *grpc.ClientConn {
	t.Helper()
	secure, err := v.Credentials(stage)
	if err != nil {
		t.Fatal(err)
	}
	set = append(set, func(cfg *client.Config) { cfg.Credentials = secure })
	return as(t, "visitor", stage, mtls.Files{}, addr, set...)
}

func useToken(token string) func(*client.Config) {
	return func(cfg *client.Config) { cfg.Token = token }
}

func reflectOver(ctx context.Context, conn *grpc.ClientConn, opts ...grpc.CallOption) error {
	_, err := reflectorv1.NewReflectorServiceClient(conn).Reflect(ctx, reflectRequest("why"),
		opts...)
	return err
}

// TestWhoReachesAStage tries every cell of the table in docs/access.md.
func TestWhoReachesAStage(t *testing.T) {
	certs := testkit.NewCerts(t, append(sixStages, "operator")...)
	foreign := testkit.NewCerts(t, "orchestrator")
	const (
		in       = codes.OK
		noToken  = codes.Unauthenticated
		stranger = codes.PermissionDenied
		shut     = codes.Unavailable // there is no connection
	)
	token := auth.NewToken()
	tokens, err := auth.Tokens{Tokens: []auth.Token{{Name: "anna", Tenant: "acme", Scopes: []string{"admin"},
		SHA256: auth.Hash(token)}}}.Format()
	if err != nil {
		t.Fatal(err)
	}
	certs.Write("tokens.yaml", tokens)
	authOn := func(cfg *server.Config) {
		cfg.Auth.Mode, cfg.Auth.TokensFile = auth.ModeOn, filepath.Join(certs.Dir, "tokens.yaml")
	}
	for _, stage := range sixStages {
		off := start(t, stage, answering(echo), withCerts(certs))
		on := start(t, stage, answering(echo), withCerts(certs), authOn)
		open := stage == "orchestrator" || stage == "retriever"
		ca := mtls.Visitor{CAFile: certs.Files().Visitor(stage).CAFile}
		for _, caller := range []struct {
			name string
			dial func(addr string) *grpc.ClientConn
			// off and on are what comes of it without and with auth.
			off, on codes.Code
		}{
			{"somebody in plain text", func(addr string) *grpc.ClientConn {
				return as(t, "visitor", stage, mtls.Files{}, addr,
					func(cfg *client.Config) { cfg.Credentials = insecure.NewCredentials() })
			}, shut, shut},
			{"somebody without a certificate",
				func(addr string) *grpc.ClientConn { return visiting(t, stage, addr, ca) },
				pick(open, in, shut), pick(open, noToken, shut)},
			{"somebody without a certificate, with a token,",
				func(addr string) *grpc.ClientConn { return visiting(t, stage, addr, ca, useToken(token)) },
				pick(open, in, shut), pick(open, in, shut)},
			{"another stage with somebody's token", func(addr string) *grpc.ClientConn {
				return as(t, "verifier", stage, certs.Files(), addr, useToken(token))
			}, stranger, stranger},
			{"the orchestrator", func(addr string) *grpc.ClientConn {
				return as(t, "orchestrator", stage, certs.Files(), addr)
			},
				pick(stage == "orchestrator", stranger, in), pick(stage == "orchestrator", stranger, in)},
			{"another stage", func(addr string) *grpc.ClientConn {
				return as(t, "verifier", stage, certs.Files(), addr)
			}, stranger, stranger},
			{"somebody whom the authority knows", func(addr string) *grpc.ClientConn {
				return visiting(t, stage, addr, certs.Files().Visitor("operator"))
			}, stranger, stranger},
			{"an orchestrator of another authority", func(addr string) *grpc.ClientConn {
				v := foreign.Files().Visitor("orchestrator")
				v.CAFile = ca.CAFile
				return visiting(t, stage, addr, v)
			}, shut, shut},
		} {
			for mode, server := range map[string]*running{"off": off, "on": on} {
				want := caller.off
				if mode == "on" {
					want = caller.on
				}
				t.Run(fmt.Sprintf("%s at the %s with auth %s", caller.name, stage, mode), func(t *testing.T) {
					conn := caller.dial(server.addr)
					// A stage says for whom it calls; a mesh that asks nobody knows the
					// tenant "default" alone.
					ctx := auth.WithCaller(t.Context(), auth.AnonymousCaller())
					if strings.HasPrefix(caller.name, "somebody without") && mode == "on" {
						ctx = t.Context()
					}
					err := reflectOver(ctx, conn)
					st := wantCode(t, err, want)
					if want == stranger {
						wantInfo(t, st, "PEER_NOT_ALLOWED", stage)
						if !strings.Contains(st.Message(), "spiffe://triplemesh.test/") {
							t.Errorf("the refusal does not name the identity: %s", st.Message())
						}
					}
					healthy(t, conn, want == shut)
				})
			}
		}
	}
}

func pick(cond bool, yes, no codes.Code) codes.Code {
	if cond {
		return yes
	}
	return no
}

// healthy wants health to be open to all who have a connection.
func healthy(t *testing.T, conn *grpc.ClientConn, shut bool) {
	t.Helper()
	_, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if (status.Code(err) == codes.Unavailable) != shut {
		t.Errorf("asked for health: %v", err)
	}
}

func TestThePolicyCanBeConfigured(t *testing.T) {
	certs := testkit.NewCerts(t, append(sixStages, "gateway")...)
	yes, no := true, false
	for _, test := range []struct {
		name, stage, caller string
		set                 func(*server.TLSConfig)
		want                codes.Code
	}{
		{"a gateway that may call the orchestrator", "orchestrator", "gateway",
			func(c *server.TLSConfig) { c.Peers = []string{"gateway"} }, codes.OK},
		{"a list that is empty is as none", "verifier", "orchestrator",
			func(c *server.TLSConfig) { c.Peers = []string{} }, codes.OK},
		{"a verifier that a gateway calls in the orchestrator's place", "verifier", "orchestrator",
			func(c *server.TLSConfig) { c.Peers = []string{"gateway"} }, codes.PermissionDenied},
		{"a verifier that wants no certificate", "verifier", "", func(c *server.TLSConfig) { c.Require = &no },
			codes.OK},
		{"an orchestrator that wants one", "orchestrator", "", func(c *server.TLSConfig) { c.Require = &yes },
			codes.Unavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := start(t, test.stage, answering(echo), withCerts(certs),
				func(cfg *server.Config) { test.set(&cfg.TLS) })
			conn := visiting(t, test.stage, r.addr, mtls.Visitor{CAFile: certs.Files().Visitor(test.stage).CAFile})
			if test.caller != "" {
				conn = as(t, test.caller, test.stage, certs.Files(), r.addr)
			}
			wantCode(t, reflectOver(t.Context(), conn), test.want)
		})
	}
}

func TestConnectionsThatAreRefused(t *testing.T) {
	now := time.Now()
	expired := mtls.CertificateRequest{Stage: "orchestrator", From: now.Add(-2 * time.Hour), To: now.Add(-time.Hour)}
	for _, test := range []struct {
		name string
		// client and server are what is issued to them in place of a good one.
		client, server mtls.CertificateRequest
		meant          string // the stage that is dialled
		// logged is in the server's log, and said in the client's error. A client
		// whose own certificate is refused may learn no more than that the
		// connection is gone.
		logged, said string
	}{
		{name: "a client whose certificate has expired", client: expired, meant: "verifier",
			logged: "the certificate of spiffe://triplemesh.test/orchestrator"},
		{name: "a client whose certificate is not valid yet", client: mtls.CertificateRequest{Stage: "orchestrator",
			From: now.Add(time.Hour), To: now.Add(2 * time.Hour)},
			meant: "verifier", logged: "compare the clocks"},
		{name: "a server whose certificate has expired", server: mtls.CertificateRequest{Stage: "verifier",
			From: expired.From, To: expired.To},
			meant: "verifier", logged: "bad certificate", said: "expired 1h0m"},
		{name: "a server that is another stage", meant: "retriever", logged: "bad certificate",
			said: "the retriever was dialled, and spiffe://triplemesh.test/verifier answered"},
	} {
		t.Run(test.name, func(t *testing.T) {
			certs := testkit.NewCerts(t, "orchestrator", "verifier")
			for _, r := range []mtls.CertificateRequest{test.client, test.server} {
				if r.Stage != "" {
					certs.Issue(r)
				}
			}
			r := start(t, "verifier", answering(echo), withCerts(certs))
			err := reflectOver(t.Context(), as(t, "orchestrator", test.meant, certs.Files(), r.addr))
			if st := wantCode(t, err, codes.Unavailable); !strings.Contains(st.Message(), test.said) {
				t.Errorf("the client learns %q, want %q in it", st.Message(), test.said)
			}
			// The server writes its line when it hears of it, which may be after
			// the client has.
			has := func() bool {
				log := r.log.String()
				return strings.Contains(log, "connection refused") && strings.Contains(log, test.logged)
			}
			for end := time.Now().Add(20 * time.Second); !has() && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if !has() {
				t.Errorf("%q is not in the server's log: %s", test.logged, r.log)
			}
		})
	}
}

func TestAServerDoesNotStartWithoutItsCertificate(t *testing.T) {
	certs := testkit.NewCerts(t, "verifier", "retriever")
	for _, test := range []struct {
		name string
		set  func(*server.Config)
		says string
	}{
		{"a file that is not there", func(cfg *server.Config) { cfg.TLS.CertFile += ".gone" }, "tls.crt.gone"},
		{"a setting that is missing", func(cfg *server.Config) { cfg.TLS.CAFile = "" }, "ca_file"},
		{"the certificate of another stage", func(cfg *server.Config) {
			cfg.TLS.Files = certs.Files()
			cfg.TLS.CertFile = strings.ReplaceAll(cfg.TLS.CertFile, "{stage}", "retriever")
		}, "private key does not match"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tel, _ := telemetryFor(t, "verifier")
			cfg := server.DefaultConfig("127.0.0.1:0")
			cfg.TLS.Files = certs.Files()
			test.set(&cfg)
			if _, err := server.New(cfg, tel); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q in it", err, test.says)
			}
		})
	}
}

// aging ends connections soon, so that handshakes never stop.
func aging(cfg *server.Config) { cfg.MaxConnectionAge = 30 * time.Millisecond }

// serial is which certificate a server showed.
func serial(p *peer.Peer) string {
	if info, ok := p.AuthInfo.(mtls.Peer); ok && len(info.State.PeerCertificates) > 0 {
		return info.State.PeerCertificates[0].SerialNumber.String()
	}
	return ""
}

// issued is the serial number of the certificate in a stage's place.
func issued(t *testing.T, certs *testkit.Certs, stage string) string {
	t.Helper()
	dir := filepath.Join(certs.Dir, stage)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf.SerialNumber.String()
}

// TestCertificatesAreReplacedUnderLoad renews both certificates, then lets a new
// authority take over from the old one in three steps, while questions are
// asked. Not one may fail.
func TestCertificatesAreReplacedUnderLoad(t *testing.T) {
	certs := testkit.NewCerts(t, "orchestrator", "verifier")
	r := start(t, "verifier", answering(echo), withCerts(certs), aging)
	conn := as(t, "orchestrator", "verifier", certs.Files(), r.addr)

	ctx, stop := context.WithCancel(t.Context())
	var calls atomic.Int64
	var latest atomic.Value // the serial number of the server's certificate
	latest.Store("")
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for ctx.Err() == nil {
				var p peer.Peer
				if err := reflectOver(ctx, conn, grpc.Peer(&p)); err != nil {
					if ctx.Err() == nil {
						t.Errorf("a call failed: %v", err)
					}
					return
				}
				calls.Add(1)
				latest.Store(serial(&p))
			}
		})
	}
	// renewed makes new certificates, and waits until calls go over connections
	// that were made by them: all that was changed before has been read then. A
	// call that ends late may have gone by any that were there before.
	renewed := func() {
		t.Helper()
		certs.Issue(mtls.CertificateRequest{Stage: "orchestrator"})
		certs.Issue(mtls.CertificateRequest{Stage: "verifier"})
		want := issued(t, certs, "verifier")
		deadline := time.Now().Add(30 * time.Second)
		for latest.Load() != want {
			if time.Now().After(deadline) {
				t.Fatal("the new certificate is never shown")
			}
			if err := reflectOver(t.Context(), conn); err != nil {
				t.Fatal(err)
			}
		}
	}
	believe := func(authorities ...*mtls.Authority) {
		for _, stage := range []string{"orchestrator", "verifier"} {
			certs.Believe(stage, authorities...)
		}
	}
	renewed()
	old := certs.Authorities[0]
	certs.NewAuthority("triplemesh.test")
	next := certs.Authorities[0]
	// Both are believed before the new one issues anything.
	certs.Authorities = []*mtls.Authority{old, next}
	believe(old, next)
	renewed() // shows that the files have been read again
	certs.Authorities = []*mtls.Authority{next}
	renewed()
	believe(next)
	renewed()
	stop()
	load.Wait()
	if n := calls.Load(); n < 100 {
		t.Errorf("only %d calls were made", n)
	}
	late := visiting(t, "verifier", r.addr, issuedBy(t, old, certs))
	if err := reflectOver(t.Context(), late); err == nil {
		t.Error("the old authority is still believed")
	}
}

func TestAKeyThatDoesNotMatchChangesNothing(t *testing.T) {
	certs := testkit.NewCerts(t, "orchestrator", "verifier")
	r := start(t, "verifier", answering(echo), withCerts(certs))
	other := testkit.NewCerts(t, "verifier")
	pair, err := other.Authorities[0].Issue(mtls.CertificateRequest{Stage: "verifier", To: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	certs.Write("verifier/tls.key", pair.Key)
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(r.log.String(), "certificate reload failed"); {
		if time.Now().After(deadline) {
			t.Fatalf("nothing is logged: %s", r.log)
		}
		conn := as(t, "orchestrator", "verifier", certs.Files(), r.addr)
		if err := errors.Join(reflectOver(t.Context(), conn), conn.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSixServersOverTLSInOneProcess(t *testing.T) {
	certs := testkit.NewCerts(t, sixStages...)
	var calls sync.WaitGroup
	for _, stage := range sixStages[1:] {
		r := start(t, stage, answering(func(ctx context.Context,
			req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			peer, ok := mtls.PeerFrom(ctx)
			caller, _ := auth.CallerFrom(ctx)
			return &reflectorv1.ReflectResponse{Reason: fmt.Sprint(stage, " ", peer.Stage(), " ", ok, " ",
				caller.Tenant)}, nil
		}), withCerts(certs))
		conn := as(t, "orchestrator", stage, certs.Files(), r.addr)
		for range 20 {
			calls.Go(func() {
				ctx := auth.WithCaller(t.Context(), auth.AnonymousCaller())
				answer, err := reflectorv1.NewReflectorServiceClient(conn).Reflect(ctx,
					reflectRequest("who?"))
				if want := stage + " orchestrator true default"; err != nil || answer.GetReason() != want {
					t.Errorf("got %q, %v, want %q", answer.GetReason(), err, want)
				}
			})
		}
	}
	calls.Wait()
}

// issuedBy is an orchestrator with a certificate of an authority, which believes
// as the others do.
func issuedBy(t *testing.T, a *mtls.Authority, certs *testkit.Certs) mtls.Visitor {
	t.Helper()
	pair, err := a.Issue(mtls.CertificateRequest{Stage: "orchestrator", To: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	certs.Write("late.pem", append(pair.Cert, pair.Key...))
	both := filepath.Join(certs.Dir, "late.pem")
	return mtls.Visitor{CAFile: certs.Files().Visitor("verifier").CAFile, CertFile: both, KeyFile: both}
}
