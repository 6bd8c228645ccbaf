package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var errShort = errors.New("write half and say nothing")

// failingDisk fails the n-th of its operations. Batches are put in order by a
// goroutine of their own, so it is safe for concurrent use.
type failingDisk struct {
	osDisk
	mu     sync.Mutex
	at     int
	calls  int
	failed string
	err    error
}

func (d *failingDisk) next(operation string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.calls-1 != d.at {
		return nil
	}
	d.failed = operation
	return &os.PathError{Op: operation, Path: "x", Err: d.err}
}

func (d *failingDisk) file(f extsort.File, err error) (extsort.File, error) {
	return &failingFile{f, d}, err
}

func (d *failingDisk) MkdirAll(dir string) error {
	if err := d.next("mkdir"); err != nil {
		return err
	}
	return d.osDisk.MkdirAll(dir)
}

func (d *failingDisk) Create(path string) (extsort.File, error) {
	if err := d.next("create"); err != nil {
		return nil, err
	}
	return d.file(d.osDisk.Create(path))
}

func (d *failingDisk) Append(path string) (extsort.File, error) {
	if err := d.next("append"); err != nil {
		return nil, err
	}
	return d.file(d.osDisk.Append(path))
}

func (d *failingDisk) CreateTemp(dir, pattern string) (extsort.File, error) {
	if err := d.next("create a run"); err != nil {
		return nil, err
	}
	return d.file(d.osDisk.CreateTemp(dir, pattern))
}

func (d *failingDisk) Open(path string) (input, error) {
	if err := d.next("open"); err != nil {
		return nil, err
	}
	f, err := d.osDisk.Open(path)
	return &failingReads{f, d}, err
}

type failingFile struct {
	extsort.File
	disk *failingDisk
}

func (f *failingFile) Write(p []byte) (int, error) {
	err := f.disk.next("write")
	if err == nil {
		return f.File.Write(p)
	}
	n, _ := f.File.Write(p[:len(p)/2])
	if errors.Is(err, errShort) {
		err = nil
	}
	return n, err
}

func (f *failingFile) Close() error { return errors.Join(f.File.Close(), f.disk.next("close")) }

type failingReads struct {
	input
	disk *failingDisk
}

func (f *failingReads) Read(p []byte) (int, error) {
	if err := f.disk.next("read"); err != nil {
		return 0, err
	}
	return f.input.Read(p)
}

func (f *failingReads) ReadAt(p []byte, at int64) (int, error) {
	if err := f.disk.next("read"); err != nil {
		return 0, err
	}
	return f.input.ReadAt(p, at)
}

// TestADiskErrorFailsTheLoad fails the operations of a load in turn: the error
// must come out and no scratch file stay.
func TestADiskErrorFailsTheLoad(t *testing.T) {
	var text strings.Builder
	for i := range 250 {
		fmt.Fprintf(&text, "<http://x/s%d> <http://x/p%d> _:o%d .\n<http://x/s%d> "+
			"<http://www.w3.org/2000/01/rdf-schema#label> \"label %d\" .\n", i%90, i%5, i, i%90, i%40)
	}
	var whole recordingTarget
	load := func(disk *failingDisk, scratch string) (string, error) {
		var got recordingTarget
		options := Options{KG: "test", Scratch: scratch, Memory: 1 << 15}
		if disk != nil {
			options.disk = disk
		}
		l := New(options)
		defer l.Close()
		if err := l.Read(t.Context(), "x.nt", DetectFormat, strings.NewReader(text.String())); err != nil {
			return "", err
		}
		_, err := l.Finish(t.Context(), &got, storetest.HashEncoder(2))
		return got.content, err
	}
	var err error
	if whole.content, err = load(nil, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	// Each fault takes every third operation.
	for first, fault := range []error{syscall.ENOSPC, syscall.EIO, errShort} {
		t.Run(fault.Error(), func(t *testing.T) {
			scratch := t.TempDir()
			for at := first; ; at += 3 {
				disk := &failingDisk{at: at, err: fault}
				got, err := load(disk, scratch)
				left, dirErr := os.ReadDir(scratch)
				if dirErr != nil || len(left) != 0 {
					t.Fatalf("operation %d, %s: %v is left, error %v", at, disk.failed, left, dirErr)
				}
				if disk.failed == "" {
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("%d operations", at)
					return
				}
				if err == nil && (fault != errShort || got != whole.content) {
					t.Fatalf("operation %d, %s: no error", at, disk.failed)
				}
				if err == nil {
					continue
				}
				var known *store.Error
				if !errors.As(err, &known) || fault != errShort && !errors.Is(err, fault) || fault == syscall.ENOSPC &&
					!errors.Is(err, store.ErrFull) {
					t.Fatalf("operation %d, %s: error is %v", at, disk.failed, err)
				}
			}
		})
	}
}

// TestCancelStopsTheLoad cancels at every phase.
func TestCancelStopsTheLoad(t *testing.T) {
	var text strings.Builder
	for i := range progressStatements + 1000 {
		fmt.Fprintf(&text, "s%d\tis\to%d\n", i%5000, i)
	}
	for _, phase := range []Phase{Read, Sort, Write, Encode} {
		scratch := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		reached := false
		l := New(Options{KG: "test", Scratch: scratch, Memory: 1 << 22, Progress: func(p Progress) {
			if p.Phase == phase {
				reached = true
				cancel()
			}
		}})
		err := l.Read(ctx, "x.tsv", TSV, strings.NewReader(text.String()))
		if err == nil {
			_, err = l.Finish(ctx, &recordingTarget{}, storetest.HashEncoder(2))
		}
		if !reached || !errors.Is(err, context.Canceled) {
			t.Errorf("phase %d: reached %v, error %v", phase, reached, err)
		}
		if left, err := os.ReadDir(scratch); err != nil || len(left) != 0 {
			t.Errorf("phase %d: %v is left, error %v", phase, left, err)
		}
		if err := l.Read(t.Context(), "x.tsv", TSV, strings.NewReader("a\tis\tb\n")); !errors.Is(err,
			store.ErrInvalid) {
			t.Errorf("phase %d: a load that is over reads on: %v", phase, err)
		}
		cancel()
	}
}

var _ io.ReaderAt = &spool{}
