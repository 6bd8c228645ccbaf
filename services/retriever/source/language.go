package source

import "strings"

// Languages ranks the languages of labels.
type Languages struct{ wanted string }

// OtherLanguage is the rank of a language that was not asked for.
const OtherLanguage = 3

// NewLanguages returns the ranks for those who want a language; empty takes
// "en".
func NewLanguages(wanted string) Languages {
	if wanted == "" {
		wanted = "en"
	}
	return Languages{strings.ToLower(wanted)}
}

// Wanted is the language asked for, in lower case.
func (l Languages) Wanted() string { return l.wanted }

// Rank prefers the language asked for (0), then one of its kinds or the one it
// is a kind of (1), then a text without language (2), then any other.
func (l Languages) Rank(language string) int {
	switch {
	case language == l.wanted:
		return 0
	case language == "":
		return 2
	}
	language = strings.ToLower(language)
	switch {
	case language == l.wanted:
		return 0
	case kindOf(language, l.wanted), kindOf(l.wanted, language):
		return 1
	}
	return OtherLanguage
}

// kindOf says that a language such as "en-gb" is a kind of one such as "en".
func kindOf(special, general string) bool {
	return len(special) > len(general) && special[:len(general)] == general && special[len(general)] == '-'
}
