package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// buildPrefix marks a snapshot that is not whole yet.
const buildPrefix = ".building-"

// Write implements store.Writer. The snapshot is built in a directory of its
// own, synced, and renamed into place; until then nobody sees it.
func (s *Store) Write(ctx context.Context, kg string, content store.Content) (store.Info, error) {
	m, err := s.write(ctx, kg, content)
	if err != nil {
		return store.Info{}, wrap("build", kg, 0, err)
	}
	return m.info(), nil
}

func (s *Store) write(ctx context.Context, kg string, content store.Content) (m manifest, err error) {
	if err := checkName(kg); err != nil {
		return m, err
	}
	held, err := gather(ctx, content)
	if err != nil {
		return m, err
	}
	if err := check(held); err != nil {
		return m, err
	}
	dir := s.kgDir(kg)
	if err := s.disk.MkdirAll(dir); err != nil {
		return m, fmt.Errorf("make %s: %w", dir, full(err))
	}
	// Whatever goes wrong from here on, a knowledge graph that has no
	// snapshot leaves no directory.
	defer func() {
		if err != nil {
			s.removeEmpty(kg)
		}
	}()
	building, err := os.MkdirTemp(dir, buildPrefix)
	if err != nil {
		return m, full(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.disk.RemoveAll(building))
		}
	}()
	// Temporary directories are for their maker alone; snapshots are for all.
	if err := os.Chmod(building, 0o755); err != nil {
		return m, err
	}
	locked, err := hold(building)
	if err != nil {
		return m, err
	}
	defer locked.Close()

	f := &folder{disk: s.disk, dir: building, sums: map[string]fileSum{}}
	if err := writeContent(ctx, f, held); err != nil {
		return m, err
	}
	return s.commit(ctx, kg, f, held)
}

// commit numbers a built snapshot and moves it into place.
func (s *Store) commit(ctx context.Context, kg string, f *folder, content gathered) (manifest, error) {
	unlock, err := s.lock(ctx, kg)
	if err != nil {
		return manifest{}, err
	}
	defer unlock()
	s.sweep(kg)
	numbers, err := s.numbers(kg)
	if err != nil {
		return manifest{}, err
	}
	number := uint64(1)
	if len(numbers) > 0 {
		number = numbers[0] + 1
	}
	m, err := f.seal(newManifest(kg, number, content, s.now()))
	if err != nil {
		return m, err
	}
	if err := s.disk.Rename(f.dir, s.snapshotDir(kg, number)); err != nil {
		return m, full(err)
	}
	if err := s.disk.SyncDir(s.kgDir(kg)); err != nil {
		return m, errors.Join(full(err), s.disk.RemoveAll(s.snapshotDir(kg, number)))
	}
	return m, nil
}

// hold locks a directory for as long as this process builds in it.
func hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes what builds left behind whose process is gone.
func (s *Store) sweep(kg string) {
	left, err := filepath.Glob(filepath.Join(s.kgDir(kg), buildPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		held, err := hold(dir)
		if err != nil {
			continue // somebody builds in it
		}
		_ = s.disk.RemoveAll(dir)
		_ = held.Close()
	}
}

// numbers lists a knowledge graph's snapshots, newest first.
func (s *Store) numbers(kg string) ([]uint64, error) {
	entries, err := os.ReadDir(s.kgDir(kg))
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, e := range entries {
		if n, err := strconv.ParseUint(e.Name(), 10, 64); err == nil && n > 0 && !strings.HasPrefix(e.Name(), "0") {
			numbers = append(numbers, n)
		}
	}
	descending(numbers)
	return numbers, nil
}

// removeEmpty removes a knowledge graph's directory if nothing is in it but
// the lock.
func (s *Store) removeEmpty(kg string) {
	entries, err := os.ReadDir(s.kgDir(kg))
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Name() != lockName {
			return
		}
	}
	_ = s.disk.RemoveAll(s.kgDir(kg))
}
