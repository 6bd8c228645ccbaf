// Package extsort sorts more than memory holds: what is added is sorted in
// pieces, each written to a file as a run, and the runs are merged while they
// are read. What fits in memory touches no file.
package extsort

import (
	"fmt"
	"sync"
)

// Options says where and with how much memory to sort.
type Options struct {
	// Dir is where runs are written; it must exist. Empty takes the system's
	// directory for temporary files.
	Dir string
	// Memory is how many bytes a sorter holds, about; 0 takes 64 MiB.
	Memory int
	// Disk is where Dir is; nil takes the system's.
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

// fanIn is how many runs are merged at once, and buffer how many bytes of each
// are held.
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
	mu  sync.Mutex
	all []run
}

// add writes a run.
func (r *runs) add(write func(*runWriter) error) error {
	made, err := r.write(write)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, made)
	return nil
}

func (r *runs) write(write func(*runWriter) error) (run, error) {
	f, err := r.Disk.CreateTemp(r.Dir, "run-*")
	if err != nil {
		return run{}, fmt.Errorf("sort: make a run: %w", err)
	}
	w := newRunWriter(f, r.buffer())
	err = write(w)
	if flushErr := w.flush(); err == nil {
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

// reduce merges runs until no more than can be read at once are left.
func (r *runs) reduce(merge func(from []run, to *runWriter) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for fan := r.fanIn(); len(r.all) > fan; {
		// No more than needed are merged in the first round.
		n := min(fan, len(r.all)-fan+1)
		made, err := r.write(func(w *runWriter) error { return merge(r.all[:n], w) })
		if err != nil {
			return err
		}
		merged := r.all[:n]
		r.all = append(r.all[n:len(r.all):len(r.all)], made)
		if err := r.remove(merged); err != nil {
			return err
		}
	}
	return nil
}

func (r *runs) remove(all []run) error {
	var first error
	for _, one := range all {
		if err := r.Disk.Remove(one.path); err != nil && first == nil {
			first = fmt.Errorf("sort: remove run %s: %w", one.path, err)
		}
	}
	return first
}

// close removes all runs.
func (r *runs) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return r.remove(all)
}
