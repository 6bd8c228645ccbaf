package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// DefaultMemory is the number of bytes a build holds if nothing else is said.
const DefaultMemory = 512 << 20

// Fact is a triple by its names.
type Fact struct {
	Subject, Relation, Object string
	Validity                  store.Validity
}

// Builder gathers statements and puts them in the order that a snapshot has. It is a source.Sink.
// What does not fit in its memory goes to scratch files: batches of statements, each with a
// vocabulary of its own, which Content merges. It is not safe for concurrent use.
type Builder struct {
	scratch *scratch
	memory  int
	current *batch
	added   int
	parts   []*partial
	rows    int
	// flushing is the batch before, being put in order; spare one that is.
	flushing chan flushResult
	spare    *batch
	// onFlush is called with each batch that is finished and in files, and of the
	// position at which it was full; nil for none.
	onFlush  func(number int, p *partial, at position) error
	position func() position
	err      error
}

// flushResult is the result of flushing a batch.
type flushResult struct {
	batch *batch
	part  *partial
	err   error
}

func newBuilder(s *scratch, memory int) *Builder {
	return &Builder{scratch: s, memory: max(memory, 1<<10), current: newBatch()}
}

// Close removes the scratch files; content that was made reads them no more.
func (b *Builder) Close() error {
	b.wait()
	return b.scratch.removeAll()
}

// wait waits for the batch that is being flushed and ignores its result.
func (b *Builder) wait() {
	if b.flushing != nil {
		<-b.flushing
		b.flushing = nil
	}
}

// Add takes a fact by its names. Adding one twice is harmless. Content returns the errors.
func (b *Builder) Add(f Fact) {
	err := b.Statement(source.Statement{
		Subject: source.Term{Key: f.Subject}, Relation: f.Relation, Object: source.Term{Key: f.Object},
		Validity: f.Validity,
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
	if strings.IndexByte(s.Relation, 0) >= 0 || strings.IndexByte(s.Provenance, 0) >= 0 {
		return errZeroByte
	}
	relation := b.current.intern(nodeClass, asBytes(s.Relation), asRelation)
	b.current.facts = append(b.current.facts, record{subject, relation, object, b.current.origin(s.Validity,
		s.Provenance)})
	return b.flushIfFull()
}

var errZeroByte = store.Invalidf("a name has a zero byte")

func (b *Builder) term(t source.Term) (uint32, error) {
	if strings.IndexByte(t.Key, 0) >= 0 || strings.IndexByte(t.Unit, 0) >= 0 || t.Kind > store.Date {
		return 0, errZeroByte
	}
	as := asKind << t.Kind
	switch {
	case t.Kind <= store.Mediator:
		return b.current.intern(nodeClass, asBytes(t.Key), as), nil
	case t.Unit == "":
		return b.current.intern(literalClass, asBytes(t.Key), as), nil
	}
	b.current.intern(nodeClass, asBytes(t.Unit), asUnit)
	return b.current.internPair(quantityClass, t.Key, t.Unit, as), nil
}

// asBytes shows a string as bytes that must not be changed.
func asBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Label implements source.Sink.
func (b *Builder) Label(key, name string, rank int) error {
	if strings.IndexByte(key, 0) >= 0 || strings.IndexByte(name, 0) >= 0 {
		return errZeroByte
	}
	b.current.label(asBytes(key), name, rank)
	return b.flushIfFull()
}

// Alias implements source.Sink. It counts only where a fact names the entity.
func (b *Builder) Alias(key, name string) error {
	if strings.IndexByte(key, 0) >= 0 || strings.IndexByte(name, 0) >= 0 {
		return errZeroByte
	}
	b.current.aliases = append(b.current.aliases, b.current.addName(b.current.intern(nodeClass, asBytes(key), 0), name,
		0))
	return b.flushIfFull()
}

// flushIfFull finishes the batch when its share of the memory is used up.
func (b *Builder) flushIfFull() error {
	b.added++
	// A batch being filled and one being finished, which takes as much again
	// for its order, share the memory.
	if b.added%64 != 0 && b.memory > 1<<20 || b.current.bytes() < b.memory/4 {
		return nil
	}
	return b.flush()
}

// flush lets a batch be finished while the next one is filled.
func (b *Builder) flush() error {
	if b.flushing != nil {
		if err := b.collect(<-b.flushing); err != nil {
			return err
		}
	}
	done := make(chan flushResult, 1)
	b.flushing = done
	b.rows += len(b.current.facts)
	number, filled := len(b.parts), b.current
	var at position
	if b.position != nil {
		at = b.position()
	}
	if b.current = b.spare; b.current == nil {
		b.current = newBatch()
	}
	b.spare = nil
	go func() {
		p, err := filled.finish(b.scratch, batchName(number), 0)
		if err == nil && b.onFlush != nil {
			p.keepFiles = true
			err = b.onFlush(number, p, at)
		}
		filled.reset()
		done <- flushResult{filled, p, err}
	}()
	return nil
}

// statements counts the facts that were taken.
func (b *Builder) statements() uint64 { return uint64(b.rows + len(b.current.facts)) }

const batchPrefix = "batch-"

func batchName(number int) string { return fmt.Sprintf("%s%d", batchPrefix, number) }

func (b *Builder) collect(f flushResult) error {
	b.flushing, b.spare = nil, f.batch
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
	if b.flushing != nil {
		if err := b.collect(<-b.flushing); err != nil {
			return nil, err
		}
	}
	b.spare = nil
	if !b.current.isEmpty() || len(b.parts) == 0 {
		b.rows += len(b.current.facts)
		p, err := b.current.finish(b.scratch, "", b.memory)
		if err != nil {
			return nil, fmt.Errorf("put batch %d in order: %w", len(b.parts), err)
		}
		b.parts = append(b.parts, p)
	}
	b.current = nil
	parts := b.parts
	b.parts = nil
	return assemble(ctx, b.scratch, b.memory, parts, told)
}

// Content puts the statements in order and says how to encode them. It returns also how many facts
// were there twice. progress may be nil. Nothing may be added afterwards.
func (b *Builder) Content(ctx context.Context, enc encoder.Encoder,
	progress func(done, total int)) (store.Content, int, error) {
	g, err := b.assemble(ctx, func(int, int) {})
	if err != nil {
		return store.Content{}, 0, errors.Join(err, b.Close())
	}
	c, err := g.content(ctx, enc)
	if err != nil {
		return store.Content{}, 0, errors.Join(err, b.Close())
	}
	c.TripleVectors = g.vectorStream(enc, progress)
	return c, b.rows - g.count, nil
}
