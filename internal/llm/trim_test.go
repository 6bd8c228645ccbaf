package llm

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// inOneShard are keys that share a directory of the first level.
func inOneShard(n int) string { return fmt.Sprintf("ab%062x", n) }

func onDisk(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func TestADirectoryIsBounded(t *testing.T) {
	const each, most = 1000, 20_000 // bytes of a value, and of a shard
	dir := t.TempDir()
	c, err := OpenCache(dir, 256*most, 0)
	if err != nil {
		t.Fatal(err)
	}
	value := bytes.Repeat([]byte("a"), each)
	begin := time.Now().Add(-time.Hour)
	for i := range 100 {
		if err := c.Set(inOneShard(i), value); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "v1", "ab", inOneShard(i)[2:4], inOneShard(i)[4:])
		at := begin.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		if size := onDisk(t, dir); size > most {
			t.Fatalf("after %d values there are %d bytes, the most is %d", i+1, size, most)
		}
	}
	if _, ok := c.Get(inOneShard(0)); ok {
		t.Error("the oldest is there")
	}
	for i := 90; i < 100; i++ {
		if _, ok := c.Get(inOneShard(i)); !ok {
			t.Errorf("value %d of 100 is gone", i)
		}
	}
}

func TestWhatWasThereBeforeCounts(t *testing.T) {
	dir := t.TempDir()
	value := bytes.Repeat([]byte("a"), 1000)
	before := open(t, dir, 0)
	for i := range 50 {
		if err := before.Set(inOneShard(i), value); err != nil {
			t.Fatal(err)
		}
	}
	half := filepath.Join(dir, "v1", "ab", ".new-1")
	if err := os.WriteFile(half, value, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(half, old, old); err != nil {
		t.Fatal(err)
	}
	bounded, err := OpenCache(dir, 256*20_000, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := bounded.Set(inOneShard(50), value); err != nil {
		t.Fatal(err)
	}
	if size := onDisk(t, dir); size > 20_000 {
		t.Errorf("there are %d bytes", size)
	}
	if _, err := os.Stat(half); err == nil {
		t.Error("what a killed process left is there")
	}
}
