package ground

import (
	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// relevance is how near a relation's words are to what was asked.
type relevance struct {
	// question is the cosine to the question, any the best to any text.
	question, any float32
}

// relevant compares a relation with the texts of the plan, once.
func (g *grounding) relevant(r store.RelationID) relevance {
	if known, ok := g.relations[r]; ok {
		return known
	}
	var of relevance
	if vector := g.snap.RelationVector(r); vector != nil {
		for i, text := range g.vectors {
			cosine := dot.Product(text, vector)
			of.any = max(of.any, cosine)
			if i == g.plan.question {
				of.question = cosine
			}
		}
	}
	g.relations[r] = of
	return of
}

func (g *grounding) asked(r store.RelationID) float32 { return g.relevant(r).question }
