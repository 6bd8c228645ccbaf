package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// module is a Go module whose package has a target that fails for one input.
func module(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	for path, text := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.26\n",
		"p/p.go": `package p

func Branch(s string) int {
	switch {
	case len(s) > 3 && s[0] == 'a':
		return 1
	case s == "b":
		return 2
	}
	return 0
}
`,
		"p/p_test.go": `package p

import "testing"

func FuzzBranch(f *testing.F) {
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) { Branch(s) })
}

func FuzzNever(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) { t.Error("no input is good") })
}

func TestFuzzIsNoTarget(t *testing.T) {}
`,
		"testdata/q_test.go": "package q\n\nfunc FuzzOfAnother(f *testing.F) {}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTargetsAreRunAndSummedUp(t *testing.T) {
	module(t)
	packages, err := find(".", "Branch|Never|Another")
	if err != nil || len(packages) != 1 || !slices.Equal(packages[0].targets, []string{"FuzzBranch", "FuzzNever"}) {
		t.Fatalf("found %+v, %v", packages, err)
	}
	packages[0].cache = t.TempDir()
	var out strings.Builder
	err = fuzz(t.Context(), packages, t.TempDir(), options{time: 100 * time.Millisecond, parallel: 1}, &out)
	if err == nil || !strings.Contains(err.Error(), "1 of 2 targets failed") {
		t.Errorf("error is %v", err)
	}
	for _, want := range []string{"p FuzzBranch", "no input is good", "2 targets"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if written, _ := filepath.Glob("p/testdata/fuzz/FuzzNever/*"); len(written) == 0 {
		t.Error("what broke the target is not kept")
	}
}

func TestOnlyInputsThatReachMoreAreTaken(t *testing.T) {
	module(t)
	packages, err := find(".", "Branch")
	if err != nil {
		t.Fatal(err)
	}
	packages[0].cache = t.TempDir()
	write := func(dir, name, input string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("go test fuzz v1\nstring("+input+")\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	cached, committed := filepath.Join(packages[0].cache, "FuzzBranch"), "p/testdata/fuzz/FuzzBranch"
	for name, input := range map[string]string{
		"0a": `"axxx"`, "0b": `"axxxxxx"`, "0c": `"b"`, "0d": `"q"`, "0e": `"` + strings.Repeat("a", 5000) + `"`,
	} {
		write(cached, name, input)
	}
	write(committed, "0f", `"kept though it reaches nothing"`)
	var out strings.Builder
	if err := gather(t.Context(), packages, t.TempDir(), 4096, &out); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range must(filepath.Glob(committed + "/*")) {
		names = append(names, filepath.Base(path))
	}
	if !slices.Equal(names, []string{"0a", "0c", "0f"}) {
		t.Errorf("taken are %q\n%s", names, out.String())
	}
}

func must(names []string, _ error) []string { return names }

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       row
		progress   bool
	}{
		{"progress is counted", "fuzz: elapsed: 3s, execs: 325017 (108336/sec), new interesting: 11 (total: 202)",
			row{inputs: 325017, found: 11}, true},
		{"a baseline is progress", "fuzz: elapsed: 0s, gathering baseline coverage: 0/192 completed", row{}, true},
		{"a crash is counted", "    Failing input written to testdata/fuzz/FuzzX/5838cdfae7b16cde",
			row{crashes: 1}, false},
		{"an input that was there and fails is a crash", "    failure while testing seed corpus entry: FuzzX/seed#0",
			row{crashes: 1}, false},
		{"the end of the time is noted", "        context deadline exceeded", row{late: true}, false},
		{"what the target says is none of these", "    x_test.go:3: no", row{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got row
			if progress := got.parseLine(c.line); got != c.want || progress != c.progress {
				t.Errorf("got %+v, progress %v", got, progress)
			}
		})
	}
}
