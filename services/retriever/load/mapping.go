package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// mapping leads from the keys' numbers to those of a graph.
type mapping struct {
	*vocabulary
	// entities holds for each key its entity, noEntity if it is none.
	entities  *spool
	relations map[uint32]uint32
}

const noEntity = math.MaxUint32

// writeEntities writes the entity of every key, so that it is found by its place.
func (m *mapping) writeEntities(ctx context.Context, pairs *extsort.Records[[2]uint32]) error {
	m.entities = m.scratch.spool("entities", m.memory/4)
	var next [4]byte
	at := uint32(0)
	write := func(entity uint32) error {
		at++
		binary.NativeEndian.PutUint32(next[:], entity)
		_, err := m.entities.Write(next[:])
		return err
	}
	if err := pairs.Each(ctx, func(p [2]uint32) error {
		for at < p[0] {
			if err := write(noEntity); err != nil {
				return err
			}
		}
		return write(p[1])
	}); err != nil {
		return err
	}
	return m.entities.finish()
}

// cursor reads numbers from a spool at places that only rise.
type cursor struct {
	from   *spool
	page   [16 << 10]uint32
	first  int64
	loaded int
}

// get returns a number; ok is false behind the last one.
func (c *cursor) get(place uint32) (value uint32, ok bool, err error) {
	at := int64(place) - c.first
	if at < 0 || at >= int64(c.loaded) {
		c.first = int64(place)
		bytes := min(int64(len(c.page))*4, c.from.size-4*c.first)
		if bytes <= 0 {
			c.loaded = 0
			return 0, false, nil
		}
		c.loaded, at = int(bytes/4), 0
		if _, err := c.from.ReadAt(bytesOf(c.page[:c.loaded]), 4*c.first); err != nil {
			return 0, false, err
		}
	}
	return c.page[at], true, nil
}

// facts returns the facts of a batch by final numbers and removes them.
func (m *mapping) facts(ctx context.Context, batch int, p *partial, take func(record) error) error {
	entities := make([]uint32, p.keys)
	relations := make([]uint32, p.keys)
	numbers, closer, err := m.numbers[batch].reader()
	if err != nil {
		return err
	}
	defer closer.Close()
	known := cursor{from: m.entities}
	var next [4]byte
	for i := range p.keys {
		if _, err := io.ReadFull(numbers, next[:]); err != nil {
			return m.numbers[batch].wrapError("read", err)
		}
		number := binary.NativeEndian.Uint32(next[:])
		if number == math.MaxUint32 {
			continue
		}
		if number >= m.firstOrigin {
			entities[i] = number - m.firstOrigin
			continue
		}
		if entities[i], _, err = known.get(number); err != nil {
			return err
		}
		if relation, ok := m.relations[number]; ok {
			relations[i] = relation
		}
	}
	in, factsCloser, err := p.facts.reader()
	if err != nil {
		return err
	}
	defer factsCloser.Close()
	page := make([]record, 4096)
	for left := p.rows; left > 0; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		page = page[:min(left, cap(page))]
		if _, err := io.ReadFull(in, bytesOf(page)); err != nil {
			return p.facts.wrapError("read", err)
		}
		left -= len(page)
		for _, f := range page {
			if int(max(f[0], f[1], f[2], f[3])) >= p.keys {
				return fmt.Errorf("scratch file %s: %w", p.facts.path, errDamaged)
			}
			if err := take(record{entities[f[0]], relations[f[1]], entities[f[2]], entities[f[3]]}); err != nil {
				return err
			}
		}
	}
	return errors.Join(p.remove(p.facts), m.numbers[batch].remove())
}

// Probe reads a file until it has seen most statements, and loads nothing. It
// returns how many it saw, and the first place that holds none: a file with
// some of both can be loaded. format may be ByName.
func Probe(ctx context.Context, name string, format Format, r io.Reader,
	most int) (statements int, bad *LineError, err error) {
	f := file{identity: identity{Name: name}, format: format}
	if err := f.detectFormat(); err != nil {
		return 0, nil, err
	}
	plain, err := source.Unpack(name, r)
	if err != nil {
		return 0, nil, err
	}
	defer plain.Close()
	seen, rejected := probeSink{most: most}, 0
	_, err = f.read(ctx, source.Input{Name: name, Reader: plain, Number: 1, Bad: func(e *LineError) error {
		if bad == nil {
			bad = e
		}
		if rejected++; rejected == most {
			return errProbed
		}
		return nil
	}}, &seen)
	if errors.Is(err, errProbed) {
		err = nil
	}
	return seen.statements, bad, err
}

// errProbed ends the reading of a file that enough was seen of.
var errProbed = errors.New("enough was seen")

// probeSink counts statements up to a number.
type probeSink struct{ statements, most int }

// Statement implements source.Sink.
func (l *probeSink) Statement(source.Statement) error {
	if l.statements++; l.statements == l.most {
		return errProbed
	}
	return nil
}

// Label implements source.Sink.
func (*probeSink) Label(string, string, int) error { return nil }

// Alias implements source.Sink.
func (*probeSink) Alias(string, string) error { return nil }
