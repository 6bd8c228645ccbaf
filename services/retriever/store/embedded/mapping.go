package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// mapping is a snapshot's files in memory. It counts its users and unmaps when
// the last one is gone.
type mapping struct {
	dir      string
	manifest manifest
	// sum is the manifest's checksum.
	sum    string
	data   map[string][]byte
	files  map[string]*pageFile
	stamps map[string]stamp
	// folder is the directory, held open: looking at a file in it costs less
	// than by its path, and every question does.
	folder int
	users  atomic.Int64
}

// stamp identifies the version of a file: it differs if the file changed since it was mapped.
type stamp struct {
	inode    uint64
	size     int64
	modified unix.Timespec
}

// mapFiles maps a snapshot. Of its files only the manifest and the checksums of the pages are read;
// pages are compared when they are first needed. The caller is its first user.
func mapFiles(dir string) (*mapping, error) {
	if !isLittleEndian() {
		return nil, errors.New("snapshots are little-endian; this machine is not")
	}
	man, sum, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	m := &mapping{dir: dir, manifest: man, sum: sum, data: map[string][]byte{}, files: map[string]*pageFile{},
		stamps: map[string]stamp{}}
	m.users.Store(1)
	if m.folder, err = unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if err := m.open(); err != nil {
		m.release()
		return nil, err
	}
	return m, nil
}

func (m *mapping) open() error {
	for _, name := range []string{manifestName, sumName} {
		s, err := m.stamp(name)
		if err != nil {
			return missingFile(&fs.PathError{Op: "stat", Path: name, Err: err})
		}
		m.stamps[name] = s
	}
	for name, want := range m.manifest.Files {
		var err error
		if m.data[name], m.stamps[name], err = mapFile(filepath.Join(m.dir, name), want.Bytes); err != nil {
			return err
		}
	}
	return m.openPages()
}

// openPages puts before each file the checksums of its pages.
func (m *mapping) openPages() error {
	want, ok := m.manifest.Files[pagesFile]
	if !ok {
		return fmt.Errorf("the manifest does not name %s: %w", pagesFile, store.ErrCorrupt)
	}
	sums := m.data[pagesFile]
	if err := compareSum(context.Background(), pagesFile, sums, want.SHA256); err != nil {
		return err
	}
	for _, name := range m.manifest.names() {
		n := int(pageCount(int64(len(m.data[name]))) * pageSumSize)
		if n > len(sums) {
			return fmt.Errorf("%s ends before %s: %w", pagesFile, name, store.ErrCorrupt)
		}
		file, err := newPageFile(name, m.data[name], sums[:n])
		if err != nil {
			return err
		}
		file.SetErrorContext(func(err error) error {
			return store.WrapError("read", m.manifest.KG, m.manifest.Number, err)
		})
		m.files[name], sums = file, sums[n:]
	}
	if len(sums) > 0 {
		return fmt.Errorf("%s has %d bytes too many: %w", pagesFile, len(sums), store.ErrCorrupt)
	}
	return nil
}

// stamp looks at a file of the directory.
func (m *mapping) stamp(name string) (stamp, error) {
	var s unix.Stat_t
	err := unix.Fstatat(m.folder, name, &s, 0)
	return stampOf(&s), err
}

func stampOf(s *unix.Stat_t) stamp { return stamp{inode: s.Ino, size: s.Size, modified: s.Mtim} }

func mapFile(path string, want int64) ([]byte, stamp, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, stamp{}, missingFile(err)
	}
	defer f.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return nil, stamp{}, fmt.Errorf("look at %s: %w", filepath.Base(path), err)
	}
	if stat.Size != want {
		return nil, stamp{}, fmt.Errorf("%s has %d bytes, want %d; load the files again: %w", filepath.Base(path),
			stat.Size, want, store.ErrCorrupt)
	}
	if want == 0 {
		return nil, stampOf(&stat), nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(want), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, stamp{}, fmt.Errorf("map %s: %w", filepath.Base(path), err)
	}
	return data, stampOf(&stat), nil
}

// verify compares the checksum of every file, and of every page, several files at once.
func (m *mapping) verify(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for name, want := range m.manifest.Files {
		group.Go(func() error {
			return store.Guard(func() error {
				if err := compareSum(ctx, name, m.data[name], want.SHA256); err != nil || name == pagesFile {
					return err
				}
				return m.files[name].Touch(0, want.Bytes)
			})
		})
	}
	return group.Wait()
}

// isStale reports whether a file changed on disk since it was mapped, or another
// directory stands in its place.
func (m *mapping) isStale() bool {
	var there, held unix.Stat_t
	if unix.Stat(m.dir, &there) != nil || unix.Fstat(m.folder, &held) != nil || there.Ino != held.Ino ||
		there.Dev != held.Dev {
		return true
	}
	for name, want := range m.stamps {
		if got, err := m.stamp(name); err != nil || got != want {
			return true
		}
	}
	return false
}

// retain adds a user. The caller must know that there is one.
func (m *mapping) retain() { m.users.Add(1) }

func (m *mapping) release() {
	if m.users.Add(-1) > 0 {
		return
	}
	_ = unix.Close(m.folder)
	for _, data := range m.data {
		if data != nil {
			// Nothing can be done about a failing unmap, and nothing refers to the memory any more.
			_ = unix.Munmap(data)
		}
	}
}
