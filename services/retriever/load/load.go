// Package load reads files of statements and builds snapshots from them, with
// bounded memory: what does not fit goes to scratch files.
package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Vectors says which vectors a snapshot gets.
type Vectors int

const (
	// AllVectors makes one for each triple and one for each relation.
	AllVectors Vectors = iota
	// RelationVectors makes only those of relations.
	RelationVectors
)

// Options says how to load.
type Options struct {
	// KG is the knowledge graph to load into, made if there is none.
	KG string
	// Strict ends the load at the first bad line.
	Strict bool
	// NoActivate leaves the active snapshot as it is.
	NoActivate bool
	// Language is that of labels; empty takes "en".
	Language string
	// Mode says what becomes of the active snapshot's triples. Deltas are held
	// in memory.
	Mode Mode
	// Vectors says which vectors to make; a delta makes those that its base has.
	Vectors Vectors
	// Scratch is a directory for what does not fit in memory, on a disk with
	// room for as much as the files hold unpacked. Empty takes a fresh one in
	// the system's directory for temporary files. All that a load puts there is
	// removed at its end.
	Scratch string
	// Memory is how many bytes to hold, about; 0 takes DefaultMemory. What the
	// readers of files and the encoder hold comes on top.
	Memory int
	// Resume goes on with a load of the same files that was interrupted, where
	// there is one in Scratch. A load that may have to go on keeps its scratch
	// files when its context ends.
	Resume bool
	// Progress is called now and then, never twice at a time; nil for never.
	Progress func(Progress)

	disk disk
}

// Report says what a load did.
type Report struct {
	// Snapshot is what was built, Active whether questions read it now.
	Snapshot store.Info
	Active   bool
	// Lines were read, or statements of formats that have no lines; BadLines of
	// them held no triple, Duplicates were there already.
	Lines, BadLines, Duplicates uint64
	// Added and Removed triples are what a delta differs by from its base.
	Added, Removed uint64
	// Errors are the first bad lines, 20 at most.
	Errors []*LineError
}

// maxErrors is how many bad lines a report shows.
const maxErrors = 20

// Target is what a load needs of a store.
type Target interface {
	store.Writer
	Activate(ctx context.Context, kg string, number uint64) (store.Info, error)
	Drop(ctx context.Context, kg string, number uint64) ([]uint64, error)
}

// Files loads files of this machine into a new snapshot and activates it.
func Files(ctx context.Context, to Target, enc encoder.Encoder, paths []string, options Options) (Report, error) {
	l := New(options)
	defer l.Close()
	for _, path := range paths {
		if err := l.file(ctx, path); err != nil {
			return l.report, err
		}
	}
	return l.Finish(ctx, to, enc)
}

// Loader reads files one after another and builds a snapshot of them all. It
// is not safe for concurrent use.
type Loader struct {
	options Options
	builder *Builder
	scratch *scratch
	journal *journal
	report  Report
	at      position
	// skip is how many of the next statements are in batches already.
	skip  uint64
	begun bool
	// past is the load that this one goes on with; nil where there is none.
	past *history
	// interrupted says that the scratch files are kept to go on with.
	interrupted bool
}

// New returns a Loader that has read nothing.
func New(options Options) *Loader {
	if options.disk == nil {
		options.disk = osDisk{}
	}
	if options.Memory <= 0 {
		options.Memory = DefaultMemory
	}
	s := &scratch{disk: options.disk, parent: os.TempDir()}
	if options.Scratch != "" {
		s.dir = filepath.Join(options.Scratch, "load-"+options.KG)
	}
	return &Loader{options: options, scratch: s, builder: newBuilder(s, options.Memory), journal: &journal{scratch: s}}
}

// begin looks for a load to go on with, once.
func (l *Loader) begin() error {
	if l.begun {
		return nil
	}
	l.begun = true
	header := loadEntry{Version: journalVersion, KG: l.options.KG, Language: l.options.Language, Mode: l.options.Mode, Strict: l.options.Strict}
	if l.options.Scratch == "" {
		if l.options.Resume {
			return fmt.Errorf("resume: no directory for scratch files is named: %w", store.ErrInvalid)
		}
		return nil
	}
	if err := l.journal.hold(l.scratch.dir); err != nil {
		return err
	}
	l.builder.keep, l.builder.position = l.keep, func() position { return l.at }
	if l.options.Resume {
		past, err := readJournal(l.scratch.dir)
		if err != nil {
			return err
		}
		if past != nil {
			return l.goOn(past, header)
		}
	}
	if err := l.scratch.disk.RemoveAll(l.scratch.dir); err != nil {
		return fmt.Errorf("remove what an earlier load left: %w", err)
	}
	return l.journal.note(entry{Load: &header})
}

// goOn takes over what an interrupted load has done.
func (l *Loader) goOn(past *history, header loadEntry) error {
	if past.load != header {
		return fmt.Errorf("the load that was interrupted was of %+v, this one is of %+v; load without resume to begin anew: %w", past.load, header, store.ErrInvalid)
	}
	parts, err := past.parts(l.scratch)
	if err != nil {
		return err
	}
	l.past, l.builder.parts = past, parts
	for _, p := range parts {
		l.builder.rows += p.rows
	}
	if l.journal.path, err = l.scratch.path(journalName); err != nil {
		return err
	}
	// A line that was being written would spoil the next one.
	if err := os.Truncate(l.journal.path, past.whole); err != nil {
		return full(fmt.Errorf("mend the journal of the load: %w", err))
	}
	return nil
}

// keep notes a batch in the journal.
func (l *Loader) keep(number int, p *partial, at position) error {
	return l.journal.batch(batchEntry{
		Number: number, Keys: p.keys, Rows: p.rows, Vocabulary: p.vocabulary.size, Facts: p.facts.size, position: at,
	})
}

// Finish encodes what was read, writes the snapshot and activates it. After an
// error the knowledge graph is as it was before.
func (l *Loader) Finish(ctx context.Context, to Target, enc encoder.Encoder) (Report, error) {
	if l.past != nil && l.at.File < l.past.at().File {
		return l.report, l.fail(fmt.Errorf("the load that was interrupted had %d files or more, this one has %d; load without resume to begin anew: %w", l.past.at().File, l.at.File, store.ErrInvalid))
	}
	if err := l.build(ctx, to, enc); err != nil {
		return l.report, l.fail(err)
	}
	if err := l.Close(); err != nil {
		// What nobody can read is not left behind. The first error counts.
		_, _ = to.Drop(context.WithoutCancel(ctx), l.options.KG, l.report.Snapshot.Number)
		return l.report, l.fail(err)
	}
	if l.options.NoActivate {
		return l.report, nil
	}
	if _, err := to.Activate(ctx, l.options.KG, l.report.Snapshot.Number); err != nil {
		_, _ = to.Drop(context.WithoutCancel(ctx), l.options.KG, l.report.Snapshot.Number)
		return l.report, err
	}
	l.report.Active = true
	return l.report, nil
}

// build writes a snapshot of what was read.
func (l *Loader) build(ctx context.Context, to Target, enc encoder.Encoder) error {
	g, err := l.builder.assemble(ctx, l.sorting)
	if err != nil {
		return err
	}
	defer g.close()
	l.report.Duplicates = uint64(l.builder.rows - g.count)
	if g.count == 0 {
		return l.nothing()
	}
	if l.options.Mode != Replace {
		return l.writeDelta(ctx, to, enc, g)
	}
	content, err := g.content(ctx, enc)
	if err != nil {
		return err
	}
	l.tell(Progress{Phase: Write, Total: uint64(g.count)})
	if l.options.Vectors == AllVectors {
		content.TripleVectors = g.vectors(enc, l.encoding())
	}
	l.report.Snapshot, err = to.Write(ctx, l.options.KG, content)
	return err
}

// nothing says why there is no triple.
func (l *Loader) nothing() error {
	if len(l.report.Errors) > 0 {
		return fmt.Errorf("%d lines hold no triple, the first bad one is %w: %w", l.report.Lines, l.report.Errors[0], store.ErrInvalid)
	}
	if l.report.Lines == 0 {
		return fmt.Errorf("nothing was read: the files are empty, or what was asked for (labels, types, a graph pattern) is not there: %w", store.ErrInvalid)
	}
	return fmt.Errorf("%d lines hold no triple: %w", l.report.Lines, store.ErrInvalid)
}

// fail ends the load and says of which graph it was.
func (l *Loader) fail(err error) error {
	if l.options.Resume && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		l.interrupted = true
	}
	// The first error counts.
	_ = l.Close()
	var place *LineError
	var known *store.Error
	if errors.As(err, &place) || errors.As(err, &known) {
		return err
	}
	return &store.Error{Op: "load", KG: l.options.KG, Err: full(err)}
}

// Close removes the scratch files of a load that is over or given up. Further
// calls do nothing.
func (l *Loader) Close() error {
	defer l.journal.release()
	l.builder.now = nil
	if l.interrupted {
		l.builder.wait()
		return nil
	}
	return l.builder.Close()
}
