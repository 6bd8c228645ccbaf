package embedded

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// pack writes values and opens them again.
func pack(t testing.TB, width int, values []uint64) packedColumn {
	t.Helper()
	var data bytes.Buffer
	var sums pageSummer
	w := newPackedWriter(io.MultiWriter(&data, &sums), width)
	for _, v := range values {
		if err := w.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := newPageFile("numbers", data.Bytes(), sums.Sums())
	if err != nil {
		t.Fatal(err)
	}
	c, err := openPacked(file, len(values), width)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPackedColumnRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for width := range maxBitWidth + 1 {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 10_000} {
			values := make([]uint64, n)
			for i := range values {
				values[i] = r.Uint64() & (1<<width - 1)
			}
			if n > 0 {
				values[n-1] = 1<<width - 1
			}
			c := pack(t, width, values)
			c.Check(0, n)
			for i, want := range values {
				if got, at := c.Get(i), c.GetChecked(i); got != want || at != want {
					t.Fatalf("%d bits, number %d of %d: got %d and %d, want %d", width, i, n, got, at, want)
				}
			}
		}
	}
}

func TestSearchFindsTheLowerBound(t *testing.T) {
	c := pack(t, 5, []uint64{1, 3, 3, 3, 9, 31})
	for v, want := range map[uint64]int{0: 0, 1: 0, 2: 1, 3: 1, 4: 4, 9: 4, 10: 5, 31: 5, 32: 6} {
		if got := c.Search(0, c.Len(), v); got != want {
			t.Errorf("the first that is at least %d is at %d, want %d", v, got, want)
		}
		if _, found := c.Find(v); found != (v == 1 || v == 3 || v == 9 || v == 31) {
			t.Errorf("%d is found: %v", v, found)
		}
	}
	if got := c.Search(2, 4, 9); got != 4 {
		t.Errorf("a search from 2 to 4 ends at %d", got)
	}
}

func TestPackedWriterRejectsTooLargeNumbers(t *testing.T) {
	if err := newPackedWriter(io.Discard, 3).Add(8); err == nil {
		t.Error("8 was written in 3 bits")
	}
	file, err := newPageFile("numbers", make([]byte, 9), make([]byte, 4))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ n, width int }{{2, 8}, {0, 8}, {1, maxBitWidth + 1}, {-1, 8}, {1, -1}} {
		if _, err := openPacked(file, c.n, c.width); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%d numbers of %d bits in 9 bytes: %v", c.n, c.width, err)
		}
	}
}

func TestWidth(t *testing.T) {
	for most, want := range map[uint64]int{0: 0, 1: 1, 2: 2, 255: 8, 256: 9} {
		if got := bitWidth(most); got != want {
			t.Errorf("numbers up to %d take %d bits, want %d", most, got, want)
		}
	}
}

// BenchmarkGet reads numbers of 21 bits in no order.
func BenchmarkGet(b *testing.B) {
	values := make([]uint64, 1<<20)
	for i := range values {
		values[i] = uint64(i*7919) & (1<<21 - 1)
	}
	c := pack(b, 21, values)
	i, sum := 0, uint64(0)
	for b.Loop() {
		i = (i + 611_953) & (1<<20 - 1)
		sum += c.Get(i)
	}
	if sum == 0 {
		b.Fatal("nothing was read")
	}
}
