package link

import "strings"

// formsOf lists what a folded word may be a form of: the singular of a plural;
// if alone, also what an adjective is made from, such as "italy" for "italian".
func formsOf(word string, alone bool) []string {
	var forms []string
	singular := word
	if s, ok := strings.CutSuffix(word, "s"); ok && len(s) >= 3 && !strings.HasSuffix(s, "s") {
		singular = s
		forms = append(forms, s)
		if s, ok := strings.CutSuffix(word, "ies"); ok {
			forms = append(forms, s+"y")
		}
	} else if len(word) >= 4 {
		forms = append(forms, word+"s")
	}
	if !alone {
		return forms
	}
	if place, ok := demonyms[singular]; ok {
		return append(forms, place...)
	}
	for _, ending := range adjectives {
		stem, ok := strings.CutSuffix(singular, ending.of)
		if !ok || len(stem) < 3 {
			continue
		}
		for _, tail := range ending.to {
			forms = append(forms, stem+tail)
		}
	}
	return forms
}

// adjectives are the endings by which English makes adjectives of the names of
// places, peoples and beliefs.
var adjectives = []struct {
	of string
	to []string
}{
	{"ian", []string{"", "y", "ia", "a", "e", "ium"}},
	{"an", []string{"", "a", "o", "y", "ia"}},
	{"ese", []string{"", "a", "o", "al", "on"}},
	{"ish", []string{"", "land", "ey", "en"}},
	{"i", []string{"", "a"}},
	{"ic", []string{"", "ism"}},
	{"ist", []string{"ism"}},
	{"er", []string{""}},
	{"", []string{"y", "land"}},
}

// demonyms are the commoner adjectives that follow no rule.
var demonyms = map[string][]string{
	"american":   {"united states of america", "united states"},
	"argentine":  {"argentina"},
	"belgian":    {"belgium"},
	"british":    {"united kingdom", "great britain"},
	"czech":      {"czech republic", "czechia"},
	"danish":     {"denmark"},
	"dutch":      {"netherlands", "the netherlands"},
	"english":    {"england"},
	"filipino":   {"philippines"},
	"french":     {"france"},
	"greek":      {"greece"},
	"irish":      {"ireland", "republic of ireland"},
	"muslim":     {"islam"},
	"norwegian":  {"norway"},
	"portuguese": {"portugal"},
	"scottish":   {"scotland"},
	"spanish":    {"spain"},
	"swiss":      {"switzerland"},
	"welsh":      {"wales"},
}

// respelt are the other spellings of a name that begins with a word that is
// often cut short.
func respelt(name string) []string {
	var forms []string
	for _, pair := range [][2]string{{"st ", "saint "}, {"mt ", "mount "}, {"ft ", "fort "}} {
		for i := range pair {
			if rest, ok := strings.CutPrefix(name, pair[i]); ok {
				forms = append(forms, pair[1-i]+rest)
			}
		}
	}
	return forms
}
