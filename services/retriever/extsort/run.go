package extsort

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// runWriter writes one run.
type runWriter struct {
	out     *bufio.Writer
	scratch []byte
	last    []byte
	records int64
	longest int
}

func newRunWriter(w io.Writer, buffer int) *runWriter {
	return &runWriter{out: bufio.NewWriterSize(w, min(buffer, 1<<20))}
}

func (w *runWriter) flush() error { return w.out.Flush() }

// runReader reads one run.
type runReader struct {
	run
	file io.ReadCloser
	in   *bufio.Reader
	left int64
}

func (o Options) open(r run) (runReader, error) {
	f, err := o.Disk.Open(r.path)
	if err != nil {
		return runReader{}, fmt.Errorf("sort: open run %s: %w", r.path, err)
	}
	return runReader{run: r, file: f, left: r.records}, nil
}

// failed says what went wrong while reading: a run that ends early was not
// written whole.
func (r *runReader) failed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("sort: run %s is cut off, %d of %d records are missing", r.path, r.left, r.records)
	}
	return fmt.Errorf("sort: read run %s: %w", r.path, err)
}
