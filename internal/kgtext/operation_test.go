package kgtext_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

func TestAsksOperation(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]kgtext.Operation{
		"How many films did Mara Vell direct?":                     kgtext.MustCompute,
		"Which came out first, Low Tide or Orla?":                  kgtext.MustCompute,
		"What is the average length of its rivers?":                kgtext.MustCompute,
		"Which films did Mara Vell direct but not write?":          kgtext.MustCompute,
		"Number of mountains per country":                          kgtext.MustCompute,
		"List the number of mountains by country.":                 kgtext.MustCompute,
		"average height by country":                                kgtext.MustCompute,
		"Count the mountains of each country":                      kgtext.MustCompute,
		"Who was Count Orlan played by?":                           kgtext.NoOperation,
		"Which state has the most rivers?":                         kgtext.MayCompute,
		"Which mountains are higher than K2?":                      kgtext.MayCompute,
		"Which films have a rating above 8?":                       kgtext.MayCompute,
		"Which films take at least 90 minutes?":                    kgtext.MayCompute,
		"Which clouds are above Orla?":                             kgtext.NoOperation,
		"Which museum has more visitors?":                          kgtext.MayCompute,
		"Who earns between 60,000 and 80,000?":                     kgtext.MayCompute,
		"Who was hired in 2018?":                                   kgtext.MayCompute,
		"Who was elected mayor of Orla in May 2018?":               kgtext.MayCompute,
		"Who was mayor of Orla in 2018?":                           kgtext.NoOperation,
		"Has Mara Vell or Tomas Reed directed more films?":         kgtext.MustCompute,
		"Was Low Tide or Orla released first?":                     kgtext.MustCompute,
		"With whom did Mara Vell work most often?":                 kgtext.MustCompute,
		"What is the difference in length between A and B?":        kgtext.MustCompute,
		"what is the largest state":                                kgtext.MayCompute,
		"What was the last film of Mara Vell?":                     kgtext.MayCompute,
		"Which of her films were not written by her?":              kgtext.MayCompute,
		"Which bridges were opened from 1971 to 1975?":             kgtext.MayCompute,
		"Which probes were launched after 31 January 2015?":        kgtext.MayCompute,
		"Which probes were launched in 1974?":                      kgtext.MayCompute,
		"What spacecraft went up in March 1993?":                   kgtext.MayCompute,
		"What sport has a team that was founded, say, in 1913?":    kgtext.NoOperation,
		"what team did Mara Vell play for in 2010":                 kgtext.NoOperation,
		"Which films are from the 1990s?":                          kgtext.MayCompute,
		"Who directed The Last Tide?":                              kgtext.NoOperation,
		"what do most islanders speak":                             kgtext.NoOperation,
		"Which genre do most films by Mara Vell have?":             kgtext.MayCompute,
		"Who acts in most films of Mara Vell?":                     kgtext.MayCompute,
		"Is Low Tide older than Orla?":                             kgtext.MustCompute,
		"Which films of 1994 did Mara Vell direct?":                kgtext.MayCompute,
		"Was Low Tide released before Orla?":                       kgtext.MustCompute,
		"Does Velmora have more lakes than Tessen?":                kgtext.MustCompute,
		"Did Mara Vell and Per Holm go to the same school?":        kgtext.MustCompute,
		"who went to the same school as Mara Vell":                 kgtext.NoOperation,
		"Is Orla named after Mara Vell?":                           kgtext.NoOperation,
		"Was Mara Vell born before the war?":                       kgtext.NoOperation,
		"List the comedies from 1999 starring Mara Vell.":          kgtext.MayCompute,
		"Which year did Mara Vell direct no film?":                 kgtext.MayCompute,
		"who recorded aria no. 5":                                  kgtext.NoOperation,
		"what is Mara Vell famous for":                             kgtext.NoOperation,
		"who else than Mara Vell directed Orla":                    kgtext.NoOperation,
		"Which films did Mara Vell direct after 1990?":             kgtext.MayCompute,
		"Who directed The Grey Door?":                              kgtext.NoOperation,
		"who starred in the film Seven":                            kgtext.NoOperation,
		"Who wrote \"How Many Miles to Babylon\"?":                 kgtext.NoOperation,
		"what is the capital of the country that borders Velmora?": kgtext.NoOperation,
	} {
		if got := kgtext.AsksOperation(question); got != want {
			t.Errorf("AsksOperation(%q) = %v, want %v", question, got, want)
		}
	}
}

func TestAsksListOfWhatHasToDoWithANameInCapitals(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]bool{
		"Which bridges cross the Orla?":                                           true,
		"Which Mara Vell films are dramas?":                                       true,
		"Which of Holm's horror films are in Norse?":                              true,
		"What people live in Velmora?":                                            true,
		"Who was taught by Mara Vell?":                                            true,
		"who is buried in Velmora":                                                true,
		"Which stations are in zone 1?":                                           true,
		"Who are the physicists?":                                                 true,
		"Which electric cars are there?":                                          true,
		"Who are the Physicists of Velmora?":                                      false,
		"Who taught Mara Vell?":                                                   false,
		"Who was Mara Vell married to?":                                           false,
		"What is the capital of Velmora?":                                         false,
		"What does Velmora make?":                                                 false,
		"What class is Mara Vell?":                                                false,
		"Which films that were set in Velmora did Mara Vell and Per Holm direct?": false,
		"What country borders Velmora and Tessen?":                                false,
		"which bridges cross the orla":                                            false,
		"Does Velmora border Tessen?":                                             false,
		"":                                                                        false,
	} {
		if got := kgtext.AsksList(question); got != want {
			t.Errorf("AsksList(%q) = %v, want %v", question, got, want)
		}
	}
}

func TestConditionIsWhatPicksSome(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"Which genre do most films by Mara Vell have?": "most films",
		"Which films of 1994 did Mara Vell direct?":    "of 1994",
		"Which probes were launched in 1974?":          "in 1974",
		"what is the largest lake":                     "largest",
		"Who is the top scorer of Orla?":               "top scorer",
		"Is Orla named after Mara Vell?":               "",
		"who directed Orla":                            "",
		"What is the ISBN number of Low Tide?":         "",
		"What is the number of pages of Low Tide?":     "number of",
	} {
		if got := kgtext.Condition(question); got != want {
			t.Errorf("Condition(%q) = %q, want %q", question, got, want)
		}
	}
}

func TestWordsOfAnIdentifierAreItsParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		phrase, relation string
		want             float32
	}{
		{"length of runway", "runwayLength", 1}, {"birthPlace", "place of birth", 1},
		{"YouTube views", "Youtube views", 1}, {"runway", "roadLength", 0},
	} {
		if got := kgtext.SharedWords(c.phrase, c.relation); got != c.want {
			t.Errorf("%q has %v of %q, want %v", c.relation, got, c.phrase, c.want)
		}
	}
}

func TestWhoIsAskedForANameAndNoValue(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]bool{"Who led Orla?": true, "by whom was Orla led": true,
		"Which doctor led Orla?": false, "What did the WHO say?": false} {
		if got := kgtext.AsksWho(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
	for name, want := range map[string]bool{"1868-11-17": true, "May 2018": true, "404": true, "12.5 (metres)": true,
		"50 Cent": false, "Per Holm": false} {
		if got := kgtext.IsValue(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestWordsOfAPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, phrase, text string
		want               float32
	}{
		{"words that begin alike are one", "acted by", "starred_actors", 1},
		{"little words do not count", "located in", "the location", 1},
		{"half of the words", "release date", "release_year", .5},
		{"none", "budget", "release_year", 0},
		{"no words", "of the", "release_year", 0},
		{"a stem of three letters", "born in", "shares border with", 0},
	} {
		if got := kgtext.SharedWords(c.phrase, c.text); got != c.want {
			t.Errorf("%s: SharedWords(%q, %q) = %v, want %v", c.name, c.phrase, c.text, got, c.want)
		}
	}
	if kgtext.Trust("located in", "how many bridges cross the Elbe") >= kgtext.Trust("cross",
		"how many bridges cross the Elbe") {
		t.Error("a word that the question lacks counts as much as one that it has")
	}
	if kgtext.Trust("height", "which is the highest volcano") != 1 {
		t.Error("a measure that the question names in another word does not count wholly")
	}
	if !kgtext.IsTime("release_year") || kgtext.IsTime("running time") || kgtext.IsTime("visitorsPerYear") ||
		!kgtext.AsksTime("which came first") || kgtext.AsksTime("which cost most") {
		t.Error("times are not told from other words")
	}
}
