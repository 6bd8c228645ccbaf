package ground

import (
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// queries are the texts that a grounding encodes.
type queries struct {
	// texts are distinct. The first queryCount of them are searched, the others only compared.
	texts      []string
	queryCount int
	// question and pseudo are indexes into texts.
	question int
	pseudo   []int
	// names and objects are the folded names of the pseudo-graph's subjects and objects.
	names, objects []string
	// subjects is the number of distinct subjects of the pseudo-graph, at least 1.
	subjects int
}

// plan returns the queries of a question and a pseudo-graph.
func plan(question string, pseudo []Fact, options Options) queries {
	var q queries
	add := func(text string) int {
		if at := slices.Index(q.texts, text); at >= 0 {
			return at
		}
		q.texts = append(q.texts, text)
		return len(q.texts) - 1
	}
	for _, p := range pseudo {
		q.pseudo = append(q.pseudo, add(kgtext.VerbaliseTriple(p.Subject, p.Relation, p.Object)))
		if key := store.Fold(p.Subject); !slices.Contains(q.names, key) {
			q.names = append(q.names, key)
		}
		q.objects = append(q.objects, store.Fold(p.Object))
	}
	q.subjects = max(len(q.names), 1)
	if options.broadQueries {
		for _, p := range pseudo {
			add(p.Subject + " " + kgtext.VerbaliseRelation(p.Relation))
		}
	}
	if options.broadQueries || len(pseudo) == 0 {
		add(question)
	}
	q.queryCount = len(q.texts)
	q.question = add(question)
	return q
}
