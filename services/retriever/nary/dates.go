package nary

import (
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// bound is what a relation says of the time of a fact.
type bound int

const (
	none bound = iota
	start
	end
)

var bounds = map[string]bound{
	"from": start, "start": start, "started": start, "begin": start, "began": start, "beginning": start, "since": start,
	"to": end, "end": end, "ended": end, "ending": end, "until": end, "till": end,
}

// boundOf reads a relation whose words are a bound and nothing else but
// "date" and the like: "start date", "from", "year of the end".
func boundOf(relation string) bound {
	found := none
	for word := range strings.FieldsSeq(strings.ToLower(verbalise.Relation(relation))) {
		switch word {
		case "date", "time", "year", "day", "of", "the", "at", "in":
			continue
		}
		b, ok := bounds[word]
		if !ok || (found != none && found != b) {
			return none
		}
		found = b
	}
	return found
}

// longest is how many bytes a date has at most, as in the contract.
const longest = 64

var date = regexp.MustCompile(`^[+-]?\d{4,9}(-\d\d(-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?)?)?$`)

// IsDate tells by its name alone whether an entity is an ISO 8601 date of any
// precision, for graphs that do not keep the kinds of their literals.
func IsDate(name string) bool { return date.MatchString(name) }

// before says whether a date lies before another in the coarser precision of
// the two.
func before(a, b string) bool { return !store.Validity{End: a}.Holds(b) }
