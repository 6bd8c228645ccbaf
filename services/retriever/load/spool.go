package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
)

// spool is bytes that are written once and then read as often as needed: in
// memory as long as there are few, in a file from then on.
type spool struct {
	scratch *scratch
	kind    string
	limit   int
	// buffer is how much of the file is written or read at once; 0 for
	// spoolBuffer.
	buffer int
	held   []byte
	size   int64

	path string
	file extsort.File
	out  *bufio.Writer
	// opening guards in, which several may want to read from.
	opening sync.Mutex
	in      input
}

// spoolBuffer is how much of a file is written or read at once.
const spoolBuffer = 256 << 10

func (s *spool) bufferSize() int {
	if s.buffer > 0 {
		return s.buffer
	}
	return spoolBuffer
}

// spool returns an empty one that holds up to limit bytes in memory.
func (s *scratch) spool(kind string, limit int) *spool {
	return &spool{scratch: s, kind: kind, limit: limit}
}

// Write implements io.Writer.
func (s *spool) Write(p []byte) (int, error) {
	if s.out == nil && len(s.held)+len(p) > s.limit {
		if err := s.toFile(""); err != nil {
			return 0, err
		}
	}
	s.size += int64(len(p))
	if s.out == nil {
		s.held = append(s.held, p...)
		return len(p), nil
	}
	n, err := s.out.Write(p)
	return n, s.failed("write", err)
}

// toFile moves what is held to a file, of a fresh name where none is given.
func (s *spool) toFile(name string) (err error) {
	if name == "" {
		s.path, err = s.scratch.fresh(s.kind)
	} else {
		s.path, err = s.scratch.path(name)
	}
	if err != nil {
		return err
	}
	if s.file, err = s.scratch.disk.Create(s.path); err != nil {
		return s.failed("make", err)
	}
	s.out = bufio.NewWriterSize(s.file, s.bufferSize())
	_, err = s.out.Write(s.held)
	s.held = nil
	return s.failed("write", err)
}

// done ends the writing.
func (s *spool) done() error {
	if s.out == nil {
		return nil
	}
	err := s.out.Flush()
	if closeErr := s.file.Close(); err == nil {
		err = closeErr
	}
	s.file, s.out = nil, nil
	return s.failed("write", err)
}

// reader reads all bytes from the first on.
func (s *spool) reader() (*bufio.Reader, io.Closer, error) {
	if s.path == "" {
		return bufio.NewReaderSize(bytes.NewReader(s.held), 4096), io.NopCloser(nil), nil
	}
	f, err := s.scratch.disk.Open(s.path)
	if err != nil {
		return nil, nil, s.failed("open", err)
	}
	return bufio.NewReaderSize(f, s.bufferSize()), f, nil
}

// ReadAt implements io.ReaderAt. It is safe for concurrent use.
func (s *spool) ReadAt(p []byte, at int64) (int, error) {
	if s.path == "" {
		return bytes.NewReader(s.held).ReadAt(p, at)
	}
	in, err := s.opened()
	if err != nil {
		return 0, s.failed("open", err)
	}
	n, err := in.ReadAt(p, at)
	if n == len(p) {
		err = nil
	}
	return n, s.failed("read", err)
}

func (s *spool) opened() (in input, err error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.in == nil {
		if s.in, err = s.scratch.disk.Open(s.path); err != nil {
			s.in = nil
		}
	}
	return s.in, err
}

// remove forgets the bytes.
func (s *spool) remove() error {
	s.held = nil
	if s.file != nil {
		_ = s.file.Close() // What it holds is not wanted.
	}
	if s.in != nil {
		_ = s.in.Close() // It was only read.
	}
	s.file, s.out, s.in = nil, nil, nil
	if s.path == "" {
		return nil
	}
	path := s.path
	s.path = ""
	return s.failed("remove", s.scratch.disk.Remove(path))
}

func (s *spool) failed(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("scratch file %s is cut off", s.path)
	}
	return full(fmt.Errorf("%s scratch file %s: %w", doing, s.path, err))
}
