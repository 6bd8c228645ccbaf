package conflict

import (
	"strings"

	"github.com/triplemesh/triplemesh/internal/value"
	"github.com/triplemesh/triplemesh/internal/verbalise"
)

// agree tells whether two objects may mean the same: the same words, the words
// of one among those of the other ("New York", "New York City"), a date and a
// less precise one, or a number written in two ways.
func agree(a, b string) bool {
	if within(a, b) || within(b, a) {
		return true
	}
	if da, ok := value.ParseDate(a); ok {
		if db, ok := value.ParseDate(b); ok {
			return da.Agrees(db)
		}
	}
	if qa, ok := value.ParseQuantity(a); ok {
		if qb, ok := value.ParseQuantity(b); ok {
			// What is in another unit may be the same.
			return !qa.Comparable(qb) || qa.Off(qb) <= rounding
		}
	}
	return false
}

// rounding is what two ways to write a number may differ by, as a share of it.
const rounding = 1e-9

// within tells whether all words of a are words of b.
func within(a, b string) bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(verbalise.Fold(b)) {
		words[w] = true
	}
	for _, w := range strings.Fields(verbalise.Fold(a)) {
		if !words[w] {
			return false
		}
	}
	return true
}
