package client_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

func TestTheTokenThatIsSent(t *testing.T) {
	var got []string
	addr := bare(t, func(ctx context.Context) error {
		got = metadata.ValueFromIncomingContext(ctx, "authorization")
		return nil
	})
	path := filepath.Join(t.TempDir(), "token")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("# of the file\nfrom-a-file\n")
	for _, c := range []struct {
		name string
		set  func(*client.Config)
		want string
	}{
		{"without one nothing is sent", func(*client.Config) {}, ""},
		{"one that is given", func(c *client.Config) { c.Token = "given" }, "Bearer given"},
		{"one in a file", func(c *client.Config) { c.TokenFile = path }, "Bearer from-a-file"},
		{"that of the mesh", func(c *client.Config) { client.WithMeshToken(auth.Config{MeshTokenFile: path})(c) },
			"Bearer from-a-file"},
		{"that of the process", func(c *client.Config) { client.WithMeshToken(auth.Config{MeshToken: "minted"})(c) },
			"Bearer minted"},
		{"the client's rather than the mesh's",
			func(c *client.Config) { c.Token = "given"; client.WithMeshToken(auth.Config{MeshToken: "minted"})(c) },
			"Bearer given"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := client.DefaultConfig(addr)
			c.set(&cfg)
			conn, err := client.Dial(cfg, telemetry.Discard())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := reflectorv1.NewReflectorServiceClient(conn).Reflect(t.Context(), why); err != nil {
				t.Fatal(err)
			}
			if sent := strings.Join(got, ","); sent != c.want {
				t.Errorf("%q is sent, want %q", sent, c.want)
			}
		})
	}
}

func TestATokenInAFileThatChanges(t *testing.T) {
	var got []string
	addr := bare(t, func(ctx context.Context) error {
		got = metadata.ValueFromIncomingContext(ctx, "authorization")
		return nil
	})
	cfg := client.DefaultConfig(addr)
	cfg.TokenFile = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(cfg.TokenFile, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	conn, err := client.Dial(cfg, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := os.WriteFile(cfg.TokenFile, []byte("second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The file is looked at once a second.
	for begin := time.Now(); strings.Join(got, ",") != "Bearer second"; {
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("%q is still sent", got)
		}
		if _, err := reflectorv1.NewReflectorServiceClient(conn).Reflect(t.Context(), why); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATokenIsNotSentInPlainTextUnasked(t *testing.T) {
	foreign := "192.0.2.1:9090" // of no machine, RFC 5737
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	own := "127.0.0.1:9090"
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			own = net.JoinHostPort(n.IP.String(), "9090")
		}
	}
	for _, c := range []struct {
		name, addr string
		insecure   bool
		ok         bool
	}{
		{"to another machine", foreign, false, false},
		{"to another machine by name", "retriever.example:9092", false, false},
		{"to another machine by a resolver", "dns:///retriever:9092", false, false},
		{"to a name that only begins like this machine's", "localhost.example:9092", false, false},
		{"to who knows where", "retriever", false, false},
		{"to another machine, where that was asked for", foreign, true, true},
		{"to this machine", "127.0.0.1:9090", false, true},
		{"to this machine over IPv6", "[::1]:9090", false, true},
		{"to this machine by name", "localhost:9090", false, true},
		{"to this machine by a resolver", "passthrough:///127.0.0.1:9090", false, true},
		{"to this machine by its own address", own, false, true},
		{"to several, all of this machine", "127.0.0.1:9090, localhost:9190", false, true},
		{"to several, one of another", "127.0.0.1:9090,retriever.example:9092", false, false},
		{"to a socket of this machine", "unix:///run/verifier.sock", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := client.DefaultConfig(c.addr)
			cfg.Token, cfg.InsecureToken = "given", c.insecure
			conn, err := client.Dial(cfg, telemetry.Discard())
			if err == nil {
				defer conn.Close()
			}
			if (err == nil) != c.ok {
				t.Fatalf("got %v", err)
			}
			if err != nil && (!strings.Contains(err.Error(), "insecure_token") ||
				strings.Contains(err.Error(), "given")) {
				t.Errorf("%q does not say what to do, or says the token", err)
			}
		})
	}
}

func TestTokensThatCannotBeSent(t *testing.T) {
	for name, text := range map[string]string{"an empty file": "\n\n", "no token": "two words\n",
		"too long": strings.Repeat("a", 9000)} {
		t.Run(name, func(t *testing.T) {
			cfg := client.DefaultConfig("127.0.0.1:9090")
			cfg.TokenFile = filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(cfg.TokenFile, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Dial(cfg, telemetry.Discard()); err == nil || !strings.Contains(err.Error(),
				"token_file") || strings.Contains(err.Error(), "two words") {
				t.Errorf("got %v", err)
			}
		})
	}
	cfg := client.DefaultConfig("127.0.0.1:9090")
	cfg.TokenFile = "nowhere"
	if _, err := client.Dial(cfg, telemetry.Discard()); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a missing file: got %v", err)
	}
}
