package reports

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// write writes a file with a modification time in minutes of the hour.
func write(t *testing.T, dir, name, text string, minute int) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 5, 1, 12, minute, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// shelf is a directory of two reports and other files.
func shelf(t *testing.T) string {
	t.Helper()
	outside := t.TempDir()
	write(t, outside, "secret.html", "<title>Secret</title>", 0)
	dir := filepath.Join(outside, "reports")
	if err := os.MkdirAll(filepath.Join(dir, "folder.html"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "first.html", "<!doctype html><head><title>zsRE &amp;\n more</title></head><body>first</body>", 1)
	write(t, dir, "second-2.html", "<p>no title</p>", 2)
	write(t, dir, ".first.html.part-1", "half", 3)
	write(t, dir, ".hidden.html", "hidden", 3)
	write(t, dir, "notes.txt", "notes", 3)
	for link, target := range map[string]string{
		"out.html": "../secret.html", "rooted.html": filepath.Join(outside, "secret.html"), "gone.html": "nothing.html",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.html"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReportsAreListedNewestFirst(t *testing.T) {
	got, err := List(shelf(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("got %+v, want the two reports alone", got)
	}
	if got[0].Name != "second-2" || got[0].Title != "second-2" || got[0].Bytes != 15 {
		t.Errorf("got %+v", got[0])
	}
	want := Report{Name: "first", Title: "zsRE & more", Created: time.Date(2026, 5, 1, 12, 1, 0, 0, time.UTC),
		Bytes: 77}
	if got[1] != want {
		t.Errorf("got %+v, want %+v", got[1], want)
	}
}

func TestADirectoryThatIsNotThereHasNoReports(t *testing.T) {
	for _, dir := range []string{"", filepath.Join(t.TempDir(), "none")} {
		if got, err := List(dir); err != nil || got == nil || len(got) != 0 {
			t.Errorf("%q: got %v, %v", dir, got, err)
		}
	}
}

func TestAFileIsNoDirectoryOfReports(t *testing.T) {
	if _, err := List(filepath.Join(shelf(t), "first.html")); err == nil {
		t.Error("a file was listed")
	}
}

func TestNamesOfReports(t *testing.T) {
	tests := []struct {
		name, given string
		ok          bool
	}{
		{"a word", "baseline", true},
		{"a word with all that may be in one", "A-1_b.2", true},
		{"the longest", strings.Repeat("a", 100), true},
		{"nothing", "", false},
		{"too long", strings.Repeat("a", 101), false},
		{"a hidden file", ".baseline", false},
		{"the directory above", "..", false},
		{"a path", "a/b", false},
		{"a path of Windows", `a\b`, false},
		{"a space", "a b", false},
		{"a line feed", "a\n", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := CheckName(test.given)
			if (err == nil) != test.ok {
				t.Errorf("got %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "letter or digit first") {
				t.Errorf("%v does not say what to take", err)
			}
		})
	}
}

func TestTitles(t *testing.T) {
	tests := []struct{ name, page, want string }{
		{"a title", "<title>One</title>", "One"},
		{"letters that stand for others", "<title>a &lt;b&gt; &#39;c&#39;</title>", "a <b> 'c'"},
		{"an attribute, and capitals", `<TITLE lang="en">One</TITLE>`, "One"},
		{"lines", "<title>\n one\n two </title>", "one two"},
		{"bytes that are no letters", "<title>a\xff</title>", "a"},
		{"no title", "<p>text</p>", ""},
		{"a title that does not end", "<title>One", ""},
		{"a title too far down", strings.Repeat(" ", head) + "<title>One</title>", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := title(strings.NewReader(test.page)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
