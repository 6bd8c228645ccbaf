package embedded

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// random returns bytes and the checksums of their pages.
func random(n int) (data, sums []byte) {
	r := rand.New(rand.NewPCG(3, 4))
	data = make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	var s pageSummer
	for rest := data; len(rest) > 0; {
		part := rest[:min(len(rest), 1+r.IntN(9000))]
		_, _ = s.Write(part)
		rest = rest[len(part):]
	}
	return data, s.Sums()
}

func TestABitFlipIsDetectedBeforeItsPageIsRead(t *testing.T) {
	const size = 70*pageSize + 100
	data, sums := random(size)
	for _, at := range []int{0, pageSize - 1, pageSize, 64 * pageSize, 70 * pageSize, size - 1} {
		data[at] ^= 1
		f, err := newPageFile("file", data, sums)
		if err != nil {
			t.Fatal(err)
		}
		for from := 0; from < size; from += pageSize / 2 {
			to := min(from+pageSize/2, size)
			err := f.Touch(int64(from), int64(to))
			hit := from/pageSize == at/pageSize
			if errors.Is(err, store.ErrCorrupt) != hit {
				t.Errorf("bit at %d, bytes %d to %d: error is %v", at, from, to, err)
			}
			if hit && !strings.Contains(err.Error(), "file") {
				t.Errorf("%v does not name the file", err)
			}
		}
		if err := f.Touch(0, size); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("bit at %d, the whole file: error is %v", at, err)
		}
		data[at] ^= 1
	}
}

func TestWordsAcrossPagesCompareBoth(t *testing.T) {
	data, sums := random(3 * pageSize)
	for _, damaged := range []int{0, 1} {
		data[damaged*pageSize] ^= 4
		f, err := newPageFile("file", data, sums)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Guard(func() error { f.Word(pageSize - 3); return nil }); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("page %d is damaged, a word of both is read: %v", damaged, err)
		}
		data[damaged*pageSize] ^= 4
	}
}

func TestConcurrentReads(t *testing.T) {
	data, sums := random(200 * pageSize)
	f, err := newPageFile("file", data, sums)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for seed := range uint64(4) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for range 2000 {
				from := r.IntN(len(data))
				to := from + r.IntN(len(data)-from)
				if !bytes.Equal(f.Bytes(from, to), data[from:to]) {
					t.Errorf("bytes %d to %d are not those of the file", from, to)
				}
			}
		})
	}
	group.Wait()
}

func TestPageFileRangeErrors(t *testing.T) {
	data, sums := random(100)
	if _, err := newPageFile("file", data, append(sums, 0)); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("too many checksums: %v", err)
	}
	f, err := newPageFile("file", data, sums)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]int64{{0, 101}, {-1, 5}, {50, 40}, {200, 200}} {
		if err := f.Touch(c[0], c[1]); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("bytes %d to %d of 100: %v", c[0], c[1], err)
		}
	}
	empty, err := newPageFile("empty", nil, nil)
	if err != nil || empty.Touch(0, 0) != nil {
		t.Errorf("an empty file: %v", err)
	}
}
