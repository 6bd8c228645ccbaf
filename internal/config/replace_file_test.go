package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileIsReplacedAsAWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		fill func(io.Writer) error
		want string
		err  error
	}{
		{"what was written takes its place", func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err },
			"new", nil},
		{"a failure leaves the old file", func(w io.Writer) error { io.WriteString(w, "half"); return broken },
			"old file", broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			if err := os.WriteFile(path, []byte("old file"), 0o644); err != nil {
				t.Fatal(err)
			}
			size, err := ReplaceFileFunc(path, 0o600, c.fill)
			if !errors.Is(err, c.err) || err == nil && size != int64(len(c.want)) {
				t.Errorf("size %d, error %v", size, err)
			}
			if got, _ := os.ReadFile(path); string(got) != c.want {
				t.Errorf("the file holds %q, want %q", got, c.want)
			}
			if info, err := os.Stat(path); c.err == nil && (err != nil || info.Mode().Perm() != 0o600) {
				t.Errorf("the file is %v, %v", info, err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("files left: %v", left)
			}
		})
	}
}
