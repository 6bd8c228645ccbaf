package bert

import (
	"math"
	"slices"
	"testing"
)

func TestSpareCodesGoToTheLargestNumbers(t *testing.T) {
	largest := slices.Repeat([]float32{1}, width)
	largest[7], largest[99] = 50, 400
	s := spreadFor(largest)
	counts := map[int]int{}
	for _, number := range s.spares {
		counts[number]++
	}
	if len(s.spares) != spareCodes || counts[99] < 50 || counts[7] < 5 || counts[99]+counts[7] != spareCodes {
		t.Errorf("spares %v", s.spares)
	}
	for i, share := range s.shares {
		if want := 1 / float32(1+counts[i]); share != want {
			t.Errorf("number %d has the share %v, want %v", i, share, want)
		}
	}
	if !slices.IsSorted(s.spares) {
		t.Errorf("spares %v are not ascending", s.spares)
	}
}

// TestSpareCodesHoldTheRemainder adds up a number's codes.
func TestSpareCodesHoldTheRemainder(t *testing.T) {
	r := newRandom()
	largest := slices.Repeat([]float32{1}, width)
	largest[7], largest[99], largest[300] = 5, 40, 9
	s := spreadFor(largest)
	for name, change := range map[string]func([]float32){
		"as expected":          func(x []float32) { x[7], x[99], x[300] = 4, 33, -8 },
		"larger than seen":     func(x []float32) { x[99], x[300] = -90, 20 },
		"large ones are small": func([]float32) {},
		"another one is large": func(x []float32) { x[200] = 50 },
		"all are above nothing": func(x []float32) {
			for i := range x {
				x[i] = float32(math.Abs(float64(x[i])))
			}
			x[99] = 30
		},
		"nothing at all": func(x []float32) { clear(x) },
	} {
		t.Run(name, func(t *testing.T) {
			x := normal(r, width)
			change(x)
			eachKernels(t, func(t *testing.T, k *kernels) {
				codes := make([]int8, width+spareCodes)
				scale, middle, sum := k.quantise(x, s.shares, codes[:width])
				sum += s.fill(x, scale, middle, codes)
				told := make([]float64, width)
				for i := range told {
					told[i] = float64(codes[i])*float64(scale) + float64(middle)
				}
				for i, number := range s.spares {
					told[number] += float64(codes[width+i])*float64(scale) + float64(middle)
				}
				for i := range x {
					if math.Abs(told[i]-float64(x[i])) > 0.51*float64(scale)+1e-5 {
						t.Errorf("number %d is %v, its codes tell %v, scale %v", i, x[i], told[i], scale)
					}
				}
				var want int32
				for _, c := range codes {
					want += int32(c)
				}
				if sum != want {
					t.Errorf("the sum is %d, want %d", sum, want)
				}
			})
		})
	}
}
