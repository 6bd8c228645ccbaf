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

// spool is bytes that are written once and then read any number of times: in
// memory as long as there are few, in a file from then on.
type spool struct {
	scratch *scratch
	kind    string
	limit   int
	// bufferBytes is how much of the file is written or read at once; 0 for spoolBuffer.
	bufferBytes int
	memory      []byte
	size        int64

	path string
	file extsort.File
	out  *bufio.Writer
	// openMutex guards in, which several may want to read from.
	openMutex sync.Mutex
	in        input
}

// spoolBuffer is how much of a file is written or read at once.
const spoolBuffer = 256 << 10

func (s *spool) bufferSize() int {
	if s.bufferBytes > 0 {
		return s.bufferBytes
	}
	return spoolBuffer
}

// spool returns an empty one that holds up to limit bytes in memory.
func (s *scratch) spool(kind string, limit int) *spool {
	return &spool{scratch: s, kind: kind, limit: limit}
}

func (s *spool) Write(p []byte) (int, error) {
	if s.out == nil && len(s.memory)+len(p) > s.limit {
		if err := s.toFile(""); err != nil {
			return 0, err
		}
	}
	s.size += int64(len(p))
	if s.out == nil {
		s.memory = append(s.memory, p...)
		return len(p), nil
	}
	n, err := s.out.Write(p)
	return n, s.wrapError("write", err)
}

// toFile moves what is held to a file, of a fresh name if none is given.
func (s *spool) toFile(name string) (err error) {
	if name == "" {
		s.path, err = s.scratch.newPath(s.kind)
	} else {
		s.path, err = s.scratch.path(name)
	}
	if err != nil {
		return err
	}
	if s.file, err = s.scratch.disk.Create(s.path); err != nil {
		return s.wrapError("make", err)
	}
	s.out = bufio.NewWriterSize(s.file, s.bufferSize())
	_, err = s.out.Write(s.memory)
	s.memory = nil
	return s.wrapError("write", err)
}

// finish ends the writing.
func (s *spool) finish() error {
	if s.out == nil {
		return nil
	}
	err := s.out.Flush()
	if closeErr := s.file.Close(); err == nil {
		err = closeErr
	}
	s.file, s.out = nil, nil
	return s.wrapError("write", err)
}

// reader reads all bytes from the first on.
func (s *spool) reader() (*bufio.Reader, io.Closer, error) {
	if s.path == "" {
		return bufio.NewReaderSize(bytes.NewReader(s.memory), 4096), io.NopCloser(nil), nil
	}
	f, err := s.scratch.disk.Open(s.path)
	if err != nil {
		return nil, nil, s.wrapError("open", err)
	}
	return bufio.NewReaderSize(f, s.bufferSize()), f, nil
}

// ReadAt implements io.ReaderAt. It is safe for concurrent use.
func (s *spool) ReadAt(p []byte, at int64) (int, error) {
	if s.path == "" {
		return bytes.NewReader(s.memory).ReadAt(p, at)
	}
	in, err := s.openInput()
	if err != nil {
		return 0, s.wrapError("open", err)
	}
	n, err := in.ReadAt(p, at)
	if n == len(p) {
		err = nil
	}
	return n, s.wrapError("read", err)
}

func (s *spool) openInput() (in input, err error) {
	s.openMutex.Lock()
	defer s.openMutex.Unlock()
	if s.in == nil {
		if s.in, err = s.scratch.disk.Open(s.path); err != nil {
			s.in = nil
		}
	}
	return s.in, err
}

// remove forgets the bytes.
func (s *spool) remove() error {
	s.memory = nil
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
	return s.wrapError("remove", s.scratch.disk.Remove(path))
}

func (s *spool) wrapError(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("scratch file %s is cut off", s.path)
	}
	return markDiskFull(fmt.Errorf("%s scratch file %s: %w", doing, s.path, err))
}
