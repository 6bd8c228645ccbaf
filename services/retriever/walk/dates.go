package walk

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// timeBound is the bound of a validity that a relation gives.
type timeBound int

const (
	noBound timeBound = iota
	startBound
	endBound
)

var timeBoundWords = map[string]timeBound{
	"from": startBound, "start": startBound, "started": startBound, "begin": startBound, "began": startBound,
	"beginning": startBound, "since": startBound,
	"to": endBound, "end": endBound, "ended": endBound, "ending": endBound, "until": endBound, "till": endBound,
}

// parseTimeBound classifies a relation whose words are a bound and otherwise only "date" and the
// like: "start date", "from", "year of the end".
func parseTimeBound(relation string) timeBound {
	found := noBound
	for word := range strings.FieldsSeq(strings.ToLower(kgtext.VerbaliseRelation(relation))) {
		switch word {
		case "date", "time", "year", "day", "of", "the", "at", "in":
			continue
		}
		b, ok := timeBoundWords[word]
		if !ok || (found != noBound && found != b) {
			return noBound
		}
		found = b
	}
	return found
}

// maxDateLength is the maximum length of a date in bytes, as in the contract.
const maxDateLength = 64

var datePattern = regexp.MustCompile(`^[+-]?\d{4,9}(-\d\d(-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?)?)?$`)

// IsDate reports whether a name is an ISO 8601 date of any precision, for graphs that do not keep
// the kinds of their literals.
func IsDate(name string) bool { return datePattern.MatchString(name) }

// isBefore compares dates in the coarser precision of the two.
func isBefore(a, b string) bool { return !store.Validity{End: a}.Covers(b) }

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

// MediatorReader is the part of a snapshot that MediatorValidity reads.
type MediatorReader interface {
	EntityName(store.EntityID) string
	Kind(store.EntityID) store.Kind
	RelationName(store.RelationID) string
	Edges(ctx context.Context, entities []store.EntityID, dir store.Direction,
		relations []store.RelationID) ([][]store.Edge, error)
}

// MediatorValidity returns when the facts of mediators hold: facts of more than two parts, such as
// who held which office from when to when. It reads the mediators' outgoing edges to a date whose
// relation names a start or an end, such as "government.government_position_held.from". Mediators
// without such an edge are omitted. The earliest start and the latest end count.
func MediatorValidity(ctx context.Context, snap MediatorReader,
	mediators []store.EntityID) (map[store.EntityID]store.Validity, error) {
	if len(mediators) == 0 {
		return nil, nil
	}
	lists, err := snap.Edges(ctx, mediators, store.Out, nil)
	if err != nil {
		return nil, err
	}
	valid := map[store.EntityID]store.Validity{}
	said := map[store.RelationID]timeBound{}
	for i, m := range mediators {
		for _, e := range lists[i] {
			b, seen := said[e.Relation]
			if !seen {
				b = parseTimeBound(snap.RelationName(e.Relation))
				said[e.Relation] = b
			}
			if b == noBound {
				continue
			}
			name := snap.EntityName(e.Entity)
			if len(name) > maxDateLength || (snap.Kind(e.Entity) != store.Date && !IsDate(name)) {
				continue
			}
			v := valid[m]
			switch {
			case b == startBound && (v.Start == "" || isBefore(name, v.Start)):
				v.Start = name
			case b == endBound && (v.End == "" || isBefore(v.End, name)):
				v.End = name
			}
			valid[m] = v
		}
	}
	return valid, nil
}
