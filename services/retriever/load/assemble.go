package load

import (
	"context"
	"encoding/binary"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// graph is all that was read, in the order of a snapshot.
type graph struct {
	scratch   *scratch
	entities  *nameTable
	relations []string
	// origins are what records name by their fourth number.
	origins []origin
	// facts are records by final numbers, distinct and in order.
	facts *spool
	count int
	// aliases are the number of an entity and a name each.
	aliases *spool
}

// assemble makes one graph of batches; it removes what it has read of them.
func assemble(ctx context.Context, s *scratch, memory int, parts []*partial,
	told func(done, total int)) (*graph, error) {
	rows := 0
	for _, p := range parts {
		rows += p.rows
	}
	v, err := mergeVocabularies(ctx, s, memory, parts, func(int) { told(0, rows) })
	if err != nil {
		return nil, err
	}
	defer v.close()
	g := &graph{scratch: s, origins: v.origins}
	if err := g.build(ctx, v, parts, rows, told); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (g *graph) build(ctx context.Context, v *vocabulary, parts []*partial, rows int,
	told func(done, total int)) (err error) {
	for _, p := range parts {
		if err := p.remove(p.vocabulary); err != nil {
			return err
		}
	}
	m := mapping{vocabulary: v}
	if g.relations, m.relations, err = v.nameRelations(ctx); err != nil {
		return err
	}
	if err := g.nameEntities(ctx, v, &m); err != nil {
		return err
	}
	if err := g.takeAliases(ctx, v, &m); err != nil {
		return err
	}
	if err := g.takeFacts(ctx, &m, parts, rows, told); err != nil {
		return err
	}
	return m.entities.remove()
}

// nameEntities numbers entities in the order of their names.
func (g *graph) nameEntities(ctx context.Context, v *vocabulary, m *mapping) error {
	names := distinctNames{nodes: v.nodes, options: g.scratch.sortOptions(m.memory / 8)}
	defer names.close()
	if v.hasLabels {
		if err := names.resolve(ctx, func(value uint64, name []byte) error {
			return v.addAlias(uint32(value>>16), name)
		}); err != nil {
			return err
		}
	}
	from, err := names.reader()
	if err != nil {
		return err
	}
	g.entities = &nameTable{text: g.scratch.spool("names", m.memory/8)}
	pairs := extsort.NewRecords[[2]uint32](g.scratch.sortOptions(m.memory / 4))
	defer pairs.Close()
	var name, key []byte
	var uses use
	flush := func() error {
		kind := classifyNode(uses)
		if kind == store.Entity {
			kind = store.ClassifyName(string(name))
		}
		return g.entities.add(name, key, kind)
	}
	some := false
	if err := runPipelined(ctx, func(e *nodeEntry) (bool, error) {
		entry, value, err := from.Next()
		if err == io.EOF {
			return false, nil
		}
		e.entry, e.value = append(e.entry[:0], entry...), value
		return true, err
	}, func(e *nodeEntry) error {
		next, nextKey := splitEntry(e.entry)
		if some && string(next) != string(name) {
			if err := flush(); err != nil {
				return err
			}
			uses, key = 0, key[:0]
		}
		if len(key) == 0 {
			key = append(key, nextKey...)
		}
		name, uses, some = append(name[:0], next...), uses|use(e.value), true
		return pairs.Add([2]uint32{uint32(e.value >> 16), uint32(g.entities.count)})
	}); err != nil {
		return err
	}
	if some {
		if err := flush(); err != nil {
			return err
		}
	}
	if err := g.entities.text.finish(); err != nil {
		return err
	}
	if err := v.nodes.Close(); err != nil {
		return err
	}
	return m.writeEntities(ctx, pairs)
}

// takeAliases writes the aliases by the numbers of their entities.
func (g *graph) takeAliases(ctx context.Context, v *vocabulary, m *mapping) error {
	g.aliases = g.scratch.spool("aliases", m.memory/8)
	entities := cursor{from: m.entities}
	var line, last []byte
	err := v.aliases.Each(ctx, func(key []byte, _ uint64) error {
		if last != nil && string(last) == string(key) {
			return nil
		}
		last = append(last[:0], key...)
		entity, ok, err := entities.get(binary.BigEndian.Uint32(key))
		if err != nil || !ok || entity == noEntity {
			return err
		}
		line = appendText(binary.NativeEndian.AppendUint32(line[:0], entity), key[4:])
		_, err = g.aliases.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	if err := v.aliases.Close(); err != nil {
		return err
	}
	return g.aliases.finish()
}

// takeFacts numbers the facts of all batches, puts them in order and
// leaves out those that are there twice.
func (g *graph) takeFacts(ctx context.Context, m *mapping, parts []*partial, rows int,
	told func(done, total int)) error {
	sorter := extsort.NewRecords[record](g.scratch.sortOptions(m.memory / 2))
	defer sorter.Close()
	inMemory := 32*rows <= m.memory/2
	workers := min(runtime.GOMAXPROCS(0), len(parts))
	if inMemory {
		workers = 1
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, workers))
	for i, p := range parts {
		group.Go(func() error {
			take := sorter.Add
			if !inMemory {
				// What is held here is half the memory of all workers.
				held := make([]record, 0, max(1024, m.memory/64/workers))
				scratch := make([]record, cap(held))
				flush := func() error {
					err := sorter.AddRun(held, scratch)
					held = held[:0]
					return err
				}
				take = func(r record) error {
					held = append(held, r)
					if len(held) < cap(held) {
						return nil
					}
					return flush()
				}
				if err := m.facts(groupCtx, i, p, take); err != nil {
					return err
				}
				return flush()
			}
			return m.facts(groupCtx, i, p, take)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	in, err := sorter.Reader()
	if err != nil {
		return err
	}
	defer in.Close()
	g.facts = g.scratch.spool("sorted", m.memory/4)
	var last record
	done, kept := 0, make([]record, 0, pageRows)
	if err := runPipelined(ctx, func(p *recordPage) (bool, error) { return p.fill(in) }, func(p *recordPage) error {
		kept = kept[:0]
		for _, r := range p.records[:p.count] {
			if done++; done%progressRows == 0 {
				told(done, rows)
			}
			if g.count > 0 && g.isSame(r, last) {
				continue
			}
			last = r
			g.count++
			kept = append(kept, r)
		}
		_, err := g.facts.Write(bytesOf(kept))
		return err
	}); err != nil {
		return err
	}
	told(rows, rows)
	return g.facts.finish()
}

// isSame reports whether two records are the same triple, whatever their provenance.
func (g *graph) isSame(a, b record) bool {
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] &&
		(a[3] == b[3] || g.origins[a[3]].Validity == g.origins[b[3]].Validity)
}

// recordPage is some records in order.
type recordPage struct {
	records [64]record
	count   int
}

func (p *recordPage) fill(from *extsort.RecordReader[record]) (bool, error) {
	var err error
	if p.count, err = from.Read(p.records[:]); err == io.EOF {
		err = nil
	}
	return p.count > 0, err
}

// progressRows is the number of rows sorted between two calls of Progress.
const progressRows = 1 << 20

// close removes what remains.
func (g *graph) close() {
	for _, s := range []*spool{g.facts, g.aliases} {
		if s != nil {
			_ = s.remove() // What remains goes with the directory.
		}
	}
	if g.entities != nil {
		_ = g.entities.text.remove()
	}
}
