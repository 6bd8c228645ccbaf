package testkit

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// Output is the exit code and the output of a command line.
type Output struct {
	Code           int
	Stdout, Stderr string
}

// RunCommand runs a command line in this process, with a cache and a data directory of its own.
func RunCommand(tb testing.TB, run func(args []string, stdin io.Reader, stdout, stderr io.Writer) int, stdin string,
	args ...string) Output {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	dirs := []string{"--cache", tb.TempDir(), "--data", tb.TempDir()}
	code := run(append(dirs, args...), strings.NewReader(stdin), &stdout, &stderr)
	return Output{code, stdout.String(), stderr.String()}
}

// Expect fails unless the exit code is code and the output contains every text and no control
// characters.
func (o Output) Expect(tb testing.TB, code int, texts ...string) {
	tb.Helper()
	if o.Code != code {
		tb.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", o.Code, code, o.Stdout, o.Stderr)
	}
	for _, text := range texts {
		if !strings.Contains(o.Stdout+o.Stderr, text) {
			tb.Errorf("the output lacks %q\nstdout: %s\nstderr: %s", text, o.Stdout, o.Stderr)
		}
	}
	if strings.Contains(o.Stdout+o.Stderr, "\x1b") {
		tb.Error("the output contains control characters")
	}
}
