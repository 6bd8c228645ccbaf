package train

import (
	"math"
	"math/rand/v2"

	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

// pass is what the backward pass needs of the forward pass of one question.
type pass struct {
	// steps and ends are the projections of the question, with dropout; kept are the factors of the
	// dropout.
	steps, ends, keptSteps, keptEnds []float32
	// near are the products of each relation by the place it has in a path.
	near rank.Nearness
	// inputs are those of the hidden layer, sums its units before activation, for each path.
	inputs, sums [][]float32
	scores       []float64
}

// forward scores the paths of an example. Without a source of random numbers nothing is dropped.
func (n *network) forward(e *Example, drop func(units int) []float32) *pass {
	w, q := n.weights, e.Question
	f := &pass{steps: rank.Multiply(w.QuestionSteps, q.Vector), ends: rank.Multiply(w.QuestionEnds, q.Vector)}
	if drop != nil {
		f.keptSteps, f.keptEnds = drop(len(f.steps)), drop(len(f.ends))
		for i := range f.steps {
			f.steps[i] *= f.keptSteps[i]
			f.ends[i] *= f.keptEnds[i]
		}
	}
	f.near = w.Compare(q, q.Cosines(), f.steps, f.ends)
	for i := range q.Paths {
		inputs := w.Inputs(f.near, &q.Paths[i])
		score, sums := w.Score(inputs)
		f.inputs, f.sums, f.scores = append(f.inputs, inputs), append(f.sums, sums), append(f.scores, score)
	}
	return f
}

// backward adds the gradient of an example's loss to g.
func (n *network) backward(e *Example, g *rank.Network, options FitOptions, random *rand.Rand) {
	w, q := n.weights, e.Question
	valuesOnly := random.Float64() < options.ValuesOnly
	f := n.forward(e, func(units int) []float32 {
		kept := make([]float32, units)
		for i := range kept {
			if !valuesOnly && random.Float64() >= options.Dropout {
				kept[i] = float32(1 / (1 - options.Dropout))
			}
		}
		return kept
	})
	wanted := targets(e)
	probabilities := rank.Softmax(f.scores, 1)
	// How the loss changes with the product of the question and each relation, by place.
	relations := len(q.Relations)
	mean, first, last, profile := make([]float32, relations), make([]float32, relations), make([]float32, relations),
		make([]float32, relations)
	for i := range q.Paths {
		p := &q.Paths[i]
		slope := float32(probabilities[i] - wanted[i])
		onSteps, onEnds := backwardHidden(w, f, i, slope, g)
		onSteps, onEnds = onSteps+slope, onEnds+slope
		for j := range rank.ValueCount {
			g.Linear[j] += slope * f.inputs[i][j]
		}
		for _, s := range p.Steps {
			mean[s] += w.StepScale * onSteps / float32(len(p.Steps))
		}
		first[p.Steps[0]] += w.StepScale * onSteps
		last[p.Steps[len(p.Steps)-1]] += w.StepScale * onSteps
		var shares float32
		for _, s := range p.Profile {
			shares += s.Share
		}
		for _, s := range p.Profile {
			profile[s.Relation] += w.EndScale * onEnds * s.Share / shares
		}
	}
	steps, ends := make([]float32, len(f.steps)), make([]float32, len(f.ends))
	for _, part := range []struct {
		slopes         []float32
		rows, gradient [][]float32
		question, back []float32
	}{
		{mean, w.StepMean, g.StepMean, f.steps, steps}, {first, w.StepFirst, g.StepFirst, f.steps, steps},
		{last, w.StepLast, g.StepLast, f.steps, steps}, {profile, w.Profile, g.Profile, f.ends, ends},
	} {
		sum := make([]float32, len(q.Vector))
		for r, slope := range part.slopes {
			if slope != 0 {
				add(sum, q.Relations[r].Vector, slope)
			}
		}
		add(part.back, rank.Multiply(part.rows, sum), 1)
		for unit, row := range part.gradient {
			add(row, sum, part.question[unit])
		}
	}
	for unit := range steps {
		add(g.QuestionSteps[unit], q.Vector, steps[unit]*f.keptSteps[unit])
		add(g.QuestionEnds[unit], q.Vector, ends[unit]*f.keptEnds[unit])
	}
}

// backwardHidden adds the gradient of the hidden layer for a path whose score has a slope, and
// returns the slopes of its inputs that depend on parameters.
func backwardHidden(w *rank.Network, f *pass, path int, slope float32, g *rank.Network) (steps, ends float32) {
	inputs := f.inputs[path]
	for unit, row := range w.Hidden {
		value, derivative := rank.GELU(float64(f.sums[path][unit]))
		g.Output[unit] += slope * float32(value)
		into := slope * w.Output[unit] * float32(derivative)
		g.HiddenBias[unit] += into
		add(g.Hidden[unit], inputs, into)
		steps += into * row[rank.ValueCount]
		ends += into * row[rank.ValueCount+1]
	}
	return steps, ends
}

func add(to, v []float32, factor float32) {
	for i, x := range v {
		to[i] += factor * x
	}
}

// adam is Adam (Kingma and Ba 2015).
type adam struct{ mean, square []float32 }

func newAdam(size int) *adam {
	return &adam{mean: make([]float32, size), square: make([]float32, size)}
}

// update moves the parameters against the gradient. step counts from 1.
func (a *adam) update(parameters, gradient []float32, rate float64, step int) {
	const momentum, memory = 0.9, 0.99
	first, second := 1-math.Pow(momentum, float64(step)), 1-math.Pow(memory, float64(step))
	for i, g := range gradient {
		a.mean[i] = momentum*a.mean[i] + (1-momentum)*g
		a.square[i] = memory*a.square[i] + (1-memory)*g*g
		parameters[i] -= float32(rate * float64(a.mean[i]) / first /
			(math.Sqrt(float64(a.square[i])/second) + 1e-8))
	}
}
