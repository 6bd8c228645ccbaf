package stats

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMcNemar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		only, other int
		want        float64
	}{
		{"no question tells the methods apart", 0, 0, 1},
		{"as many either way", 7, 7, 1},
		{"one question proves nothing", 1, 0, 1},
		{"five of five", 0, 5, 2.0 / 32},
		{"nine of ten", 9, 1, 2.0 * (1 + 10) / 1024},
		{"six against sixteen", 6, 16, 2 * 110056.0 / (1 << 22)}, // sum of C(22, 0…6)
		{"thousands do not overflow", 3000, 3000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, got := range []float64{McNemar(c.only, c.other), McNemar(c.other, c.only)} {
				if math.Abs(got-c.want) > 1e-9 {
					t.Errorf("McNemar(%d, %d) = %v, want %v", c.only, c.other, got, c.want)
				}
			}
		})
	}
	if p := McNemar(5500, 4500); !(p > 0 && p < 1e-20) {
		t.Errorf("5,500 against 4,500 has p = %v", p)
	}
}

func TestSignFlip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{"the same scores", []float64{0.5, 1}, []float64{0.5, 1}, 1},
		{"no scores", nil, nil, 1},
		{"scores of 0 and 1 are McNemar's", []float64{1, 1, 1, 1, 1, 0}, []float64{0, 0, 0, 0, 0, 0}, 2.0 / 32},
		// Of the 8 sums of 1, 2 and 3 with signs, 6 and -6 alone are as large.
		{"three that all agree", []float64{1, 2, 3}, []float64{0, 0, 0}, 2.0 / 8},
		// 1 + 2 - 3 is 0, and every sum is as large as that.
		{"differences that cancel", []float64{1, 2, 0}, []float64{0, 0, 3}, 1},
		// 3 + 2 - 1 is 4; 6 and 4 and their negatives are as large.
		{"one against two", []float64{3, 2, 0}, []float64{0, 0, 1}, 4.0 / 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := SignFlip(c.a, c.b, 0, 1)
			if err != nil || math.Abs(got-c.want) > 1e-12 {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestSignFlipRefusesWhatCannotBePaired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		a, b       []float64
	}{
		{"other numbers of questions", "2 scores of one and 1 of the other", []float64{1, 2}, []float64{1}},
		{"a score that is no number", "a score is no number", []float64{math.NaN()}, []float64{1}},
		{"a score without end", "a score is no number", []float64{1}, []float64{math.Inf(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := Compare(c.a, c.b, nil, 10, 1); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v lacks %q", err, c.want)
			}
		})
	}
}

// smallScores returns scores of tenths, among which sums tie often.
func smallScores(n int) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
		return float64(rapid.IntRange(0, 10).Draw(t, "tenths")) / 10
	}), n, n)
}

func TestExactSignFlipCountsEveryAssignment(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		a, b := smallScores(n).Draw(t, "a"), smallScores(n).Draw(t, "b")
		seen := 0.0
		for i := range a {
			seen += a[i] - b[i]
		}
		count := 0
		for signs := range 1 << n {
			sum := 0.0
			for i := range a {
				if signs>>i&1 == 1 {
					sum += a[i] - b[i]
				} else {
					sum -= a[i] - b[i]
				}
			}
			if math.Abs(sum) >= math.Abs(seen)-1e-9 {
				count++
			}
		}
		want := float64(count) / float64(int(1)<<n)
		got, err := SignFlip(a, b, 0, 1)
		if err != nil || math.Abs(got-want) > 1e-9 {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
		if swapped, _ := SignFlip(b, a, 0, 1); swapped != got {
			t.Fatalf("%v one way, %v the other", got, swapped)
		}
	})
}

func TestRandomSignFlipIsNearTheExactOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var differences []float64
		for _, d := range rapid.SliceOfN(rapid.IntRange(1, 9), 4, 20).Draw(t, "sizes") {
			if rapid.Bool().Draw(t, "below") {
				d = -d
			}
			differences = append(differences, float64(d))
		}
		exact, estimated := exactSignFlip(differences), randomSignFlip(differences, 20_000, 3)
		// Five standard deviations of a share of 20,000, at most .0177.
		if math.Abs(exact-estimated) > 0.02 {
			t.Fatalf("exact %v, estimated %v", exact, estimated)
		}
	})
}

func TestCompare(t *testing.T) {
	t.Parallel()
	a, b := make([]float64, 40), make([]float64, 40)
	for i := range a {
		a[i] = float64(i % 2)
		if i < 10 {
			b[i] = 1
		}
	}
	got, err := Compare(a, b, nil, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Right: 20 and 10, of the first ten questions 5 and 10.
	if got.Better != 15 || got.Worse != 5 || got.Same != 20 || got.Difference.Mean != 0.25 || got.Difference.N != 40 {
		t.Errorf("got %+v", got)
	}
	if want := McNemar(15, 5); got.P != want {
		t.Errorf("p is %v, want %v", got.P, want)
	}
	if !(got.Difference.Low > 0 && got.Difference.High < 0.5) {
		t.Errorf("the interval is %+v", got.Difference)
	}
}

func BenchmarkSignFlip(b *testing.B) {
	for name, n := range map[string]int{"exact30": 30, "random10000": 10_000} {
		b.Run(name, func(b *testing.B) {
			one, other := make([]float64, n), make([]float64, n)
			for i := range one {
				one[i], other[i] = float64(i%7)/7+0.01, float64(i%5)/5
			}
			for b.Loop() {
				if _, err := SignFlip(one, other, 0, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
