package extsort

import (
	"io"
	"os"
)

// Disk is what sorting needs of a file system, so that tests can let it fail.
type Disk interface {
	// CreateTemp makes a file of a name of its own, as os.CreateTemp does.
	CreateTemp(dir, pattern string) (File, error)
	Open(path string) (io.ReadCloser, error)
	Remove(path string) error
}

// File is a run being written.
type File interface {
	io.WriteCloser
	Name() string
}

type osDisk struct{}

func (osDisk) CreateTemp(dir, pattern string) (File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Remove(path string) error { return os.Remove(path) }
