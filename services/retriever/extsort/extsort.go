// Package extsort sorts more than memory holds: what is added is sorted in
// pieces, each written to a file as a run, and the runs are merged while they
// are read. What fits in memory touches no file.
package extsort

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Options says where and with how much memory to sort.
type Options struct {
	// Dir is where runs are written; it must exist. Empty means the system's
	// directory for temporary files.
	Dir string
	// Memory is the number of bytes a sorter holds, about; 0 means 64 MiB.
	Memory int
	// Disk is where Dir is; nil means the system's.
	Disk Disk
}

const (
	defaultMemory = 64 << 20
	// mergeBuffer is the least that is read of a run at a time where memory
	// allows, so that a merge does not seek for every record.
	mergeBuffer = 64 << 10
	// maxFanIn bounds the files that are open during a merge.
	maxFanIn = 256
)

func (o Options) withDefaults() Options {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Disk == nil {
		o.Disk = osDisk{}
	}
	return o
}

// fanIn is how many runs are merged at once, and buffer how many bytes of each are held.
func (o Options) fanIn() int  { return max(2, min(maxFanIn, o.Memory/mergeBuffer)) }
func (o Options) buffer() int { return max(256, o.Memory/(o.fanIn()+1)) }

// run is a sorted file.
type run struct {
	path string
	// records it holds; bytes of its longest key.
	records int64
	longest int
}

// runs are the files of a sorter, safe for concurrent use.
type runs struct {
	Options
	mu    sync.Mutex
	files []run
}

func (r *runs) addRun(write func(*runWriter) error) error {
	made, err := r.writeRun(write)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = append(r.files, made)
	return nil
}

func (r *runs) writeRun(write func(*runWriter) error) (run, error) {
	f, err := r.Disk.CreateTemp(r.Dir, "run-*")
	if err != nil {
		return run{}, fmt.Errorf("sort: make a run: %w", err)
	}
	w := &runWriter{out: bufio.NewWriterSize(f, min(r.buffer(), 1<<20))}
	err = write(w)
	if flushErr := w.out.Flush(); err == nil {
		err = flushErr
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		// The first error counts.
		_ = r.Disk.Remove(f.Name())
		return run{}, fmt.Errorf("sort: write run %s: %w", f.Name(), err)
	}
	return run{f.Name(), w.records, w.longest}, nil
}

// mergeDown merges runs until no more than can be read at once remain.
func (r *runs) mergeDown(merge func(from []run, to *runWriter) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for fan := r.fanIn(); len(r.files) > fan; {
		// No more than needed are merged in the first round.
		n := min(fan, len(r.files)-fan+1)
		made, err := r.writeRun(func(w *runWriter) error { return merge(r.files[:n], w) })
		if err != nil {
			return err
		}
		merged := r.files[:n]
		r.files = append(r.files[n:len(r.files):len(r.files)], made)
		if err := r.removeRuns(merged); err != nil {
			return err
		}
	}
	return nil
}

func (r *runs) removeRuns(all []run) error {
	var first error
	for _, one := range all {
		if err := r.Disk.Remove(one.path); err != nil && first == nil {
			first = fmt.Errorf("sort: remove run %s: %w", one.path, err)
		}
	}
	return first
}

func (r *runs) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.files
	r.files = nil
	return r.removeRuns(all)
}

// runWriter writes one run.
type runWriter struct {
	out     *bufio.Writer
	scratch []byte
	last    []byte
	records int64
	longest int
}

// runReader reads one run.
type runReader struct {
	run
	file      io.ReadCloser
	in        *bufio.Reader
	remaining int64
}

func (o Options) openRun(r run) (runReader, error) {
	f, err := o.Disk.Open(r.path)
	if err != nil {
		return runReader{}, fmt.Errorf("sort: open run %s: %w", r.path, err)
	}
	return runReader{run: r, file: f, remaining: r.records}, nil
}

// wrapError says what went wrong while reading: a run that ends early was not written whole.
func (r *runReader) wrapError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("sort: run %s is cut off, %d of %d records are missing", r.path, r.remaining, r.records)
	}
	return fmt.Errorf("sort: read run %s: %w", r.path, err)
}

// Disk is what sorting needs of a file system, so that tests can let it fail.
type Disk interface {
	// CreateTemp makes a file of a name of its own, as os.CreateTemp does.
	CreateTemp(dir, pattern string) (File, error)
	Open(path string) (io.ReadCloser, error)
	Remove(path string) error
}

// File is a run being written.
type File interface {
	io.WriteCloser
	Name() string
}

type osDisk struct{}

func (osDisk) CreateTemp(dir, pattern string) (File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Remove(path string) error { return os.Remove(path) }

// Source returns the next value of a sorted sequence into head, which it may reuse what is in. key
// is the beginning of the value's order: where the keys of two values differ, so do the values, the
// same way; 0 for all will do. ok is false after the last one.
type Source[E any] func(head *E) (key uint64, ok bool, err error)

// Merge merges sorted sequences with a loser tree, which knows the least of their heads after one
// comparison per level (Knuth, The Art of Computer Programming, vol. 3, §5.4.1).
type Merge[E any] struct {
	sources []head[E]
	// losers[0] is the winner, losers[i] who lost at inner node i.
	losers  []int
	compare func(a, b *E) int
}

// head is the value in front of a sequence.
type head[E any] struct {
	value     E
	key       uint64
	exhausted bool
	next      Source[E]
}

func (h *head[E]) advance() (err error) {
	var ok bool
	h.key, ok, err = h.next(&h.value)
	h.exhausted = !ok
	return err
}

// NewMerge reads the first value of each sequence. Equal values come out in no
// order that is promised.
func NewMerge[E any](sources []Source[E], compare func(a, b *E) int) (*Merge[E], error) {
	m := &Merge[E]{sources: make([]head[E], len(sources)), losers: make([]int, max(1, len(sources))), compare: compare}
	for i, next := range sources {
		m.sources[i].next = next
		if err := m.sources[i].advance(); err != nil {
			return nil, err
		}
	}
	if len(sources) > 0 {
		m.losers[0] = m.play(1)
	}
	return m, nil
}

// play finds the winner below an inner node. The leaves are the nodes from len(sources) on.
func (m *Merge[E]) play(node int) int {
	n := len(m.sources)
	if node >= n {
		return node - n
	}
	a, b := m.play(2*node), m.play(2*node+1)
	if m.less(b, a) {
		a, b = b, a
	}
	m.losers[node] = b
	return a
}

// less orders sequences by their heads, those that are over last.
func (m *Merge[E]) less(i, j int) bool {
	a, b := &m.sources[i], &m.sources[j]
	if a.exhausted || b.exhausted {
		return !a.exhausted
	}
	if a.key != b.key {
		return a.key < b.key
	}
	return m.compare(&a.value, &b.value) < 0
}

// Top returns the least head, valid until Advance, and the number of its
// sequence; nil if all are over.
func (m *Merge[E]) Top() (*E, int) {
	if len(m.sources) == 0 {
		return nil, 0
	}
	winner := m.losers[0]
	if m.sources[winner].exhausted {
		return nil, 0
	}
	return &m.sources[winner].value, winner
}

// Advance drops the least head. There must be one.
func (m *Merge[E]) Advance() error {
	winner := m.losers[0]
	if err := m.sources[winner].advance(); err != nil {
		return err
	}
	for node := (winner + len(m.sources)) / 2; node > 0; node /= 2 {
		if m.less(m.losers[node], winner) {
			winner, m.losers[node] = m.losers[node], winner
		}
	}
	m.losers[0] = winner
	return nil
}
