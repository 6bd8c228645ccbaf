package walk

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/nary"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// asksTime says whether a question's answer is a date.
func asksTime(question string) bool {
	return slices.ContainsFunc(strings.Fields(store.Fold(question)), func(word string) bool {
		switch word {
		case "when", "year", "years", "date", "dates":
			return true
		}
		return false
	})
}

// timely is what a path gains or loses by whether its ends are dates.
func (a *aim) timely(snap Reader, p *prospect) float32 {
	// A relation leads to dates or it does not: a few ends tell.
	for _, e := range p.ends[:min(3, len(p.ends))] {
		if snap.Kind(e) != store.Date && !nary.IsDate(snap.EntityName(e)) {
			return 0
		}
	}
	if a.time {
		return timeBonus
	}
	return -timeBonus
}
