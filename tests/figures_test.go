package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// publishedSection is a section of docs/figures.yaml.
type publishedSection struct {
	Page    string
	Heading string
	Commit  string
	Command string
	Methods bool
	Files   []string
}

// readFigures reads docs/figures.yaml, the files of sections that depend on all methods filled in.
func readFigures(t *testing.T) []publishedSection {
	t.Helper()
	file, err := os.Open(testkit.CheckoutFile(t, "docs", "figures.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list struct {
		Methods  []string
		Sections []publishedSection
	}
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(&list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Sections {
		if list.Sections[i].Methods {
			list.Sections[i].Files = slices.Concat(list.Sections[i].Files, list.Methods)
		}
	}
	return list.Sections
}

// git runs git in a checkout; ok is false if it fails, as it does outside a repository.
func git(root string, args ...string) (out string, ok bool) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	text, err := cmd.Output()
	return strings.TrimSpace(string(text)), err == nil
}

// changedSince returns the files that differ from a commit, tests and pages left out; ok is false if
// this clone does not have the commit.
func changedSince(root, commit string, patterns []string) (files []string, ok bool) {
	args := []string{"diff", "--name-only", commit, "--", ":(exclude,glob)**/*_test.go", ":(exclude,glob)**/*.md"}
	for _, p := range patterns {
		args = append(args, ":(glob)"+p)
	}
	out, ok := git(root, args...)
	return strings.Fields(out), ok
}

// TestPublishedFiguresAreListed compares docs/figures.yaml with the pages, and logs which figures are
// stale; `make figures` shows that. Stale figures are no failure.
func TestPublishedFiguresAreListed(t *testing.T) {
	root := testkit.CheckoutFile(t)
	listed := map[string]bool{}
	stale := 0
	for _, s := range readFigures(t) {
		listed[s.Page+"#"+s.Heading] = true
		if s.Command == "" || len(s.Files) == 0 || s.Commit == "" {
			t.Errorf("%s, %q: commit, command and files are required", s.Page, s.Heading)
		}
		for _, p := range s.Files {
			if out, ok := git(root, "ls-files", "--", ":(glob)"+p); ok && out == "" {
				t.Errorf("%s, %q: %s matches no file", s.Page, s.Heading, p)
			}
		}
		switch files, ok := changedSince(root, s.Commit, s.Files); {
		case !ok:
			t.Logf("UNKNOWN  docs/%s, %q: this clone has no commit %s", s.Page, s.Heading, s.Commit)
		case len(files) > 0:
			stale++
			t.Logf("STALE    docs/%s, %q: %d files changed since %s; measure again: %s", s.Page, s.Heading, len(files),
				s.Commit, s.Command)
		default:
			t.Logf("current  docs/%s, %q, of %s", s.Page, s.Heading, s.Commit)
		}
	}
	t.Logf("%d of %d sections are stale", stale, len(listed))
	for _, page := range []string{"results.md", "performance.md", "scale.md"} {
		headings := figureHeadings(t, page)
		for _, h := range headings {
			if !listed[page+"#"+h] {
				t.Errorf("docs/%s, %q has figures and is not in docs/figures.yaml", page, h)
			}
		}
		for key := range listed {
			if of, heading, _ := strings.Cut(key, "#"); of == page && !slices.Contains(headings, heading) {
				t.Errorf("docs/figures.yaml lists %q, which is no section with figures of docs/%s", heading, page)
			}
		}
	}
}

// figureHeadings returns the headings of the sections of a page that have a figure: a digit.
func figureHeadings(t *testing.T, page string) (headings []string) {
	t.Helper()
	text, err := os.ReadFile(testkit.CheckoutFile(t, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for i, section := range regexp.MustCompile(`(?m)^## `).Split(string(text), -1) {
		heading, body, _ := strings.Cut(section, "\n")
		if i > 0 && strings.ContainsAny(body, "0123456789") {
			headings = append(headings, heading)
		}
	}
	return headings
}

func TestAFigureIsStaleOnceItsFilesChange(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(message string) string {
		for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit",
			"-q", "-m", message}} {
			if _, ok := git(root, args...); !ok {
				t.Fatalf("git %v failed", args)
			}
		}
		hash, _ := git(root, "rev-parse", "HEAD")
		return hash
	}
	if _, ok := git(root, "init", "-q"); !ok {
		t.Fatal("git init failed")
	}
	write("lab/score/score.go", "one")
	write("lab/score/score_test.go", "one")
	write("other/x.go", "one")
	first := commit("first")
	write("lab/score/score_test.go", "two")
	write("other/x.go", "two")
	commit("what the figure does not depend on")
	if files, ok := changedSince(root, first, []string{"lab/**"}); !ok || len(files) > 0 {
		t.Errorf("stale by %q, %v", files, ok)
	}
	write("lab/score/score.go", "two")
	commit("what it depends on")
	if files, ok := changedSince(root, first, []string{"lab/**"}); !ok || fmt.Sprint(files) != "[lab/score/score.go]" {
		t.Errorf("stale by %q, %v", files, ok)
	}
	if _, ok := changedSince(root, strings.Repeat("0", 40), []string{"lab/**"}); ok {
		t.Error("a commit that is not there is known")
	}
}
