package retriever

import (
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

var termKinds = map[store.Kind]graphv1.TermKind{
	store.Mediator: graphv1.TermKind_TERM_KIND_MEDIATOR,
	store.Text:     graphv1.TermKind_TERM_KIND_TEXT,
	store.Number:   graphv1.TermKind_TERM_KIND_NUMBER,
	store.Quantity: graphv1.TermKind_TERM_KIND_QUANTITY,
	store.Date:     graphv1.TermKind_TERM_KIND_DATE,
}

// termKind is a kind as the contract has it; that of a named thing is not set.
func termKind(k store.Kind) graphv1.TermKind { return termKinds[k] }
