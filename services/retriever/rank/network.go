package rank

import (
	"math"

	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// Network scores paths. Matrices are lists of rows, of Weights.Dims values each.
type Network struct {
	// Mean and Deviation normalise the values.
	Mean, Deviation []float32
	// Linear weighs the normalised values.
	Linear []float32
	// QuestionSteps and QuestionEnds project the question; StepMean, StepFirst and StepLast the
	// relations of a path; Profile those around its ends.
	QuestionSteps, QuestionEnds, StepMean, StepFirst, StepLast, Profile [][]float32
	// StepScale and EndScale weigh both products.
	StepScale, EndScale float32
	// Hidden has a row of ValueCount + 3 for each unit.
	Hidden             [][]float32
	HiddenBias, Output []float32
}

// Inputs returns what the hidden layer reads of a path: its normalised values, how near the question
// is to its steps and to the profile of its ends, and the mean cosine to the latter.
func (n *Network) Inputs(near Nearness, p *Path) []float32 {
	inputs := make([]float32, InputCount)
	for i, v := range p.Values {
		inputs[i] = (v - n.Mean[i]) / n.Deviation[i]
	}
	inputs[ValueCount], inputs[ValueCount+1], inputs[ValueCount+2] = near.path(n, p)
	return inputs
}

// Score returns the log odds of a path against that of none: a linear part and a layer of GELU units,
// whose sums before activation it returns for training.
func (n *Network) Score(inputs []float32) (score float64, sums []float32) {
	score = float64(inputs[ValueCount] + inputs[ValueCount+1] + vector.Dot(n.Linear, inputs[:ValueCount]))
	sums = make([]float32, len(n.Hidden))
	for unit, row := range n.Hidden {
		sums[unit] = vector.Dot(row, inputs) + n.HiddenBias[unit]
		value, _ := GELU(float64(sums[unit]))
		score += float64(n.Output[unit]) * value
	}
	return score, sums
}

// GELU is the tanh form of the Gaussian error linear unit (Hendrycks and Gimpel 2016), with its slope.
func GELU(x float64) (value, slope float64) {
	const cubic = 0.044715
	factor := math.Sqrt(2 / math.Pi)
	t := math.Tanh(factor * (x + cubic*x*x*x))
	return 0.5 * x * (1 + t), 0.5*(1+t) + 0.5*x*(1-t*t)*factor*(1+3*cubic*x*x)
}

// Nearness are the products of a question with each relation: as any, the first and the last step of a
// path, as a part of its ends' profile, and the plain cosine.
type Nearness struct{ mean, first, last, profile, plain []float32 }

// Compare multiplies the question, projected for the steps and the ends of paths, with each relation.
// The matrices are multiplied with the question first, which costs less than to project every
// relation. plain are Question.Cosines, which no network changes.
func (n *Network) Compare(q *Question, plain, steps, ends []float32) Nearness {
	size := len(q.Relations)
	near := Nearness{make([]float32, size), make([]float32, size), make([]float32, size), make([]float32, size), plain}
	for _, part := range []struct {
		to     []float32
		vector []float32
	}{
		{near.mean, combine(n.StepMean, steps)}, {near.first, combine(n.StepFirst, steps)},
		{near.last, combine(n.StepLast, steps)}, {near.profile, combine(n.Profile, ends)},
	} {
		for i, relation := range q.Relations {
			part.to[i] = vector.Dot(part.vector, relation.Vector)
		}
	}
	return near
}

// path returns how near the question is to the steps of a path and to the profile of its ends, and
// the mean cosine to the latter.
func (near Nearness) path(n *Network, p *Path) (steps, ends, plain float32) {
	for _, s := range p.Steps {
		steps += near.mean[s] / float32(len(p.Steps))
	}
	steps += near.first[p.Steps[0]] + near.last[p.Steps[len(p.Steps)-1]]
	var shares float32
	for _, s := range p.Profile {
		ends += s.Share * near.profile[s.Relation]
		plain += s.Share * near.plain[s.Relation]
		shares += s.Share
	}
	if shares > 0 {
		ends, plain = ends/shares, plain/shares
	}
	return n.StepScale * steps, n.EndScale * ends, plain
}

// Multiply returns the product of each row with a vector.
func Multiply(rows [][]float32, v []float32) []float32 {
	product := make([]float32, len(rows))
	for i, row := range rows {
		product[i] = vector.Dot(row, v)
	}
	return product
}

// combine returns the sum of the rows, each weighed.
func combine(rows [][]float32, weights []float32) []float32 {
	sum := make([]float32, len(rows[0]))
	for i, row := range rows {
		for j, x := range row {
			sum[j] += weights[i] * x
		}
	}
	return sum
}
