package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// address is that of a mesh with a scripted model.
var address string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "triplemesh-example-")
	if err != nil {
		panic(err)
	}
	stop, err := serve(dir)
	if err != nil {
		panic(err)
	}
	code := m.Run()
	stop()
	os.RemoveAll(dir)
	os.Exit(code)
}

// serve runs tests/scripted of this repository, which exits when its standard input is closed.
func serve(dir string) (stop func(), err error) {
	program := filepath.Join(dir, "scripted")
	build := exec.Command("go", "build", "-o", program, "./tests/scripted")
	build.Dir, build.Stderr = "../..", os.Stderr
	if err := build.Run(); err != nil {
		return nil, err
	}
	mesh := exec.Command(program, "--nth", "1000", "--http", "")
	mesh.Dir, mesh.Stderr = "../..", os.Stderr
	in, err := mesh.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := mesh.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := mesh.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var at struct{ GRPC string }
	if err := json.Unmarshal(line, &at); err != nil {
		return nil, err
	}
	address = at.GRPC
	return func() { in.Close(); _ = mesh.Wait() }, nil
}

func TestExampleAsksStreamsAndChecks(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		says []string
	}{
		{"a question, stage by stage", []string{"What institution employed Robert Stam?"}, []string{
			"ground graph: ", "Robert Stam worked at New York University.\ngrounded: ",
			"Robert Stam | employer | New York University"}},
		{"a draft that is corrected", []string{"-method", "pg-akv", "What institution employed Robert Stam?"}, []string{
			"ground graph: ", "Robert Stam worked at New York University.\ngrounded: ",
			"Robert Stam | employer | New York University",
			"corrected: Robert Stam | employer | Google -> Robert Stam | employer | New York University"}},
		{"another method", []string{"-method", "ger", "At which university did the director of the film Alexander " +
			"study?"}, []string{"reflect: ", "University Yale"}},
		{"a text", []string{"-check", "Robert Stam works at Google."}, []string{"contradicted (",
			"    Robert Stam | employer | New York University", "Robert Stam works at New York University."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := run(t.Context(), append([]string{"-server", address}, c.args...), "", &out); err != nil {
				t.Fatal(err)
			}
			for _, s := range c.says {
				if !strings.Contains(out.String(), s) {
					t.Errorf("the output lacks %q:\n%s", s, &out)
				}
			}
		})
	}
}

func TestErrorsHaveTheirStatusCodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		token string
		code  codes.Code
	}{
		{"an unknown knowledge graph", []string{"-server", address, "-kg", "nowhere", "Who?"}, "",
			codes.NotFound},
		{"no question", []string{"-server", address}, "", codes.InvalidArgument},
		{"no server listens", []string{"-server", "127.0.0.1:1", "Who?"}, "", codes.Unavailable},
		{"an unknown flag", []string{"-colour"}, "", codes.Unknown},
		{"a missing certificate authority", []string{"-ca", "nowhere.crt", "Who?"}, "", codes.Unknown},
		{"a token over plain text", []string{"-server", "mesh.example.org:9090", "Who?"}, "secret",
			codes.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := run(t.Context(), c.args, c.token, &bytes.Buffer{})
			if err == nil || status.Code(err) != c.code {
				t.Errorf("got %v, want %v", err, c.code)
			}
		})
	}
}

func TestATokenIsSentInPlainTextToLoopback(t *testing.T) {
	if err := run(t.Context(), []string{"-server", address, "What institution employed Robert Stam?"}, "any",
		&bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}
