// Package load reads files of statements and builds snapshots from them, with
// bounded memory: what does not fit goes to scratch files.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/extsort"
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
	// Language is that of labels; empty means "en".
	Language string
	// Mode says what becomes of the active snapshot's triples. Deltas are held in memory.
	Mode Mode
	// Vectors says which vectors to make; a delta makes those that its base has.
	Vectors Vectors
	// Scratch is a directory for what does not fit in memory, on a disk with room for as much as
	// the files hold unpacked. Empty means a fresh one in the system's directory for temporary
	// files. All that a load puts there is removed at its end.
	Scratch string
	// Memory is the number of bytes to hold, about; 0 means DefaultMemory. What the
	// readers of files and the encoder hold comes on top.
	Memory int
	// Provenance keeps where each triple comes from. It takes memory for each of them
	// while the graph is put in order.
	Provenance bool
	// Resume resumes a load of the same files that was interrupted, if there is one in Scratch. A
	// load that may have to continue keeps its scratch files when its context ends.
	Resume bool
	// Progress is called from time to time, never twice at a time; nil for none.
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
		if err := l.readFile(ctx, path); err != nil {
			return l.report, err
		}
	}
	return l.Finish(ctx, to, enc)
}

func (l *Loader) readFile(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return l.fail(err)
	}
	return errors.Join(l.Read(ctx, filepath.Base(path), DetectFormat, f), f.Close())
}

// Loader reads files one after another and builds a snapshot of them all. It
// is not safe for concurrent use.
type Loader struct {
	options  Options
	builder  *Builder
	scratch  *scratch
	journal  *journal
	report   Report
	position position
	// skip is how many of the next statements are in batches already.
	skip    uint64
	started bool
	// resumed is the load that this one resumes; nil if there is none.
	resumed *history
	// interrupted reports whether the scratch files are kept to resume.
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

// begin looks for a load to resume, once.
func (l *Loader) begin() error {
	if l.started {
		return nil
	}
	l.started = true
	header := loadEntry{Version: journalVersion, KG: l.options.KG, Language: l.options.Language, Mode: l.options.Mode,
		Strict: l.options.Strict, Provenance: l.options.Provenance}
	if l.options.Scratch == "" {
		if l.options.Resume {
			return store.Invalidf("resume: no scratch directory configured")
		}
		return nil
	}
	if err := l.journal.acquire(l.scratch.dir); err != nil {
		return err
	}
	l.builder.onFlush, l.builder.position = l.recordBatch, func() position { return l.position }
	if l.options.Resume {
		past, err := readJournal(l.scratch.dir)
		if err != nil {
			return err
		}
		if past != nil {
			return l.resume(past, header)
		}
	}
	if err := l.scratch.disk.RemoveAll(l.scratch.dir); err != nil {
		return fmt.Errorf("remove scratch files of an earlier load: %w", err)
	}
	return l.journal.record(journalEntry{Load: &header})
}

// resume takes over what an interrupted load has done.
func (l *Loader) resume(past *history, header loadEntry) error {
	if past.load != header {
		return store.Invalidf("the load that was interrupted was of %+v, this one is of %+v; load without resume to "+
			"start over", past.load, header)
	}
	parts, err := past.openBatches(l.scratch)
	if err != nil {
		return err
	}
	l.resumed, l.builder.parts = past, parts
	for _, p := range parts {
		l.builder.rows += p.rows
	}
	if l.journal.path, err = l.scratch.path(journalName); err != nil {
		return err
	}
	// A line that was being written would spoil the next one.
	if err := os.Truncate(l.journal.path, past.validBytes); err != nil {
		return markDiskFull(fmt.Errorf("mend the journal of the load: %w", err))
	}
	return nil
}

// recordBatch notes a batch in the journal.
func (l *Loader) recordBatch(number int, p *partial, at position) error {
	return l.journal.recordBatch(batchEntry{
		Number: number, Keys: p.keys, Rows: p.rows, Vocabulary: p.vocabulary.size, Facts: p.facts.size, position: at,
	})
}

// Finish encodes what was read, writes the snapshot and activates it. After an
// error the knowledge graph is as it was before.
func (l *Loader) Finish(ctx context.Context, to Target, enc encoder.Encoder) (Report, error) {
	if l.resumed != nil && l.position.File < l.resumed.resumePoint().File {
		return l.report, l.fail(store.Invalidf("the load that was interrupted had %d files or more, this one has %d; "+
			"load without resume to start over", l.resumed.resumePoint().File, l.position.File))
	}
	if err := l.build(ctx, to, enc); err != nil {
		return l.report, l.fail(err)
	}
	if err := l.Close(); err != nil {
		// A snapshot that cannot be activated is dropped. The first error counts.
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
	g, err := l.builder.assemble(ctx, l.reportSorting)
	if err != nil {
		return err
	}
	defer g.close()
	l.report.Duplicates = uint64(l.builder.rows - g.count)
	if g.count == 0 {
		return l.emptyError()
	}
	if l.options.Mode != Replace {
		return l.writeDelta(ctx, to, enc, g)
	}
	content, err := g.content(ctx, enc)
	if err != nil {
		return err
	}
	l.reportProgress(Progress{Phase: Write, Total: uint64(g.count)})
	if l.options.Vectors == AllVectors {
		content.TripleVectors = g.vectorStream(enc, l.encodingReporter())
	}
	l.report.Snapshot, err = to.Write(ctx, l.options.KG, content)
	return err
}

// emptyError explains why no triple was read.
func (l *Loader) emptyError() error {
	if len(l.report.Errors) > 0 {
		return store.Invalidf("no triples; fix the first bad line: %w", l.report.Errors[0])
	}
	if l.report.Lines == 0 {
		return store.Invalidf("nothing was read: the files are empty, or no label, type or graph pattern that was " +
			"given matches; check them")
	}
	return store.Invalidf("no triples in %d lines", l.report.Lines)
}

// fail ends the load and adds the knowledge graph to the error.
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
	return &store.Error{Op: "load", KG: l.options.KG, Err: markDiskFull(err)}
}

// Close removes the scratch files of a load that is over or given up. Further calls do nothing.
func (l *Loader) Close() error {
	defer l.journal.release()
	l.builder.current = nil
	if l.interrupted {
		l.builder.wait()
		return nil
	}
	return l.builder.Close()
}

// disk is what building needs of the file system, so that tests can let it fail.
type disk interface {
	MkdirAll(dir string) error
	Create(path string) (extsort.File, error)
	// Append opens a file to write at its end.
	Append(path string) (extsort.File, error)
	CreateTemp(dir, pattern string) (extsort.File, error)
	Open(path string) (input, error)
	Remove(path string) error
	RemoveAll(dir string) error
}

// input is a scratch file being read.
type input interface {
	io.ReadCloser
	io.ReaderAt
}

type osDisk struct{}

func (osDisk) MkdirAll(dir string) error  { return os.MkdirAll(dir, 0o700) }
func (osDisk) Remove(path string) error   { return os.Remove(path) }
func (osDisk) RemoveAll(dir string) error { return os.RemoveAll(dir) }

func (osDisk) Create(path string) (extsort.File, error) {
	return asFile(os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600))
}

func (osDisk) Append(path string) (extsort.File, error) {
	return asFile(os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600))
}

func (osDisk) CreateTemp(dir, pattern string) (extsort.File, error) {
	return asFile(os.CreateTemp(dir, pattern))
}

func asFile(f *os.File, err error) (extsort.File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Open(path string) (input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// markDiskFull marks errors of a disk that has no room.
func markDiskFull(err error) error {
	if errors.Is(err, store.ErrFull) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return errors.Join(store.ErrFull, err)
	}
	return err
}

// scratch is the directory of a load's files. It is made when the first file is.
type scratch struct {
	disk disk
	// parent is where a directory of its own is made, or dir where it is known in advance.
	parent, dir string
	mu          sync.Mutex
	exists      bool
	created     int
}

// path makes the directory and returns the path of a file in it.
func (s *scratch) path(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.exists {
		if s.dir == "" {
			// Two loads at once must not share files.
			s.dir = filepath.Join(s.parent, fmt.Sprintf("triplemesh-load-%d-%p", os.Getpid(), s))
		}
		if err := s.disk.MkdirAll(s.dir); err != nil {
			return "", markDiskFull(fmt.Errorf("create the scratch directory: %w", err))
		}
		s.exists = true
	}
	return filepath.Join(s.dir, name), nil
}

// newPath returns the path of a file that is not there yet.
func (s *scratch) newPath(kind string) (string, error) {
	s.mu.Lock()
	s.created++
	name := fmt.Sprintf("%s-%d", kind, s.created)
	s.mu.Unlock()
	return s.path(name)
}

// removeAll removes the directory and all in it.
func (s *scratch) removeAll() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.exists {
		return nil
	}
	if err := s.disk.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove scratch files: %w", err)
	}
	s.exists = false
	return nil
}

// sortOptions says how sorters may use the directory.
func (s *scratch) sortOptions(memory int) extsort.Options {
	return extsort.Options{Memory: memory, Disk: sortingDisk{s}}
}

// sortingDisk puts the runs of sorters into the scratch directory.
type sortingDisk struct{ s *scratch }

func (d sortingDisk) CreateTemp(_, pattern string) (extsort.File, error) {
	path, err := d.s.path(pattern)
	if err != nil {
		return nil, err
	}
	return d.s.disk.CreateTemp(filepath.Dir(path), pattern)
}

func (d sortingDisk) Open(path string) (io.ReadCloser, error) { return d.s.disk.Open(path) }
func (d sortingDisk) Remove(path string) error                { return d.s.disk.Remove(path) }
