package load

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Format is how triples are written in a file.
type Format int

const (
	// ByName tells the format by the file's name.
	ByName Format = iota
	// TSV is subject<TAB>relation<TAB>object, and at most two more columns for
	// the start and the end of validity.
	TSV
	// NTriples is W3C N-Triples 1.1.
	NTriples
)

// Options says how to load.
type Options struct {
	// KG is the knowledge graph to load into, made if there is none.
	KG string
	// Strict ends the load at the first bad line.
	Strict bool
	// NoActivate leaves the active snapshot as it is.
	NoActivate bool
	// Progress is called now and then, from one goroutine; nil for never.
	Progress func(Progress)
}

// Progress is how far a load has come.
type Progress struct {
	// Lines read so far.
	Lines uint64
	// Encoded of Triples have their vectors; both are 0 while lines are read.
	Encoded, Triples int
	// Rate is triples encoded per second.
	Rate float64
}

// Report says what a load did.
type Report struct {
	// Snapshot is what was built, Active whether questions read it now.
	Snapshot store.Info
	Active   bool
	// Lines were read, BadLines of them held no triple, Duplicates were there
	// already.
	Lines, BadLines, Duplicates uint64
	// Errors are the first bad lines, 20 at most.
	Errors []*LineError
}

// maxErrors is how many bad lines a report shows.
const maxErrors = 20

// progressLines is how many lines are read between two calls of Progress.
const progressLines = 1 << 16

// Target is what a load needs of a store.
type Target interface {
	store.Writer
	Activate(ctx context.Context, kg string, number uint64) (store.Info, error)
	Drop(ctx context.Context, kg string, number uint64) ([]uint64, error)
}

// Files loads files of this machine into a new snapshot and activates it.
func Files(ctx context.Context, to Target, enc encoder.Encoder, paths []string, options Options) (Report, error) {
	l := New(options)
	for _, path := range paths {
		if err := l.file(ctx, path); err != nil {
			return l.report, err
		}
	}
	return l.Finish(ctx, to, enc)
}

// Loader reads files one after another and builds a snapshot of them all.
type Loader struct {
	options Options
	builder *Builder
	rdf     *rdf
	report  Report
}

// New returns a Loader that has read nothing.
func New(options Options) *Loader {
	return &Loader{options: options, builder: NewBuilder(), rdf: newRDF()}
}

func (l *Loader) file(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return &store.Error{Op: "load", KG: l.options.KG, Err: err}
	}
	defer f.Close()
	return l.Read(ctx, filepath.Base(path), ByName, f)
}

// Read takes all of one file. A bad line is counted and reported; it is an
// error only where Options.Strict says so.
func (l *Loader) Read(ctx context.Context, name string, format Format, r io.Reader) error {
	format, err := formatOf(name, format)
	if err != nil {
		return &store.Error{Op: "load", KG: l.options.KG, Err: err}
	}
	take := l.takeTSV
	if format == NTriples {
		l.rdf.nextFile()
		take = l.rdf.take
	}
	before := l.report.Lines
	n, err := lines(ctx, name, r, func(line uint64, text []byte) error {
		if line%progressLines == 0 && l.options.Progress != nil {
			l.options.Progress(Progress{Lines: before + line})
		}
		if err := take(string(text)); err != nil {
			return l.bad(&LineError{name, line, err})
		}
		return nil
	}, l.bad)
	l.report.Lines += n
	return err
}

func (l *Loader) takeTSV(text string) error {
	f, err := parseTSV(text)
	if err == nil {
		l.builder.Add(f)
	}
	return err
}

func (l *Loader) bad(err *LineError) error {
	l.report.BadLines++
	if len(l.report.Errors) < maxErrors {
		l.report.Errors = append(l.report.Errors, err)
	}
	if l.options.Strict {
		return err
	}
	return nil
}

// Finish encodes what was read, writes the snapshot and activates it. After an
// error the knowledge graph is as it was before.
func (l *Loader) Finish(ctx context.Context, to Target, enc encoder.Encoder) (Report, error) {
	l.rdf.show(l.builder)
	content, duplicates, err := l.builder.Content(ctx, enc, l.encoding())
	if err != nil {
		return l.report, &store.Error{Op: "load", KG: l.options.KG, Err: err}
	}
	l.report.Duplicates = uint64(duplicates)
	if content.TripleCount == 0 {
		return l.report, &store.Error{Op: "load", KG: l.options.KG, Err: l.nothing()}
	}
	l.report.Snapshot, err = to.Write(ctx, l.options.KG, content)
	if err != nil || l.options.NoActivate {
		return l.report, err
	}
	if _, err = to.Activate(ctx, l.options.KG, l.report.Snapshot.Number); err != nil {
		// What nobody can read is not left behind. The first error counts.
		_, _ = to.Drop(context.WithoutCancel(ctx), l.options.KG, l.report.Snapshot.Number)
		return l.report, err
	}
	l.report.Active = true
	return l.report, nil
}

// nothing says why there is no triple.
func (l *Loader) nothing() error {
	if len(l.report.Errors) > 0 {
		return fmt.Errorf("%d lines hold no triple, the first bad one is %w: %w", l.report.Lines, l.report.Errors[0], store.ErrInvalid)
	}
	return fmt.Errorf("%d lines hold no triple: %w", l.report.Lines, store.ErrInvalid)
}

func (l *Loader) encoding() func(done, total int) {
	if l.options.Progress == nil {
		return nil
	}
	start := time.Now()
	return func(done, total int) {
		l.options.Progress(Progress{
			Lines: l.report.Lines, Encoded: done, Triples: total,
			Rate: float64(done) / max(time.Since(start).Seconds(), 1e-9),
		})
	}
}

func formatOf(name string, format Format) (Format, error) {
	if format != ByName {
		return format, nil
	}
	plain := strings.TrimSuffix(strings.ToLower(name), ".gz")
	switch filepath.Ext(plain) {
	case ".tsv", ".txt", ".tab":
		return TSV, nil
	case ".nt", ".ntriples":
		return NTriples, nil
	}
	return ByName, fmt.Errorf("%s: the name tells no format; .tsv and .nt are known, also with .gz: %w", name, store.ErrInvalid)
}
