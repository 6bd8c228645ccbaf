package walk

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// asksTime reports whether a question's answer is a date.
func asksTime(question string) bool {
	return slices.ContainsFunc(strings.Fields(store.Fold(question)), func(word string) bool {
		switch word {
		case "when", "year", "years", "date", "dates":
			return true
		}
		return false
	})
}

// dateBonus is a path's bonus or penalty for leading to dates.
func (a *aim) dateBonus(snap Reader, p *prospect) float32 {
	// All ends of a relation are dates or none is: a few suffice.
	for _, e := range p.ends[:min(3, len(p.ends))] {
		if snap.Kind(e) != store.Date && !IsDate(snap.EntityName(e)) {
			return 0
		}
	}
	if a.asksTime {
		return timeBonus
	}
	return -timeBonus
}
