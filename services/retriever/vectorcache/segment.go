package vectorcache

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	keysSuffix    = ".keys"
	vectorsSuffix = ".vectors"
	// newPrefix marks a segment in the making; its creator renames it.
	newPrefix = ".new-"
)

// segment is one pair of files. Names are times, so their order is their age.
type segment struct {
	id            uint32
	name          string
	keys, vectors *os.File
	dims          int
	// records are those known of.
	records int
	// locked says that this process is the writer.
	locked bool
}

func (s *segment) vectorSize() int64 { return 4 * int64(s.dims) }

func (s *segment) bytes() int64 {
	return headerSize + int64(s.records)*(recordSize+s.vectorSize())
}

func (s *segment) close() error { return errors.Join(s.keys.Close(), s.vectors.Close()) }

// openSegment reads the header only. The files are opened for writing, because
// a segment whose writer is gone is taken over.
func openSegment(dir, name string) (_ *segment, err error) {
	s := &segment{name: name}
	open := func(suffix string) (*os.File, error) {
		f, err := os.OpenFile(filepath.Join(dir, name+suffix), os.O_RDWR, 0)
		if errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EROFS) {
			f, err = os.Open(filepath.Join(dir, name+suffix))
		}
		return f, err
	}
	if s.keys, err = open(keysSuffix); err != nil {
		return nil, err
	}
	if s.vectors, err = open(vectorsSuffix); err != nil {
		return nil, errors.Join(err, s.keys.Close())
	}
	header := make([]byte, headerSize)
	if _, err = io.ReadFull(s.keys, header); err == nil {
		s.dims, err = parseHeader(header)
	} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errNoHeader
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// createSegment makes an empty segment that this process has locked. Nobody
// sees it before it is whole.
func createSegment(dir string, dims int, now time.Time) (_ *segment, err error) {
	s := &segment{name: fmt.Sprintf("%020d-%d", now.UnixNano(), os.Getpid()), dims: dims, locked: true}
	made := filepath.Join(dir, newPrefix+s.name)
	defer func() {
		if err != nil {
			_ = os.Remove(made + keysSuffix)
			_ = os.Remove(made + vectorsSuffix)
		}
	}()
	if s.keys, err = os.OpenFile(made+keysSuffix, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644); err != nil {
		return nil, err
	}
	if s.vectors, err = os.OpenFile(made+vectorsSuffix, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644); err != nil {
		return nil, errors.Join(err, s.keys.Close())
	}
	err = unix.Flock(int(s.keys.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_, err = s.keys.Write(appendHeader(nil, dims))
	}
	// The keys come last: a segment is seen by them.
	whole := filepath.Join(dir, s.name)
	if err == nil {
		err = os.Rename(made+vectorsSuffix, whole+vectorsSuffix)
	}
	if err == nil {
		err = os.Rename(made+keysSuffix, whole+keysSuffix)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// lock tries to make this process the segment's writer.
func (s *segment) lock() bool {
	if !s.locked {
		s.locked = unix.Flock(int(s.keys.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
	}
	return s.locked
}

// whole is how many records both files hold in full.
func (s *segment) whole() (int, error) {
	keys, err := s.keys.Stat()
	if err != nil {
		return 0, err
	}
	vectors, err := s.vectors.Stat()
	if err != nil {
		return 0, err
	}
	n := min((keys.Size()-headerSize)/recordSize, vectors.Size()/s.vectorSize())
	return int(max(n, 0)), nil
}

// cut drops what a writer left unfinished; only the segment's writer may.
func (s *segment) cut() error {
	return errors.Join(
		s.keys.Truncate(headerSize+int64(s.records)*recordSize),
		s.vectors.Truncate(int64(s.records)*s.vectorSize()))
}

// append writes vectors first: a record without its vector is never seen.
func (s *segment) append(records, vectors []byte) error {
	if _, err := s.vectors.WriteAt(vectors, int64(s.records)*s.vectorSize()); err != nil {
		return err
	}
	if _, err := s.keys.WriteAt(records, headerSize+int64(s.records)*recordSize); err != nil {
		return err
	}
	s.records += len(records) / recordSize
	return nil
}

// scan calls do with the keys of records from to to, in order.
func (s *segment) scan(from, to int, do func(record int, k key)) error {
	const chunk = 4096
	buffer := make([]byte, chunk*recordSize)
	for from < to {
		n := min(chunk, to-from)
		b := buffer[:n*recordSize]
		if _, err := s.keys.ReadAt(b, headerSize+int64(from)*recordSize); err != nil {
			return err
		}
		for i := range n {
			do(from+i, key(b[i*recordSize:]))
		}
		from += n
	}
	return nil
}

var errDamaged = errors.New("its checksum is wrong")

// read returns the vector of a key, as bytes in the buffer, if the record is
// that key's and is sound.
func (s *segment) read(record int, k key, buffer []byte) error {
	var head [recordSize]byte
	if _, err := s.keys.ReadAt(head[:], headerSize+int64(record)*recordSize); err != nil {
		return err
	}
	if _, err := s.vectors.ReadAt(buffer, int64(record)*s.vectorSize()); err != nil {
		return err
	}
	var want [recordSize]byte
	if string(appendRecord(want[:0], k, buffer)) != string(head[:]) {
		return errDamaged
	}
	return nil
}
