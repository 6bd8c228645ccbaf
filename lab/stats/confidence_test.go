package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestRiskCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		judged []Judgement
		want   Curve
	}{
		{"nothing judged", nil, Curve{}},
		{
			"wrong answers last", []Judgement{{0.2, false}, {0.9, true}},
			Curve{Points: []Point{{0.9, 0.5, 0}, {0.2, 1, 0.5}}, Area: (0 + 0.5) / 2},
		},
		{
			"wrong answers first", []Judgement{{0.9, false}, {0.2, true}},
			Curve{Points: []Point{{0.9, 0.5, 1}, {0.2, 1, 0.5}}, Area: (1 + 0.5) / 2},
		},
		{
			"one confidence for all makes one point, and a flat curve",
			[]Judgement{{0.5, false}, {0.5, true}, {0.5, true}, {0.5, true}},
			Curve{Points: []Point{{0.5, 1, 0.25}}, Area: 0.25},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := RiskCoverage(c.judged); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAUROC(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		judged []Judgement
		want   float64
		ok     bool
	}{
		{"right above wrong", []Judgement{{0.9, true}, {0.1, false}, {0.8, true}}, 1, true},
		{"wrong above right", []Judgement{{0.9, false}, {0.1, true}}, 0, true},
		{"a tie is half", []Judgement{{0.5, true}, {0.5, false}}, 0.5, true},
		{"three of four pairs", []Judgement{{0.1, false}, {0.4, false}, {0.35, true}, {0.8, true}}, 0.75, true},
		{"no confidence is below any", []Judgement{{math.NaN(), false}, {-1, true}}, 1, true},
		{"all right", []Judgement{{0.5, true}}, 0, false},
		{"all wrong", []Judgement{{0.5, false}}, 0, false},
		{"nothing judged", nil, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := AUROC(c.judged); math.Abs(got-c.want) > 1e-12 || ok != c.ok {
				t.Errorf("got %v, %v, want %v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	got := Calibrate([]Judgement{{0.1, false}, {0.3, true}, {0.5, true}, {1, true}, {7, false}, {math.NaN(), false}}, 2)
	want := []Bin{
		{Low: 0, High: 0.5, N: 3, Confidence: 0.4 / 3, Accuracy: 1.0 / 3},
		{Low: 0.5, High: 1, N: 3, Confidence: 2.5 / 3, Accuracy: 2.0 / 3},
	}
	for i, bin := range got.Bins {
		if bin.N != want[i].N || math.Abs(bin.Confidence-want[i].Confidence) > 1e-12 ||
			math.Abs(bin.Accuracy-want[i].Accuracy) > 1e-12 ||
			bin.Low != want[i].Low || bin.High != want[i].High {
			t.Errorf("bin %d is %+v, want %+v", i, bin, want[i])
		}
	}
	if want := 0.6/6 + 0.5/6; math.Abs(got.ECE-want) > 1e-12 {
		t.Errorf("the error is %v, want %v", got.ECE, want)
	}
	if empty := Calibrate(nil, 0); empty.ECE != 0 || len(empty.Bins) != 10 {
		t.Errorf("nothing judged gives %+v", empty)
	}
}

// anyJudged are answers with few confidences, so that many tie.
var anyJudged = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Judgement {
	return Judgement{float64(rapid.IntRange(0, 8).Draw(t, "eighths")) / 8, rapid.Bool().Draw(t, "right")}
}), 1, 50)

func TestConfidenceProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		judged := anyJudged.Draw(t, "judged")
		curve := RiskCoverage(judged)
		last := curve.Points[len(curve.Points)-1]
		wrong := float64(len(judged) - countRight(judged))
		if last.Coverage != 1 || math.Abs(last.Risk-wrong/float64(len(judged))) > 1e-12 {
			t.Fatalf("the last point is %+v", last)
		}
		if curve.Area < 0 || curve.Area > 1 {
			t.Fatalf("the area is %v", curve.Area)
		}
		for i := 1; i < len(curve.Points); i++ {
			if curve.Points[i].Coverage <= curve.Points[i-1].Coverage ||
				curve.Points[i].Threshold >= curve.Points[i-1].Threshold {
				t.Fatalf("points %+v are out of order", curve.Points)
			}
		}

		shuffled := make([]Judgement, len(judged))
		for i, j := range rand.New(rand.NewPCG(1, 2)).Perm(len(judged)) {
			shuffled[i] = judged[j]
		}
		if again := RiskCoverage(shuffled); !reflect.DeepEqual(again, curve) {
			t.Fatalf("another order gives %+v, not %+v", again, curve)
		}

		opposite := make([]Judgement, len(judged))
		pairs, above := 0.0, 0.0
		for i, a := range judged {
			opposite[i] = Judgement{a.Confidence, !a.Right}
			for _, b := range judged {
				if a.Right && !b.Right {
					pairs++
					if a.Confidence > b.Confidence {
						above++
					} else if a.Confidence == b.Confidence {
						above += 0.5
					}
				}
			}
		}
		area, ok := AUROC(judged)
		if ok != (pairs > 0) || ok && math.Abs(area-above/pairs) > 1e-12 {
			t.Fatalf("AUROC is %v, %v, want %v of %v pairs", area, ok, above, pairs)
		}
		if other, _ := AUROC(opposite); ok && math.Abs(area+other-1) > 1e-12 {
			t.Fatalf("AUROC is %v, and %v of the opposite", area, other)
		}

		calibration := Calibrate(judged, 5)
		counted := 0
		for _, bin := range calibration.Bins {
			counted += bin.N
		}
		if counted != len(judged) || calibration.ECE < 0 || calibration.ECE > 1 {
			t.Fatalf("%d of %d answers are in %+v", counted, len(judged), calibration)
		}
	})
}
