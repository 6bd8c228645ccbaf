package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded/pages"
)

// mapping is a snapshot's files in memory. It counts its users and unmaps when
// the last one is gone.
type mapping struct {
	dir      string
	manifest manifest
	// sum is the manifest's checksum.
	sum    string
	data   map[string][]byte
	files  map[string]*pages.File
	stamps map[string]stamp
	users  atomic.Int64
}

// stamp tells a file that was touched since it was mapped.
type stamp struct {
	size     int64
	modified time.Time
}

// mapFiles maps a snapshot. Of its files only the manifest and the checksums
// of the pages are read; pages are compared when they are first needed. The
// caller is its first user.
func mapFiles(dir string) (*mapping, error) {
	if !littleEndian() {
		return nil, errors.New("snapshots are little-endian; this machine is not")
	}
	man, sum, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	m := &mapping{dir: dir, manifest: man, sum: sum, data: map[string][]byte{}, files: map[string]*pages.File{}, stamps: map[string]stamp{}}
	m.users.Store(1)
	if err := m.open(); err != nil {
		m.release()
		return nil, err
	}
	return m, nil
}

func (m *mapping) open() error {
	for _, name := range []string{manifestName, sumName} {
		info, err := os.Stat(filepath.Join(m.dir, name))
		if err != nil {
			return lost(err)
		}
		m.stamps[name] = stampOf(info)
	}
	for name, want := range m.manifest.Files {
		data, s, err := mapFile(filepath.Join(m.dir, name), want.Bytes)
		if err != nil {
			return err
		}
		m.data[name], m.stamps[name] = data, s
	}
	return m.guardPages()
}

// guardPages puts before each file the checksums of its pages.
func (m *mapping) guardPages() error {
	want, ok := m.manifest.Files[pagesFile]
	if !ok {
		return fmt.Errorf("the manifest does not name %s: %w", pagesFile, store.ErrCorrupt)
	}
	sums := m.data[pagesFile]
	if err := compareSum(context.Background(), pagesFile, sums, want.SHA256); err != nil {
		return err
	}
	for _, name := range m.manifest.names() {
		n := int(pages.Count(int64(len(m.data[name]))) * pages.SumBytes)
		if n > len(sums) {
			return fmt.Errorf("%s ends before %s: %w", pagesFile, name, store.ErrCorrupt)
		}
		file, err := pages.New(name, m.data[name], sums[:n])
		if err != nil {
			return err
		}
		m.files[name], sums = file, sums[n:]
	}
	if len(sums) > 0 {
		return fmt.Errorf("%s has %d bytes too many: %w", pagesFile, len(sums), store.ErrCorrupt)
	}
	return nil
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), modified: info.ModTime()}
}

func mapFile(path string, want int64) ([]byte, stamp, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, stamp{}, lost(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, stamp{}, err
	}
	if info.Size() != want {
		return nil, stamp{}, fmt.Errorf("%s has %d bytes, want %d; load the files again: %w", filepath.Base(path), info.Size(), want, store.ErrCorrupt)
	}
	if want == 0 {
		return nil, stampOf(info), nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(want), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, stamp{}, fmt.Errorf("map %s: %w", filepath.Base(path), err)
	}
	return data, stampOf(info), nil
}

// verify compares the checksum of every file, and of every page, several files
// at once.
func (m *mapping) verify(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for name, want := range m.manifest.Files {
		group.Go(func() error {
			if err := compareSum(ctx, name, m.data[name], want.SHA256); err != nil || name == pagesFile {
				return err
			}
			return m.files[name].Touch(0, want.Bytes)
		})
	}
	return group.Wait()
}

// touched says whether a file changed on disk since it was mapped.
func (m *mapping) touched() bool {
	for name, want := range m.stamps {
		info, err := os.Stat(filepath.Join(m.dir, name))
		if err != nil || stampOf(info) != want {
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
	for _, data := range m.data {
		if data != nil {
			// Nothing can be done about a failing unmap, and nothing refers
			// to the memory any more.
			_ = unix.Munmap(data)
		}
	}
}
