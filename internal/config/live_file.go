package config

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// liveFileInterval is the least time between two checks whether a file has changed.
const liveFileInterval = time.Second

// maxLiveFileBytes bounds a file: a larger one was configured by mistake.
const maxLiveFileBytes = 16 << 20

// LiveFile is the content of a file that may change while the program runs, such as tokens and keys
// that are renewed from outside, as of the last successful read. It is safe for concurrent use and
// needs no goroutine: Get checks at most once a second whether the file has changed.
type LiveFile[T any] struct {
	path  string
	parse func([]byte) (T, error)
	log   *slog.Logger
	value atomic.Pointer[T]

	mu        sync.Mutex
	checked   time.Time
	stat      os.FileInfo // of the version last read; nil if the file could not be opened
	lastError string      // the error last logged; empty after a successful read
}

// OpenLiveFile reads a file and returns the error if it cannot be used. Later errors are logged, and
// the previous content stays in force until a read succeeds.
func OpenLiveFile[T any](path string, parse func([]byte) (T, error), log *slog.Logger) (*LiveFile[T], error) {
	f := &LiveFile[T]{path: path, parse: parse, log: log, checked: time.Now()}
	if err := f.load(); err != nil {
		return nil, err
	}
	return f, nil
}

// Get returns the content, up to a second old.
func (f *LiveFile[T]) Get() T {
	// While another goroutine reads the file, the previous content is returned.
	if f.mu.TryLock() {
		if now := time.Now(); now.Sub(f.checked) >= liveFileInterval {
			f.checked = now
			f.reload()
		}
		f.mu.Unlock()
	}
	return *f.value.Load()
}

// reload reads the file if it is not the version last read.
func (f *LiveFile[T]) reload() {
	info, err := os.Stat(f.path)
	if err == nil && f.stat != nil && os.SameFile(info, f.stat) && info.ModTime().Equal(f.stat.ModTime()) &&
		info.Size() == f.stat.Size() {
		return
	}
	if err = f.load(); err == nil {
		if f.lastError != "" {
			f.log.Info(logReloaded, "file", f.path)
		}
		f.lastError = ""
		return
	}
	if f.lastError != err.Error() {
		f.log.Error(logReloadFailed, "file", f.path, "error", err)
		f.lastError = err.Error()
	}
}

func (f *LiveFile[T]) load() (err error) {
	in, err := os.Open(f.path)
	if err != nil {
		f.stat = nil
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	// Stat before reading, so that a change in between is found by the next check.
	if f.stat, err = in.Stat(); err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(in, maxLiveFileBytes+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxLiveFileBytes:
		return fmt.Errorf("read %s: it is larger than %d MiB", f.path, maxLiveFileBytes>>20)
	}
	value, err := f.parse(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	f.value.Store(&value)
	return nil
}

// ReplaceFile replaces a file by data, like ReplaceFileFunc.
func ReplaceFile(path string, mode os.FileMode, data []byte) error {
	_, err := ReplaceFileFunc(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return err
}

// ReplaceFileFunc fills a temporary file beside path, syncs it and renames it to path: readers see
// the old file or the new one, and a failure leaves the old one. mode is the mode of the new file.
// The temporary file of a killed process begins with a dot and ends in ".part-" and a number.
// It returns the size in bytes.
func ReplaceFileFunc(path string, mode os.FileMode, fill func(io.Writer) error) (size int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	out := bufio.NewWriterSize(f, 1<<16)
	if err := errors.Join(fill(out), out.Flush(), f.Chmod(mode), f.Sync()); err != nil {
		return 0, errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return 0, err
	}
	// The file is there; a file system that cannot sync a directory keeps it as well as it can.
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return info.Size(), nil
}
