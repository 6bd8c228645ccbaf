package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// buildPrefix marks a snapshot that is not whole yet.
const buildPrefix = ".building-"

// Write implements store.Writer. The snapshot is built in a directory of its
// own, synced, and renamed into place; until then no reader sees it.
func (s *Store) Write(ctx context.Context, kg string, content store.Content) (store.Info, error) {
	m, err := s.build(ctx, kg, func(f *folder) (manifest, error) { return buildWhole(ctx, f, content) })
	if err != nil {
		return store.Info{}, store.WrapError("build", kg, 0, err)
	}
	return m.info(), nil
}

// build lets fill write the files of a new snapshot and moves it into place.
// After an error nothing of it remains.
func (s *Store) build(ctx context.Context, kg string, fill func(*folder) (manifest, error)) (m manifest, err error) {
	if err := store.CheckName(kg); err != nil {
		return m, err
	}
	// Whatever goes wrong from here on, a knowledge graph that has no snapshot leaves no directory.
	defer func() {
		if err != nil {
			s.removeEmpty(kg)
		}
	}()
	err = s.withBuildDir(ctx, kg, func(f *folder) error {
		m, err = fill(f)
		if err != nil {
			return err
		}
		m, err = s.commit(ctx, kg, f, m)
		return err
	})
	return m, err
}

// withBuildDir makes a directory in which a snapshot can be built, and removes it
// in the end unless it was moved into place.
func (s *Store) withBuildDir(ctx context.Context, kg string, use func(*folder) error) (err error) {
	dir := s.kgDir(kg)
	if err := mkdirDurable(s.disk, dir); err != nil {
		return fmt.Errorf("make %s: %w", dir, markDiskFull(err))
	}
	building, locked, err := s.createBuildDir(ctx, kg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.disk.RemoveAll(building), locked.Close()) }()
	f := newFolder(s.disk, building)
	f.memory = s.memory
	defer f.abandon()
	return use(f)
}

// createBuildDir makes a directory to build in and holds it. Nobody sweeps meanwhile.
func (s *Store) createBuildDir(ctx context.Context, kg string) (dir string, held *os.File, err error) {
	unlock, err := s.lock(ctx, kg)
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	if dir, err = os.MkdirTemp(s.kgDir(kg), buildPrefix); err != nil {
		return "", nil, markDiskFull(err)
	}
	// Temporary directories are for their maker alone; snapshots are for all.
	if err = os.Chmod(dir, 0o755); err == nil {
		held, err = lockDir(dir)
	}
	if err != nil {
		return "", nil, errors.Join(err, s.disk.RemoveAll(dir))
	}
	return dir, held, nil
}

// commit numbers a built snapshot and moves it into place. What it is based on must still be there.
func (s *Store) commit(ctx context.Context, kg string, f *folder, m manifest) (manifest, error) {
	unlock, err := s.lock(ctx, kg)
	if err != nil {
		return manifest{}, err
	}
	defer unlock()
	s.removeOrphans(kg)
	numbers, err := s.numbers(kg)
	if err != nil {
		return manifest{}, err
	}
	if m.Base != nil && !slices.Contains(numbers, m.Base.Number) {
		return manifest{}, fmt.Errorf("its base %d was dropped meanwhile: %w", m.Base.Number, store.ErrNotFound)
	}
	m.KG, m.Number, m.Created = kg, 1, s.now().UTC()
	if len(numbers) > 0 {
		m.Number = numbers[0] + 1
	}
	if m, err = f.writeManifest(m); err != nil {
		return m, err
	}
	if err := s.disk.Rename(f.dir, s.snapshotDir(kg, m.Number)); err != nil {
		return m, markDiskFull(err)
	}
	if err := s.disk.SyncDir(s.kgDir(kg)); err != nil {
		return m, errors.Join(markDiskFull(err), s.disk.RemoveAll(s.snapshotDir(kg, m.Number)))
	}
	return m, nil
}

// lockDir locks a directory for as long as this process builds in it.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// removeOrphans removes the build directories of processes that have ended.
func (s *Store) removeOrphans(kg string) {
	left, err := filepath.Glob(filepath.Join(s.kgDir(kg), buildPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		held, err := lockDir(dir)
		if err != nil {
			continue // another process builds in it
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
	sortDescending(numbers)
	return numbers, nil
}

// removeEmpty removes a knowledge graph's directory if nothing is in it but the lock.
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

// sortMemory is how much a sorter holds; two are at work at a time.
const sortMemory = 256 << 20

// sortingDir is where sorters put what they cannot hold, within a snapshot that is being built.
const sortingDir = "sorting"

// sortOptions are the options of a build's sorters; what names their runs.
func (b *builder) sortOptions(what string) extsort.Options {
	return extsort.Options{
		Dir: filepath.Join(b.dir, sortingDir), Memory: b.memory, Disk: &sortingDisk{disk: b.disk, what: what},
	}
}

// sortingDisk is a build's disk as sorters use it.
type sortingDisk struct {
	disk disk
	what string
	runs int
}

// CreateTemp implements extsort.Disk. The directory is the build's own, so a
// count makes the name one of its own.
func (s *sortingDisk) CreateTemp(dir, _ string) (extsort.File, error) {
	s.runs++
	path := filepath.Join(dir, fmt.Sprintf("%s-%d", s.what, s.runs))
	f, err := s.disk.Create(path)
	if err != nil {
		return nil, err
	}
	return sortedRun{f, path}, nil
}

// Open implements extsort.Disk.
func (s *sortingDisk) Open(path string) (io.ReadCloser, error) { return os.Open(path) }

// Remove implements extsort.Disk.
func (s *sortingDisk) Remove(path string) error { return os.Remove(path) }

// sortedRun is a file of the disk that knows its name.
type sortedRun struct {
	file
	path string
}

// Name implements extsort.File.
func (r sortedRun) Name() string { return r.path }
