package lines

import "github.com/triplemesh/triplemesh/services/retriever/source"

// Batch is a Sink that keeps what it is given.
type Batch struct {
	statements []source.Statement
	labels     []label
	aliases    []label
}

// label is a name or further name of a key.
type label struct {
	key, name string
	rank      int
}

// Statement implements source.Sink.
func (b *Batch) Statement(s source.Statement) error {
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
func (b *Batch) Replay(to source.Sink) error {
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
