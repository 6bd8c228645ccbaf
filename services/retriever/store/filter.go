package store

import "slices"

// Filter limits a search to some triples. The zero Filter lets all through.
type Filter struct {
	// Subjects and Relations are those that a triple may have; nil takes all,
	// an empty list none.
	Subjects  []EntityID
	Relations []RelationID
	// At is an ISO 8601 date of any precision at which a triple must hold; one
	// without validity always does. Empty takes all.
	At string
}

// All says whether the filter lets every triple through.
func (f Filter) All() bool { return f.Subjects == nil && f.Relations == nil && f.At == "" }

// Passes returns what tells whether the filter lets a triple of a snapshot
// through; nil where it lets all through.
func (f Filter) Passes(facts Facts) func(TripleID) bool {
	if f.All() {
		return nil
	}
	subjects, relations := slices.Sorted(slices.Values(f.Subjects)), slices.Sorted(slices.Values(f.Relations))
	return func(id TripleID) bool {
		t := facts.Triple(id)
		if f.Relations != nil {
			if _, ok := slices.BinarySearch(relations, t.Relation); !ok {
				return false
			}
		}
		if f.Subjects != nil {
			if _, ok := slices.BinarySearch(subjects, t.Subject); !ok {
				return false
			}
		}
		return f.At == "" || facts.Validity(id).Holds(f.At)
	}
}

// Holds says whether a fact with this validity held at a date. Dates are
// compared in the coarser precision of the two: a fact from 2014-04 on holds in
// 2014.
func (v Validity) Holds(at string) bool {
	return (v.Start == "" || compareDates(v.Start, at) <= 0) && (v.End == "" || compareDates(v.End, at) >= 0)
}

// compareDates orders two ISO 8601 dates as far as both are precise.
func compareDates(a, b string) int {
	aYear, aRest := splitYear(a)
	bYear, bRest := splitYear(b)
	if aYear != bYear {
		if aYear < bYear {
			return -1
		}
		return 1
	}
	n := min(len(aRest), len(bRest))
	switch {
	case aRest[:n] < bRest[:n]:
		return -1
	case aRest[:n] > bRest[:n]:
		return 1
	}
	return 0
}

// splitYear reads the year, which may be before Christ or have more than four
// digits, and returns what follows it.
func splitYear(date string) (year int, rest string) {
	digits, sign := date, 1
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		if digits[0] == '-' {
			sign = -1
		}
		digits = digits[1:]
	}
	i := 0
	for i < len(digits) && digits[i] >= '0' && digits[i] <= '9' && i < 9 {
		year = year*10 + int(digits[i]-'0')
		i++
	}
	return sign * year, digits[i:]
}
