package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnAuditFileThatIsMovedAwayIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	synctest.Test(t, func(t *testing.T) {
		f, err := openAuditFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write := func(run string) {
			t.Helper()
			if err := f.write(auditLine{Run: run}); err != nil {
				t.Fatal(err)
			}
		}
		write("one")
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		write("two") // to where the file is now
		time.Sleep(time.Second)
		write("three")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		write("four")
		if err := errors.Join(f.close(), f.close()); err != nil {
			t.Error(err)
		}
	})
	for name, want := range map[string][]string{path + ".1": {"one", "two"}, path: {"four"}} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var runs []string
		for line := range bytes.Lines(data) {
			var l auditLine
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, l.Run)
		}
		if strings.Join(runs, " ") != strings.Join(want, " ") {
			t.Errorf("%s has %q, want %q", filepath.Base(name), runs, want)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a file for its owner alone", info.Mode(), err)
	}
}

func TestLinesOfTwoServicesInOneFileStayWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	const each = 200
	done := make(chan error, 2)
	for _, service := range []string{"orchestrator", "retriever"} {
		f, err := openAuditFile(path)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			var errs []error
			for range each {
				errs = append(errs, f.write(auditLine{Service: service, Subject: strings.Repeat("x", 200)}))
			}
			done <- errors.Join(append(errs, f.close())...)
		}()
	}
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		if err := json.Unmarshal(line, &auditLine{}); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		n++
	}
	if n != 2*each {
		t.Errorf("%d lines, want %d", n, 2*each)
	}
}

func TestAFloodOfUnknownCallersIsCounted(t *testing.T) {
	a := &audit{}
	second := time.Unix(1_800_000_000, 0)
	written := 0
	for range 5 * maxUnknownPerSecond {
		if leftOut, write := a.countUnknown(second); write {
			written++
			if leftOut != 0 {
				t.Errorf("%d are said to have been left out", leftOut)
			}
		}
	}
	if written != maxUnknownPerSecond {
		t.Errorf("%d lines, want %d", written, maxUnknownPerSecond)
	}
	if leftOut, write := a.countUnknown(second.Add(time.Second)); !write || leftOut != 4*maxUnknownPerSecond {
		t.Errorf("the next line is written: %v, and %d were left out, want %d", write, leftOut, 4*maxUnknownPerSecond)
	}
	if leftOut, write := a.countUnknown(second.Add(time.Second)); !write || leftOut != 0 {
		t.Errorf("the line after it says again that %d were left out", leftOut)
	}
}
