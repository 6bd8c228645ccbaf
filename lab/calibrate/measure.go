package calibrate

import (
	"context"
	"crypto/sha256"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// Grounder builds ground graphs.
type Grounder interface {
	GroundGraph(ctx context.Context, req *retrieverv1.GroundGraphRequest,
		opts ...grpc.CallOption) (*retrieverv1.GroundGraphResponse, error)
}

// drafted is a question with its pseudo-graph.
type drafted struct {
	dataset.Question
	pseudo *graphv1.PseudoGraph
	// held says that settings are not chosen by it.
	held bool
}

// isHeld parts questions in halves by their ids alone, so that a question is
// on the same side however many are taken.
func isHeld(id string) bool {
	sum := sha256.Sum256([]byte("held\n" + id))
	return sum[0]&1 == 1
}

// grounds measures settings over questions.
type grounds struct {
	grounder  Grounder
	kg        *graphv1.KnowledgeGraphRef
	questions []drafted
	parallel  int
}

// measure grounds every question by a setting.
func (g *grounds) measure(ctx context.Context, setting Setting) (Point, error) {
	point := Point{Setting: setting}
	var mu sync.Mutex
	var triples [2]int
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(g.parallel)
	for _, q := range g.questions {
		work.Go(func() error {
			resp, err := g.grounder.GroundGraph(ctx, &retrieverv1.GroundGraphRequest{
				Kg: g.kg, Question: q.Question.Question, PseudoGraph: q.pseudo, Options: setting.options(),
			})
			if err != nil {
				return err
			}
			found, size := findAnswer(resp.GetGroundGraph(), q.Answers)
			mu.Lock()
			defer mu.Unlock()
			share, sum := &point.Tuning, &triples[0]
			if q.held {
				share, sum = &point.Validation, &triples[1]
			}
			share.Questions++
			if found {
				share.Found++
			}
			*sum += size
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return Point{}, err
	}
	point.Tuning.Triples = float64(triples[0]) / float64(max(1, point.Tuning.Questions))
	point.Validation.Triples = float64(triples[1]) / float64(max(1, point.Validation.Questions))
	return point, nil
}

// findAnswer reports whether a ground graph names an answer, and how many triples it
// has.
func findAnswer(graph *graphv1.GroundGraph, answers []string) (found bool, triples int) {
	var names []string
	for _, s := range graph.GetSubjects() {
		triples += len(s.GetTriples())
		for _, t := range s.GetTriples() {
			names = append(names, t.GetTriple().GetSubject(), t.GetTriple().GetObject())
		}
	}
	return score.ContainsAnswer(answers, names), triples
}
