package mtls_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

const domain = "triplemesh.test"

func newAuthority(t testing.TB, trustDomain string) *mtls.Authority {
	t.Helper()
	a, _, err := mtls.NewAuthority(trustDomain)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t testing.TB, a *mtls.Authority, r mtls.CertificateRequest) mtls.KeyPair {
	t.Helper()
	if r.To.IsZero() {
		r.To = time.Now().Add(time.Hour)
	}
	pair, err := a.Issue(r)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// writeFiles writes the files of a service, and the authorities that it believes.
func writeFiles(t testing.TB, dir string, pair mtls.KeyPair, believed ...*mtls.Authority) mtls.Files {
	t.Helper()
	var ca []byte
	for _, a := range believed {
		ca = append(ca, a.Cert()...)
	}
	for name, data := range map[string][]byte{"tls.crt": pair.Cert, "tls.key": pair.Key, "ca.crt": ca} {
		write(t, filepath.Join(dir, name), data)
	}
	return mtls.Files{
		CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"),
		CAFile: filepath.Join(dir, "ca.crt"),
	}
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// service is a service with its certificate and its log.
type service struct {
	*mtls.Source
	files mtls.Files
	log   *testkit.Log
}

// open reads the files of a service named stage.
func open(t testing.TB, stage string, files mtls.Files) (*service, error) {
	t.Helper()
	log := &testkit.Log{}
	tel, err := telemetry.Start(context.Background(), telemetry.Config{LogLevel: "debug", LogFormat: "json",
		LogWriter: log}, stage)
	if err != nil {
		t.Fatal(err)
	}
	source, err := mtls.Open(files, tel)
	return &service{source, files, log}, err
}

func mustOpen(t testing.TB, stage string, files mtls.Files) *service {
	t.Helper()
	s, err := open(t, stage, files)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// party is one side of a handshake and the authorities it believes.
func party(t testing.TB, a *mtls.Authority, r mtls.CertificateRequest, believed ...*mtls.Authority) *service {
	t.Helper()
	if len(believed) == 0 {
		believed = []*mtls.Authority{a}
	}
	return mustOpen(t, r.Stage, writeFiles(t, t.TempDir(), issue(t, a, r), believed...))
}

// shake lets two sides make a connection over loopback, and says what each
// knows of the other. The error of each side stands by itself.
func shake(t testing.TB, server,
	client credentials.TransportCredentials) (ofClient, ofServer credentials.AuthInfo, serverErr, clientErr error) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	var done sync.WaitGroup
	done.Go(func() {
		raw, err := lis.Accept()
		if err != nil {
			serverErr = err
			return
		}
		defer raw.Close()
		var conn net.Conn
		if conn, ofClient, serverErr = server.ServerHandshake(raw); serverErr == nil {
			_, serverErr = conn.Write([]byte("hello"))
		}
	})
	raw, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	var conn net.Conn
	conn, ofServer, clientErr = client.ClientHandshake(t.Context(), lis.Addr().String(), raw)
	if clientErr == nil {
		// A client's handshake is over before the server has looked at its
		// certificate.
		_, clientErr = conn.Read(make([]byte, 5))
	}
	raw.Close()
	done.Wait()
	return ofClient, ofServer, serverErr, clientErr
}

func wantError(t testing.TB, what string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: got %v, want %q in it", what, err, want)
	}
}

func TestWhoIsBelieved(t *testing.T) {
	ours, theirs, foreign := newAuthority(t, domain), newAuthority(t, domain), newAuthority(t, "elsewhere.test")
	now := time.Now()
	expired := mtls.CertificateRequest{From: now.Add(-2 * time.Hour), To: now.Add(-time.Hour)}
	early := mtls.CertificateRequest{From: now.Add(time.Hour), To: now.Add(2 * time.Hour)}
	as := func(stage string, r mtls.CertificateRequest) mtls.CertificateRequest {
		r.Stage = stage
		return r
	}
	good := mtls.CertificateRequest{}

	for _, test := range []struct {
		name           string
		server, client *service
		stage          string // that the client means
		// serverSays and clientSays are in the error of either side; empty for none.
		serverSays, clientSays string
	}{
		{"two stages of one authority", party(t, ours, as("retriever", good)), party(t, ours, as("orchestrator", good)),
			"retriever", "", ""},
		{"another stage than was meant", party(t, ours, as("verifier", good)), party(t, ours, as("orchestrator", good)),
			"retriever",
			"bad certificate", "the retriever was dialled, and spiffe://triplemesh.test/verifier answered"},
		{"a server whose certificate has expired", party(t, ours, as("retriever", expired)),
			party(t, ours, as("orchestrator", good)), "retriever",
			"bad certificate", "expired 1h0m"},
		{"a server whose certificate is not valid yet", party(t, ours, as("retriever", early)),
			party(t, ours, as("orchestrator", good)), "retriever",
			"bad certificate", "compare the clocks"},
		{"a server of another authority of the same name", party(t, theirs, as("retriever", good), ours),
			party(t, ours, as("orchestrator", good)), "retriever",
			"bad certificate", "no authority that is believed here issued it"},
		{"a client whose certificate has expired", party(t, ours, as("retriever", good)),
			party(t, ours, as("orchestrator", expired)), "retriever",
			"expired 1h0m", "bad certificate"},
		{"a client whose certificate is not valid yet", party(t, ours, as("retriever", good)),
			party(t, ours, as("orchestrator", early)), "retriever",
			"compare the clocks", "bad certificate"},
		{"a client of another authority of the same name", party(t, ours, as("retriever", good)),
			party(t, theirs, as("orchestrator", good), ours), "retriever",
			"no authority that is believed here issued it", "bad certificate"},
		{"a server of another trust domain", party(t, foreign, as("retriever", good), ours, foreign),
			party(t, ours, as("orchestrator", good), ours, foreign), "retriever",
			"bad certificate", "spiffe://elsewhere.test/retriever"},
		{"an old and a new authority, while both are believed", party(t, ours, as("retriever", good), ours, theirs),
			party(t, theirs, as("orchestrator", good), ours, theirs), "retriever", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ofClient, ofServer, serverErr, clientErr := shake(t, mtls.Server(test.server.Source, true),
				mtls.Client(test.client.Source, test.stage))
			wantError(t, "client", clientErr, test.clientSays)
			wantError(t, "server", serverErr, test.serverSays)
			if test.serverSays != "" {
				if log := test.server.log.String(); !strings.Contains(log, "connection refused") ||
					!strings.Contains(log, test.serverSays) {
					t.Errorf("the server's log does not say why: %s", log)
				}
				return
			}
			if got := ofClient.(mtls.Peer).Stage(); got != "orchestrator" {
				t.Errorf("the server takes the client for %q", got)
			}
			if got := ofServer.(mtls.Peer).Stage(); got != test.stage {
				t.Errorf("the client takes the server for %q", got)
			}
		})
	}
}

func TestAClientWithoutACertificate(t *testing.T) {
	ours := newAuthority(t, domain)
	server := party(t, ours, mtls.CertificateRequest{Stage: "orchestrator"})
	visitor, err := mtls.Visitor{CAFile: server.files.CAFile}.Credentials("orchestrator")
	if err != nil {
		t.Fatal(err)
	}
	_, _, serverErr, clientErr := shake(t, mtls.Server(server.Source, true), visitor)
	wantError(t, "server that asks for one", serverErr, "client didn't provide a certificate")
	wantError(t, "client that has none", clientErr, "certificate required")

	ofClient, _, serverErr, clientErr := shake(t, mtls.Server(server.Source, false), visitor)
	if err := errors.Join(serverErr, clientErr); err != nil {
		t.Fatal(err)
	}
	if got := ofClient.(mtls.Peer); got.Stage() != "" || !got.ID.IsZero() {
		t.Errorf("the server takes it for %s", got.ID)
	}
}

func TestVisitors(t *testing.T) {
	ours, foreign := newAuthority(t, domain), newAuthority(t, "elsewhere.test")
	server := party(t, ours, mtls.CertificateRequest{Stage: "orchestrator"})
	operator := writeFiles(t, t.TempDir(), issue(t, ours, mtls.CertificateRequest{Stage: "operator"}), ours)
	stranger := writeFiles(t, t.TempDir(), issue(t, foreign, mtls.CertificateRequest{Stage: "operator"}), ours)
	for _, test := range []struct {
		name                   string
		visitor                mtls.Visitor
		stage                  string
		serverSays, clientSays string
	}{
		{"with a certificate", mtls.Visitor{CAFile: operator.CAFile, CertFile: operator.CertFile,
			KeyFile: operator.KeyFile}, "orchestrator", "", ""},
		{"with none", mtls.Visitor{CAFile: operator.CAFile}, "orchestrator", "", ""},
		{"with one of another trust domain", mtls.Visitor{CAFile: operator.CAFile, CertFile: stranger.CertFile,
			KeyFile: stranger.KeyFile}, "orchestrator",
			"spiffe://elsewhere.test/operator", "bad certificate"},
		{"who meant another stage", mtls.Visitor{CAFile: operator.CAFile}, "retriever", "bad certificate",
			"the retriever was dialled"},
		{"who believes what the machine believes", mtls.Visitor{}, "orchestrator", "bad certificate", "is refused"},
		{"who believes another authority", mtls.Visitor{CAFile: writeFiles(t, t.TempDir(), mtls.KeyPair{},
			foreign).CAFile},
			"orchestrator", "bad certificate", "no authority that is believed here"},
	} {
		t.Run(test.name, func(t *testing.T) {
			visitor, err := test.visitor.Credentials(test.stage)
			if err != nil {
				t.Fatal(err)
			}
			_, _, serverErr, clientErr := shake(t, mtls.Server(server.Source, false), visitor)
			wantError(t, "server", serverErr, test.serverSays)
			wantError(t, "client", clientErr, test.clientSays)
		})
	}
}

func TestACertificateThatIsShownMustBeBelieved(t *testing.T) {
	ours, theirs := newAuthority(t, domain), newAuthority(t, domain)
	server := party(t, ours, mtls.CertificateRequest{Stage: "orchestrator"})
	client := party(t, theirs, mtls.CertificateRequest{Stage: "retriever"}, ours)
	_, _, serverErr, _ := shake(t, mtls.Server(server.Source, false), mtls.Client(client.Source, "orchestrator"))
	wantError(t, "server that asks for none", serverErr, "no authority that is believed here issued it")
}

func TestWhatTheServerLogs(t *testing.T) {
	ours := newAuthority(t, domain)
	server := party(t, ours, mtls.CertificateRequest{Stage: "retriever"})
	send := func(data string) {
		a, b := net.Pipe()
		go func() {
			if data != "" {
				_, _ = a.Write([]byte(data))
			}
			a.Close()
		}()
		if _, _, err := mtls.Server(server.Source, true).ServerHandshake(b); err == nil {
			t.Fatal("a connection was made")
		}
	}
	send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	if log := server.log.String(); !strings.Contains(log, `"level":"WARN"`) || !strings.Contains(log, "speaks no TLS") {
		t.Errorf("of a client in plain text: %s", log)
	}
	before := len(server.log.String())
	send("")
	if log := server.log.String()[before:]; !strings.Contains(log, `"level":"DEBUG"`) {
		t.Errorf("of a port that was only tried: %s", log)
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	ours := newAuthority(t, domain)
	for _, test := range []struct {
		name   string
		change func(t *testing.T, f *mtls.Files, pair mtls.KeyPair)
		says   string
	}{
		{"no certificate", func(t *testing.T, f *mtls.Files, _ mtls.KeyPair) { os.Remove(f.CertFile) },
			"tls.crt: no such file"},
		{"a directory for a key", func(t *testing.T, f *mtls.Files,
			_ mtls.KeyPair) {
			f.KeyFile = filepath.Dir(f.KeyFile)
		}, "is a directory"},
		{"half a certificate", func(t *testing.T, f *mtls.Files, p mtls.KeyPair) {
			write(t, f.CertFile, p.Cert[:len(p.Cert)/2])
		}, "tls.crt"},
		{"the key of another", func(t *testing.T, f *mtls.Files, _ mtls.KeyPair) {
			write(t, f.KeyFile, issue(t, ours, mtls.CertificateRequest{Stage: "retriever"}).Key)
		}, "private key does not match"},
		{"an empty file of authorities", func(t *testing.T, f *mtls.Files, _ mtls.KeyPair) {
			write(t, f.CAFile, nil)
		}, "ca.crt"},
		{"a key for authorities", func(t *testing.T, f *mtls.Files, p mtls.KeyPair) { write(t, f.CAFile, p.Key) },
			"ca.crt"},
		{"the certificate of another stage", func(t *testing.T, f *mtls.Files, _ mtls.KeyPair) {
			*f = writeFiles(t, filepath.Dir(f.CertFile), issue(t, ours, mtls.CertificateRequest{Stage: "verifier"}),
				ours)
		}, "the certificate of spiffe://triplemesh.test/verifier, and this is the retriever"},
		{"the certificate of an authority", func(t *testing.T, f *mtls.Files, _ mtls.KeyPair) {
			_, pair, err := mtls.NewAuthority(domain)
			if err != nil {
				t.Fatal(err)
			}
			*f = writeFiles(t, filepath.Dir(f.CertFile), pair, ours)
		}, "clients would reject it"},
		{"another trust domain", func(t *testing.T, f *mtls.Files,
			_ mtls.KeyPair) {
			f.TrustDomain = "elsewhere.test"
		}, "not of the trust domain elsewhere.test"},
		{"a trust domain that is none", func(t *testing.T, f *mtls.Files,
			_ mtls.KeyPair) {
			f.TrustDomain = "spiffe://Here/"
		}, "is no trust domain"},
		{"a certificate without its key", func(t *testing.T, f *mtls.Files, _ mtls.KeyPair) { f.KeyFile = "" },
			"key_file is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pair := issue(t, ours, mtls.CertificateRequest{Stage: "retriever"})
			files := writeFiles(t, t.TempDir(), pair, ours)
			test.change(t, &files, pair)
			_, err := open(t, "retriever", files)
			wantError(t, "open", err, test.says)
		})
	}
}

func TestOneSettingServesAllStages(t *testing.T) {
	ours, dir := newAuthority(t, domain), t.TempDir()
	for _, stage := range []string{"retriever", "verifier"} {
		if err := os.Mkdir(filepath.Join(dir, stage), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFiles(t, filepath.Join(dir, stage), issue(t, ours, mtls.CertificateRequest{Stage: stage}), ours)
	}
	in := func(name string) string { return filepath.Join(dir, "{stage}", name) }
	shared := mtls.Files{CertFile: in("tls.crt"), KeyFile: in("tls.key"), CAFile: in("ca.crt"), TrustDomain: domain}
	server, client := mustOpen(t, "verifier", shared), mustOpen(t, "retriever", shared)
	ofClient, ofServer, serverErr, clientErr := shake(t, mtls.Server(server.Source, true),
		mtls.Client(client.Source, "verifier"))
	if err := errors.Join(serverErr, clientErr); err != nil {
		t.Fatal(err)
	}
	if a, b := ofClient.(mtls.Peer).Stage(), ofServer.(mtls.Peer).Stage(); a != "retriever" || b != "verifier" {
		t.Errorf("a connection of %s to %s", a, b)
	}
}

func TestExpiryIsWarnedOf(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ours := newAuthority(t, domain)
		files := writeFiles(t, dir, issue(t, ours, mtls.CertificateRequest{Stage: "retriever", From: time.Now(),
			To: time.Now().Add(10 * time.Hour)}), ours)
		s := mustOpen(t, "retriever", files)
		look := func() { mtls.Look(s.Source) }
		for _, step := range []struct {
			name string
			wait time.Duration
			warn int // lines of the log, all in all
			errs int
		}{
			{"nothing is said while there is time", 7 * time.Hour, 0, 0},
			{"a warning comes in the last fifth of its life", 70 * time.Minute, 1, 0},
			{"and is not said again at once", 30 * time.Minute, 1, 0},
			{"but an hour later", 31 * time.Minute, 2, 0},
			{"that it has expired is an error", 2 * time.Hour, 2, 1},
		} {
			time.Sleep(step.wait)
			look()
			log := s.log.String()
			if warn, errs := strings.Count(log, `"level":"WARN"`),
				strings.Count(log, `"level":"ERROR"`); warn != step.warn || errs != step.errs {
				t.Fatalf("%s: got %d warnings and %d errors: %s", step.name, warn, errs, log)
			}
		}
		writeFiles(t, dir, issue(t, ours, mtls.CertificateRequest{Stage: "retriever",
			To: time.Now().Add(10 * time.Hour)}),
			ours)
		time.Sleep(2 * time.Second)
		look()
		if log := s.log.String(); !strings.Contains(log, "certificate reloaded") ||
			strings.Count(log, `"level":"ERROR"`) != 1 {
			t.Errorf("after it was renewed: %s", log)
		}
	})
}

func TestFilesThatChange(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := newAuthority(t, domain), newAuthority(t, domain)
		first := issue(t, ours, mtls.CertificateRequest{Stage: "retriever"})
		second := issue(t, ours, mtls.CertificateRequest{Stage: "retriever"})
		s := mustOpen(t, "retriever", writeFiles(t, dir, first, ours))
		for _, step := range []struct {
			name   string
			change func()
			wait   time.Duration
			cert   mtls.KeyPair
			roots  int
			lines  int // of the log, all in all
		}{
			{"a certificate whose key has not come yet", func() { write(t, s.files.CertFile, second.Cert) },
				2 * time.Second, first, 1, 1},
			{"and still has not", func() {}, 2 * time.Second, first, 1, 1},
			{"its key", func() { write(t, s.files.KeyFile, second.Key) }, 2 * time.Second, second, 1, 2},
			{"half a file of authorities", func() { write(t, s.files.CAFile, theirs.Cert()[:100]) }, 2 * time.Second,
				second, 1, 3},
			{"a second authority", func() { write(t, s.files.CAFile, append(ours.Cert(), theirs.Cert()...)) },
				2 * time.Second, second, 2, 4},
			{"files that are gone", func() { os.Remove(s.files.CAFile) }, 2 * time.Second, second, 2, 5},
			{"what is put within the second is seen after it", func() { write(t, s.files.CAFile, theirs.Cert()) },
				10 * time.Millisecond, second, 2, 5},
			{"and then", func() {}, 2 * time.Second, second, 1, 6},
		} {
			step.change()
			time.Sleep(step.wait)
			cert, roots := mtls.Look(s.Source)
			want, err := mtls.ParseCertificates("", step.cert.Cert)
			if err != nil {
				t.Fatal(err)
			}
			if !cert.Equal(want[0]) || roots != step.roots {
				t.Fatalf("%s: got certificate %v and %d authorities", step.name, cert.SerialNumber, roots)
			}
			if lines := strings.Count(s.log.String(), "\n"); lines != step.lines {
				t.Fatalf("%s: %d lines were logged: %s", step.name, lines, s.log)
			}
		}
	})
}
