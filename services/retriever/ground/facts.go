package ground

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// found is a fact under consideration: a triple of the snapshot, or two of
// them joined over an opaque mediator.
type found struct {
	// about is the subject whose evidence it may become: its own, or with a
	// fact read from the other side its object.
	about           store.EntityID
	subject, object store.EntityID
	relation        string
	validity        store.Validity
	// id is the triple, or the first of the two.
	id     store.TripleID
	joined bool
	// scores has the cosine to each text of the plan, score the best of the
	// searched ones.
	scores []float32
	score  float32
}

func (g *grounding) plain(id store.TripleID) found {
	t := g.snap.Triple(id)
	return found{
		about: t.Subject, subject: t.Subject, object: t.Object, relation: g.snap.RelationName(t.Relation),
		validity: g.snap.Validity(id), id: id,
	}
}

func (g *grounding) fact(f found) Fact {
	return Fact{
		Subject:  g.snap.EntityName(f.subject),
		Relation: f.relation,
		Object:   g.snap.EntityName(f.object),
		Validity: f.validity,
	}
}

// score fills the scores of facts: those of triples from the store's vectors,
// those of joined ones by encoding their words.
func (g *grounding) score(ctx context.Context, facts []found) error {
	var ids []store.TripleID
	var words []string
	for _, f := range facts {
		if f.joined {
			named := g.fact(f)
			words = append(words, verbalise.Triple(named.Subject, named.Relation, named.Object))
		} else {
			ids = append(ids, f.id)
		}
	}
	stored, err := g.snap.ScoreTriples(ctx, g.vectors, ids)
	if err != nil {
		return err
	}
	var encoded [][]float32
	if len(words) > 0 {
		if encoded, err = g.encoder.Encode(ctx, words); err != nil {
			return err
		}
	}
	nextStored, nextEncoded := 0, 0
	for i := range facts {
		f := &facts[i]
		f.scores = make([]float32, len(g.vectors))
		for q, vector := range g.vectors {
			if f.joined {
				f.scores[q] = dot(vector, encoded[nextEncoded])
			} else {
				f.scores[q] = stored[q][nextStored]
			}
		}
		if f.joined {
			nextEncoded++
		} else {
			nextStored++
		}
		f.score = slices.Max(f.scores[:g.plan.searched])
	}
	return nil
}

func (g *grounding) show(f found) Scored {
	s := Scored{Fact: g.fact(f), Score: f.score, Question: f.scores[g.plan.question]}
	for _, at := range g.plan.pseudo {
		s.Pseudo = append(s.Pseudo, f.scores[at])
	}
	return s
}

// byScore puts the best first; equal ones go by their numbers.
func byScore(a, b found) int {
	return cmp.Or(
		cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id),
		cmp.Compare(a.subject, b.subject), cmp.Compare(a.object, b.object), cmp.Compare(a.relation, b.relation),
	)
}

func dot(a, b []float32) float32 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
