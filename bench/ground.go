package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

// groundedQuestions is how many questions are grounded.
const groundedQuestions = 200

// ground times GroundGraph as a caller meets it, encoding included, one
// question at a time. No text is encoded twice over all questions and rounds
// but the words of relations.
func (b *bench) ground(ctx context.Context) error {
	questions, err := b.questions(groundedQuestions)
	if err != nil {
		return err
	}
	for _, kind := range []string{fp32, int8} {
		if err := b.groundWith(ctx, kind, questions); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) groundWith(ctx context.Context, kind string, questions []question) error {
	e, err := b.engineWith(ctx, kind)
	if err != nil {
		return err
	}
	shipped, err := rank.Shipped()
	if err != nil {
		return err
	}
	best := make([]float64, len(questions))
	var facts, answered int
	for round := range b.Rounds {
		// A service of its own has nothing remembered.
		service, err := retriever.New(e.tenants, e.encoder, nil, telemetry.Discard())
		if err != nil {
			return err
		}
		service.SetRanker(shipped)
		facts, answered = 0, 0
		for i, q := range questions {
			request := &retrieverv1.GroundGraphRequest{
				Kg: &graphv1.KnowledgeGraphRef{Name: e.kg}, Question: q.Question, PseudoGraph: q.pseudoGraph(),
			}
			began := time.Now()
			resp, err := service.GroundGraph(ctx, request)
			if err != nil {
				return fmt.Errorf("ground %q: %w", q.Question, err)
			}
			took := float64(time.Since(began)) / float64(time.Millisecond)
			if round == 0 || took < best[i] {
				best[i] = took
			}
			for _, s := range resp.GetGroundGraph().GetSubjects() {
				facts += len(s.GetTriples())
			}
			if q.isAnswered(resp.GetGroundGraph()) {
				answered++
			}
		}
	}
	slices.Sort(best)
	title := fmt.Sprintf("GroundGraph, %d questions one at a time, encoding included", len(best))
	note := fmt.Sprintf("%.1f triples a question, %d with an answer", float64(facts)/float64(len(best)), answered)
	for _, p := range []int{50, 99} {
		value := best[min(len(best)*p/100, len(best)-1)]
		b.add(Row{Contest: title, Name: fmt.Sprintf("%s encoder, p%d", kind, p), Value: value, Median: value,
			Unit: "ms", Note: note})
	}
	return nil
}

// isAnswered reports whether a ground graph has an answer of the question.
func (q question) isAnswered(g *graphv1.GroundGraph) bool {
	return slices.ContainsFunc(g.GetSubjects(), func(s *graphv1.SubjectEvidence) bool {
		return slices.ContainsFunc(s.GetTriples(), func(t *graphv1.ScoredTriple) bool {
			return slices.Contains(q.Answers, t.GetTriple().GetSubject()) ||
				slices.Contains(q.Answers, t.GetTriple().GetObject())
		})
	})
}

// pseudoGraph returns the line's own, or a draft of one fact about each topic
// entity.
func (q question) pseudoGraph() *graphv1.PseudoGraph {
	g := &graphv1.PseudoGraph{}
	for _, t := range q.PseudoGraph {
		g.Triples = append(g.Triples, &graphv1.Triple{Subject: t[0], Relation: t[1], Object: t[2]})
	}
	if q.PseudoGraph == nil {
		for _, topic := range q.TopicEntities {
			g.Triples = append(g.Triples, &graphv1.Triple{Subject: topic, Relation: q.Question, Object: "unknown"})
		}
	}
	return g
}
