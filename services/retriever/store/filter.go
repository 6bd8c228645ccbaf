package store

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Filter limits a search to some triples. The zero Filter matches all.
type Filter struct {
	// Subjects and Relations are those that a triple may have; nil means all, an empty list none.
	Subjects  []EntityID
	Relations []RelationID
	// At is an ISO 8601 date of any precision at which a triple must hold; one
	// without validity always does. Empty means all.
	At string
}

// IsZero reports whether the filter matches every triple.
func (f Filter) IsZero() bool { return f.Subjects == nil && f.Relations == nil && f.At == "" }

// Matcher returns a predicate for the triples of a snapshot
// that match the filter; nil if all match.
func (f Filter) Matcher(facts Facts) func(TripleID) bool {
	if f.IsZero() {
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
		return f.At == "" || facts.Validity(id).Covers(f.At)
	}
}

// Covers reports whether a fact with this validity held at a date. Dates are compared in the
// coarser precision of the two: a fact from 2014-04 on holds in 2014.
func (v Validity) Covers(at string) bool {
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

// letters that Unicode does not decompose into a base letter and an accent.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d",
	'þ': "th", 'ħ': "h", 'ı': "i", 'ŋ': "n", 'ŧ': "t",
}

// Fold reduces a name to what two spellings of it share: lower case, no
// accents, no punctuation, single spaces. Full stops and apostrophes vanish
// ("U.S." and "US" are one), other punctuation parts words ("AC/DC" becomes
// "ac dc"). A name of punctuation alone, such as "+", is kept in lower case.
func Fold(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	gap := false
	for _, r := range norm.NFKD.String(name) {
		r = unicode.ToLower(r)
		switch {
		case unicode.Is(unicode.Mn, r), r == '.', r == '\'', r == '’', r == '‘', r == '`':
			continue
		case !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r):
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		if plain, ok := letters[r]; ok {
			b.WriteString(plain)
		} else {
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return strings.ToLower(strings.Join(strings.Fields(name), " "))
	}
	return b.String()
}
