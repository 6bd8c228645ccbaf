package source

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// zstdWindow is the largest window of a zstd archive in bytes, which is what it
// holds in memory.
const zstdWindow = 128 << 20

// Dumps of graphs are some ten to sixty times as large unpacked. One that is
// more than maxRatio times as large, once it has given freely bytes, was made to
// fill a disk.
const (
	maxRatio = 200
	freely   = 256 << 20
)

// archive is a way to pack a file.
type archive struct {
	name, ending string
	begins       func(head []byte) bool
	open         func(io.Reader) (io.ReadCloser, error)
}

// headBytes are enough to tell any archive.
const headBytes = 10

var archives = []archive{
	{"gzip", ".gz", magic("\x1f\x8b\x08"), func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"bzip2", ".bz2", isBzip2, func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }},
	{"zstd", ".zst", magic("\x28\xb5\x2f\xfd"), openZstd},
}

func magic(bytesOf string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(bytesOf)) }
}

// isBzip2 looks also at what follows the header, the start of a block or of the
// end, since a text may well begin with "BZh9".
func isBzip2(head []byte) bool {
	return len(head) == headBytes && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9' &&
		(string(head[4:]) == "1AY&SY" || string(head[4:]) == "\x17\x72\x45\x38\x50\x90")
}

func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// Unpack reads a file that may be a gzip, bzip2 or zstd archive, told by its
// first bytes. A name that promises an archive which the bytes are not is an
// error. Errors of a broken archive are PlaceErrors; those of r are handed on.
func Unpack(name string, r io.Reader) (io.ReadCloser, error) {
	from := &packed{r: r}
	in := bufio.NewReaderSize(from, 1<<16)
	head, err := in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for _, a := range archives {
		if !a.begins(head) {
			continue
		}
		out := &unpacked{file: name, archive: a.name, from: from}
		if out.plain, err = a.open(in); err != nil {
			return nil, out.fault(err)
		}
		return out, nil
	}
	for _, a := range archives {
		if strings.HasSuffix(strings.ToLower(name), a.ending) {
			return nil, &PlaceError{File: name, Err: fmt.Errorf("the name says %s, but no %s archive begins with %q; rename the file or make it anew", a.name, a.name, head)}
		}
	}
	return io.NopCloser(in), nil
}

// packed counts the bytes of an archive and keeps the error of the way it came
// by.
type packed struct {
	r     io.Reader
	bytes uint64
	err   error
}

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.bytes += uint64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

// unpacked reads what an archive holds.
type unpacked struct {
	file, archive string
	from          *packed
	plain         io.ReadCloser
	bytes         uint64
}

func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.plain.Read(b)
	u.bytes += uint64(n)
	if u.bytes > freely && u.bytes/maxRatio > u.from.bytes {
		return n, &PlaceError{File: u.file, Byte: u.bytes, Err: fmt.Errorf("the %s archive is more than %d times as large unpacked; if that is as it should be, unpack it and load the file", u.archive, maxRatio)}
	}
	if err != nil && err != io.EOF {
		err = u.fault(err)
	}
	return n, err
}

// Close gives back what unpacking took. What it may say of the archive Read has
// said.
func (u *unpacked) Close() error {
	_ = u.plain.Close()
	return nil
}

func (u *unpacked) fault(err error) error {
	if u.from.err != nil {
		return fmt.Errorf("read %s: %w", u.file, u.from.err)
	}
	what := "is corrupt"
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		what = "is cut off"
	}
	return &PlaceError{File: u.file, Byte: u.bytes, Err: fmt.Errorf("the %s archive %s near its byte %d: %w", u.archive, what, u.from.bytes, err)}
}
