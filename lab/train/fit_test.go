package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

// makeExample makes a question whose right path is the one whose only relation has the question's
// vector.
func makeExample(random *rand.Rand, dims, paths int) Example {
	q := &rank.Question{Vector: unit(random, dims)}
	f1 := make([]float32, paths)
	right := random.IntN(paths)
	for i := range paths {
		v := unit(random, dims)
		if i == right {
			v, f1[i] = q.Vector, 1
		}
		q.Relations = append(q.Relations, rank.Relation{Name: string(rune('a' + i)), Vector: v})
		p := rank.Path{Steps: []int{i, (i + 1) % paths}[:1+i%2], Profile: []rank.Share{{Relation: i, Share: 0.5}}}
		for j := range p.Values {
			p.Values[j] = random.Float32()
		}
		q.Paths = append(q.Paths, p)
	}
	return Example{Question: q, F1: f1}
}

func unit(random *rand.Rand, dims int) []float32 {
	v, sum := make([]float32, dims), 0.0
	for i := range v {
		v[i] = float32(random.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func TestTheGradientIsTheSlopeOfTheLoss(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, e := range []Example{makeExample(random, 12, 5), *withoutAnswers(new(makeExample(random, 12, 5)))} {
		checkGradient(t, random, e)
	}
}

func checkGradient(t *testing.T, random *rand.Rand, e Example) {
	t.Helper()
	options := DefaultFit()
	options.Units, options.HiddenUnits = 4, 3
	n := newNetwork([]*Example{&e}, options, random)
	for i := range n.parameters { // no part may be 0, or its gradient is not seen
		n.parameters[i] += float32(random.NormFloat64() * 0.3)
	}
	loss := func() float64 { return crossEntropy(n.forward(&e, nil).scores, targets(&e), 1) }
	g := n.shadow(options)
	n.backward(&e, g.weights, FitOptions{}, random)
	for i := 0; i < len(n.parameters); i += 3 {
		const h = 1e-2
		old := n.parameters[i]
		n.parameters[i] = old + h
		above := loss()
		n.parameters[i] = old - h
		below := loss()
		n.parameters[i] = old
		if slope := (above - below) / (2 * h); math.Abs(slope-float64(g.parameters[i])) > 2e-3+0.02*math.Abs(slope) {
			t.Errorf("parameter %d: gradient %g, slope %g", i, g.parameters[i], slope)
		}
	}
}

// fitSmall fits a small ranker to examples, and returns others by the same draw.
func fitSmall(t *testing.T, train, test int) (*rank.Ranker, []Example) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var examples []Example
	for range train + test {
		examples = append(examples, makeExample(random, 16, 6))
	}
	options := DefaultFit()
	options.Units, options.HiddenUnits, options.Epochs, options.Batch = 16, 4, 30, 16
	weights, err := Fit(t.Context(), examples[:train], options)
	if err != nil {
		t.Fatal(err)
	}
	ranker, err := rank.New(weights)
	if err != nil {
		t.Fatal(err)
	}
	return ranker, examples[train:]
}

func TestFitFindsThePathWhoseRelationIsNearTheQuestion(t *testing.T) {
	ranker, others := fitSmall(t, 150, 50)
	right := 0
	for _, e := range others {
		p, err := ranker.Probabilities(e.Question)
		if err != nil {
			t.Fatal(err)
		}
		best := 0
		for i := range p {
			if p[i] > p[best] {
				best = i
			}
		}
		if e.F1[best] == 1 {
			right++
		}
	}
	if right < 40 {
		t.Errorf("%d of 50 are right; want 40", right)
	}
}

func TestFitLearnsThatNoPathMayLeadToAnAnswer(t *testing.T) {
	ranker, others := fitSmall(t, 300, 100)
	answerable, lacking := 0.0, 0.0
	for _, e := range others {
		for _, c := range []struct {
			example *Example
			sum     *float64
		}{{&e, &answerable}, {withoutAnswers(&e), &lacking}} {
			probabilities, err := ranker.Probabilities(c.example.Question)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range probabilities {
				*c.sum += float64(p) / 100
			}
		}
	}
	if answerable < 0.7 || lacking > 0.4 {
		t.Errorf("a path leads to an answer with %.2f where one does, with %.2f where none does", answerable, lacking)
	}
}

func TestAnExampleWithoutItsAnswersIsComparedAnew(t *testing.T) {
	e := makeExample(rand.New(rand.NewPCG(1, 2)), 8, 3)
	words := slices.Index(rank.ValueNames[:], "words")
	for i, v := range []float32{0.5, 0.75, 1} {
		e.Question.Paths[i].Values[words] = v
	}
	copy(e.F1, []float32{0, 0, 1})
	rank.CompareWithBest(e.Question.Paths)
	left := withoutAnswers(&e)
	behind := slices.Index(rank.ValueNames[:], "words_behind")
	if got := left.Question.Paths; len(got) != 2 || got[0].Values[behind] != -0.25 || got[1].Values[behind] != 0 {
		t.Errorf("left are %+v", got)
	}
	if got := e.Question.Paths; len(got) != 3 || got[0].Values[behind] != -0.5 {
		t.Errorf("the example itself changed: %+v", got)
	}
}

func TestNetworksBeginDifferentlyAndAFitIsRepeatable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var examples []Example
	for range 40 {
		examples = append(examples, makeExample(random, 8, 4))
	}
	options := DefaultFit()
	options.Units, options.HiddenUnits, options.MinSteps = 4, 3, 20
	last := 0
	options.Progress = func(done, of int) {
		if done != last+1 || done > of {
			t.Errorf("epoch %d of %d after %d", done, of, last)
		}
		last = done
	}
	first, err := Fit(t.Context(), examples, options)
	if err != nil {
		t.Fatal(err)
	}
	options.Progress = nil
	again, err := Fit(t.Context(), examples, options)
	if err != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("the same fit differs: %v", err)
	}
	if n := first.Networks; len(n) != 3 || reflect.DeepEqual(n[0].QuestionSteps, n[1].QuestionSteps) {
		t.Errorf("%d networks, or the first two are equal", len(n))
	}
}

func TestFitRefusesTooFewExamples(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	examples := []Example{makeExample(random, 8, 3)}
	if _, err := Fit(context.Background(), examples, DefaultFit()); !errors.Is(err, ErrTooFew) {
		t.Errorf("got %v; want %v", err, ErrTooFew)
	}
}

func TestFitStopsWithItsContext(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var examples []Example
	for range 40 {
		examples = append(examples, makeExample(random, 8, 3))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(ctx, examples, DefaultFit()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want %v", err, context.Canceled)
	}
}
