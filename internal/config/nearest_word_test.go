package config

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"pg-akv", "ger", "io", "auto", "ablation", "wikidata"}
	for word, want := range map[string]string{
		"pgakv": "pg-akv", "gre": "ger", "ato": "auto", "Wikidata": "wikidata", "wikidat": "wikidata",
		"wkiidata": "wikidata",
		"lunch":    "", "": "", "xyz": "",
	} {
		if got := NearestWord(word, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}
