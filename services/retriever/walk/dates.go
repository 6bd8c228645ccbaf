package walk

import (
	"regexp"
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
