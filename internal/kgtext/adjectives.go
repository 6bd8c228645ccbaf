package kgtext

import (
	_ "embed" // of the countries
	"strings"
)

// countryNames are names of countries, one a line with its other names behind commas.
//
//go:embed countries.txt
var countryNames string

// countries are the names of countries, folded, each with the first one.
var countries = readCountries(countryNames)

func readCountries(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		names := strings.Split(strings.TrimSpace(line), ", ")
		for _, name := range names {
			all[Fold(name)] = names[0]
		}
	}
	return all
}

// CountryOf returns the common name of the country that a text names, with or without the article; empty if it names
// none.
func CountryOf(name string) string { return countries[strings.TrimPrefix(Fold(name), "the ")] }

// AreOtherCountries reports whether two texts name countries of which neither is in the other.
func AreOtherCountries(a, b string) bool {
	a, b = CountryOf(a), CountryOf(b)
	return a != "" && b != "" && a != b && inCountry[a] != b && inCountry[b] != a
}

// inCountry are countries that are parts of another one.
var inCountry = map[string]string{"England": "United Kingdom", "Scotland": "United Kingdom", "Wales": "United Kingdom",
	"Northern Ireland": "United Kingdom"}

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
