package vector

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestWriterRefuses(t *testing.T) {
	good := []float32{0.6, 0.8, 0}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, test := range map[string]struct {
		vector []float32
		want   string
	}{
		"a vector that is too short":         {[]float32{0.6, 0.8}, "row 2: it has 2 dimensions, want 3"},
		"a vector that is too long":          {[]float32{0.6, 0.8, 0, 0}, "row 2: it has 4 dimensions, want 3"},
		"a vector without length":            {[]float32{0, 0, 0}, "row 2: its length is 0, want 1"},
		"a vector that is not a number":      {[]float32{0.6, 0.8, nan}, "row 2: its length is NaN, want 1"},
		"a vector without an end":            {[]float32{0.6, inf, 0}, "row 2: its length is +Inf, want 1"},
		"a vector that is not a unit vector": {[]float32{3, 4, 0}, "row 2: its length is 5, want 1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWriter(3, Files{Full: io.Discard})
			for range 2 {
				if err := w.Add(good); err != nil {
					t.Fatal(err)
				}
			}
			err := w.Add(test.vector)
			if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if again := w.Add(good); again != err {
				t.Errorf("after an error: got %v", again)
			}
			if closed := w.Close(); closed != err {
				t.Errorf("closed after an error: got %v", closed)
			}
		})
	}
}

func TestWriterRefusesInvalidColumns(t *testing.T) {
	for name, test := range map[string]struct {
		dims  int
		files Files
	}{
		"no dimensions":        {0, Files{Full: io.Discard}},
		"too many dimensions":  {MaxDims + 1, Files{Full: io.Discard}},
		"no vectors":           {3, Files{Codes: io.Discard, Scales: io.Discard}},
		"codes without scales": {3, Files{Full: io.Discard, Codes: io.Discard}},
		"bits without codes":   {3, Files{Full: io.Discard, Bits: io.Discard}},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWriter(test.dims, test.files)
			if err := w.Add([]float32{1, 0, 0}); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("got %v", err)
			}
			if err := w.Close(); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("closed: got %v", err)
			}
		})
	}
}

// limitedWriter is a disk with room for a number of bytes.
type limitedWriter struct{ room int }

var errFull = errors.New("no space left")

func (f *limitedWriter) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestAFullDiskIsReported(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, column := range []Column{Full, Codes, Scales, Bits} {
		files := [4]io.Writer{io.Discard, io.Discard, io.Discard, io.Discard}
		files[column] = &limitedWriter{room: 100}
		w := NewWriter(384, Files{files[0], files[1], files[2], files[3]})
		var err error
		for i := 0; i < 200 && err == nil; i++ {
			err = w.Add(unit(randomVector(r, 384)))
		}
		if closed := w.Close(); !errors.Is(closed, errFull) || err != nil && closed != err {
			t.Errorf("column %v: got %v, then %v", column, err, closed)
		}
	}
}

func TestAddFailsAfterClose(t *testing.T) {
	w := NewWriter(1, Files{Full: io.Discard})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Add([]float32{1}); err == nil {
		t.Error("a closed writer took a row")
	}
}

func TestNoRowsCanBeWrittenAndSearched(t *testing.T) {
	v, err := Open(3, writeColumns(t, 3, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []Method{Auto, ByFull, ByCodes, ByBits} {
		got, err := v.Search(context.Background(), [][]float32{{1, 0, 0}}, 5, Options{Method: method})
		if err != nil || len(got) != 1 || len(got[0]) != 0 {
			t.Errorf("method %d: got %v, %v", method, got, err)
		}
	}
}

func TestSearchFindsVectorsOfAnyLength(t *testing.T) {
	for _, dims := range []int{1, 2, 3, 7, 8, 15, 16, 17, 31, 63, 64, 65, 127, 383, 1000} {
		r := rand.New(rand.NewPCG(1, uint64(dims)))
		var rows [][]float32
		for range 130 {
			rows = append(rows, unit(randomVector(r, dims)))
		}
		eachKernel(t, dims, func(t *testing.T, k kernels) {
			v := openColumns(t, dims, writeColumns(t, dims, rows), k)
			for _, method := range []Method{ByFull, ByCodes, ByBits} {
				got, err := v.Search(context.Background(), rows[129:], 1, Options{Method: method})
				if err != nil {
					t.Fatal(err)
				}
				if want := bruteForce(rows, rows[129], 1,
					nil)[0]; math.Abs(float64(got[0][0].Score-want.Score)) > 1e-6 {
					t.Errorf("method %d: got %+v, want %+v", method, got[0][0], want)
				}
			}
		})
	}
}

func TestOpenRefusesColumnsThatDoNotFit(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	good := writeColumns(t, 100, facts(r, 70, 100))
	for name, change := range map[string]func(c *Columns){
		"vectors that are cut off": func(c *Columns) { c.Full = c.Full[:len(c.Full)-1] },
		"a vector too few":         func(c *Columns) { c.Full = c.Full[400:] },
		"codes that are cut off":   func(c *Columns) { c.Codes = c.Codes[:len(c.Codes)-1] },
		"codes of another length":  func(c *Columns) { c.Codes = c.Codes[:70*100] },
		"no codes at all":          func(c *Columns) { c.Codes = []byte{} },
		"scales that are cut off":  func(c *Columns) { c.Scales = c.Scales[:3] },
		"codes without scales":     func(c *Columns) { c.Scales = nil },
		"scales without codes":     func(c *Columns) { c.Codes = nil },
		"bits without codes":       func(c *Columns) { c.Codes, c.Scales = nil, nil },
		"bits that are cut off":    func(c *Columns) { c.Bits = c.Bits[:len(c.Bits)-4] },
		"a block of bits too many": func(c *Columns) {
			c.Bits = append(bytes.Clone(c.Bits), c.Bits[:blockBytes(100)]...)
		},
		"vectors of other dimensions": func(c *Columns) { c.Full = c.Full[:70*99*4] },
	} {
		t.Run(name, func(t *testing.T) {
			columns := good
			change(&columns)
			if _, err := Open(100, columns); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, change := range map[string]func(c *Columns) int{
		"no dimensions":           func(*Columns) int { return 0 },
		"dimensions without end":  func(*Columns) int { return math.MaxInt },
		"bytes at an odd address": func(c *Columns) int { c.Full = append([]byte{0}, c.Full...)[1:]; return 100 },
	} {
		t.Run(name, func(t *testing.T) {
			columns := good
			if _, err := Open(change(&columns), columns); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	r := rand.New(rand.NewPCG(4, 5))
	good := writeColumns(f, 5, facts(r, 70, 5))
	f.Add(5, len(good.Full), len(good.Codes), len(good.Scales), len(good.Bits))
	f.Add(5, 0, 0, 0, 0)
	f.Add(5, 20, 64, 4, -1)
	f.Add(7, 28, -1, -1, -1)
	f.Fuzz(func(t *testing.T, dims, full, codes, scales, bits int) {
		cut := func(b []byte, n int) []byte {
			if n < 0 {
				return nil
			}
			return b[:min(n, len(b))]
		}
		v, err := Open(dims, Columns{Full: cut(good.Full, full), Codes: cut(good.Codes, codes),
			Scales: cut(good.Scales, scales), Bits: cut(good.Bits, bits)})
		if err != nil {
			return
		}
		query := make([]float32, v.Dims())
		query[0] = 1
		for _, method := range []Method{Auto, ByFull, ByCodes, ByBits} {
			got, err := v.Search(context.Background(), [][]float32{query}, 3, Options{Method: method})
			if err == nil && len(got[0]) > v.Len() {
				t.Errorf("%d hits among %d rows", len(got[0]), v.Len())
			}
		}
	})
}

func TestRowsAreReturnedUnchanged(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 6))
	rows := facts(r, 70, 33)
	v, err := Open(33, writeColumns(t, 33, rows))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range rows {
		got, err := v.Row(uint32(i))
		if err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if got[j] != want[j] {
				t.Fatalf("row %d: got %v, want %v", i, got, want)
			}
		}
	}
	if _, err := v.Row(70); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a row beyond the last: got %v", err)
	}
}
