package check

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	// sampled is how many triples of a relation are looked at for its subjects,
	// and subjects the most of these whose objects are counted.
	sampled, subjects = 200, 100
	// remembered is how many relations are known at a time.
	remembered = 4096
)

// uses knows how relations are used. Snapshots do not change, so each relation
// is looked at once.
type uses struct {
	known *lru.Cache[string, *verifierv1.RelationUse]
}

func newUses() *uses {
	known, _ := lru.New[string, *verifierv1.RelationUse](remembered) // only a size under 1 fails
	return &uses{known}
}

// of tells how a relation is used, by a sample of its triples: a store of any
// kind can search, and none counts.
func (u *uses) of(ctx context.Context, q *question.Question, retriever retrieverv1.RetrieverServiceClient, relation string) (*verifierv1.RelationUse, error) {
	caller, _ := auth.From(ctx)
	key := fmt.Sprint(caller.Tenant, " ", q.KG(), " ", q.OtherKGs(), " ", relation)
	if use, ok := u.known.Get(key); ok {
		return use, nil
	}
	search := func(filter *retrieverv1.Filter, limit uint32) ([]*graphv1.ScoredTriple, error) {
		resp, err := retriever.SearchTriples(ctx, &retrieverv1.SearchTriplesRequest{
			Kg: q.KG(), Queries: []string{verbalise.Relation(relation)}, Limit: limit, Filter: filter,
		})
		if err != nil || len(resp.GetResults()) == 0 {
			return nil, err
		}
		return resp.GetResults()[0].GetTriples(), nil
	}
	filter := &retrieverv1.Filter{Relations: []string{relation}}
	sample, err := search(filter, sampled)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, t := range sample {
		if s := t.GetTriple().GetSubject(); !seen[s] && len(seen) < subjects {
			seen[s] = true
			filter.Subjects = append(filter.Subjects, s)
		}
	}
	use := &verifierv1.RelationUse{Relation: relation, Subjects: uint32(len(seen))}
	if len(seen) > 0 {
		whole, err := search(filter, 1000)
		if err != nil {
			return nil, err
		}
		use.Several = several(whole)
	}
	u.known.Add(key, use)
	return use, nil
}

// several counts the subjects with more than one object.
func several(triples []*graphv1.ScoredTriple) (n uint32) {
	objects := map[string]map[string]bool{}
	for _, t := range triples {
		s := t.GetTriple().GetKg() + "\x00" + t.GetTriple().GetSubject()
		if objects[s] == nil {
			objects[s] = map[string]bool{}
		}
		objects[s][verbalise.Fold(t.GetTriple().GetObject())] = true
	}
	for _, o := range objects {
		if len(o) > 1 {
			n++
		}
	}
	return n
}
