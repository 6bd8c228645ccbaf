package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
)

// mapping leads from the keys' numbers to those of a graph.
type mapping struct {
	*vocabulary
	// entities holds for each key its entity, noEntity where it is none.
	entities  *spool
	relations map[uint32]uint32
}

const noEntity = math.MaxUint32

// spread writes the entity of every key, so that it is found by its place.
func (m *mapping) spread(ctx context.Context, pairs *extsort.Records[[2]uint32]) error {
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
	return m.entities.done()
}

// cursor reads numbers from a spool at places that only rise.
type cursor struct {
	from   *spool
	page   [16 << 10]uint32
	first  int64
	loaded int
}

// at returns a number; ok is false behind the last one.
func (c *cursor) at(place uint32) (value uint32, ok bool, err error) {
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

// facts hands out the facts of a batch by final numbers and removes them.
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
			return m.numbers[batch].failed("read", err)
		}
		number := binary.NativeEndian.Uint32(next[:])
		if number == math.MaxUint32 {
			continue
		}
		if number >= m.firstInterval {
			entities[i] = number - m.firstInterval
			continue
		}
		if entities[i], _, err = known.at(number); err != nil {
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
			return p.facts.failed("read", err)
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
