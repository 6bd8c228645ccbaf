package main

import (
	"context"
	"fmt"
	"math"

	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// example is the evidence that was gathered for a question, and which of it is
// that of a topic entity.
type example struct {
	evidence []link.Evidence
	topic    []bool
}

// weights fits the weights of linking to the questions and prints them: first
// so that the topic entity, or none, is chosen among what was gathered (a
// softmax over each question), then, without a change of order, so that the
// score of each is its probability (Platt scaling).
func weights(ctx context.Context, b *bench) error {
	var examples []example
	err := b.eachLinkSet(ctx, func(_ linkSet, snap store.Snapshot, questions []question) error {
		for _, q := range questions {
			candidates, err := link.Gather(ctx, snap, b.encoder, q.Question)
			if err != nil {
				return err
			}
			var e example
			for _, c := range candidates {
				e.evidence = append(e.evidence, c.Evidence)
				e.topic = append(e.topic, q.isTopic(snap, c.Link))
			}
			if len(q.TopicEntities) > 0 {
				examples = append(examples, e)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var start gradient
	for i, x := range link.Weights {
		start[i] = float64(x)
	}
	fitted, loss := fit(examples, start, example.choose)
	fmt.Fprintf(b.out, "%d questions, %.4f nats each to choose by", len(examples), loss)
	fitted, loss = calibrateWeights(examples, fitted)
	fmt.Fprintf(b.out, ", %.4f to judge by\n", loss)
	for i, w := range fitted {
		fmt.Fprintf(b.out, "%-14s %6.2f\n", link.EvidenceNames[i], w)
	}
	return nil
}

type gradient [len(link.Evidence{})]float64

const (
	fitSteps = 600
	fitRate  = 0.05
	fitDecay = 1e-4
	// momentum, and that of squares, as in Adam (Kingma and Ba, 2015).
	fitMomentum, fitSquares = 0.9, 0.999
)

// fit goes down the slope of a loss from where it starts.
func fit(examples []example, w gradient, lossOf func(e example, w gradient,
	g *gradient) float64) (fitted gradient, loss float64) {
	var mean, square gradient
	for step := 1; step <= fitSteps; step++ {
		var g gradient
		loss = 0
		for _, e := range examples {
			loss += lossOf(e, w, &g)
		}
		n := float64(len(examples))
		loss /= n
		for i := range w {
			slope := g[i]/n + fitDecay*w[i]
			mean[i] = fitMomentum*mean[i] + (1-fitMomentum)*slope
			square[i] = fitSquares*square[i] + (1-fitSquares)*slope*slope
			m := mean[i] / (1 - math.Pow(fitMomentum, float64(step)))
			s := square[i] / (1 - math.Pow(fitSquares, float64(step)))
			w[i] -= fitRate * m / (math.Sqrt(s) + 1e-8)
		}
	}
	return w, loss
}

// calibrateWeights stretches and shifts the scores of weights to probabilities.
func calibrateWeights(examples []example, w gradient) (gradient, float64) {
	mean, n := 0.0, 0.0
	for _, e := range examples {
		for i := range e.topic {
			mean += e.score(w, i)
			n++
		}
	}
	mean /= max(n, 1)
	// The evidence of each candidate is now 1 and its score around the mean.
	var shrunk []example
	for _, e := range examples {
		s := example{topic: e.topic}
		for i := range e.topic {
			s.evidence = append(s.evidence, link.Evidence{1, float32(e.score(w, i) - mean)})
		}
		shrunk = append(shrunk, s)
	}
	line, loss := fit(shrunk, gradient{mean, 1}, example.judge)
	for i := range w {
		w[i] *= line[1]
	}
	w[0] += line[0] - line[1]*mean
	return w, loss
}

func (e example) score(w gradient, i int) float64 {
	sum := 0.0
	for k, x := range e.evidence[i] {
		sum += w[k] * float64(x)
	}
	return sum
}

// choose adds the slope of the loss of the softmax, and returns the loss.
func (e example) choose(w gradient, g *gradient) float64 {
	odds := make([]float64, len(e.topic))
	all, right := 1.0, 0.0
	for i := range odds {
		odds[i] = math.Exp(e.score(w, i))
		all += odds[i]
		if e.topic[i] {
			right += odds[i]
		}
	}
	none := right == 0
	if none {
		right = 1
	}
	for i, o := range odds {
		slope := o / all
		if e.topic[i] && !none {
			slope -= o / right
		}
		for k, x := range e.evidence[i] {
			g[k] += slope * float64(x)
		}
	}
	return -math.Log(right / all)
}

// judge is choose for each candidate alone, as in a logistic regression.
func (e example) judge(w gradient, g *gradient) float64 {
	loss := 0.0
	for i, topic := range e.topic {
		p := 1 / (1 + math.Exp(-e.score(w, i)))
		slope := p
		if topic {
			slope = p - 1
			loss -= math.Log(max(p, 1e-12))
		} else {
			loss -= math.Log(max(1-p, 1e-12))
		}
		for k, x := range e.evidence[i] {
			g[k] += slope * float64(x)
		}
	}
	return loss
}
