package neo4j

import "github.com/triplemesh/triplemesh/services/retriever/store"

// Triple implements store.Facts.
func (s *snapshot) Triple(t store.TripleID) store.Triple {
	if s.indexedTriple(t) {
		return s.local.Triple(t)
	}
	return s.dated(t).Triple
}

// Validity implements store.Facts.
func (s *snapshot) Validity(t store.TripleID) store.Validity {
	if s.indexedTriple(t) {
		return s.local.Validity(t)
	}
	return s.dated(t).Validity
}
