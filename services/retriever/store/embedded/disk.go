package embedded

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// disk is what building needs of the file system, so that tests can let it
// fail.
type disk interface {
	MkdirAll(path string) error
	Create(path string) (file, error)
	Rename(from, to string) error
	RemoveAll(path string) error
	// SyncDir makes renames within a directory last.
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

// makeToLast makes a directory and those it lies in, which are there after a
// power cut too: a snapshot that is synced is lost all the same with the name of
// a directory that is not.
func makeToLast(d disk, dir string) error {
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

// full marks errors of a disk that has no room.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return errors.Join(store.ErrFull, err)
	}
	return err
}
