package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// minRecall is the recall at 10 that each method must reach.
var minRecall = map[Method]float64{ByFull: 1, ByCodes: 0.999, ByBits: 0.995}

func TestRecallOnEveryPath(t *testing.T) {
	for _, shape := range []struct{ rows, dims, queries int }{{20000, 384, 40}, {3000, 768, 13}, {2000, 1536, 5},
		{2001, 100, 7}, {1000, 385, 1}} {
		r := rand.New(rand.NewPCG(3, uint64(shape.dims)))
		rows := facts(r, shape.rows, shape.dims)
		queries := questions(r, rows, shape.queries)
		want, columns := expectedHits(rows, queries, 10), writeColumns(t, shape.dims, rows)
		eachKernel(t, shape.dims, func(t *testing.T, k kernels) {
			v := openColumns(t, shape.dims, columns, k)
			for method, least := range minRecall {
				if got := recall(t, v, rows, queries, want, Options{Method: method}); got < least {
					t.Errorf("method %d: recall at 10 is %v, want %v", method, got, least)
				}
			}
		})
	}
}

// Without its bounds the search by bits has a far lower recall: the test above can fail.
func TestBitsAloneLackRecall(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 384))
	rows := facts(r, 20000, 384)
	queries := questions(r, rows, 20)
	v := openColumns(t, 384, writeColumns(t, 384, rows), availableKernels(384)[0])
	rotation := newRotation(384)
	found := 0
	for _, query := range queries {
		q := newBitQuery(query, rotation)
		var all []candidate
		for at := range (len(rows) + blockRows - 1) / blockRows {
			block := v.columns.Bits[at*blockBytes(384):]
			factors, _ := floats(Bits, block[bitColumns(384)*blockRows:blockBytes(384)])
			var sums [blockRows]int32
			v.kernels.lookups(&block[0], bitColumns(384), &q.table[0], &sums)
			for i := range min(blockRows, len(rows)-at*blockRows) {
				all = append(all, candidate{row: uint32(at*blockRows + i),
					score: float32(sums[i]+q.offset) * factors[i] * q.step})
			}
		}
		want := bruteForce(rows, query, 10, nil)
		for _, hit := range topHits(all, 10) {
			if bruteForce(rows[hit.Row:hit.Row+1], query, 1, nil)[0].Score >= want[9].Score {
				found++
			}
		}
	}
	if got := float64(found) / float64(10*len(queries)); got > 0.9 || got < 0.2 {
		t.Errorf("the 10 best estimates hold %v of the 10 best rows; want a part of them", got)
	}
}

// Workers take rows by turns: whichever comes first raises the floor that others skip rows by.
func TestTheOrderOfReadingDoesNotChangeWhatIsFound(t *testing.T) {
	const dims, n, k = 96, 20000, 10
	r := rand.New(rand.NewPCG(5, dims))
	rows := facts(r, n, dims)
	queries := questions(r, rows, 200)
	v := openColumns(t, dims, writeColumns(t, dims, rows), availableKernels(dims)[0])
	for _, method := range []Method{ByFull, ByCodes, ByBits} {
		s := v.newSearch(queries, method, nil)
		items := batches([]span{{0, n}}, 8*blockRows)
		read := func(order []int) (found [][]Hit) {
			bests := make([]*topK, len(queries))
			for q := range bests {
				bests[q] = newTopK(k)
			}
			for _, i := range order {
				for _, span := range items[i] {
					if err := s.scan(method, span, &buffers{}, bests); err != nil {
						t.Fatal(err)
					}
				}
			}
			for q, b := range bests {
				merged := mergeTopK([]*topK{b}).rows
				if err := s.rescore(q, merged); err != nil {
					t.Fatal(err)
				}
				found = append(found, topHits(merged, k))
			}
			return found
		}
		order := r.Perm(len(items))
		want := read(order)
		for range 10 {
			r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			if got := read(order); !reflect.DeepEqual(got, want) {
				t.Fatalf("method %d: another order of rows finds something else", method)
			}
		}
	}
}

func TestSearchAppliesItsOptions(t *testing.T) {
	const dims, n = 96, 3000
	r := rand.New(rand.NewPCG(11, 12))
	rows := facts(r, n, dims)
	queries := questions(r, rows, 9)
	v := openColumns(t, dims, writeColumns(t, dims, rows), availableKernels(dims)[0])
	within := func(ranges [][2]uint32) func(uint32) bool {
		return func(row uint32) bool {
			return slices.ContainsFunc(ranges, func(r [2]uint32) bool { return r[0] <= row && row < r[1] })
		}
	}
	odd := func(row uint32) bool { return row%2 == 1 }
	for name, test := range map[string]struct {
		k      int
		rows   [][2]uint32
		passes func(uint32) bool
	}{
		"of all rows":                    {k: 10},
		"one row":                        {k: 1},
		"all rows, when more are wanted": {k: 2 * n},
		"of a range":                     {k: 10, rows: [][2]uint32{{70, 1999}}},
		"of ranges within a block of bits": {k: 10, rows: [][2]uint32{{1, 3}, {3, 9}, {60, 65},
			{100, 101}, {126, 140}}},
		"of ranges with fewer rows than wanted":    {k: 10, rows: [][2]uint32{{5, 8}, {2998, 3000}}},
		"of no range":                              {k: 10, rows: [][2]uint32{}},
		"of empty ranges":                          {k: 10, rows: [][2]uint32{{0, 0}, {64, 64}, {3000, 3000}}},
		"of rows that pass":                        {k: 10, passes: odd},
		"of rows that pass, within ranges":         {k: 10, rows: [][2]uint32{{0, 777}, {901, 2500}}, passes: odd},
		"of few rows that pass":                    {k: 10, passes: func(row uint32) bool { return row%1000 == 7 }},
		"of none that passes":                      {k: 10, passes: func(uint32) bool { return false }},
		"nothing, when nothing is wanted":          {k: 0},
		"nothing, when less than that is wanted":   {k: -1},
		"of the last rows, short of a block":       {k: 10, rows: [][2]uint32{{2950, 3000}}},
		"of every other block, from 32 rows to 64": {k: 20, rows: [][2]uint32{{32, 64}, {160, 192}, {288, 320}}},
	} {
		for _, method := range []Method{Auto, ByFull, ByCodes, ByBits} {
			t.Run(fmt.Sprintf("%s, method %d", name, method), func(t *testing.T) {
				var asked atomic.Int64
				passes := func(row uint32) bool {
					asked.Add(1)
					return (test.passes == nil || test.passes(row)) && (test.rows == nil || within(test.rows)(row))
				}
				options := Options{Rows: test.rows, Passes: test.passes, Method: method}
				got, err := v.Search(context.Background(), queries, test.k, options)
				if err != nil {
					t.Fatal(err)
				}
				full, err := v.Search(context.Background(), queries, test.k,
					Options{Passes: passes, Method: ByFull, Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				missed, all := 0, 0
				for q := range queries {
					for _, hit := range full[q] {
						all++
						if !slices.Contains(got[q], hit) {
							missed++
						}
					}
					if want := bruteForce(rows, queries[q], max(test.k, 0), passes); len(got[q]) != len(want) {
						t.Errorf("query %d has %d hits, want %d", q, len(got[q]), len(want))
					}
				}
				// ByBits may miss a row.
				if missed > 0 && (method != ByBits || missed > all/50) {
					t.Errorf("%d of %d hits are missing", missed, all)
				}
			})
		}
	}
}

func TestTiesAreOrderedByRow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	same := unit(randomVector(r, 384))
	rows := make([][]float32, 9000)
	for i := range rows {
		rows[i] = same
	}
	rows[4321] = unit(randomVector(r, 384))
	query := nearbyVector(r, same, 0.5)
	v := openColumns(t, 384, writeColumns(t, 384, rows), availableKernels(384)[0])
	for _, method := range []Method{Auto, ByFull, ByCodes, ByBits} {
		got, err := v.Search(context.Background(), [][]float32{query, make([]float32, 384)}, 20,
			Options{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		for q, hits := range got {
			for i, hit := range hits {
				if hit.Row != uint32(i) {
					t.Errorf("method %d, query %d: hit %d is row %d", method, q, i, hit.Row)
				}
			}
		}
	}
}

func TestPassesIsCalledOnlyForTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	rows := facts(r, 20000, 128)
	v := openColumns(t, 128, writeColumns(t, 128, rows), availableKernels(128)[0])
	for _, method := range []Method{ByFull, ByCodes, ByBits} {
		asked := 0
		if _, err := v.Search(context.Background(), rows[:1], 10, Options{Method: method, Workers: 1,
			Passes: func(uint32) bool {
				asked++
				return true
			}}); err != nil {
			t.Fatal(err)
		}
		if asked > len(rows)/2 {
			t.Errorf("method %d: asked about %d of %d rows", method, asked, len(rows))
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	rows := facts(r, 200, 64)
	v := openColumns(t, 64, writeColumns(t, 64, rows), availableKernels(64)[0])
	plain, err := Open(64, Columns{Full: v.columns.Full})
	if err != nil {
		t.Fatal(err)
	}
	wrong := slices.Clone(rows[0])
	wrong[7] = float32(math.NaN())
	for name, test := range map[string]struct {
		v       *Vectors
		queries [][]float32
		options Options
		want    string
	}{
		"a query of other dimensions": {v, [][]float32{rows[0], rows[1][:63]}, Options{},
			"query 1 has 63 dimensions, the vectors have 64"},
		"a query that is not a number": {v, [][]float32{wrong}, Options{}, "query 0 has a length of NaN"},
		"a range beyond the rows":      {v, rows[:1], Options{Rows: [][2]uint32{{0, 201}}}, "range 0 is rows 0 to 201"},
		"ranges that overlap": {v, rows[:1], Options{Rows: [][2]uint32{{0, 5}, {4, 6}}},
			"range 1 is rows 4 to 6"},
		"a range that goes backwards": {v, rows[:1], Options{Rows: [][2]uint32{{5, 4}}}, "range 0 is rows 5 to 4"},
		"codes where there are none":  {plain, rows[:1], Options{Method: ByCodes}, "no column"},
		"bits where there are none":   {plain, rows[:1], Options{Method: ByBits}, "no column"},
		"a method that there is not":  {v, rows[:1], Options{Method: 7}, "method 7"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.v.Search(context.Background(), test.queries, 3, test.options)
			if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	t.Run("to go on when it is cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for _, method := range []Method{ByFull, ByCodes, ByBits} {
			if _, err := v.Search(ctx, rows[:1], 3, Options{Method: method}); !errors.Is(err, context.Canceled) {
				t.Errorf("method %d: got %v", method, err)
			}
		}
	})
}

func TestWithoutCodesEveryRowIsComparedInFull(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	rows := facts(r, 500, 48)
	queries := questions(r, rows, 5)
	v, err := Open(48, Columns{Full: writeColumns(t, 48, rows).Full})
	if err != nil {
		t.Fatal(err)
	}
	if got := recall(t, v, rows, queries, expectedHits(rows, queries, 10), Options{}); got != 1 {
		t.Errorf("recall is %v", got)
	}
}

// touchRecorder records the touched bytes of the columns.
type touchRecorder struct {
	sync.Mutex
	seen [4]map[int64]bool
	fail Column
}

var errTouch = errors.New("checksum")

func (t *touchRecorder) touch(column Column, from, to int64) error {
	t.Lock()
	defer t.Unlock()
	if column == t.fail {
		return errTouch
	}
	for i := from; i < to; i++ {
		t.seen[column][i] = true
	}
	return nil
}

func TestTouchIsCalledBeforeBytesAreRead(t *testing.T) {
	const dims, n = 64, 1000
	r := rand.New(rand.NewPCG(8, 3))
	rows := facts(r, n, dims)
	queries := questions(r, rows, 2)
	columns := writeColumns(t, dims, rows)
	for name, test := range map[string]struct {
		method Method
		// whole are the columns that are read in full.
		whole []Column
		parts []Column
	}{
		"in full":  {ByFull, []Column{Full}, nil},
		"by codes": {ByCodes, []Column{Codes, Scales}, []Column{Full}},
		"by bits":  {ByBits, []Column{Bits}, []Column{Codes, Scales, Full}},
	} {
		t.Run(name, func(t *testing.T) {
			record := &touchRecorder{fail: -1}
			for i := range record.seen {
				record.seen[i] = map[int64]bool{}
			}
			// Only touched bytes are filled in: the rest is zero until then.
			shown := columns
			hidden := [4][]byte{}
			for i, from := range []*[]byte{&shown.Full, &shown.Codes, &shown.Scales, &shown.Bits} {
				hidden[i], *from = *from, make([]byte, len(*from))
			}
			now := [4][]byte{shown.Full, shown.Codes, shown.Scales, shown.Bits}
			var mutex sync.Mutex
			shown.Touch = func(c Column, from, to int64) error {
				mutex.Lock()
				defer mutex.Unlock()
				copy(now[c][from:to], hidden[c][from:to])
				return record.touch(c, from, to)
			}
			v, err := Open(dims, shown)
			if err != nil {
				t.Fatal(err)
			}
			if got := recall(t, v, rows, queries, expectedHits(rows, queries, 3), Options{Method: test.method,
				Workers: 1}); got < 0.9 {
				t.Errorf("recall is %v", got)
			}
			for _, c := range test.whole {
				if len(record.seen[c]) != len(hidden[c]) {
					t.Errorf("column %v: %d of %d bytes were announced", c, len(record.seen[c]), len(hidden[c]))
				}
			}
			for _, c := range test.parts {
				if got := len(record.seen[c]); got == 0 || got == len(hidden[c]) {
					t.Errorf("column %v: %d of %d bytes were announced", c, got, len(hidden[c]))
				}
			}
			for _, c := range append(test.whole, test.parts...) {
				failing := columns
				failing.Touch = (&touchRecorder{fail: c, seen: record.seen}).touch
				v, err := Open(dims, failing)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := v.Search(context.Background(), queries, 3, Options{Method: test.method}); !errors.Is(err,
					errTouch) || !strings.Contains(err.Error(), c.String()) {
					t.Errorf("column %v: got %v", c, err)
				}
			}
		})
	}
}

func TestScoresEqualThoseOfSearch(t *testing.T) {
	const dims = 384
	r := rand.New(rand.NewPCG(8, 8))
	rows := facts(r, 700, dims)
	queries := questions(r, rows, 6)
	eachKernel(t, dims, func(t *testing.T, k kernels) {
		v := openColumns(t, dims, writeColumns(t, dims, rows), k)
		found, err := v.Search(context.Background(), queries, len(rows), Options{Method: ByFull})
		if err != nil {
			t.Fatal(err)
		}
		all := make([]uint32, len(rows))
		for i := range all {
			all[i] = uint32(len(rows) - 1 - i)
		}
		scores, err := v.Score(context.Background(), queries, all)
		if err != nil {
			t.Fatal(err)
		}
		for q := range queries {
			for _, hit := range found[q] {
				if got := scores[q][len(rows)-1-int(hit.Row)]; got != hit.Score {
					t.Fatalf("query %d, row %d: got %v, want %v", q, hit.Row, got, hit.Score)
				}
			}
		}
	})
	v := openColumns(t, dims, writeColumns(t, dims, rows), availableKernels(dims)[0])
	if _, err := v.Score(context.Background(), queries, []uint32{3, 700}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a row beyond the last: got %v", err)
	}
	if got, err := v.Score(context.Background(), nil, []uint32{3}); err != nil || len(got) != 0 {
		t.Errorf("no query: got %v, %v", got, err)
	}
	if got, err := v.Score(context.Background(), queries, nil); err != nil ||
		!reflect.DeepEqual(got, [][]float32{{}, {}, {}, {}, {}, {}}) {
		t.Errorf("no row: got %v, %v", got, err)
	}
}
