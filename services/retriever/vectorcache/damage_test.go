package vectorcache

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// damagedTexts are more than one page holds, so that the file has branch pages.
const damagedTexts = 400

// fillCache makes a cache and returns its file.
func fillCache(t testing.TB, dir string, e *recordingEncoder) []byte {
	c := openCache(t, dir, Options{MaxBytes: 1 << 20})
	for i := 0; i < damagedTexts; i += 100 {
		encodeAndCheck(t, c, e, numberedTexts(i, i+100)...)
		c.mutex.Lock()
		c.flush() // several transactions, so that there are free pages
		c.mutex.Unlock()
	}
	closeCache(t, c)
	file, err := os.ReadFile(c.path())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// readDamaged reads and writes a cache whose file was damaged, and returns how many texts were
// encoded again, and the log. What was encoded again must be found by the next process.
func readDamaged(t testing.TB, dir string, file []byte, e *recordingEncoder) (encoded int, log string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "vectors.db"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := openCache(t, dir, Options{MaxBytes: 1 << 20, Logger: logTo(&out)})
	encoded = encodeAndCheck(t, c, e, numberedTexts(0, damagedTexts)...)
	encodeAndCheck(t, c, e, numberedTexts(damagedTexts, damagedTexts+50)...)
	closeCache(t, c)
	return encoded, out.String()
}

func TestATruncatedFileGivesNoWrongVector(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 8}
	dir := t.TempDir()
	sound := fillCache(t, dir, e)
	if n, log := readDamaged(t, dir, sound, e); n != 0 || log != "" {
		t.Fatalf("of the sound file %d texts were encoded again; log: %s", n, log)
	}
	lost := 0
	for size := 0; size < len(sound); size += 1 << 10 {
		n, log := readDamaged(t, dir, sound[:size], e)
		if (size > 0 && n > 0) != (strings.Count(log, logFileDropped) == 1) {
			t.Errorf("%d bytes: %d texts were encoded again; log: %s", size, n, log)
		}
		if n > 0 {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no truncation lost anything")
	}
}

// TestAFlippedBitGivesNoWrongVector flips one bit at a time: of headers of pages, and of some bytes
// between them; of every byte if FLIPS=all. A cycle of pages ends the process by a stack overflow,
// so it runs itself as a process, which continues behind the flip that ended the one before.
func TestAFlippedBitGivesNoWrongVector(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 8}
	if dir := os.Getenv("VECTORCACHE_DIR"); dir != "" {
		flipBits(t, dir, e)
		return
	}
	dir := t.TempDir()
	sound := fillCache(t, dir, e)
	if err := os.WriteFile(filepath.Join(dir, "sound"), sound, 0o644); err != nil {
		t.Fatal(err)
	}
	crashes, mismatches, dropped := 0, 0, 0
	for from := 0; from < len(sound); from++ {
		flips := runProcess(t, dir)
		flips.Env = append(flips.Env, fmt.Sprint("VECTORCACHE_FROM=", from))
		out, err := flips.Output()
		mismatches += bytes.Count(out, []byte(logChecksumMismatch))
		dropped += bytes.Count(out, []byte(logFileDropped))
		var exit *exec.ExitError
		if err == nil {
			break
		} else if !errors.As(err, &exit) || !bytes.Contains(exit.Stderr, []byte("stack overflow")) {
			t.Fatalf("%v\n%s", err, out[max(0, len(out)-1000):])
		}
		crashes++
		last := bytes.LastIndex(out, []byte("\nflip "))
		if _, err := fmt.Sscanf(string(out[last+1:]), "flip %d", &from); err != nil {
			t.Fatal(err)
		}
		t.Logf("the flip in byte %d ended the process", from)
	}
	if mismatches == 0 || dropped == 0 || crashes > 10 {
		t.Errorf("%d checksum mismatches, %d files dropped, want some of both; %d processes ended, want few",
			mismatches, dropped, crashes)
	}
}

// flipBits flips bits of the file "sound" in a directory and says which, with what the cache logs.
func flipBits(t *testing.T, dir string, e *recordingEncoder) {
	sound, err := os.ReadFile(filepath.Join(dir, "sound"))
	if err != nil {
		t.Fatal(err)
	}
	from, err := strconv.Atoi(os.Getenv("VECTORCACHE_FROM"))
	if err != nil {
		t.Fatal(err)
	}
	for at := from; at < len(sound); at++ {
		switch inPage := at % 4096; {
		case inPage == 14 || inPage == 15:
			continue // so many overflow pages, which bbolt lists, that memory runs out
		case os.Getenv("FLIPS") != "all" && at%97 != 0 && (inPage > 16 || at%3 != 0):
			continue
		}
		fmt.Println("\nflip", at)
		bad := slices.Clone(sound)
		bad[at] ^= 1 << (at % 8)
		// A flipped byte of a key in the index is a miss, of which the log says nothing.
		_, log := readDamaged(t, dir, bad, e)
		fmt.Println(log)
		_ = os.Remove(filepath.Join(dir, "vectors.db"+openedSuffix)) // of a process that ended
	}
}

func TestDamageIsLoggedOnce(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 8}
	for name, c := range map[string]struct {
		damage func(sound []byte) []byte
		want   string
		loses  int
	}{
		"a file that is none": {
			func([]byte) []byte { return bytes.Repeat([]byte("PNG, or something like it"), 1000) },
			logFileDropped, damagedTexts,
		},
		"a file shorter than its first page": {
			func(sound []byte) []byte { return sound[:1000] }, logFileDropped, damagedTexts,
		},
		"pages of zeros behind its first two": {
			func(sound []byte) []byte { return append(sound[:8192:8192], make([]byte, len(sound)-8192)...) },
			logFileDropped, damagedTexts,
		},
		"a vector that changed": {
			func(sound []byte) []byte {
				k := hashKey(e.name, "text 7")
				bad := slices.Clone(sound)
				bad[bytes.Index(sound, encodeRecord(k, testVector(e, "text 7")))+recordHeader] ^= 1
				return bad
			},
			logChecksumMismatch, 1,
		},
		"a record of another key": {
			func(sound []byte) []byte {
				one := encodeRecord(hashKey(e.name, "text 7"), testVector(e, "text 7"))
				other := encodeRecord(hashKey(e.name, "text 8"), testVector(e, "text 8"))
				return bytes.Replace(sound, one, other, 1)
			},
			logChecksumMismatch, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			n, log := readDamaged(t, dir, c.damage(fillCache(t, dir, e)), e)
			if strings.Count(log, c.want) != 1 || strings.Count(log, "\n") != 1 {
				t.Errorf("the log says\n%s\nwant one line with %q", log, c.want)
			}
			if n != c.loses {
				t.Errorf("%d texts were encoded again, want %d", n, c.loses)
			}
			again := openCache(t, dir, Options{MaxBytes: 1 << 20})
			if n := encodeAndCheck(t, again, e, numberedTexts(0, damagedTexts)...); n != 0 {
				t.Errorf("after the damage was made good %d texts were encoded again", n)
			}
		})
	}
}

// runProcess runs the test in a process of its own on a directory.
func runProcess(t *testing.T, dir string) *exec.Cmd {
	p := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	p.Env = append(os.Environ(), "VECTORCACHE_DIR="+dir)
	return p
}

// TestAProcessIsKilled runs itself as a process that fills a cache and is killed in its midst,
// again and again.
func TestAProcessIsKilled(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 384}
	if dir := os.Getenv("VECTORCACHE_DIR"); dir != "" {
		c := openCache(t, dir, Options{})
		for i := 0; ; i++ {
			encodeAndCheck(t, c, e, numberedTexts(i*2000, (i+1)*2000)...)
			fmt.Println("kept", i)
		}
	}
	dir := t.TempDir()
	for range 5 {
		fill := runProcess(t, dir)
		out, err := fill.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := fill.Start(); err != nil {
			t.Fatal(err)
		}
		// It is killed after some of its lines, so it is busy with the next.
		wait := 1 + rand.IntN(10)
		for line := make([]byte, 1); wait > 0; {
			if _, err := out.Read(line); err != nil {
				t.Fatal(err)
			}
			if line[0] == '\n' {
				wait--
			}
		}
		if err := fill.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = fill.Wait()
		var log bytes.Buffer
		c := openCache(t, dir, Options{Logger: logTo(&log)})
		lost := encodeAndCheck(t, c, e, numberedTexts(0, 2000)...)
		closeCache(t, c)
		if most := maxBatchBytes / (4 * e.dims); lost > most || log.Len() > 0 {
			t.Fatalf("after the process was killed %d texts were lost, want at most %d; log: %s", lost, most, &log)
		}
	}
}

// TestAFileThatEndsProcessesIsDropped runs itself as processes that open the cache and end at once,
// as by a stack overflow in bbolt, which cannot be recovered from.
func TestAFileThatEndsProcessesIsDropped(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 8}
	if dir := os.Getenv("VECTORCACHE_DIR"); dir != "" {
		c := openCache(t, dir, Options{MaxBytes: 1 << 20})
		encodeAndCheck(t, c, e, "text 1")
		os.Exit(3)
	}
	dir := t.TempDir()
	fillCache(t, dir, e)
	crash := func(times int) {
		for range times {
			var exit *exec.ExitError
			if err := runProcess(t, dir).Run(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
				t.Fatalf("the process ended by %v", err)
			}
		}
	}
	for _, turn := range []struct{ crashes, loses int }{
		{maxCrashes - 1, 0}, {maxCrashes - 1, 0}, {maxCrashes, damagedTexts}, {maxCrashes - 1, 0},
	} {
		crash(turn.crashes)
		var log bytes.Buffer
		c := openCache(t, dir, Options{MaxBytes: 1 << 20, Logger: logTo(&log)})
		if n := encodeAndCheck(t, c, e, numberedTexts(0, damagedTexts)...); n != turn.loses {
			t.Errorf("after %d crashes %d texts were encoded again, want %d", turn.crashes, n, turn.loses)
		}
		if strings.Contains(log.String(), errCrashes.Error()) != (turn.loses > 0) {
			t.Errorf("after %d crashes the log says %q", turn.crashes, log.String())
		}
		closeCache(t, c)
	}
}

func FuzzRecord(f *testing.F) {
	k := hashKey("model", "a")
	sound := encodeRecord(k, []float32{1, 2})
	f.Add(sound)
	f.Add(sound[:recordHeader])
	f.Add(sound[:3])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, record []byte) {
		vector, ok := decodeRecord(k, record)
		if ok && isFinite(vector) && !bytes.Equal(encodeRecord(k, vector), record) {
			t.Errorf("%x is read as %v, which is written otherwise", record, vector)
		}
	})
}
