//go:build outsider

package tests

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

const outsiderQuestion = "What institution employed Robert Stam?"

// outsiderTimeout bounds a command: a download, or a question of the bundled model.
const outsiderTimeout = 10 * time.Minute

// An outsider has the files of a release and the package indexes of this machine, no checkout.
func TestAnOutsiderInstallsTheArchiveAndTheClients(t *testing.T) {
	begun := time.Now()
	user := newOutsider(t)
	user.run("tar", "-xzf", releasedFile(t, "triplemesh_*.tar.gz"))
	unpacked, err := filepath.Glob(filepath.Join(user.home, "triplemesh_*"))
	if err != nil || len(unpacked) != 1 {
		t.Fatalf("the archive unpacks to %v: %v", unpacked, err)
	}
	user.dir = unpacked[0]
	user.setUpAndAsk("./triplemesh", "wikidata", "examples/wikidata/triples.tsv.gz")
	logFirstAnswer(t, "archive", begun)

	t.Run("pip", func(t *testing.T) {
		begun := time.Now()
		user := newOutsider(t)
		user.run("python3", "-m", "venv", "env")
		user.run("env/bin/pip", "install", "--quiet", releasedFile(t, "triplemesh-*.whl"))
		user.write("ask.py", fmt.Sprintf(`from triplemesh import Client

with Client("127.0.0.1:9090", kg="wikidata") as mesh:
    run = mesh.ask(%q)
    print(run.grounding, *(str(fact) for answer in run.answers for fact in answer.evidence))
`, outsiderQuestion))
		user.checkOutput(employer, "env/bin/python", "ask.py")
		logFirstAnswer(t, "pip", begun)
	})
	t.Run("npm", func(t *testing.T) {
		begun := time.Now()
		user := newOutsider(t)
		user.run("npm", "install", "--silent", releasedFile(t, "npm-*.tgz"))
		user.write("ask.mjs", fmt.Sprintf(`import { Client } from "triplemesh";

const mesh = new Client("http://127.0.0.1:9080", { kg: "wikidata" });
const run = await mesh.ask(%q);
console.log(run.grounding, JSON.stringify(run.answers));
`, outsiderQuestion))
		user.checkOutput(employer, "node", "ask.mjs")
		logFirstAnswer(t, "npm", begun)
	})
}

func TestAnOutsiderInstallsByGo(t *testing.T) {
	proxy := filepath.Join(t.TempDir(), "proxy")
	publish := exec.CommandContext(t.Context(), "go", "run", "./deploy/modules", "proxy", proxy)
	publish.Dir = testkit.CheckoutFile(t)
	if out, err := publish.CombinedOutput(); err != nil {
		t.Fatalf("publish the modules: %v: %s", err, out)
	}
	begun := time.Now()
	user := newOutsider(t)
	user.env = append(user.env, "GOPROXY=file://"+proxy+","+commandOutput(t, "go", "env", "GOPROXY"),
		"GONOSUMDB=github.com/triplemesh/triplemesh/*", "GOFLAGS=-modcacherw")
	user.run("go", "install", "github.com/triplemesh/triplemesh/cmd/triplemesh@latest")
	user.write("people.csv", "name,employer,field of work\nRobert Stam,New York University,film studies\n"+
		"Ada Lovelace,,mathematics\n")
	user.setUpAndAsk("go/bin/triplemesh", "people", "people.csv", "--yes")
	logFirstAnswer(t, "go install", begun)
}

// releasedFile returns the file of the release that matches a pattern.
func releasedFile(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testkit.CheckoutFile(t, ".cache", "release"), pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("the release has the files %v for %s: %v", files, pattern, err)
	}
	return files[0]
}

func logFirstAnswer(t *testing.T, what string, begun time.Time) {
	t.Logf("%s: first verified answer after %.0f s", what, time.Since(begun).Seconds())
}

// outsider works in a home that holds nothing yet.
type outsider struct {
	t         *testing.T
	home, dir string
	env       []string
}

func newOutsider(t *testing.T) *outsider {
	t.Helper()
	home := t.TempDir()
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"),
		"npm_config_registry=" + commandOutput(t, "npm", "config", "get", "registry")}
	for _, v := range os.Environ() {
		// Where this machine finds packages.
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "PIP_") || strings.HasPrefix(name, "SSL_CERT_") ||
			strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			env = append(env, v)
		}
	}
	return &outsider{t: t, home: home, dir: home, env: env}
}

func commandOutput(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

func (u *outsider) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if strings.Contains(name, "/") {
		name = filepath.Join(u.dir, name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	return cmd
}

func (u *outsider) run(name string, args ...string) string {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), outsiderTimeout)
	defer cancel()
	var out, problems bytes.Buffer
	cmd := u.command(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		u.t.Fatalf("%s %s: %v: %s%s", name, strings.Join(args, " "), err, &out, &problems)
	}
	return out.String()
}

func (u *outsider) checkOutput(want, name string, args ...string) {
	u.t.Helper()
	if out := u.run(name, args...); !strings.Contains(out, want) || !strings.Contains(out, "GROUNDED") {
		u.t.Errorf("%s says %q, want %s, GROUNDED", name, out, want)
	}
}

func (u *outsider) write(name, content string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(content), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// setUpAndAsk sets the program up, starts a mesh for the rest of the test, loads a graph and asks it.
func (u *outsider) setUpAndAsk(program, kg string, load ...string) {
	u.t.Helper()
	u.run(program, "setup")
	mesh := u.command(u.t.Context(), program, "up")
	out, err := mesh.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	mesh.Stderr = mesh.Stdout
	mesh.Cancel = func() error { return mesh.Process.Signal(os.Interrupt) }
	if err := mesh.Start(); err != nil {
		u.t.Fatal(err)
	}
	// The context of the test has ended then, which interrupts it.
	u.t.Cleanup(func() { _ = mesh.Wait() })
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "ready") {
				ready <- true
			}
		}
		close(ready)
	}()
	select {
	case ok := <-ready:
		if !ok {
			u.t.Fatal("the mesh ended before it was ready")
		}
	case <-time.After(outsiderTimeout):
		u.t.Fatal("the mesh does not get ready")
	}
	u.run(program, append([]string{"kg", "load", kg}, load...)...)
	u.checkOutput(employer, program, "ask", outsiderQuestion, "--kg", kg, "--json")
}
