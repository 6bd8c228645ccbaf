package vectorcache

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fillCache makes a cache of ten texts and returns the names of its two files.
func fillCache(t testing.TB, dir string, e *recordingEncoder) (keys, vectors string) {
	c := openCache(t, dir, Options{})
	encodeAndCheck(t, c, e, numberedTexts(0, 10)...)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"+keysSuffix))
	if err != nil || len(files) != 1 {
		t.Fatalf("segments %q, error %v", files, err)
	}
	return files[0], strings.TrimSuffix(files[0], keysSuffix) + vectorsSuffix
}

// countMisses opens a cache again and says how many of the ten texts it lacked.
func countMisses(t testing.TB, dir string, e *recordingEncoder) int {
	c := openCache(t, dir, Options{})
	encodeAndCheck(t, c, e, numberedTexts(0, 10)...)
	n := int(c.Statistics().Misses)
	// What was encoded again is found by the next one.
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = openCache(t, dir, Options{})
	encodeAndCheck(t, c, e, numberedTexts(0, 10)...)
	if s := c.Statistics(); s.Misses != 0 || s.Damaged != 0 {
		t.Fatalf("after the damage was made good: %+v", s)
	}
	return n
}

func TestATruncatedTailIsDropped(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 4}
	const record, vector = recordSize, 16
	for name, c := range map[string]struct{ keys, vectors int64 }{
		"nothing is torn":      {headerSize + 10*record, 10 * vector},
		"half a key":           {headerSize + 9*record + 7, 10 * vector},
		"half a vector":        {headerSize + 10*record, 9*vector + 3},
		"vectors without keys": {headerSize + 6*record, 10 * vector},
		"keys without vectors": {headerSize + 10*record, 6 * vector},
		"only a header":        {headerSize, 10 * vector},
		"half a header":        {headerSize - 1, 10 * vector},
		"two empty files":      {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			keys, vectors := fillCache(t, dir, e)
			if err := errors.Join(os.Truncate(keys, c.keys), os.Truncate(vectors, c.vectors)); err != nil {
				t.Fatal(err)
			}
			want := 10 - int(max(0, min((c.keys-headerSize)/record, c.vectors/vector)))
			if got := countMisses(t, dir, e); got != want {
				t.Errorf("%d texts were encoded again, want %d", got, want)
			}
		})
	}
}

func TestEveryFlippedByteIsDetected(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 4}
	whole := t.TempDir()
	keys, vectors := fillCache(t, whole, e)
	for _, file := range []string{keys, vectors} {
		sound, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := range sound {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			bad := slices.Clone(sound)
			bad[at] ^= 1 << (at % 8)
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), bad, 0o644); err != nil {
				t.Fatal(err)
			}
			c := openCache(t, dir, Options{})
			encodeAndCheck(t, c, e, numberedTexts(0, 10)...)
			if n := c.Statistics().Misses; n == 0 {
				t.Errorf("byte %d of %s: the damage was not seen", at, filepath.Base(file))
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestDamageIsLogged(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 4}
	for name, c := range map[string]struct {
		damage func(keys, vectors string) error
		says   string
		stays  bool
	}{
		"a segment that is none": {
			func(keys, _ string) error { return os.WriteFile(keys, []byte("PNG, or something like it"), 0o644) },
			logSegmentDropped, false,
		},
		"a segment of a newer version is left alone": {
			func(keys, _ string) error {
				return os.WriteFile(keys, append([]byte(magic), 2, 0, 0, 0, 4, 0, 0, 0, 9, 9, 9, 9), 0o644)
			},
			logSegmentSkipped, true,
		},
		"a vector that changed": {
			func(_, vectors string) error { return os.WriteFile(vectors, bytes.Repeat([]byte{7}, 160), 0o644) },
			logChecksumMismatch, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			keys, vectors := fillCache(t, dir, e)
			if err := c.damage(keys, vectors); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			cache := openCache(t, dir, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			encodeAndCheck(t, cache, e, numberedTexts(0, 10)...)
			if strings.Count(log.String(), c.says) != 1 || strings.Count(log.String(), "\n") != 1 {
				t.Errorf("the log says\n%s\nwant one line with %q", log.String(), c.says)
			}
			if _, err := os.Stat(keys); (err == nil) != c.stays {
				t.Errorf("the segment stays: %v, want %v", err == nil, c.stays)
			}
		})
	}
}

func TestOrphanedSegmentFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	e := &recordingEncoder{name: "model", dims: 4}
	keys, vectors := fillCache(t, dir, e)
	old, young := time.Now().Add(-2*orphanAge), time.Now()
	files := map[string]struct {
		age  time.Time
		gone bool
	}{
		".new-1.keys":          {old, true},
		".new-1.vectors":       {old, true},
		"1.vectors":            {old, true},
		".new-2.keys":          {young, false},
		"2.vectors":            {young, false},
		"README":               {old, false},
		filepath.Base(keys):    {old, false},
		filepath.Base(vectors): {old, false},
	}
	for name, f := range files {
		path := filepath.Join(dir, name)
		if path != keys && path != vectors {
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, f.age, f.age); err != nil {
			t.Fatal(err)
		}
	}
	openCache(t, dir, Options{})
	for name, f := range files {
		if _, err := os.Stat(filepath.Join(dir, name)); (err != nil) != f.gone {
			t.Errorf("%s is gone: %v, want %v", name, err != nil, f.gone)
		}
	}
}

// TestAProcessIsKilled runs itself as a process that fills a cache and is
// killed in its midst, again and again.
func TestAProcessIsKilled(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 384}
	if dir := os.Getenv("VECTORCACHE_FILL"); dir != "" {
		c := openCache(t, dir, Options{})
		for i := 0; ; i++ {
			encodeAndCheck(t, c, e, numberedTexts(i*100, i*100+100)...)
			fmt.Println("kept", i)
		}
	}
	dir := t.TempDir()
	kept := 0
	for range 5 {
		fill := exec.Command(os.Args[0], "-test.run=^TestAProcessIsKilled$")
		fill.Env = append(os.Environ(), "VECTORCACHE_FILL="+dir)
		out, err := fill.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := fill.Start(); err != nil {
			t.Fatal(err)
		}
		// It is killed after some of its lines, so it is busy with the next.
		wait := 1 + rand.IntN(20)
		for line := make([]byte, 1); wait > 0; {
			if _, err := out.Read(line); err != nil {
				t.Fatal(err)
			}
			if line[0] == '\n' {
				wait--
				kept++
			}
		}
		if err := fill.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = fill.Wait()
		c := openCache(t, dir, Options{})
		encodeAndCheck(t, c, e, numberedTexts(0, 100)...)
		if s := c.Statistics(); s.Damaged != 0 || s.Misses != 0 {
			t.Fatalf("after the process was killed: %+v", s)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if kept == 0 {
		t.Fatal("no process kept anything")
	}
}

func FuzzSegment(f *testing.F) {
	e := &recordingEncoder{name: "model", dims: 4}
	keys, vectors := fillCache(f, f.TempDir(), e)
	k, err := os.ReadFile(keys)
	if err != nil {
		f.Fatal(err)
	}
	v, err := os.ReadFile(vectors)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(k, v)
	f.Add(k[:len(k)-3], v[:len(v)-20])
	f.Add(k[:headerSize], []byte{})
	f.Add([]byte(magic), v)
	f.Fuzz(func(t *testing.T, k, v []byte) {
		dir := t.TempDir()
		if err := errors.Join(
			os.WriteFile(filepath.Join(dir, "1"+keysSuffix), k, 0o644),
			os.WriteFile(filepath.Join(dir, "1"+vectorsSuffix), v, 0o644)); err != nil {
			t.Fatal(err)
		}
		countMisses(t, dir, e)
	})
}
