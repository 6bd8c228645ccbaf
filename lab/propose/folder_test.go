package propose_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/propose"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a.MD", "c.pdf", ".hidden.md", "sub/d.markdown", "sub/.git/e.txt",
		"sub/f.docx"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("Ada knows Bob."), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "sub"), filepath.Join(dir, ".link")); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
		return paths
	}
	for name, c := range map[string]struct {
		paths, want []string
		others      int
		says        string
	}{
		"a folder and its folders, hidden ones aside": {in("."), in("a.MD", "b.txt", "sub/d.markdown"), 2, ""},
		"a file is read once": {in("b.txt", ".", "sub/../b.txt"),
			in("b.txt", "a.MD", "sub/d.markdown"), 2, ""},
		"a hidden file that is named is read": {in(".hidden.md"), in(".hidden.md"), 0, ""},
		"a link to a folder is read":          {in(".link"), in(".link/d.markdown"), 1, ""},
		"another kind of file is none":        {in("c.pdf"), nil, 0, "only .txt, .md, .markdown are read"},
		"what is not there is said":           {in("nowhere"), nil, 0, "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			files, others, err := propose.Files(c.paths)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || strings.Join(files, " ") != strings.Join(c.want, " ") || others != c.others {
				t.Errorf("got %q and %d others, error %v", files, others, err)
			}
		})
	}
}

func TestReadText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(path, []byte("caf\xe9"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := propose.ReadText(path); !errors.Is(err, propose.ErrNotUTF8) {
		t.Errorf("latin-1: %v", err)
	}
	if err := os.WriteFile(path, []byte("café"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := propose.ReadText(path); err != nil || text.Content != "café" {
		t.Errorf("got %+v, %v", text, err)
	}
}
