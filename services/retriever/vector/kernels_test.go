package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachKernel runs a test with every kernel of this machine.
func eachKernel(t *testing.T, dims int, test func(t *testing.T, k kernels)) {
	t.Helper()
	for _, k := range availableKernels(dims) {
		t.Run(fmt.Sprintf("%s, %d dims", k.name, dims), func(t *testing.T) { test(t, k) })
	}
}

func randomVector(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestProductsMultipliesEachRowAndQuery(t *testing.T) {
	for _, dims := range []int{1, 3, 8, 9, 16, 40, 384, 768, 1536, 1537} {
		r := rand.New(rand.NewPCG(1, uint64(dims)))
		a, b, queries := randomVector(r, dims), randomVector(r, dims), randomVector(r, group*dims)
		eachKernel(t, dims, func(t *testing.T, k kernels) {
			var out, swapped [2 * group]float32
			k.products(&a[0], &b[0], &queries[0], dims, &out)
			k.products(&b[0], &a[0], &queries[0], dims, &swapped)
			for q := range group {
				for i, row := range [][]float32{a, b} {
					var want float64
					for j := range row {
						want += float64(row[j]) * float64(queries[q*dims+j])
					}
					if got := out[i*group+q]; math.Abs(float64(got)-want) > 1e-5*float64(dims) {
						t.Errorf("row %d, query %d: got %v, want %v", i, q, got, want)
					}
					if out[i*group+q] != swapped[(1-i)*group+q] {
						t.Errorf("row %d, query %d: the score changes with the row's place", i, q)
					}
				}
			}
		})
	}
}

func TestDotsAreExact(t *testing.T) {
	for _, width := range []int{64, 384, 1536, 4160} {
		for _, n := range []int{1, 2, 3, 4, 5, 62, 63, 64} {
			r := rand.New(rand.NewPCG(uint64(n), uint64(width)))
			rows, bytes := randomBytes(r, n*width), randomBytes(r, group*width)
			queries := make([]int8, len(bytes))
			for i, b := range bytes {
				queries[i] = int8(b)
			}
			// The largest possible products, which would overflow fewer than 32 bits.
			for i := range width {
				rows[i], queries[i] = 255, -128
			}
			eachKernel(t, width, func(t *testing.T, k kernels) {
				var out [group][blockRows]int32
				k.dots(&rows[0], n, width, &queries[0], &out)
				if k.dot != nil {
					for q := range group {
						var one [blockRows]int32
						k.dot(&rows[0], n, width, &queries[q*width], &one)
						if !slices.Equal(one[:n], out[q][:n]) {
							t.Fatalf("%d rows of %d bytes: one query alone has %v, among others %v", n, width,
								one[:n], out[q][:n])
						}
					}
				}
				for q := range group {
					for row := range n {
						var want int32
						for i := range width {
							want += int32(rows[row*width+i]) * int32(queries[q*width+i])
						}
						if out[q][row] != want {
							t.Fatalf("%d rows: row %d, query %d: got %d, want %d", n, row, q, out[q][row], want)
						}
					}
				}
			})
		}
	}
}

func TestLookupsAreExact(t *testing.T) {
	for _, columns := range []int{2, 6, 48, 192, 520} {
		r := rand.New(rand.NewPCG(5, uint64(columns)))
		block, table := randomBytes(r, columns*blockRows), randomBytes(r, columns*2*16)
		for i := range table {
			table[i] %= 64
		}
		// One row has the largest possible sum.
		for c := range columns {
			table[c*32], table[c*32+16] = 63, 63
			block[c*blockRows+rowPosition(17)] = 0
		}
		eachKernel(t, columns*8, func(t *testing.T, k kernels) {
			var out [blockRows]int32
			k.lookups(&block[0], columns, &table[0], &out)
			for row := range blockRows {
				var want int32
				for c := range columns {
					b := block[c*blockRows+rowPosition(row)]
					want += int32(table[c*32+int(b&15)]) + int32(table[c*32+16+int(b>>4)])
				}
				if out[row] != want {
					t.Fatalf("row %d: got %d, want %d", row, out[row], want)
				}
			}
		})
	}
}

func TestAboveComparesEveryRow(t *testing.T) {
	infinite := float32(math.Inf(1))
	for name, test := range map[string]struct {
		value, offset int32
		factor, floor float32
		want          bool
	}{
		"a row above the floor":                {10, 5, 0.5, 7, true},
		"a row at the floor":                   {10, 4, 0.5, 7, true},
		"a row below the floor":                {10, 3, 0.5, 7, false},
		"a negative score":                     {-10, 3, 0.5, -3.5, true},
		"no floor yet":                         {-1 << 30, 0, 1, -infinite, true},
		"a floor that nothing reaches":         {1 << 30, 0, 1, infinite, false},
		"a factor that is no number":           {1, 1, float32(math.NaN()), -infinite, false},
		"a sum that needs more than 24 bits":   {1 << 25, 1, 1, 1 << 25, true},
		"an offset that wraps is exact anyway": {math.MaxInt32, math.MinInt32, 1, -1, true},
	} {
		t.Run(name, func(t *testing.T) {
			eachKernel(t, 16, func(t *testing.T, k kernels) {
				for row := range blockRows {
					// The other rows are the opposite.
					var values [blockRows]int32
					var factors [blockRows]float32
					floor := test.floor
					values[row], factors[row] = test.value, test.factor
					for i := range blockRows {
						if i != row {
							factors[i] = float32(math.NaN())
						}
					}
					want := uint64(0)
					if test.want {
						want = 1 << row
					}
					if got := k.above(&values, &factors, test.offset, floor); got != want {
						t.Fatalf("row %d: got %064b, want %064b", row, got, want)
					}
				}
			})
		})
	}
}
