package ground

import (
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// queries are the texts that a grounding encodes, and what each is for.
type queries struct {
	// texts are distinct. The first searched of them are queries, the others
	// are only compared with.
	texts    []string
	searched int
	// question and pseudo say at which text each stands.
	question int
	pseudo   []int
	// names are the folded names of the pseudo-graph's subjects, objects those
	// of its objects.
	names, objects []string
	// subjects counts the distinct subjects of the pseudo-graph, 1 at least.
	subjects int
}

// plan lists the texts for a question and a pseudo-graph.
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
		q.pseudo = append(q.pseudo, add(verbalise.Triple(p.Subject, p.Relation, p.Object)))
		if key := store.Fold(p.Subject); !slices.Contains(q.names, key) {
			q.names = append(q.names, key)
		}
		q.objects = append(q.objects, store.Fold(p.Object))
	}
	q.subjects = max(len(q.names), 1)
	if options.guesses {
		for _, p := range pseudo {
			add(p.Subject + " " + verbalise.Relation(p.Relation))
		}
	}
	if options.guesses || len(pseudo) == 0 {
		add(question)
	}
	q.searched = len(q.texts)
	q.question = add(question)
	return q
}
