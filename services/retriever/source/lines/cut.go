package lines

import (
	"bytes"
	"context"
	"io"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// blockBytes is how much is read at once: enough to make the handing over
// cheap, little enough to keep in a core's cache.
const blockBytes = 256 << 10

// cut reads blocks of whole lines and hands them out; it returns the number of
// lines.
func (p *pool) cut(ctx context.Context, r io.Reader, limit int, start source.Mark) (count uint64, err error) {
	var rest []byte
	skipping := false
	count = start.Lines
	read := start.Bytes
	for first := read == 0; ; first = false {
		b, err := p.next(ctx)
		if err != nil {
			return count, err
		}
		b.text, b.first = append(b.text[:0], rest...), count+1
		end, err := fill(r, b)
		if err != nil {
			return count, source.At(p.file, count+uint64(bytes.Count(b.text, []byte("\n")))+1, err)
		}
		read += int64(len(b.text) - len(rest))
		if first {
			b.text = bytes.TrimPrefix(b.text, []byte("\xef\xbb\xbf"))
		}
		if skipping {
			// What is left of a line that was too long.
			i := bytes.IndexByte(b.text, '\n')
			if i < 0 && !end {
				rest = rest[:0]
				p.free <- b
				continue
			}
			skipping = false
			count++
			b.first = count + 1
			if i < 0 {
				i = len(b.text) - 1
			}
			b.text = append(b.text[:0], b.text[i+1:]...)
		}
		rest = rest[:0]
		if !end {
			last := bytes.LastIndexByte(b.text, '\n')
			rest = append(rest, b.text[last+1:]...)
			b.text = b.text[:last+1]
		}
		count += uint64(bytes.Count(b.text, []byte("\n")))
		if n := len(b.text); n > 0 && b.text[n-1] != '\n' {
			count++
		}
		b.end = source.Mark{Bytes: read - int64(len(rest)), Lines: count}
		b.dropLong(p.file, limit)
		if len(rest) > limit {
			skipping, b.end = true, source.Mark{}
			b.bad = append(b.bad, &source.PlaceError{File: p.file, Line: count + 1, Err: tooLong(limit)})
			rest = rest[:0]
		}
		p.inOrder <- b
		p.work <- b
		if end {
			return count, nil
		}
	}
}

// next takes a free block and empties it.
func (p *pool) next(ctx context.Context) (*block, error) {
	select {
	case b := <-p.free:
		b.found.Reset()
		b.bad = b.bad[:0]
		if cap(b.text) > 16*blockBytes {
			// What one long line took is given back.
			b.text = nil
		}
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fill adds the next bytes of r to a block, as many as it holds already, so
// that a long line is not copied again and again; end says that there are no
// more.
func fill(r io.Reader, b *block) (end bool, err error) {
	from := len(b.text)
	more := max(blockBytes, from)
	if cap(b.text)-from < more {
		b.text = append(make([]byte, 0, from+more), b.text...)
	}
	for len(b.text) < from+more {
		n, err := r.Read(b.text[len(b.text) : from+more])
		b.text = b.text[:len(b.text)+n]
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// dropLong empties the lines of a block that are longer than limit; their
// places are kept as bad.
func (b *block) dropLong(file string, limit int) {
	if len(b.text) <= limit {
		return
	}
	kept, number := b.text[:0], b.first
	for rest := b.text; len(rest) > 0; number++ {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]
		if len(bytes.TrimRight(line, "\r\n")) > limit {
			b.bad = append(b.bad, &source.PlaceError{File: file, Line: number, Err: tooLong(limit)})
			line = []byte("\n")
		}
		kept = append(kept, line...)
	}
	b.text = kept
}
