package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// block is a fenced block of a Markdown file. The info string says how to test it: "sh" must
// succeed, "sh fails" must fail, "sh elsewhere" is not run because a test lacks what it needs, and
// "text" after a block that is run is its expected output.
type block struct {
	file string
	line int // of its first line
	info string
	text string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

// is reports whether the info string contains all of the words.
func (b block) is(kind ...string) bool {
	words := strings.Fields(b.info)
	return !slices.ContainsFunc(kind, func(k string) bool { return !slices.Contains(words, k) })
}

// blocks returns the blocks of a file of the checkout, in order.
func blocks(t *testing.T, file string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(testkit.CheckoutFile(t, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	var open *block
	for i, line := range strings.Split(string(text), "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{file: file, line: i + 2, info: info}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		t.Fatalf("%s: the block is not closed", open)
	}
	return all
}

// shell runs the commands of documents in a directory that looks like the checkout, against a mesh
// at other ports.
type shell struct {
	t    *testing.T
	dir  string
	env  []string
	mesh *running
	// elsewhere lists addresses in documents, each followed by its replacement.
	elsewhere []string
}

func newShell(t *testing.T, m *running) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir(), mesh: m}
	for name, target := range map[string]string{
		"bin": filepath.Dir(triplemesh(t)), "docs": testkit.CheckoutFile(t, "docs"),
		"examples": testkit.CheckoutFile(t, "examples"),
	} {
		if err := os.Symlink(target, filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	tools := filepath.Dir(testkit.Cache(t, "bin", "grpcurl"))
	s.env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+s.dir,
		"TRIPLEMESH_SERVER="+m.mesh.Addr("orchestrator"), "TRIPLEMESH_RETRIEVER="+m.mesh.Addr("retriever"),
		"TRIPLEMESH_HOME="+m.data, "TRIPLEMESH_CACHE="+filepath.Dir(tools), "NO_COLOR=1", "LC_ALL=C.UTF-8")
	return s
}

// moved replaces the ports that documents name by those of the mesh.
func (s *shell) moved(command string) string {
	for name, addr := range ports {
		command = strings.ReplaceAll(command, addr, s.mesh.mesh.Addr(name))
	}
	command = strings.NewReplacer(s.elsewhere...).Replace(command)
	if url := s.mesh.mesh.URL(); url != "" {
		command = strings.ReplaceAll(command, "http://"+httpAddr, url)
	}
	return command
}

// run runs a command and returns its standard output and standard error.
func (s *shell) run(command string) (out, errOut string, err error) {
	cmd := exec.CommandContext(timeoutContext(s.t, patience), "bash", "-euo", "pipefail", "-c", s.moved(command))
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// runAll runs the blocks in order, and compares their output with what the document shows. It
// returns how many it ran.
func (s *shell) runAll(all []block) (ran int) {
	s.t.Helper()
	for i, b := range all {
		if !b.is("sh") || b.is("elsewhere") {
			continue
		}
		ran++
		if b.is("curl") || b.is("grpcurl") {
			s.askAll(b)
			continue
		}
		out, errOut, err := s.run(b.text)
		if fails := b.is("fails"); fails != (err != nil) {
			s.t.Fatalf("%s: %s\nended with %v\n%s%s", b, b.text, err, out, errOut)
		} else if fails {
			out = errOut
		}
		if i+1 < len(all) && all[i+1].is("text") && !shows(all[i+1].text, out) {
			s.t.Errorf("%s shows\n%s\nbut the command prints\n%s", all[i+1], all[i+1].text, out)
		}
	}
	return ran
}

// askAll runs the lines of a block. Each must print non-empty JSON, or, if it lists services, names
// of triplemesh.
func (s *shell) askAll(b block) {
	s.t.Helper()
	for line := range strings.Lines(b.text) {
		line = strings.TrimSpace(line)
		out, errOut, err := s.run(line)
		if err != nil {
			s.t.Errorf("%s: %s\nended with %v\n%s%s", b, line, err, out, errOut)
			continue
		}
		if strings.HasSuffix(line, " list") {
			if !strings.Contains(out, "triplemesh.") {
				s.t.Errorf("%s: %s\nlisted %q", b, line, out)
			}
			continue
		}
		if _, data, event := strings.Cut(out, "\ndata: "); event { // a server-sent event
			out = data
		}
		var answer any
		if err := json.Unmarshal([]byte(out), &answer); err != nil || len(strings.TrimSpace(out)) <= len("{}") {
			s.t.Errorf("%s: %s\nprinted %.500q: %v", b, line, out, err)
		}
	}
}

// varying matches values that differ between runs: times, fractions, timestamps, and run ids.
var varying = regexp.MustCompile(
	`\b[0-9]+m[0-9.]+s\b|\b[0-9.]+ ?m?s\b|\b[0-9]+\.[0-9]+\b|\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b|\b01[0-9A-Z]{24}\b`)

// shows reports whether the output matches a document. Varying values are ignored, … matches
// anything in a line, and a line of … any lines.
func shows(document, printed string) bool {
	plain := func(s string) string {
		var lines []string
		for line := range strings.Lines(s) {
			lines = append(lines, strings.TrimRight(varying.ReplaceAllString(line, "#"), " \t\r\n"))
		}
		return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
	}
	pattern := "^"
	for line := range strings.Lines(plain(document)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimSpace(line) == "…" {
			pattern += `(?:.*\n)*`
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern += strings.Join(parts, ".*") + "\n"
	}
	return regexp.MustCompile(pattern + "$").MatchString(plain(printed))
}

func TestShows(t *testing.T) {
	for name, c := range map[string]struct {
		document, printed string
		want              bool
	}{
		"the same":                     {"a\n  b\n", "a\n  b\n", true},
		"another":                      {"a\n", "b\n", false},
		"more at the end":              {"a\n", "a\nb\n", false},
		"less":                         {"a\nb\n", "a\n", false},
		"other times and fractions":    {"3 triples in 0.2s, 0.83\n", "3 triples in 1m2.5s, 0.9\n", true},
		"but not other counts":         {"3 triples\n", "4 triples\n", false},
		"anything in a line":           {"a … c\n", "a b* c\n", true},
		"any lines":                    {"a\n…\nd\n", "a\nb\nc\nd\n", true},
		"no lines":                     {"a\n…\n", "a\n", true},
		"empty lines at the ends":      {"\na\n\n", "a\n", true},
		"but not in the middle":        {"a\nb\n", "a\n\nb\n", false},
		"what a pattern would mean":    {"a.c (d)\n", "abc (d)\n", false},
		"the id of another run":        {"run 01M80EHQ4R6WXJDAYCX939TSQQ\n", "run 01M80EFNK66CZYCE4WT65DDX0Z\n", true},
		"spaces at the ends of a line": {"a\n", "a  \n", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := shows(c.document, c.printed); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
