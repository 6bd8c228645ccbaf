package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tracked returns the files of the repository that match the patterns.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	list := exec.Command("git", append([]string{"ls-files", "-z", "--"}, patterns...)...)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list %v: %v: this test needs a clone", patterns, err)
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		files = append(files, filepath.Join(root, name))
	}
	if len(files) == 0 || files[0] == root {
		t.Fatalf("there is no %v", patterns)
	}
	return files
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	requirement = regexp.MustCompile(`^[A-Za-z0-9._-]+==[^\s\\]+( ; [^\\]+)? \\$`)
	hash        = regexp.MustCompile(`^    --hash=sha256:[0-9a-f]{64}( \\)?$`)
)

// unpinned returns the lines of a requirements file for which pip could install different bytes in
// the future.
func unpinned(text string) (bad []string) {
	before := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case requirement.MatchString(line) == hash.MatchString(line), // neither
			hash.MatchString(line) && !strings.HasSuffix(before, `\`):
			bad = append(bad, line)
		}
		before = line
	}
	if strings.HasSuffix(before, `\`) {
		bad = append(bad, before)
	}
	return bad
}

func TestEveryPythonPackageHasSums(t *testing.T) {
	for _, file := range tracked(t, "*requirements.txt") {
		if bad := unpinned(readText(t, file)); len(bad) > 0 {
			t.Errorf("%s: %q: regenerate it from requirements.in as its header describes", file, bad)
		}
	}
	for _, text := range []string{"numpy\n", "numpy==2.4.6\n", "numpy>=2 \\\n    --hash=sha256:" + strings.Repeat("a",
		64) + "\n", "numpy==2.4.6 \\\n"} {
		if unpinned(text) == nil {
			t.Errorf("%q passes for pinned", text)
		}
	}
}

// These are never fetched on Linux with glibc: npm takes the linter for its own platform. Their
// checksums are not in the lock file.
var otherMachines = regexp.MustCompile(`^node_modules/@biomejs/cli-(android|darwin|win32|linux-\w+-musl)`)

func TestEveryNodePackageHasASum(t *testing.T) {
	for _, file := range tracked(t, "*package-lock.json") {
		var lock struct {
			Packages map[string]struct {
				Version, Integrity string
				Dev, Optional      bool
			}
		}
		if err := json.Unmarshal([]byte(readText(t, file)), &lock); err != nil || len(lock.Packages) < 2 {
			t.Fatalf("%s: %v", file, err)
		}
		for name, p := range lock.Packages {
			if name == "" || otherMachines.MatchString(name) && p.Dev && p.Optional {
				continue
			}
			if !strings.HasPrefix(p.Integrity, "sha512-") || p.Version == "" {
				t.Errorf("%s: %s %s has the sum %q", file, name, p.Version, p.Integrity)
			}
		}
	}
}

// fetches matches each way in which the Makefile and scripts download something, with the pattern
// of a pinned one.
var fetches = map[*regexp.Regexp]*regexp.Regexp{
	regexp.MustCompile(`\bpip3?\b.*\binstall\b`):     regexp.MustCompile(`--require-hashes|--no-deps .*/dist/\*\.whl`),
	regexp.MustCompile(`\bnpm (i|install|ci|add)\b`): regexp.MustCompile(`npm ci\b`),
	regexp.MustCompile(`PACKAGE :=`):                 regexp.MustCompile(`@v\d+\.\d+\.\d+\s*$`),
	regexp.MustCompile(`\b(curl|wget)\s+-`):          regexp.MustCompile(`127\.0\.0\.1|localhost|\$URL|"\$`),
	regexp.MustCompile(`^\s*(- )?image:`): regexp.MustCompile(
		`:v?\d+\.\d+\.\d+\s*$|:server-b\d+\s*$|triplemesh`),
}

func TestWhatScriptsFetchIsPinned(t *testing.T) {
	seen := map[*regexp.Regexp]bool{}
	files := tracked(t, "Makefile", ".ci/*", "*.sh", "deploy/k8s/*.yaml", "deploy/compose/*.yaml", "bench/peers.go")
	for _, file := range files {
		for n, line := range bytes.Split([]byte(readText(t, file)), []byte("\n")) {
			for fetch, pinned := range fetches {
				if !fetch.Match(line) || bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
					continue
				}
				seen[fetch] = true
				if !pinned.Match(line) {
					t.Errorf("%s:%d fetches what is not pinned: %s", file, n+1, bytes.TrimSpace(line))
				}
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("%d of %d ways to fetch were found: the test does not look where they are", len(seen), len(fetches))
	}
}
