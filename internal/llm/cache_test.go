package llm

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func key(n int) string { return fmt.Sprintf("%064x", n) }

func open(t *testing.T, dir string, entries int) *Cache {
	t.Helper()
	c, err := OpenCache(dir, 0, entries)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestValuesComeBack(t *testing.T) {
	for _, c := range []struct {
		name    string
		disk    bool
		entries int
	}{{"memory", false, 4}, {"disk", true, 0}, {"both", true, 4}} {
		t.Run(c.name, func(t *testing.T) {
			dir := ""
			if c.disk {
				dir = filepath.Join(t.TempDir(), "made", "here")
			}
			cache := open(t, dir, c.entries)
			if _, ok := cache.Get(key(1)); ok {
				t.Error("an empty cache has a value")
			}
			for _, v := range []string{"first", "", "second"} {
				if err := cache.Set(key(1), []byte(v)); err != nil {
					t.Fatal(err)
				}
				if got, ok := cache.Get(key(1)); !ok || string(got) != v {
					t.Errorf("got %q, %v, want %q", got, ok, v)
				}
			}
			if c.disk {
				if got, ok := open(t, dir, 0).Get(key(1)); !ok || string(got) != "second" {
					t.Errorf("another process gets %q, %v", got, ok)
				}
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	c := open(t, "", 2)
	for i := range 3 {
		if err := c.Set(key(i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := c.Get(key(0)); ok {
		t.Error("the oldest of three is still among two")
	}
	if _, ok := c.Get(key(2)); !ok {
		t.Error("the newest is gone")
	}
}

func TestDamagedFilesAreMisses(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, 0).Set(key(1), []byte("a value of some length")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "v1", "00", "00", key(1)[4:])
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string][]byte{"empty": nil, "half": good[:len(good)/2], "header alone": good[:19],
		"longer": append(bytes.Clone(good), 'x'), "other version": bytes.Replace(good, []byte("1\n"), []byte("2\n"), 1)}
	for i := range good {
		flipped := bytes.Clone(good)
		flipped[i] ^= 4
		damage[fmt.Sprintf("bit of byte %d", i)] = flipped
	}
	for name, data := range damage {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := open(t, dir, 0).Get(key(1)); ok {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestKeysAreHashesAndNothingElse(t *testing.T) {
	c := open(t, t.TempDir(), 2)
	for _, k := range []string{"", "ab", "../../../../etc/passwd", strings.Repeat("g", 64), strings.Repeat("A", 64),
		key(1) + "0"} {
		if err := c.Set(k, nil); err == nil {
			t.Errorf("%q was taken", k)
		}
		if _, ok := c.Get(k); ok {
			t.Errorf("%q was found", k)
		}
	}
}

func TestManyWritersLeaveWholeFilesAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	value := bytes.Repeat([]byte("x"), 1<<16)
	var all sync.WaitGroup
	for range 8 {
		c := open(t, dir, 0)
		all.Go(func() {
			for range 20 {
				if err := c.Set(key(1), value); err != nil {
					t.Error(err)
				}
				if got, ok := c.Get(key(1)); !ok || !bytes.Equal(got, value) {
					t.Error("a half-written value was read")
				}
			}
		})
	}
	all.Wait()
	files, err := filepath.Glob(filepath.Join(dir, "v1", "00", "00", "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, "v1", "00", "00", ".*"))
	if err != nil || len(files)+len(hidden) != 1 {
		t.Errorf("files %v %v, %v", files, hidden, err)
	}
}

func TestDirectoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCache(file, 0, 1); err == nil {
		t.Error("a file was taken for a directory")
	}
}
