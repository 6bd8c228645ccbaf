// Package livefile reads files that may change while the program runs, such as
// tokens and keys that somebody else renews.
package livefile

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// every is the least time between two looks at whether a file has changed.
const every = time.Second

// maxBytes bounds a file: what is longer was named by mistake.
const maxBytes = 16 << 20

// File is a file as it was last read without a mistake. It is safe for
// concurrent use and runs nothing in the background: whoever asks for what the
// file holds looks, at most once a second, whether it is still the same.
type File[T any] struct {
	path  string
	parse func([]byte) (T, error)
	log   *slog.Logger
	good  atomic.Pointer[T]

	mu     sync.Mutex
	looked time.Time
	seen   os.FileInfo // nil where the file could not be read
	said   string      // the last mistake that was logged
}

// Open reads a file. The error is why it cannot be used; later mistakes are
// logged, and what was read before holds until they are mended.
func Open[T any](path string, parse func([]byte) (T, error), log *slog.Logger) (*File[T], error) {
	f := &File[T]{path: path, parse: parse, log: log, looked: time.Now()}
	if err := f.read(); err != nil {
		return nil, err
	}
	return f, nil
}

// Get is what the file holds; up to a second old.
func (f *File[T]) Get() T {
	// Whoever finds another looking goes on with what there is.
	if f.mu.TryLock() {
		if now := time.Now(); now.Sub(f.looked) >= every {
			f.looked = now
			f.look()
		}
		f.mu.Unlock()
	}
	return *f.good.Load()
}

// look reads the file where it is no longer the one that was read.
func (f *File[T]) look() {
	info, err := os.Stat(f.path)
	if err == nil && f.seen != nil && os.SameFile(info, f.seen) && info.ModTime().Equal(f.seen.ModTime()) && info.Size() == f.seen.Size() {
		return
	}
	if err = f.read(); err == nil {
		if f.said != "" {
			f.log.Info("a file can be used again", "file", f.path)
		}
		f.said = ""
		return
	}
	if f.said != err.Error() {
		f.log.Error("a file cannot be used: what it held before still holds", "file", f.path, "error", err)
		f.said = err.Error()
	}
}

func (f *File[T]) read() (err error) {
	in, err := os.Open(f.path)
	if err != nil {
		f.seen = nil
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	// What it looked like is taken before it is read, so that a change in
	// between is found at the next look.
	if f.seen, err = in.Stat(); err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxBytes:
		return fmt.Errorf("read %s: it is larger than %d MiB", f.path, maxBytes>>20)
	}
	value, err := f.parse(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	f.good.Store(&value)
	return nil
}
