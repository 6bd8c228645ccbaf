package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

const (
	currentName = "CURRENT"
	lockName    = ".lock"
)

// currentFormat is incremented when the meaning of CURRENT changes. Every format keeps the
// existing fields and the way the checksum is computed.
const currentFormat = 1

// current is the content of CURRENT.
type current struct {
	// Format is 0 if a program older than this field wrote the file.
	Format int `json:"format,omitempty"`
	// Active is the snapshot that questions read, 0 for none.
	Active uint64 `json:"active"`
	// Previous are the ones that were active before, oldest first.
	Previous []uint64 `json:"previous,omitempty"`
	// Sum is the checksum of the rest: one flipped bit turns 3 into 2, which may
	// exist too. It is empty if a program older than this field wrote the file.
	Sum string `json:"sum,omitempty"`
}

// sum returns the first 16 hex digits of the SHA-256 of the other fields.
func (c current) sum() string {
	said := fmt.Append(nil, c.Active, c.Previous)
	if c.Format > 0 {
		said = fmt.Append(said, c.Format)
	}
	return hexSum(said)[:16]
}

func (s *Store) readCurrent(kg string) (current, error) {
	data, err := os.ReadFile(filepath.Join(s.kgDir(kg), currentName))
	if errors.Is(err, os.ErrNotExist) {
		return current{}, nil
	}
	if err != nil {
		return current{}, err
	}
	var c current
	if err := json.Unmarshal(data, &c); err != nil {
		return current{}, fmt.Errorf("read %s (activate a snapshot to rewrite it): %w: %w", currentName,
			store.ErrCorrupt, err)
	}
	if want := c.sum(); c.Sum != "" && c.Sum != want {
		return current{}, fmt.Errorf("checksum of %s: got %s, want %s (activate a snapshot to rewrite it): %w",
			currentName, want, c.Sum, store.ErrCorrupt)
	}
	if c.Format > currentFormat {
		return current{}, fmt.Errorf("%s is of format %d, this program reads %d; use a newer triplemesh: %w",
			currentName, c.Format, currentFormat, store.ErrFormat)
	}
	return c, nil
}

// writeCurrent replaces CURRENT atomically.
func (s *Store) writeCurrent(kg string, c current) error {
	c.Format = currentFormat
	c.Sum = c.sum()
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	dir := s.kgDir(kg)
	f := newFolder(s.disk, dir)
	defer f.abandon()
	next := currentName + ".next"
	err = f.write(next, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
	if err == nil {
		err = markDiskFull(s.disk.Rename(filepath.Join(dir, next), filepath.Join(dir, currentName)))
	}
	if err != nil {
		return errors.Join(err, s.disk.RemoveAll(filepath.Join(dir, next)))
	}
	return markDiskFull(s.disk.SyncDir(dir))
}

// activate returns c with number active and the snapshot before it in Previous.
func (c current) activate(number uint64) current {
	previous := slices.DeleteFunc(slices.Clone(c.Previous), func(n uint64) bool { return n == number })
	if c.Active != 0 && c.Active != number {
		previous = append(previous, c.Active)
	}
	return current{Active: number, Previous: previous}
}

// lock keeps other goroutines and processes from changing a knowledge graph.
func (s *Store) lock(ctx context.Context, kg string) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.changing.Lock()
	f, err := os.OpenFile(filepath.Join(s.kgDir(kg), lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err == nil {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		s.changing.Unlock()
		return nil, fmt.Errorf("lock: %w", markDiskFull(err))
	}
	return func() {
		// Closing releases the lock.
		_ = f.Close()
		s.changing.Unlock()
	}, nil
}
