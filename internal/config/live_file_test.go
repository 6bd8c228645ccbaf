package config_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
)

func word(data []byte) (string, error) {
	if text := strings.TrimSpace(string(data)); text != "" {
		return text, nil
	}
	return "", errors.New("no word in it")
}

func TestAFileThatChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "word")
	put := func(text string) {
		t.Helper()
		// By rename, as everybody who must not be caught half way does.
		if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600),
			os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
	}
	put("one")
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		f, err := config.OpenLiveFile(path, word, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			name   string
			change func()
			wait   time.Duration
			want   string
			lines  int // of the log, all in all
		}{
			{"it is as it was opened", func() {}, 0, "one", 0},
			{"a change is not seen within the second", func() { put("two") }, time.Second / 2, "one", 0},
			{"and is seen after it", func() {}, time.Second, "two", 0},
			{"of a broken file the last good one holds, and the log says so", func() { put("") },
				2 * time.Second, "two", 1},
			{"once", func() {}, 10 * time.Second, "two", 1},
			{"a mended file counts", func() { put("three") }, 2 * time.Second, "three", 2},
			{"of a lost file the last good one holds", func() { os.Remove(path) }, 2 * time.Second, "three", 3},
			{"a file that is back counts", func() { put("four") }, 2 * time.Second, "four", 4},
		} {
			step.change()
			time.Sleep(step.wait)
			if got := f.Get(); got != step.want {
				t.Errorf("%s: got %q, want %q", step.name, got, step.want)
			}
			if lines := strings.Count(log.String(), "\n"); lines != step.lines {
				t.Errorf("%s: %d lines are logged, want %d:\n%s", step.name, lines, step.lines, log.String())
			}
		}
	})
}

func TestAFileThatCannotBeOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "word")
	if _, err := config.OpenLiveFile(path, word, slog.Default()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: got %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.OpenLiveFile(path, word, slog.Default()); err == nil || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "no word") {
		t.Errorf("a broken file: got %v, want its name and what is wrong", err)
	}
}
