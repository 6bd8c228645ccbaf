package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// DefaultMemory is how many bytes a build holds where nothing else is said.
const DefaultMemory = 512 << 20

// Fact is a triple by its names.
type Fact struct {
	Subject, Relation, Object string
	Validity                  store.Validity
}

// Builder gathers statements and puts them in the order that a snapshot has.
// It is a source.Sink. What does not fit in its memory goes to scratch files:
// batches of statements, each with a vocabulary of its own, which Content
// merges. It is not safe for concurrent use.
type Builder struct {
	scratch *scratch
	memory  int
	now     *batch
	taken   int
	parts   []*partial
	rows    int
	// finishing is the batch before, being put in order; spare one that is.
	finishing chan finished
	spare     *batch
	// keep is told of each batch that is finished and in files, and of the
	// position at which it was full; nil for no one.
	keep     func(number int, p *partial, at position) error
	position func() position
	err      error
}

// finished is what became of a batch.
type finished struct {
	batch *batch
	part  *partial
	err   error
}

// NewBuilder returns a Builder that holds nothing. Its scratch files, should
// there be any, go to the system's directory for temporary files.
func NewBuilder() *Builder {
	return newBuilder(&scratch{disk: osDisk{}, parent: os.TempDir()}, DefaultMemory)
}

func newBuilder(s *scratch, memory int) *Builder {
	return &Builder{scratch: s, memory: max(memory, 1<<10), now: newBatch()}
}

// Close removes the scratch files; content that was made reads them no more.
func (b *Builder) Close() error {
	b.wait()
	return b.scratch.removeAll()
}

// wait lets the batch end that is being finished; what becomes of it counts no
// more.
func (b *Builder) wait() {
	if b.finishing != nil {
		<-b.finishing
		b.finishing = nil
	}
}

// Add takes a fact by its names. Adding one twice is harmless. Errors are
// Content's to tell.
func (b *Builder) Add(f Fact) {
	err := b.Statement(source.Statement{
		Subject: source.Term{Key: f.Subject}, Relation: f.Relation, Object: source.Term{Key: f.Object}, Validity: f.Validity,
	})
	if b.err == nil {
		b.err = err
	}
}

// Statement implements source.Sink.
func (b *Builder) Statement(s source.Statement) error {
	subject, err := b.term(s.Subject)
	if err != nil {
		return err
	}
	object, err := b.term(s.Object)
	if err != nil {
		return err
	}
	if strings.IndexByte(s.Relation, 0) >= 0 {
		return errZero
	}
	relation := b.now.id(nodeClass, asBytes(s.Relation), asRelation)
	b.now.facts = append(b.now.facts, record{subject, relation, object, b.now.validity(s.Validity)})
	return b.full()
}

var errZero = fmt.Errorf("a name has a zero byte: %w", store.ErrInvalid)

func (b *Builder) term(t source.Term) (uint32, error) {
	if strings.IndexByte(t.Key, 0) >= 0 || strings.IndexByte(t.Unit, 0) >= 0 || t.Kind > store.Date {
		return 0, errZero
	}
	as := asKind << t.Kind
	switch {
	case t.Kind <= store.Mediator:
		return b.now.id(nodeClass, asBytes(t.Key), as), nil
	case t.Unit == "":
		return b.now.id(literalClass, asBytes(t.Key), as), nil
	}
	b.now.id(nodeClass, asBytes(t.Unit), asUnit)
	return b.now.pair(quantityClass, t.Key, t.Unit, as), nil
}

// asBytes shows a string as bytes that must not be changed.
func asBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Label implements source.Sink.
func (b *Builder) Label(key, name string, rank int) error {
	if strings.IndexByte(key, 0) >= 0 || strings.IndexByte(name, 0) >= 0 {
		return errZero
	}
	b.now.label(asBytes(key), name, rank)
	return b.full()
}

// Alias implements source.Sink. It counts only where a fact names the entity.
func (b *Builder) Alias(key, name string) error {
	if strings.IndexByte(key, 0) >= 0 || strings.IndexByte(name, 0) >= 0 {
		return errZero
	}
	b.now.also = append(b.now.also, b.now.naming(b.now.id(nodeClass, asBytes(key), 0), name, 0))
	return b.full()
}

// full finishes the batch when its share of the memory is used up.
func (b *Builder) full() error {
	b.taken++
	// A batch being filled and one being finished, which takes as much again
	// for its order, share the memory.
	if b.taken%64 != 0 && b.memory > 1<<20 || b.now.bytes() < b.memory/4 {
		return nil
	}
	return b.flush()
}

// flush lets a batch be finished while the next one is filled.
func (b *Builder) flush() error {
	if b.finishing != nil {
		if err := b.took(<-b.finishing); err != nil {
			return err
		}
	}
	done := make(chan finished, 1)
	b.finishing = done
	b.rows += len(b.now.facts)
	number, filled := len(b.parts), b.now
	var at position
	if b.position != nil {
		at = b.position()
	}
	if b.now = b.spare; b.now == nil {
		b.now = newBatch()
	}
	b.spare = nil
	go func() {
		p, err := filled.finish(b.scratch, batchName(number), 0)
		if err == nil && b.keep != nil {
			p.kept = true
			err = b.keep(number, p, at)
		}
		filled.reset()
		done <- finished{filled, p, err}
	}()
	return nil
}

// statements counts the facts that were taken.
func (b *Builder) statements() uint64 { return uint64(b.rows + len(b.now.facts)) }

const batchPrefix = "batch-"

func batchName(number int) string { return fmt.Sprintf("%s%d", batchPrefix, number) }

func (b *Builder) took(f finished) error {
	b.finishing, b.spare = nil, f.batch
	if f.err != nil {
		return fmt.Errorf("put batch %d in order: %w", len(b.parts), f.err)
	}
	b.parts = append(b.parts, f.part)
	return nil
}

// assemble makes one graph of all that was taken.
func (b *Builder) assemble(ctx context.Context, told func(done, total int)) (*graph, error) {
	if b.err != nil {
		return nil, b.err
	}
	if b.finishing != nil {
		if err := b.took(<-b.finishing); err != nil {
			return nil, err
		}
	}
	b.spare = nil
	if !b.now.empty() || len(b.parts) == 0 {
		b.rows += len(b.now.facts)
		p, err := b.now.finish(b.scratch, "", b.memory)
		if err != nil {
			return nil, fmt.Errorf("put batch %d in order: %w", len(b.parts), err)
		}
		b.parts = append(b.parts, p)
	}
	b.now = nil
	parts := b.parts
	b.parts = nil
	return assemble(ctx, b.scratch, b.memory, parts, told)
}

// Content puts the statements in order and says how to encode them. It returns
// also how many facts were there twice. progress may be nil. Nothing may be
// added afterwards.
func (b *Builder) Content(ctx context.Context, enc encoder.Encoder, progress func(done, total int)) (store.Content, int, error) {
	g, err := b.assemble(ctx, func(int, int) {})
	if err != nil {
		return store.Content{}, 0, errors.Join(err, b.Close())
	}
	c, err := g.content(ctx, enc)
	if err != nil {
		return store.Content{}, 0, errors.Join(err, b.Close())
	}
	c.TripleVectors = g.vectors(enc, progress)
	return c, b.rows - g.count, nil
}
