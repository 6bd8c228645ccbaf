// Package lines reads files of one statement or entity a line: on all cores, in
// order, with a bounded number of lines in memory.
package lines

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"golang.org/x/sync/errgroup"
)

// Take reads one line, without its end, into a sink. The line is valid during
// the call. An error makes it a bad line, and what the line gave the sink
// before stays there.
type Take func(line []byte, to source.Sink) error

// Options says how to read.
type Options struct {
	// Max is the longest line in bytes; longer ones are bad lines and are not
	// held in memory. 0 takes 1 MiB.
	Max int
	// Workers is how many lines are read at once; 0 takes one a core.
	Workers int
}

// DefaultMax is the longest line where Options does not say.
const DefaultMax = 1 << 20

// Read hands each line that is not blank to a Take and returns how many lines
// there are, those before in.Start among them. start makes one Take for each
// worker. The sink is called by one goroutine at a time and gets everything in
// the order of the file.
func Read(ctx context.Context, in source.Input, to source.Sink, o Options, start func() Take) (uint64, error) {
	if o.Max <= 0 {
		o.Max = DefaultMax
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
		count, err = p.cut(ctx, in.Reader, o.Max, in.Start)
		return err
	})
	for range o.Workers {
		g.Go(func() error {
			take := start()
			for b := range p.work {
				b.read(in.Name, take)
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

// deliver hands on what the blocks hold, in the order of the file.
func (p *pool) deliver(ctx context.Context, in source.Input, to source.Sink) error {
	for b := range p.inOrder {
		select {
		case <-b.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		slices.SortFunc(b.bad, func(x, y *source.PlaceError) int { return cmp.Compare(x.Line, y.Line) })
		for _, bad := range b.bad {
			if err := in.Reject(bad); err != nil {
				return err
			}
		}
		if err := b.found.Replay(to); err != nil {
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
	end   source.Mark
	found Batch
	bad   []*source.PlaceError
	done  chan struct{}
}

func (b *block) read(file string, take Take) {
	number := b.first
	for rest := b.text; len(rest) > 0; number++ {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		line = bytes.TrimSuffix(line, []byte("\r"))
		if err := readLine(line, &b.found, take); err != nil {
			b.bad = append(b.bad, &source.PlaceError{File: file, Line: number, Err: err})
		}
	}
}

func readLine(line []byte, to source.Sink, take Take) error {
	if len(line) == 0 || len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	if !utf8.Valid(line) {
		return errors.New("the line is not UTF-8")
	}
	return take(line, to)
}

func tooLong(limit int) error { return fmt.Errorf("the line is longer than %d bytes", limit) }
