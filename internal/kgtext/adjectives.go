package kgtext

import "strings"

// AdjectiveBases returns the folded names that a folded adjective may be derived from: "italy" of "italian".
func AdjectiveBases(adjective string) (bases []string) {
	if places, ok := demonyms[adjective]; ok {
		return places
	}
	for _, ending := range adjectives {
		stem, ok := strings.CutSuffix(adjective, ending.of)
		if !ok || len(stem) < 3 {
			continue
		}
		for _, tail := range ending.to {
			bases = append(bases, stem+tail)
		}
	}
	return bases
}

// adjectives are the endings with which English derives adjectives from names of places, peoples
// and beliefs.
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

// demonyms are common irregular adjectives.
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
