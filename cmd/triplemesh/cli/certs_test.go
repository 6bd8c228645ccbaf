package cli

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestCertificatesForAMesh(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	in := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	ca := in("ca.crt")
	for _, step := range []struct {
		name string
		args string
		code int
		says []string
	}{
		{"nothing is issued before there is an authority", "issue --dir DIR --all", ExitUsage,
			[]string{"certs init --dir"}},
		{"an authority needs a name that is one", "init --dir DIR --trust-domain Mine!", ExitUsage,
			[]string{"is no trust domain"}},
		{"there is nothing to take over from", "init --dir DIR --rotate", ExitUsage, []string{"no CA"}},
		{"an authority", "init --dir DIR --trust-domain mine.test", ExitOK,
			[]string{"spiffe://mine.test ", "3649 days"}},
		{"is not made twice", "init --dir DIR", ExitUsage, []string{"--rotate", "--force"}},
		{"nor forgotten and believed at once", "init --dir DIR --force --rotate", ExitUsage,
			[]string{"exclude each other"}},
		{"nobody is named", "issue --dir DIR", ExitUsage, []string{"--stage", "--all"}},
		{"one stage for a day", "issue --dir DIR --stage retriever --dns kg.example.org --for 24h", ExitOK,
			[]string{"spiffe://mine.test/retriever", "in 24h0m0s", "localhost retriever kg.example.org 127.0.0.1 ::1"}},
		{"it is not replaced unasked, nor are others made", "issue --dir DIR --all", ExitUsage,
			[]string{"retriever/tls.crt exists; replace it with --force"}},
		{"all stages", "issue --dir DIR --all --force", ExitOK, []string{"/orchestrator ", "/generator ",
			"/retriever ", "/verifier ", "/evaluator ", "/reflector ", "in 89 days"}},
		{"a name that leads out of the directory", "issue --dir DIR --stage ../x", ExitUsage,
			[]string{"cannot be the name"}},
		{"a certificate that would never be valid", "issue --dir DIR --stage other --for=-1h", ExitUsage,
			[]string{"never be valid"}},
		{"a certificate that is believed", "show --ca DIR/ca.crt DIR/verifier/tls.crt", ExitOK,
			[]string{"CN=authority of mine.test"}},
		{"a file that is no certificate", "show DIR/verifier/tls.key", ExitUsage, []string{"no certificate in it"}},
		{"another authority takes over", "init --dir DIR --trust-domain mine.test --rotate", ExitOK,
			[]string{"spiffe://mine.test "}},
		{"and both are believed", "show --ca DIR/verifier/ca.crt DIR/verifier/tls.crt", ExitOK, nil},
		{"until it takes over again", "init --dir DIR --trust-domain mine.test --rotate", ExitOK, nil},
		{"and the first is forgotten", "show --ca DIR/verifier/ca.crt DIR/verifier/tls.crt", ExitFailed,
			[]string{"untrusted: x509"}},
	} {
		t.Run(step.name, func(t *testing.T) {
			args := append([]string{"certs"}, strings.Fields(strings.ReplaceAll(step.args, "DIR", dir))...)
			triplemesh(t, nil, "", args...).Expect(t, step.code, step.says...)
		})
	}
	for path, mode := range map[string]os.FileMode{"ca.key": 0o600, "verifier/tls.key": 0o600, "ca.crt": 0o644,
		"verifier/tls.crt": 0o644} {
		if info, err := os.Stat(in(path)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v, want mode %o", path, info, err, mode)
		}
	}
	data, err := os.ReadFile(ca)
	if err != nil || strings.Count(string(data), "BEGIN CERTIFICATE") != 2 {
		t.Errorf("after two turns %d authorities are believed, %v", strings.Count(string(data), "BEGIN CERTIFICATE"),
			err)
	}
}

func TestCertificatesAsJSON(t *testing.T) {
	dir := t.TempDir()
	triplemesh(t, nil, "", "certs", "init", "--dir", dir).Expect(t, ExitOK)
	out := triplemesh(t, nil, "", "certs", "issue", "--dir", dir, "--stage", "verifier", "--json", "--ca",
		filepath.Join(dir, "ca.crt"))
	var got []mtls.Certificate
	if err := json.Unmarshal([]byte(out.Stdout), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Identity != "spiffe://triplemesh.local/verifier" || got[0].Believed == nil ||
		!*got[0].Believed || got[0].NotAfter.IsZero() || got[0].Authority {
		t.Errorf("got %+v", got)
	}
}

// serveTLS serves as a stage does by a directory of certificates; require wants
// certificates of callers.
func serveTLS(t *testing.T, dir, stage string, require bool) string {
	t.Helper()
	set := withCerts(nil, dir)
	tel, err := telemetry.Start(t.Context(), telemetry.Config{LogLevel: "error"}, stage)
	if err != nil {
		t.Fatal(err)
	}
	source, err := mtls.Open(mtls.Files{CertFile: set["server.tls.cert_file"], KeyFile: set["server.tls.key_file"],
		CAFile: set["server.tls.ca_file"]}, tel)
	if err != nil {
		t.Fatal(err)
	}
	return serveWith(t, mtls.Server(source, require))
}

func serveWith(t *testing.T, secure credentials.TransportCredentials) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(secure))
	orchestratorv1.RegisterOrchestratorServiceServer(server, &services{})
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-ended })
	return l.Addr().String()
}

func TestServersOverTLS(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		triplemesh(t, nil, "", "certs", "init", "--dir", d).Expect(t, ExitOK)
		triplemesh(t, nil, "", "certs", "issue", "--dir", d, "--stage", "orchestrator", "--stage", "retriever",
			"--stage", "operator").Expect(t, ExitOK)
	}
	open, shut := serveTLS(t, dir, "orchestrator", false), serveTLS(t, dir, "orchestrator", true)
	retriever, plain := serveTLS(t, dir, "retriever", false), serve(t, &services{}).addr
	ca := "--ca=" + filepath.Join(dir, "ca.crt")
	with := func(d string) []string {
		return []string{"--cert=" + filepath.Join(d, "operator", "tls.crt"),
			"--key=" + filepath.Join(d, "operator", "tls.key")}
	}
	for _, test := range []struct {
		name   string
		server string
		flags  []string
		code   int
		says   string
	}{
		{"whose authority is named", open, []string{ca}, ExitOK, "pg-akv"},
		{"whose authority is not named", open, nil, exitUnreachable, "--ca"},
		{"whose authority this machine does not believe", open, []string{"--tls"}, exitUnreachable, "is refused"},
		{"of another authority", open, []string{"--ca=" + filepath.Join(other, "ca.crt")}, exitUnreachable,
			"no authority that is believed here"},
		{"that is another stage", retriever, []string{ca}, exitUnreachable,
			"the orchestrator was dialled, and spiffe://triplemesh.local/retriever answered"},
		{"that wants a certificate", shut, []string{ca}, exitUnreachable, ""},
		{"that wants a certificate and is shown one", shut, append(with(dir), ca), ExitOK, "pg-akv"},
		{"that is shown one of another authority", shut, append(with(other), ca), exitUnreachable, ""},
		{"that speaks no TLS", plain, []string{ca}, exitUnreachable, "does not use TLS"},
		{"and a file that is not there", open, []string{"--ca=" + filepath.Join(dir, "gone.crt")}, ExitUsage,
			"no such file"},
		{"and a certificate without its key", open, with(dir)[:1], ExitUsage, "go together"},
	} {
		t.Run("a server "+test.name, func(t *testing.T) {
			args := append([]string{"methods", "--server", test.server}, test.flags...)
			triplemesh(t, nil, "", args...).Expect(t, test.code, test.says)
		})
	}
}
