package extsort

import (
	"context"
	"encoding/binary"
	"io"
	"math/bits"
	"slices"
	"unsafe"
)

// Records sorts records of one size. First all are added, then they are read, any number of times.
type Records[T Words] struct {
	runs    runs
	limit   int
	pending []T
	scratch []T
	sorted  bool
}

// NewRecords returns a sorter that holds nothing.
func NewRecords[T Words](options Options) *Records[T] {
	s := &Records[T]{runs: runs{Options: options.withDefaults()}}
	// The other half is for Sort.
	s.limit = max(16, s.runs.Memory/2/recordSize[T]())
	return s
}

func recordSize[T Words]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// Add takes a record. It is not safe for concurrent use.
func (s *Records[T]) Add(record T) error {
	if len(s.pending) == cap(s.pending) {
		if err := s.grow(); err != nil {
			return err
		}
	}
	s.pending = append(s.pending, record)
	s.sorted = false
	return nil
}

// grow makes room for at least one record, in memory or by a run.
func (s *Records[T]) grow() error {
	if len(s.pending) >= s.limit {
		return s.spill()
	}
	grown := make([]T, len(s.pending), min(s.limit, max(64, 2*cap(s.pending))))
	copy(grown, s.pending)
	s.pending = grown
	return nil
}

func (s *Records[T]) spill() error {
	if len(s.scratch) < len(s.pending) {
		s.scratch = make([]T, len(s.pending))
	}
	Sort(s.pending, s.scratch)
	if err := s.runs.addRun(func(w *runWriter) error { return writeRecords(w, s.pending) }); err != nil {
		return err
	}
	s.pending = s.pending[:0]
	return nil
}

// AddRun sorts records in place, with scratch as in Sort, and writes them as a
// run of their own. It is safe for concurrent use with itself.
func (s *Records[T]) AddRun(records, scratch []T) error {
	if len(records) == 0 {
		return nil
	}
	Sort(records, scratch)
	return s.runs.addRun(func(w *runWriter) error { return writeRecords(w, records) })
}

// Len is the number of records added.
func (s *Records[T]) Len() int64 {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	n := int64(len(s.pending))
	for _, r := range s.runs.files {
		n += r.records
	}
	return n
}

// Each returns all records in ascending order, equal ones as often as they were added.
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

// Reader reads all records in ascending order. Nothing may be added while it is open.
func (s *Records[T]) Reader() (*RecordReader[T], error) {
	if !s.sorted {
		if len(s.runs.files) > 0 && len(s.pending) > 0 {
			if err := s.spill(); err != nil {
				return nil, err
			}
		}
		if len(s.runs.files) > 0 {
			s.pending = nil
		}
		Sort(s.pending, s.scratch)
		s.sorted, s.scratch = true, nil
	}
	if len(s.runs.files) == 0 {
		return &RecordReader[T]{pending: s.pending}, nil
	}
	err := s.runs.mergeDown(func(from []run, to *runWriter) error {
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
	return mergeRecords[T](s.runs.Options, s.runs.files)
}

// Close forgets all records and removes the runs. Open readers fail.
func (s *Records[T]) Close() error {
	s.pending, s.scratch = nil, nil
	return s.runs.close()
}

// RecordReader reads sorted records.
type RecordReader[T Words] struct {
	pending []T
	merge   *Merge[T]
	open    []*recordRun[T]
}

// Read fills dst as far as there are records. It returns io.EOF after the last one.
func (r *RecordReader[T]) Read(dst []T) (int, error) {
	if r.merge == nil {
		n := copy(dst, r.pending)
		r.pending = r.pending[n:]
		if len(r.pending) == 0 {
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
	r.open, r.pending = nil, nil
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
		opened, err := o.openRun(one)
		if err != nil {
			r.Close()
			return nil, err
		}
		reading := &recordRun[T]{runReader: opened,
			buffer: make([]T, min(int(min(one.records, 1<<30)), max(1, o.buffer()/recordSize[T]())))}
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
		if r.remaining == 0 {
			return 0, false, nil
		}
		r.rest = r.buffer[:min(int64(len(r.buffer)), r.remaining)]
		if _, err := io.ReadFull(r.file, asBytes(r.rest)); err != nil {
			return 0, false, r.wrapError(err)
		}
		r.remaining -= int64(len(r.rest))
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
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(records))), len(records)*recordSize[T]())
}

// Words are records: arrays of numbers, compared one number after the other.
type Words interface {
	~[1]uint32 | ~[2]uint32 | ~[3]uint32 | ~[4]uint32 | ~[5]uint32 | ~[6]uint32 | ~[8]uint32
}

// radixFrom is the number of records that make radix sort the faster one.
const radixFrom = 512

// Sort puts records in order. It uses scratch for as many records as there are
// and makes one where it is too short.
func Sort[T Words](records, scratch []T) {
	if len(records) < radixFrom {
		slices.SortFunc(records, func(a, b T) int { return compareWords(&a, &b) })
		return
	}
	if len(scratch) < len(records) {
		scratch = make([]T, len(records))
	}
	scratch = scratch[:len(records)]
	var zero T
	from, to := records, scratch
	// From the last digit to the first; digits that are all the same cost no pass.
	for word := len(zero) - 1; word >= 0; word-- {
		var counts [4][256]uint32
		for i := range from {
			v := from[i][word]
			counts[0][byte(v)]++
			counts[1][byte(v>>8)]++
			counts[2][byte(v>>16)]++
			counts[3][byte(v>>24)]++
		}
		for digit := range 4 {
			places, shift := &counts[digit], 8*digit
			if places[byte(from[0][word]>>shift)] == uint32(len(from)) {
				continue
			}
			var place uint32
			for i, n := range places {
				places[i] = place
				place += n
			}
			for i := range from {
				at := &places[byte(from[i][word]>>shift)]
				to[*at] = from[i]
				*at++
			}
			from, to = to, from
		}
	}
	if &from[0] != &records[0] {
		copy(records, from)
	}
}

func compareWords[T Words](a, b *T) int {
	for i := range len(*a) {
		x, y := (*a)[i], (*b)[i]
		if x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	return 0
}

// prefixWords is the beginning of a record's order.
func prefixWords[T Words](r *T) uint64 {
	key := uint64((*r)[0]) << 32
	if len(*r) > 1 {
		// A constant index would not do for records of one word.
		i := 1
		key |= uint64((*r)[i])
	}
	return key
}

// CommonPrefix is the number of bytes two keys begin with alike.
func CommonPrefix(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// Prefix makes a number of the first eight bytes of a key, in the same order.
func Prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var padded [8]byte
	copy(padded[:], key)
	return binary.BigEndian.Uint64(padded[:])
}
