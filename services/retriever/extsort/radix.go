package extsort

import "slices"

// Words are records: arrays of numbers, compared one number after the other.
type Words interface {
	~[1]uint32 | ~[2]uint32 | ~[3]uint32 | ~[4]uint32 | ~[5]uint32 | ~[6]uint32 | ~[8]uint32
}

// radixFrom is how many records make radix sort the faster one.
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
	// From the last digit to the first; digits that are all the same cost no
	// pass.
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
