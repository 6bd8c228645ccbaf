package extsort

import (
	"context"
	"io"
	"unsafe"
)

// Records sorts records of one size. First all are added, then they are read,
// as often as needed.
type Records[T Words] struct {
	runs    runs
	limit   int
	held    []T
	scratch []T
	sorted  bool
}

// NewRecords returns a sorter that holds nothing.
func NewRecords[T Words](options Options) *Records[T] {
	s := &Records[T]{runs: runs{Options: options.withDefaults()}}
	// The other half is for Sort.
	s.limit = max(16, s.runs.Memory/2/size[T]())
	return s
}

func size[T Words]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// Add takes a record. It is not safe for concurrent use.
func (s *Records[T]) Add(record T) error {
	if len(s.held) == cap(s.held) {
		if err := s.grow(); err != nil {
			return err
		}
	}
	s.held = append(s.held, record)
	s.sorted = false
	return nil
}

// grow makes room for at least one record, in memory or by a run.
func (s *Records[T]) grow() error {
	if len(s.held) >= s.limit {
		return s.spill()
	}
	grown := make([]T, len(s.held), min(s.limit, max(64, 2*cap(s.held))))
	copy(grown, s.held)
	s.held = grown
	return nil
}

func (s *Records[T]) spill() error {
	if len(s.scratch) < len(s.held) {
		s.scratch = make([]T, len(s.held))
	}
	Sort(s.held, s.scratch)
	if err := s.runs.add(func(w *runWriter) error { return writeRecords(w, s.held) }); err != nil {
		return err
	}
	s.held = s.held[:0]
	return nil
}

// AddRun sorts records in place, with scratch as in Sort, and writes them as a
// run of their own. It is safe for concurrent use with itself.
func (s *Records[T]) AddRun(records, scratch []T) error {
	if len(records) == 0 {
		return nil
	}
	Sort(records, scratch)
	return s.runs.add(func(w *runWriter) error { return writeRecords(w, records) })
}

// Len is how many records were added.
func (s *Records[T]) Len() int64 {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	n := int64(len(s.held))
	for _, r := range s.runs.all {
		n += r.records
	}
	return n
}

// Each hands out all records in ascending order, equal ones as often as they
// were added.
func (s *Records[T]) Each(ctx context.Context, emit func(T) error) error {
	r, err := s.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	buffer := make([]T, 1024)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buffer)
		for _, record := range buffer[:n] {
			if err := emit(record); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Reader reads all records in ascending order. Nothing may be added while it
// is open.
func (s *Records[T]) Reader() (*RecordReader[T], error) {
	if !s.sorted {
		if len(s.runs.all) > 0 && len(s.held) > 0 {
			if err := s.spill(); err != nil {
				return nil, err
			}
		}
		if len(s.runs.all) > 0 {
			s.held = nil
		}
		Sort(s.held, s.scratch)
		s.sorted, s.scratch = true, nil
	}
	if len(s.runs.all) == 0 {
		return &RecordReader[T]{held: s.held}, nil
	}
	err := s.runs.reduce(func(from []run, to *runWriter) error {
		r, err := mergeRecords[T](s.runs.Options, from)
		if err != nil {
			return err
		}
		defer r.Close()
		buffer := make([]T, 1024)
		for {
			n, err := r.Read(buffer)
			if err := writeRecords(to, buffer[:n]); err != nil {
				return err
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return mergeRecords[T](s.runs.Options, s.runs.all)
}

// Close forgets all records and removes the runs. Open readers fail.
func (s *Records[T]) Close() error {
	s.held, s.scratch = nil, nil
	return s.runs.close()
}

// RecordReader reads sorted records.
type RecordReader[T Words] struct {
	held  []T
	merge *Merge[T]
	open  []*recordRun[T]
}

// Read fills dst as far as there are records. It returns io.EOF after the last
// one.
func (r *RecordReader[T]) Read(dst []T) (int, error) {
	if r.merge == nil {
		n := copy(dst, r.held)
		r.held = r.held[n:]
		if len(r.held) == 0 {
			return n, io.EOF
		}
		return n, nil
	}
	for i := range dst {
		top, _ := r.merge.Top()
		if top == nil {
			return i, io.EOF
		}
		dst[i] = *top
		if err := r.merge.Advance(); err != nil {
			return i + 1, err
		}
	}
	return len(dst), nil
}

// Close closes the runs that the reader has open.
func (r *RecordReader[T]) Close() error {
	for _, one := range r.open {
		// It was only read.
		_ = one.file.Close()
	}
	r.open, r.held = nil, nil
	return nil
}

// recordRun is a run of records being read.
type recordRun[T Words] struct {
	runReader
	buffer, rest []T
}

func mergeRecords[T Words](o Options, from []run) (*RecordReader[T], error) {
	r := &RecordReader[T]{}
	sources := make([]Source[T], len(from))
	for i, one := range from {
		opened, err := o.open(one)
		if err != nil {
			r.Close()
			return nil, err
		}
		reading := &recordRun[T]{runReader: opened, buffer: make([]T, min(int(min(one.records, 1<<30)), max(1, o.buffer()/size[T]())))}
		r.open = append(r.open, reading)
		sources[i] = reading.next
	}
	var err error
	if r.merge, err = NewMerge(sources, compareWords[T]); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *recordRun[T]) next(head *T) (uint64, bool, error) {
	if len(r.rest) == 0 {
		if r.left == 0 {
			return 0, false, nil
		}
		r.rest = r.buffer[:min(int64(len(r.buffer)), r.left)]
		if _, err := io.ReadFull(r.file, asBytes(r.rest)); err != nil {
			return 0, false, r.failed(err)
		}
		r.left -= int64(len(r.rest))
	}
	*head = r.rest[0]
	r.rest = r.rest[1:]
	return prefixWords(head), true, nil
}

func writeRecords[T Words](w *runWriter, records []T) error {
	w.records += int64(len(records))
	_, err := w.out.Write(asBytes(records))
	return err
}

// asBytes shows records as the bytes they are. Runs do not leave the machine,
// so their order of bytes is its own.
func asBytes[T Words](records []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(records))), len(records)*size[T]())
}
