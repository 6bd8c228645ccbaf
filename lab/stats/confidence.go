package stats

import (
	"cmp"
	"math"
	"slices"
)

// Judgement is one answer with the confidence it was given in.
type Judgement struct {
	// Confidence is higher the surer the method is. One that is no number is
	// lower than any that is.
	Confidence float64
	// Right reports whether the answer was right.
	Right bool
}

// Point is one point of a risk–coverage curve: what is answered, and how often
// that is wrong, where answers below a threshold are withheld.
type Point struct {
	// Threshold is the lowest confidence that is answered.
	Threshold float64 `json:"threshold"`
	// Coverage is the share of the questions that are answered, above 0, to 1.
	Coverage float64 `json:"coverage"`
	// Risk is the share of these answers that are wrong, 0 to 1.
	Risk float64 `json:"risk"`
}

// Curve is a risk–coverage curve (El-Yaniv and Wiener, 2010).
type Curve struct {
	// Points are one for each confidence there is, by rising coverage. The
	// last covers every question.
	Points []Point `json:"points"`
	// Area is the area under the curve (AURC; Geifman and El-Yaniv, 2017):
	// the mean, over k from 1 to n, of the risk where the k surest of n
	// questions are answered. Of answers with the same confidence each is as
	// likely to come first. Lower is better.
	Area float64 `json:"area"`
}

// RiskCoverage draws the curve. It is empty if nothing was judged.
func RiskCoverage(judged []Judgement) Curve {
	var curve Curve
	all := float64(len(judged))
	answered, wrong := 0.0, 0.0
	for _, tie := range ties(judged) {
		wrongHere := float64(len(tie) - countRight(tie))
		for k := 1.0; k <= float64(len(tie)); k++ {
			curve.Area += (wrong + wrongHere*k/float64(len(tie))) / (answered + k) / all
		}
		answered += float64(len(tie))
		wrong += wrongHere
		curve.Points = append(curve.Points, Point{Threshold: tie[0].Confidence, Coverage: answered / all,
			Risk: wrong / answered})
	}
	return curve
}

// AUROC returns the area under the receiver operating characteristic: how likely a
// right answer has a higher confidence than a wrong one, ties counted half, 0
// to 1; 0.5 is what a coin gives. ok is false if there are no right answers
// or no wrong ones.
func AUROC(judged []Judgement) (area float64, ok bool) {
	right := countRight(judged)
	wrong := len(judged) - right
	if right == 0 || wrong == 0 {
		return 0, false
	}
	wrongAbove := 0 // wrong answers with a higher confidence
	for _, tie := range ties(judged) {
		rightHere := countRight(tie)
		wrongHere := len(tie) - rightHere
		below := float64(wrong - wrongAbove - wrongHere)
		area += float64(rightHere) * (below + float64(wrongHere)/2)
		wrongAbove += wrongHere
	}
	return area / float64(right) / float64(wrong), true
}

// Bin holds the answers whose confidence lies between two bounds.
type Bin struct {
	// Low and High are the bounds: from Low on to below High, which is part
	// of the last bin.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// N is the number of answers in it.
	N int `json:"n"`
	// Confidence is their mean confidence, 0 if there are none.
	Confidence float64 `json:"confidence"`
	// Accuracy is the share of them that are right, 0 if there are none.
	Accuracy float64 `json:"accuracy"`
}

// Calibration is how far confidences are the shares of right answers that
// they say they are.
type Calibration struct {
	// ECE is the expected calibration error (Naeini et al., 2015): the mean
	// distance of accuracy and confidence over the bins, each weighed by its
	// answers, 0 to 1. Lower is better.
	ECE float64 `json:"ece"`
	// Bins part 0 to 1 into equal parts.
	Bins []Bin `json:"bins"`
}

// Calibrate measures confidences of 0 to 1 in so many bins, 10 where bins is 0
// or less. Confidences outside are taken as the nearest bound, those that are
// no number as 0.
func Calibrate(judged []Judgement, bins int) Calibration {
	if bins <= 0 {
		bins = 10
	}
	c := Calibration{Bins: make([]Bin, bins)}
	for i := range c.Bins {
		c.Bins[i].Low, c.Bins[i].High = float64(i)/float64(bins), float64(i+1)/float64(bins)
	}
	for _, j := range judged {
		confidence := 0.0
		if !math.IsNaN(j.Confidence) {
			confidence = min(max(j.Confidence, 0), 1)
		}
		bin := &c.Bins[min(int(confidence*float64(bins)), bins-1)]
		bin.N++
		bin.Confidence += confidence
		if j.Right {
			bin.Accuracy++
		}
	}
	for i := range c.Bins {
		bin := &c.Bins[i]
		if bin.N == 0 {
			continue
		}
		c.ECE += math.Abs(bin.Accuracy-bin.Confidence) / float64(len(judged))
		bin.Confidence /= float64(bin.N)
		bin.Accuracy /= float64(bin.N)
	}
	return c
}

// ties returns the answers by falling confidence, those with the same together.
func ties(judged []Judgement) [][]Judgement {
	sorted := slices.SortedFunc(slices.Values(judged), func(a, b Judgement) int {
		return cmp.Compare(b.Confidence, a.Confidence)
	})
	var out [][]Judgement
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && cmp.Compare(sorted[n].Confidence, sorted[0].Confidence) == 0 {
			n++
		}
		out = append(out, sorted[:n])
		sorted = sorted[n:]
	}
	return out
}

func countRight(judged []Judgement) int {
	n := 0
	for _, j := range judged {
		if j.Right {
			n++
		}
	}
	return n
}
