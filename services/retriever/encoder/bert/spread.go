package bert

import "math"

// spread says which numbers of a layer's input are told by several codes.
type spread struct {
	// shares has, per number, one over how many codes it has.
	shares []float32
	// spares are the numbers that the spare codes belong to, ascending.
	spares []int
	// seen, if set, is told how large each number has been.
	seen []float32
}

// newSpread gives the spare codes to the first number, for want of anything
// better.
func newSpread(numbers int) *spread {
	largest := make([]float32, numbers)
	largest[0] = 1
	return spreadFor(largest)
}

// spreadFor gives each spare code to the number whose codes have to tell the
// most, given the largest that each number has been seen to be.
func spreadFor(largest []float32) *spread {
	codes := make([]int, len(largest))
	for i := range codes {
		codes[i] = 1
	}
	for range spare {
		most := 0
		for i, x := range largest {
			if x/float32(codes[i]) > largest[most]/float32(codes[most]) {
				most = i
			}
		}
		codes[most]++
	}
	s := &spread{shares: make([]float32, len(largest))}
	for i, n := range codes {
		s.shares[i] = 1 / float32(n)
		for range n - 1 {
			s.spares = append(s.spares, i)
		}
	}
	return s
}

// fill writes the spare codes of x and returns their sum: what a number is
// more than its first code tells goes to its spares, one after the other. Each
// code tells a middle beside itself.
func (s *spread) fill(x []float32, scale, middle float32, codes []int8) int32 {
	var sum int32
	var factor float32
	if scale > 0 {
		factor = 1 / scale
	}
	spares := codes[len(x):]
	before := -1
	var left int32
	for i, number := range s.spares {
		if number != before {
			before = number
			rest := float32(x[number]*factor) - float32(middle*factor)/s.shares[number]
			left = int32(math.RoundToEven(float64(rest))) - int32(codes[number])
		}
		c := max(-127, min(left, 127))
		left -= c
		spares[i] = int8(c)
		sum += c
	}
	return sum
}
