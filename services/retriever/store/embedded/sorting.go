package embedded

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
)

// sortMemory is how much a sorter holds; two are at work at a time.
const sortMemory = 256 << 20

// sortingDir is where sorters put what they cannot hold, within a snapshot
// that is being built.
const sortingDir = "sorting"

// sorting are the options of a build's sorters; what names their runs.
func (b *build) sorting(what string) extsort.Options {
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
