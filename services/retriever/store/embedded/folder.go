package embedded

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// folder writes a snapshot's files and keeps their checksums.
type folder struct {
	disk  disk
	dir   string
	sums  map[string]fileSum
	pages map[string][]byte
	open  map[*output]struct{}
	// memory is how much each sorter of a build may hold.
	memory int
}

func newFolder(d disk, dir string) *folder {
	return &folder{disk: d, dir: dir, sums: map[string]fileSum{}, pages: map[string][]byte{},
		open: map[*output]struct{}{}, memory: sortMemory}
}

// output is a file being written.
type output struct {
	*bufio.Writer
	folder *folder
	name   string
	file   file
	hash   hash.Hash
	pages  pageSummer
	bytes  int64
}

// create begins a file. It must be closed, or the folder abandoned.
func (f *folder) create(name string) (*output, error) {
	out, err := f.disk.Create(filepath.Join(f.dir, name))
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, markDiskFull(err))
	}
	o := &output{folder: f, name: name, file: out, hash: sha256.New()}
	o.Writer = bufio.NewWriterSize((*checksumWriter)(o), 1<<18)
	f.open[o] = struct{}{}
	return o, nil
}

// close sees a file onto the disk and keeps its sums.
func (o *output) close() error {
	err := o.Flush()
	if err == nil {
		err = o.file.Sync()
	}
	if closeErr := o.file.Close(); err == nil {
		err = closeErr
	}
	delete(o.folder.open, o)
	if err != nil {
		return fmt.Errorf("write %s: %w", o.name, markDiskFull(err))
	}
	o.folder.sums[o.name] = fileSum{Bytes: o.bytes, SHA256: hex.EncodeToString(o.hash.Sum(nil))}
	o.folder.pages[o.name] = o.pages.Sums()
	return nil
}

// checksumWriter hashes and counts what passes through. A short write without an error is one.
type checksumWriter output

func (s *checksumWriter) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.hash.Write(p[:n])
	_, _ = s.pages.Write(p[:n])
	s.bytes += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return n, fmt.Errorf("write %s: %w", s.name, markDiskFull(err))
	}
	return n, nil
}

// abandon closes what is still open after an error.
func (f *folder) abandon() {
	for o := range f.open {
		_ = o.file.Close()
	}
	clear(f.open)
}

// write makes one file of whatever fill writes.
func (f *folder) write(name string, fill func(io.Writer) error) error {
	o, err := f.create(name)
	if err != nil {
		return err
	}
	if err := fill(o); err != nil {
		return err
	}
	return o.close()
}

// columnWriter writes a column of packed numbers.
type columnWriter struct {
	*packedWriter
	out *output
}

func (f *folder) column(name string, width int) (*columnWriter, error) {
	o, err := f.create(name)
	if err != nil {
		return nil, err
	}
	return &columnWriter{newPackedWriter(o, width), o}, nil
}

func (c *columnWriter) close() error {
	return errors.Join(c.Close(), c.out.close())
}

// writeManifest writes the sums of the pages, the manifest and its checksum, the last
// files of a snapshot.
func (f *folder) writeManifest(m manifest) (manifest, error) {
	m.Files = f.sums
	names := m.names()
	last := newFolder(f.disk, f.dir)
	defer last.abandon()
	if err := last.write(pagesFile, func(w io.Writer) error {
		for _, name := range names {
			if _, err := w.Write(f.pages[name]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return m, err
	}
	m.Files[pagesFile] = last.sums[pagesFile]
	data, err := m.encode()
	if err != nil {
		return m, err
	}
	if err := last.write(manifestName, writeBytes(data)); err != nil {
		return m, err
	}
	if err := last.write(sumName, writeBytes(sumLine(data))); err != nil {
		return m, err
	}
	if err := f.disk.SyncDir(f.dir); err != nil {
		return m, fmt.Errorf("sync %s: %w", f.dir, markDiskFull(err))
	}
	return m, nil
}

func writeBytes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// writeColumn writes numbers held in memory.
func writeColumn[T ~uint32 | ~uint64 | ~int](f *folder, name string, width int, values []T) error {
	c, err := f.column(name, width)
	if err != nil {
		return err
	}
	for _, v := range values {
		if err := c.Add(uint64(v)); err != nil {
			return err
		}
	}
	return c.close()
}

// disk is the part of the file system that builds use; tests inject failures into it.
type disk interface {
	MkdirAll(path string) error
	Create(path string) (file, error)
	Rename(from, to string) error
	RemoveAll(path string) error
	// SyncDir makes renames within a directory durable.
	SyncDir(path string) error
}

type file interface {
	io.WriteCloser
	Sync() error
}

type osDisk struct{}

func (osDisk) MkdirAll(path string) error       { return os.MkdirAll(path, 0o755) }
func (osDisk) Create(path string) (file, error) { return os.Create(path) }
func (osDisk) Rename(from, to string) error     { return os.Rename(from, to) }
func (osDisk) RemoveAll(path string) error      { return os.RemoveAll(path) }

func (osDisk) SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// mkdirDurable makes a directory and those it lies in, which are there after a power cut too: a
// snapshot that is synced is lost all the same with the name of a directory that is not.
func mkdirDurable(d disk, dir string) error {
	var made []string
	for path := dir; ; path = filepath.Dir(path) {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			break
		}
		made = append(made, path)
	}
	if err := d.MkdirAll(dir); err != nil {
		return err
	}
	for _, path := range made {
		if err := d.SyncDir(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return nil
}

// markDiskFull marks errors of a disk that has no room.
func markDiskFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return errors.Join(store.ErrFull, err)
	}
	return err
}
