package scan

import (
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// span is a half-open range of rows.
type span struct{ from, to uint32 }

// spans checks ranges of rows and counts their rows.
func (v *Vectors) spans(ranges [][2]uint32) (spans []span, rows int, err error) {
	if ranges == nil {
		return []span{{0, uint32(v.rows)}}, v.rows, nil
	}
	end := uint32(0)
	for i, r := range ranges {
		if r[0] < end || r[1] < r[0] || int64(r[1]) > int64(v.rows) {
			return nil, 0, fmt.Errorf("range %d is rows %d to %d; want ascending ranges apart from one another within %d rows: %w", i, r[0], r[1], v.rows, store.ErrInvalid)
		}
		if r[0] < r[1] {
			spans = append(spans, span{r[0], r[1]})
			rows += int(r[1] - r[0])
		}
		end = r[1]
	}
	return spans, rows, nil
}

// itemRows is how many rows a worker takes at a time: about a quarter of a
// megabyte, which stays in a core's second cache while all queries go over it,
// so that workers finish together and notice soon when a search is cancelled.
func itemRows(method Method, dims int) uint32 {
	size := 4 * dims
	switch method {
	case ByCodes:
		size = stride(dims)
	case ByBits:
		size = blockBytes(dims) / blockRows
	}
	return uint32(max(1<<18/size/blockRows, 1) * blockRows)
}

// batches cuts spans where rows reaches a multiple of size, and joins small
// ones, so that each batch has about size rows.
func batches(spans []span, size uint32) [][]span {
	var all [][]span
	var batch []span
	var rows uint32
	for _, s := range spans {
		for s.from < s.to {
			cut := s
			if end := (uint64(s.from)/uint64(size) + 1) * uint64(size); end < uint64(s.to) {
				cut.to = uint32(end)
			}
			batch = append(batch, cut)
			rows += cut.to - cut.from
			s.from = cut.to
			if rows >= size {
				all, batch, rows = append(all, batch), nil, 0
			}
		}
	}
	if batch != nil {
		all = append(all, batch)
	}
	return all
}

const (
	// fullRows is up to how many rows are compared as they are: too few for a
	// coarser column to save anything.
	fullRows = 128
	// bitRows is from how many rows on bits are compared first, if a range has
	// bitRange rows on average: blocks of bits are read whole.
	bitRows  = 16384
	bitRange = 512
)

// method chooses how to search.
func (v *Vectors) method(wanted Method, rows, ranges int) (Method, error) {
	coded, bits := v.columns.Codes != nil, v.columns.Bits != nil
	switch {
	case wanted == Auto && (!coded || rows <= fullRows):
		return ByFull, nil
	case wanted == Auto && bits && rows >= bitRows && rows/ranges >= bitRange:
		return ByBits, nil
	case wanted == Auto:
		return ByCodes, nil
	case wanted == ByCodes && !coded, wanted == ByBits && !bits, wanted < Auto, wanted > ByBits:
		return 0, fmt.Errorf("method %d has no column to read; write the vectors with it or leave the choice open: %w", wanted, store.ErrInvalid)
	}
	return wanted, nil
}
