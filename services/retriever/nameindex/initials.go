package nameindex

import (
	"strings"
	"unicode/utf8"
)

const (
	// leastInitials and mostInitials bound how many initials stand for a name.
	leastInitials, mostInitials = 2, 8
	// byInitials is the similarity of a name to its initials.
	byInitials = 0.5
	// smallWord is the longest word whose initial may be left out: that of "of"
	// and "the".
	smallWord = 3
	// initialsMark begins initials among the words; no word has it.
	initialsMark = " "
)

// initialsOf returns the initials of a key of several words, and those without
// the small words where they differ: "uoc" and "uc" of "university of
// california". Those too short or too long are left out.
func initialsOf(key string) []string {
	var all, large strings.Builder
	for word := range strings.FieldsSeq(key) {
		initial, _ := utf8.DecodeRuneInString(word)
		all.WriteRune(initial)
		if utf8.RuneCountInString(word) > smallWord {
			large.WriteRune(initial)
		}
	}
	var found []string
	if areInitials(all.String()) {
		found = append(found, all.String())
	}
	if areInitials(large.String()) && large.String() != all.String() {
		found = append(found, large.String())
	}
	return found
}

func areInitials(text string) bool {
	n := utf8.RuneCountInString(text)
	return leastInitials <= n && n <= mostInitials && !strings.Contains(text, " ")
}
