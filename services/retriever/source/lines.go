package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// LineFunc reads one line, without its end, into a sink. The line is valid during the call. An
// error makes it a bad line, and what the line gave the sink before stays there.
type LineFunc func(line []byte, to Sink) error

// LineOptions says how to read.
type LineOptions struct {
	// Max is the longest line in bytes; longer ones are bad lines and are not
	// held in memory. 0 means 1 MiB.
	Max int
	// Workers is the number of lines read at once; 0 means one a core.
	Workers int
}

// DefaultMaxLine is the longest line where LineOptions does not say.
const DefaultMaxLine = 1 << 20

// ReadLines passes each line that is not blank to a LineFunc, on all cores with a bounded number of
// lines in memory, and returns how many lines there are, those before in.Start among them. start makes
// one LineFunc for each worker. The sink is called by one goroutine at a time and gets everything in
// the order of the file.
func ReadLines(ctx context.Context, in Input, to Sink, o LineOptions, start func() LineFunc) (uint64, error) {
	if o.Max <= 0 {
		o.Max = DefaultMaxLine
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	p := pool{
		file: in.Name,
		free: make(chan *block, 2*o.Workers), work: make(chan *block, 2*o.Workers),
		inOrder: make(chan *block, 2*o.Workers),
	}
	for range 2 * o.Workers {
		p.free <- &block{done: make(chan struct{}, 1)}
	}
	g, ctx := errgroup.WithContext(ctx)
	var count uint64
	g.Go(func() (err error) {
		defer close(p.work)
		defer close(p.inOrder)
		count, err = p.readBlocks(ctx, in.Reader, o.Max, in.Start)
		return err
	})
	for range o.Workers {
		g.Go(func() error {
			take := start()
			for b := range p.work {
				b.parse(in.Name, take)
				b.done <- struct{}{}
			}
			return nil
		})
	}
	g.Go(func() error { return p.deliver(ctx, in, to) })
	err := g.Wait()
	return count, err
}

// pool is the way of blocks: free, cut, worked on, delivered, free.
type pool struct {
	file                string
	free, work, inOrder chan *block
}

// deliver passes on what the blocks hold, in the order of the file.
func (p *pool) deliver(ctx context.Context, in Input, to Sink) error {
	for b := range p.inOrder {
		select {
		case <-b.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		slices.SortFunc(b.bad, func(x, y *PlaceError) int { return cmp.Compare(x.Line, y.Line) })
		for _, bad := range b.bad {
			if err := in.Reject(bad); err != nil {
				return err
			}
		}
		if err := b.batch.Replay(to); err != nil {
			return err
		}
		if in.Mark != nil && b.end.Bytes > 0 {
			if err := in.Mark(b.end); err != nil {
				return err
			}
		}
		p.free <- b
	}
	return ctx.Err()
}

// block is some whole lines and what is found in them.
type block struct {
	text []byte
	// first is the number of the first line.
	first uint64
	// end is where the block ends; zero within a line that is too long.
	end   Mark
	batch Batch
	bad   []*PlaceError
	done  chan struct{}
}

func (b *block) parse(file string, take LineFunc) {
	number := b.first
	for rest := b.text; len(rest) > 0; number++ {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		line = bytes.TrimSuffix(line, []byte("\r"))
		b.batch.line = number
		if err := readLine(line, &b.batch, take); err != nil {
			b.bad = append(b.bad, &PlaceError{File: file, Line: number, Err: err})
		}
	}
}

func readLine(line []byte, to Sink, take LineFunc) error {
	if len(line) == 0 || len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	if !utf8.Valid(line) {
		return errors.New("the line is not UTF-8")
	}
	return take(line, to)
}

func tooLongError(limit int) error { return fmt.Errorf("the line is longer than %d bytes", limit) }

// Batch is a Sink that keeps what it is given.
type Batch struct {
	statements []Statement
	labels     []label
	aliases    []label
	// line is that of the statements to come.
	line uint64
}

// label is a name or further name of a key.
type label struct {
	key, name string
	rank      int
}

// Statement implements source.Sink.
func (b *Batch) Statement(s Statement) error {
	s.Line = b.line
	b.statements = append(b.statements, s)
	return nil
}

// Label implements source.Sink.
func (b *Batch) Label(key, name string, rank int) error {
	b.labels = append(b.labels, label{key, name, rank})
	return nil
}

// Alias implements source.Sink.
func (b *Batch) Alias(key, name string) error {
	b.aliases = append(b.aliases, label{key: key, name: name})
	return nil
}

// Reset forgets what the batch holds and keeps its memory.
func (b *Batch) Reset() {
	clear(b.statements)
	clear(b.labels)
	clear(b.aliases)
	b.statements, b.labels, b.aliases = b.statements[:0], b.labels[:0], b.aliases[:0]
}

// Replay hands what the batch holds to a sink.
func (b *Batch) Replay(to Sink) error {
	for _, s := range b.statements {
		if err := to.Statement(s); err != nil {
			return err
		}
	}
	for _, l := range b.labels {
		if err := to.Label(l.key, l.name, l.rank); err != nil {
			return err
		}
	}
	for _, a := range b.aliases {
		if err := to.Alias(a.key, a.name); err != nil {
			return err
		}
	}
	return nil
}

// blockBytes is how much is read at once: enough to make the handing over
// cheap, little enough to keep in a core's cache.
const blockBytes = 256 << 10

// readBlocks reads blocks of whole lines and hands them out; it returns the number of lines.
func (p *pool) readBlocks(ctx context.Context, r io.Reader, limit int, start Mark) (count uint64, err error) {
	var rest []byte
	skipping := false
	count = start.Lines
	read := start.Bytes
	for first := read == 0; ; first = false {
		b, err := p.freeBlock(ctx)
		if err != nil {
			return count, err
		}
		b.text, b.first = append(b.text[:0], rest...), count+1
		end, err := fillBlock(r, b)
		if err != nil {
			return count, WithLine(p.file, count+uint64(bytes.Count(b.text, []byte("\n")))+1, err)
		}
		read += int64(len(b.text) - len(rest))
		if first {
			b.text = bytes.TrimPrefix(b.text, []byte("\xef\xbb\xbf"))
		}
		if skipping {
			// What remains of a line that was too long.
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
		b.end = Mark{Bytes: read - int64(len(rest)), Lines: count}
		b.dropLong(p.file, limit)
		if len(rest) > limit {
			skipping, b.end = true, Mark{}
			b.bad = append(b.bad, &PlaceError{File: p.file, Line: count + 1, Err: tooLongError(limit)})
			rest = rest[:0]
		}
		p.inOrder <- b
		p.work <- b
		if end {
			return count, nil
		}
	}
}

// freeBlock takes a free block and empties it.
func (p *pool) freeBlock(ctx context.Context) (*block, error) {
	select {
	case b := <-p.free:
		b.batch.Reset()
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

// fillBlock adds the next bytes of r to a block, as many as it holds already, so that a long line
// is not copied again and again; end reports whether there are no more.
func fillBlock(r io.Reader, b *block) (end bool, err error) {
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

// dropLong empties the lines of a block that are longer than limit; their places are kept as bad.
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
			b.bad = append(b.bad, &PlaceError{File: file, Line: number, Err: tooLongError(limit)})
			line = []byte("\n")
		}
		kept = append(kept, line...)
	}
	b.text = kept
}
