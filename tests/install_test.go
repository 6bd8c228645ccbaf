//go:build install

package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// released is the version under which versions.yaml releases the modules.
const released = "v0.1.0"

// TestTheReleasedModulesInstallOutsideTheCheckout serves the modules from a file-based module proxy
// and uses them as an outside user would: go install, and a client program that imports only proto.
func TestTheReleasedModulesInstallOutsideTheCheckout(t *testing.T) {
	proxy := filepath.Join(t.TempDir(), "proxy")
	runGo(t, testkit.CheckoutFile(t), nil, "run", "./deploy/modules", "proxy", proxy)

	dir := t.TempDir()
	downloads := strings.TrimSpace(runGo(t, dir, nil, "env", "GOMODCACHE"))
	env := []string{
		// Without paths in what is compiled, the build cache has most of it from other builds.
		"GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "GOBIN=" + filepath.Join(dir, "bin"),
		// A module cache of its own: the version under test must not stay in the user's.
		"GOMODCACHE=" + filepath.Join(dir, "mod"),
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(downloads, "cache", "download") + "," +
			strings.TrimSpace(runGo(t, dir, nil, "env", "GOPROXY")),
		"GONOSUMDB=github.com/triplemesh/triplemesh/*",
	}

	t.Run("the command line by go install", func(t *testing.T) {
		runGo(t, dir, env, "install", "github.com/triplemesh/triplemesh/cmd/triplemesh@"+released)
		out, err := exec.Command(filepath.Join(dir, "bin", "triplemesh"), "--version").CombinedOutput()
		if err != nil || !strings.Contains(string(out), released) {
			t.Errorf("triplemesh --version: %v: got %q, want %s", err, out, released)
		}
	})

	t.Run("a program with the client package", func(t *testing.T) {
		dir := filepath.Join(dir, "program")
		writeFile(t, filepath.Join(dir, "main.go"), `package main

import (
	"context"
	"fmt"

	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/client"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func main() {
	mesh, err := client.Dial("127.0.0.1:1", client.WithKG("wikidata"))
	if err != nil {
		panic(err)
	}
	defer mesh.Close()
	_, err = mesh.Ask(context.Background(), &orchestratorv1.AskRequest{Question: "?"})
	fmt.Println(status.Code(err))
}
`)
		runGo(t, dir, env, "mod", "init", "example.com/program")
		runGo(t, dir, env, "get", "github.com/triplemesh/triplemesh/client@"+released)
		runGo(t, dir, env, "mod", "tidy")
		if out := runGo(t, dir, env, "run", "."); strings.TrimSpace(out) != "Unavailable" {
			t.Errorf("the program printed %q, want Unavailable", out)
		}
		if mod := readFile(t, filepath.Join(dir, "go.mod")); strings.Contains(mod, "triplemesh/internal") {
			t.Errorf("client brought in the implementation:\n%s", mod)
		}
	})

	t.Run("a client program that imports only proto", func(t *testing.T) {
		client := filepath.Join(dir, "client")
		writeFile(t, filepath.Join(client, "main.go"), `package main

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func main() {
	conn, err := grpc.NewClient("127.0.0.1:1", grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	_, err = orchestratorv1.NewOrchestratorServiceClient(conn).Ask(context.Background(), &orchestratorv1.AskRequest{})
	fmt.Println(status.Code(err))
}
`)
		runGo(t, client, env, "mod", "init", "example.com/client")
		runGo(t, client, env, "get", "github.com/triplemesh/triplemesh/proto@"+released)
		runGo(t, client, env, "mod", "tidy")
		if out := runGo(t, client, env, "run", "."); strings.TrimSpace(out) != "Unavailable" {
			t.Errorf("the client printed %q, want Unavailable", out)
		}
		if mod := readFile(t, filepath.Join(client, "go.mod")); strings.Contains(mod, "triplemesh/internal") {
			t.Errorf("proto brought in the implementation:\n%s", mod)
		}
	})
}

// runGo runs the go command in a directory and returns its standard output.
func runGo(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
