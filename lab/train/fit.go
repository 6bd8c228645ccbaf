package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

// Example is a question with its candidate paths and how right each is.
type Example struct {
	// Question is what the ranker reads.
	Question *rank.Question
	// F1 is, for each path, the F1 of its ends against the answers, 0 to 1.
	F1 []float32
}

// usable reports whether any path leads to an answer: only then is there something to learn.
func (e *Example) usable() bool {
	return slices.ContainsFunc(e.F1, func(f float32) bool { return f > 0 })
}

// FitOptions are the settings of Fit.
type FitOptions struct {
	// Encoder names the encoder of the examples' vectors.
	Encoder string
	// Networks is the number of networks whose scores are averaged. Units is the width of the
	// projections of each, HiddenUnits that of its hidden layer.
	Networks, Units, HiddenUnits int
	// Epochs is the number of passes over the examples, Batch the number of examples of a step.
	Epochs, Batch int
	// Rate is the first learning rate, which falls to 0; Decay weighs the squares of the matrices;
	// Dropout is the share of projected components that a step leaves out.
	Rate, Decay, Dropout float64
	// ValuesOnly is the share of the examples of a step whose projections are left out as a whole: the
	// values are learnt to suffice for relations that no question of training asks for.
	ValuesOnly float64
	// Calibration is the share of the examples that only choose the temperature.
	Calibration float64
	// Unanswerable is the share of the examples that are read once more without the paths that lead to
	// an answer: of them the ranker learns that none may fit.
	Unanswerable float64
	Seed         uint64
	// MinSteps is the least number of steps: a few examples are passed over more often, in smaller
	// batches.
	MinSteps int
	// Start are weights to begin with, for the same encoder; nil begins from chance.
	Start *rank.Weights
	// Workers is the number of goroutines.
	Workers int
	// Progress is called after each epoch, of those of all networks; may be nil.
	Progress func(done, of int)
}

// DefaultFit are the settings of the shipped ranker.
func DefaultFit() FitOptions {
	return FitOptions{Networks: 3, Units: 64, HiddenUnits: 32, Epochs: 12, Batch: 64, Rate: 2e-3, Decay: 3e-4,
		Dropout: 0.3, ValuesOnly: 0.1, Calibration: 0.1, Unanswerable: 1, Seed: 1, MinSteps: 400, Workers: 2}
}

// ErrTooFew reports too few examples.
var ErrTooFew = errors.New("too few questions with a path to an answer")

// minExamples is the number of examples under which a fit would only learn them by heart.
const minExamples = 20

// Fit trains the networks of a ranker: for each question the softmax over its paths approaches the
// distribution of the squares of their F1 (a listwise loss, Cao et al. 2007), or that of none, if there
// is no answer. Examples that no network
// is trained on choose the temperature of their mean. It returns ErrTooFew for less than 20 usable
// examples.
func Fit(ctx context.Context, examples []Example, options FitOptions) (*rank.Weights, error) {
	random := rand.New(rand.NewPCG(options.Seed, 0))
	var usable []*Example
	for i := range examples {
		if examples[i].usable() {
			usable = append(usable, &examples[i])
		}
	}
	if len(usable) < minExamples {
		return nil, fmt.Errorf("train the ranker: %w: %d; want %d", ErrTooFew, len(usable), minExamples)
	}
	random.Shuffle(len(usable), func(i, j int) { usable[i], usable[j] = usable[j], usable[i] })
	held := int(options.Calibration * float64(len(usable)))
	calibration := addUnanswerable(slices.Clone(usable[:held]), options.Unanswerable)
	training := addUnanswerable(slices.Clone(usable[held:]), options.Unanswerable)
	options = options.scale(len(training))
	w := &rank.Weights{Encoder: options.Encoder, Dims: len(usable[0].Question.Vector), Values: rank.ValueNames[:],
		Networks: make([]rank.Network, options.Networks), Temperature: 1}
	for i := range w.Networks {
		own := options
		own.Seed += uint64(i)
		var start *rank.Network
		if options.Start != nil {
			start = &options.Start.Networks[i]
		}
		if options.Progress != nil {
			own.Progress = func(done, of int) { options.Progress(i*of+done, len(w.Networks)*of) }
		}
		n, err := fitNetwork(ctx, slices.Clone(training), own, start)
		if err != nil {
			return nil, err
		}
		w.Networks[i] = *n.weights
		round(&w.Networks[i])
	}
	if err := calibrate(w, calibration); err != nil {
		return nil, err
	}
	w.Relations = relationHashes(usable, options.Start)
	return w, w.Check()
}

// fitNetwork trains one network, beginning with start unless that is nil. It changes the order of the
// examples.
func fitNetwork(ctx context.Context, training []*Example, options FitOptions, start *rank.Network) (*network, error) {
	random := rand.New(rand.NewPCG(options.Seed, 1))
	n := newNetwork(training, options, random)
	if start != nil {
		n.copyFrom(start)
	}
	adam := newAdam(len(n.parameters))
	steps := options.Epochs * max(1, len(training)/options.Batch)
	step := 0
	for epoch := range options.Epochs {
		random.Shuffle(len(training), func(i, j int) { training[i], training[j] = training[j], training[i] })
		for first := 0; first < len(training) && step < steps; first += options.Batch {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			gradient := n.gradient(training[first:min(first+options.Batch, len(training))], options, uint64(step))
			rate := options.Rate * (1 - float64(step)/float64(steps+1))
			step++
			adam.update(n.parameters, gradient, rate, step)
		}
		if options.Progress != nil {
			options.Progress(epoch+1, options.Epochs)
		}
	}
	return n, nil
}

// minBatch is the size of the smallest batch, minBatches the number of batches that an epoch of few
// examples has.
const minBatch, minBatches = 8, 16

// scale adapts the batches and epochs to the number of examples, and the widths to Start.
func (o FitOptions) scale(examples int) FitOptions {
	o.Batch = min(o.Batch, max(minBatch, examples/minBatches))
	if batches := max(1, examples/o.Batch); o.Epochs*batches < o.MinSteps {
		o.Epochs = (o.MinSteps + batches - 1) / batches
	}
	if o.Start != nil {
		first := &o.Start.Networks[0]
		o.Networks, o.Units, o.HiddenUnits = len(o.Start.Networks), len(first.QuestionSteps), len(first.Hidden)
	}
	return o
}

// network is a network whose parameters are one vector.
type network struct {
	weights    *rank.Network
	parameters []float32
	// decayed is the number of parameters, from the first, that Decay draws to 0.
	decayed int
}

func newNetwork(training []*Example, options FitOptions, random *rand.Rand) *network {
	dims := len(training[0].Question.Vector)
	w := &rank.Network{StepScale: 1, EndScale: 1}
	w.Mean, w.Deviation = normalise(training)
	n := &network{weights: w}
	const inputs = rank.InputCount
	n.parameters = make([]float32, 6*options.Units*dims+options.HiddenUnits*(inputs+2)+rank.ValueCount)
	rest := n.parameters
	take := func(size int) []float32 {
		part := rest[:size:size]
		rest = rest[size:]
		return part
	}
	matrix := func(height, width int, deviation float64) [][]float32 {
		rows := make([][]float32, height)
		for i := range rows {
			rows[i] = take(width)
			for j := range rows[i] {
				rows[i][j] = float32(random.NormFloat64() * deviation)
			}
		}
		return rows
	}
	deviation := 1 / math.Sqrt(float64(dims))
	w.QuestionSteps = matrix(options.Units, dims, deviation)
	w.StepMean = matrix(options.Units, dims, 0)
	for i, row := range w.QuestionSteps { // so that the product starts near the cosine
		copy(w.StepMean[i], row)
	}
	w.StepFirst, w.StepLast = matrix(options.Units, dims, 0), matrix(options.Units, dims, 0)
	w.QuestionEnds, w.Profile = matrix(options.Units, dims, deviation), matrix(options.Units, dims, deviation)
	w.Hidden = matrix(options.HiddenUnits, inputs, 1/math.Sqrt(float64(inputs)))
	n.decayed = len(n.parameters) - len(rest)
	w.HiddenBias, w.Output, w.Linear = take(options.HiddenUnits), take(options.HiddenUnits), take(rank.ValueCount)
	return n
}

// copyFrom begins with the parameters of another network, and normalises values as it does.
func (n *network) copyFrom(start *rank.Network) {
	w := n.weights
	w.Mean, w.Deviation = start.Mean, start.Deviation
	w.StepScale, w.EndScale = start.StepScale, start.EndScale
	for _, m := range [][2][][]float32{{w.QuestionSteps, start.QuestionSteps}, {w.QuestionEnds, start.QuestionEnds},
		{w.StepMean, start.StepMean}, {w.StepFirst, start.StepFirst}, {w.StepLast, start.StepLast},
		{w.Profile, start.Profile}, {w.Hidden, start.Hidden}, {{w.HiddenBias, w.Output, w.Linear},
			{start.HiddenBias, start.Output, start.Linear}}} {
		for i, row := range m[0] {
			copy(row, m[1][i])
		}
	}
}

// normalise returns the means and deviations of the values of all paths.
func normalise(examples []*Example) (mean, deviation []float32) {
	var sum, squares [rank.ValueCount]float64
	count := 0.0
	for _, e := range examples {
		for i := range e.Question.Paths {
			for j, v := range e.Question.Paths[i].Values {
				sum[j] += float64(v)
				squares[j] += float64(v) * float64(v)
			}
			count++
		}
	}
	for j := range sum {
		m := sum[j] / count
		mean = append(mean, float32(m))
		deviation = append(deviation, float32(math.Sqrt(max(0, squares[j]/count-m*m))+1e-3))
	}
	return mean, deviation
}

// gradient returns the gradient of the mean loss of a batch, with a dropout that depends on the step
// alone.
func (n *network) gradient(batch []*Example, options FitOptions, step uint64) []float32 {
	workers := max(1, min(options.Workers, len(batch)))
	parts := make([]*network, workers)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			p := n.shadow(options)
			parts[worker] = p
			for i := worker; i < len(batch); i += workers {
				random := rand.New(rand.NewPCG(options.Seed, step<<20|uint64(i)))
				n.backward(batch[i], p.weights, options, random)
			}
		})
	}
	wg.Wait()
	gradient := parts[0].parameters
	for _, p := range parts[1:] {
		for i, g := range p.parameters {
			gradient[i] += g
		}
	}
	scale := 1 / float32(len(batch))
	for i := range gradient {
		gradient[i] *= scale
		if i < n.decayed {
			gradient[i] += 2 * float32(options.Decay) * n.parameters[i]
		}
	}
	return gradient
}

// shadow returns weights of the same shape that are 0, to collect a gradient.
func (n *network) shadow(options FitOptions) *network {
	zero := *n.weights
	s := &network{weights: &zero, parameters: make([]float32, len(n.parameters))}
	rest := s.parameters
	rows := func(like [][]float32) [][]float32 {
		m := make([][]float32, len(like))
		for i, row := range like {
			m[i], rest = rest[:len(row):len(row)], rest[len(row):]
		}
		return m
	}
	w := n.weights
	zero.QuestionSteps, zero.StepMean = rows(w.QuestionSteps), rows(w.StepMean)
	zero.StepFirst, zero.StepLast = rows(w.StepFirst), rows(w.StepLast)
	zero.QuestionEnds, zero.Profile = rows(w.QuestionEnds), rows(w.Profile)
	zero.Hidden = rows(w.Hidden)
	tail := rows([][]float32{w.HiddenBias, w.Output, w.Linear})
	zero.HiddenBias, zero.Output, zero.Linear = tail[0], tail[1], tail[2]
	return s
}

// calibrate sets the temperature with the least loss.
func calibrate(w *rank.Weights, examples []*Example) error {
	scores := make([][]float64, len(examples))
	for i, e := range examples {
		var err error
		if scores[i], err = w.Scores(e.Question); err != nil {
			return err
		}
	}
	least := math.Inf(1)
	for t := 0.5; t < 8 && len(examples) > 0; t *= 1.05 {
		loss := 0.0
		for i, e := range examples {
			loss += crossEntropy(scores[i], targets(e), t)
		}
		if loss < least {
			w.Temperature, least = float32(t), loss
		}
	}
	return nil
}

// targets returns the distribution that a question's softmax should approach.
// It is 0 for all paths if none leads to an answer.
func targets(e *Example) []float64 {
	t := make([]float64, len(e.F1))
	sum := 0.0
	for i, f := range e.F1 {
		t[i] = float64(f) * float64(f)
		sum += t[i]
	}
	for i := range t {
		t[i] /= max(sum, math.SmallestNonzeroFloat32)
	}
	return t
}

// withoutAnswers returns an example as a graph that lacks its answers would have it: without the
// paths that lead to one.
func withoutAnswers(e *Example) *Example {
	q := *e.Question
	q.Paths = nil
	for i, p := range e.Question.Paths {
		if e.F1[i] == 0 {
			q.Paths = append(q.Paths, p)
		}
	}
	rank.CompareWithBest(q.Paths)
	return &Example{Question: &q, F1: make([]float32, len(q.Paths))}
}

// addUnanswerable adds to the examples some of them without their answers.
func addUnanswerable(examples []*Example, share float64) []*Example {
	for _, e := range examples[:int(share*float64(len(examples)))] {
		if w := withoutAnswers(e); len(w.F1) > 0 {
			examples = append(examples, w)
		}
	}
	return examples
}

func crossEntropy(scores, targets []float64, temperature float64) float64 {
	loss, none, unanswered := 0.0, 1.0, 1.0
	for i, p := range rank.Softmax(scores, temperature) {
		loss -= targets[i] * math.Log(max(p, math.SmallestNonzeroFloat64))
		none -= p
		unanswered -= targets[i]
	}
	return loss - unanswered*math.Log(max(none, math.SmallestNonzeroFloat32))
}

// relationHashes returns the relations that paths of the examples have, and those that start knows.
func relationHashes(examples []*Example, start *rank.Weights) (hashes []uint64) {
	if start != nil {
		hashes = slices.Clone(start.Relations)
	}
	for _, e := range examples {
		for _, p := range e.Question.Paths {
			for _, s := range p.Steps {
				hashes = append(hashes, rank.HashRelation(e.Question.Relations[s].Name))
			}
		}
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// round keeps 12 bits of each parameter's fraction, which makes the file half as large.
func round(w *rank.Network) {
	for _, m := range [][][]float32{w.QuestionSteps, w.QuestionEnds, w.StepMean, w.StepFirst, w.StepLast, w.Profile,
		w.Hidden} {
		for _, row := range m {
			for i, v := range row {
				row[i] = math.Float32frombits((math.Float32bits(v) + 1<<10) &^ (1<<11 - 1))
			}
		}
	}
}
