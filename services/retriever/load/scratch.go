package load

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// disk is what building needs of the file system, so that tests can let it
// fail.
type disk interface {
	MkdirAll(dir string) error
	Create(path string) (extsort.File, error)
	// Append opens a file to write at its end.
	Append(path string) (extsort.File, error)
	CreateTemp(dir, pattern string) (extsort.File, error)
	Open(path string) (input, error)
	Remove(path string) error
	RemoveAll(dir string) error
}

// input is a scratch file being read.
type input interface {
	io.ReadCloser
	io.ReaderAt
}

type osDisk struct{}

func (osDisk) MkdirAll(dir string) error  { return os.MkdirAll(dir, 0o700) }
func (osDisk) Remove(path string) error   { return os.Remove(path) }
func (osDisk) RemoveAll(dir string) error { return os.RemoveAll(dir) }

func (osDisk) Create(path string) (extsort.File, error) {
	return opened(os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600))
}

func (osDisk) Append(path string) (extsort.File, error) {
	return opened(os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600))
}

func (osDisk) CreateTemp(dir, pattern string) (extsort.File, error) {
	return opened(os.CreateTemp(dir, pattern))
}

func opened(f *os.File, err error) (extsort.File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Open(path string) (input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// full marks errors of a disk that has no room.
func full(err error) error {
	if errors.Is(err, store.ErrFull) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return errors.Join(store.ErrFull, err)
	}
	return err
}

// scratch is the directory of a load's files. It is made when the first file
// is.
type scratch struct {
	disk disk
	// parent is where a directory of its own is made, or dir where it is known
	// beforehand.
	parent, dir string
	mu          sync.Mutex
	made        bool
	names       int
}

// path makes the directory and returns the path of a file in it.
func (s *scratch) path(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.made {
		if s.dir == "" {
			// Two loads at once must not share files.
			s.dir = filepath.Join(s.parent, fmt.Sprintf("triplemesh-load-%d-%p", os.Getpid(), s))
		}
		if err := s.disk.MkdirAll(s.dir); err != nil {
			return "", full(fmt.Errorf("make the directory for scratch files: %w", err))
		}
		s.made = true
	}
	return filepath.Join(s.dir, name), nil
}

// fresh returns the path of a file that is not there yet.
func (s *scratch) fresh(kind string) (string, error) {
	s.mu.Lock()
	s.names++
	name := fmt.Sprintf("%s-%d", kind, s.names)
	s.mu.Unlock()
	return s.path(name)
}

// removeAll removes the directory and all in it.
func (s *scratch) removeAll() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.made {
		return nil
	}
	if err := s.disk.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove scratch files: %w", err)
	}
	s.made = false
	return nil
}

// sorting says how sorters may use the directory.
func (s *scratch) sorting(memory int) extsort.Options {
	return extsort.Options{Memory: memory, Disk: sortingDisk{s}}
}

// sortingDisk puts the runs of sorters into the scratch directory.
type sortingDisk struct{ s *scratch }

func (d sortingDisk) CreateTemp(_, pattern string) (extsort.File, error) {
	path, err := d.s.path(pattern)
	if err != nil {
		return nil, err
	}
	return d.s.disk.CreateTemp(filepath.Dir(path), pattern)
}

func (d sortingDisk) Open(path string) (io.ReadCloser, error) { return d.s.disk.Open(path) }
func (d sortingDisk) Remove(path string) error                { return d.s.disk.Remove(path) }
