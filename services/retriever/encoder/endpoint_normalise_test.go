package encoder

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// FuzzNormalise gives vectors of any numbers, the smallest and the largest
// included, a length of 1, or refuses them.
func FuzzNormalise(f *testing.F) {
	for _, seed := range [][]float32{{}, {0}, {1, 2}, {1e-45}, {3e38, 3e38}, {float32(math.NaN())},
		{float32(math.Inf(1)), 0}, {1e-45, 3e38}} {
		var data []byte
		for _, x := range seed {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v []float32
		for ; len(data) >= 4; data = data[4:] {
			v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(data)))
		}
		if err := normalise(v); err != nil {
			if !errors.Is(err, errUnusableResponse) {
				t.Fatal(err)
			}
			return
		}
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if !(math.Abs(sum-1) < 1e-4) {
			t.Errorf("%v has length %v", v, math.Sqrt(sum))
		}
	})
}
