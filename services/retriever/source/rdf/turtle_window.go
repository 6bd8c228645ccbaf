package rdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxToken is the longest name or literal in bytes that is held in memory, more
// than a statement may have, so that the reading continues after one too long.
const maxToken = 16 << 20

// window is the part of a file that is in memory: from where the parser stands.
type window struct {
	r   io.Reader
	buf []byte
	pos int
	// err is what ended the reading; io.EOF for the end of the file.
	err error
	// consumed counts the bytes that were in buf earlier, line those ended before
	// pos, from 1; started is the byte at which that line starts.
	consumed, line, lineStart uint64
}

func newWindow(r io.Reader) *window {
	w := &window{r: r, buf: make([]byte, 0, 1<<16), line: 1}
	w.peek(2)
	w.buf = bytes.TrimPrefix(w.buf, []byte("\xef\xbb\xbf"))
	return w
}

// fill reads some bytes; false if there are none.
func (w *window) fill() bool {
	if w.err != nil {
		return false
	}
	if w.pos > 0 {
		w.consumed += uint64(w.pos)
		w.buf = w.buf[:copy(w.buf, w.buf[w.pos:])]
		w.pos = 0
	}
	if len(w.buf) == cap(w.buf) {
		w.buf = append(make([]byte, 0, 2*cap(w.buf)), w.buf...)
	}
	var n int
	for n == 0 && w.err == nil {
		n, w.err = w.r.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
	}
	return n > 0
}

// peek returns the byte k further on, 0 if the file ends before it.
func (w *window) peek(k int) byte {
	for w.pos+k >= len(w.buf) {
		if !w.fill() {
			return 0
		}
	}
	return w.buf[w.pos+k]
}

// atEnd reports whether nothing remains.
func (w *window) atEnd() bool { return w.pos >= len(w.buf) && !w.fill() }

// advance returns the next n bytes, which are in the window, and continues. The
// slice is valid until the next call.
func (w *window) advance(n int) []byte {
	taken := w.buf[w.pos : w.pos+n]
	for rest, at := taken, w.offset(); ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		rest, at = rest[i+1:], at+uint64(i)+1
		w.line, w.lineStart = w.line+1, at
	}
	w.pos += n
	return taken
}

// skipSpace skips white space and comments.
func (w *window) skipSpace() {
	for {
		switch w.peek(0) {
		case ' ', '\t', '\r':
			w.pos++
		case '\n':
			w.advance(1)
		case '#':
			for c := w.peek(0); c != '\n' && !w.atEnd(); c = w.peek(0) {
				w.pos++
			}
		default:
			return
		}
	}
}

// span returns how many bytes come before one that stop says ends a token.
// Such a byte must come, and within maxToken bytes, or else it is an error.
func (w *window) span(from int, what string, stop func(at []byte) (int, bool)) (int, error) {
	for {
		if n, ok := stop(w.buf[w.pos+from:]); ok {
			return from + n, nil
		} else if from += n; from > maxToken {
			return 0, fmt.Errorf("%s is longer than %d bytes", what, maxToken)
		}
		if !w.fill() {
			return 0, fmt.Errorf("%s has no end", what)
		}
	}
}

// offset is the byte at which the parser stands.
func (w *window) offset() uint64 { return w.consumed + uint64(w.pos) }

// readError is the error of the underlying reader; nil at its end.
func (w *window) readError() error {
	if errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}
