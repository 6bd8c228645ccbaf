package followup

import (
	"testing"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
)

func TestAlone(t *testing.T) {
	said := []turn{
		{generatorv1.Role_ROLE_USER, "Who directed The Quiet Harbour?"},
		{generatorv1.Role_ROLE_ASSISTANT, "It was Erik Halvorsen, born in Bergen."},
	}
	for question, want := range map[string]bool{
		// What is named in full, and was not spoken of.
		"What is the capital of Marenland?":              true,
		"who was the first president of the Norland":     true,
		"Who is Ines Varga?":                             true,
		"Who directed The Glass Orchard?":                true,
		"Who wrote The Lay of the Minstrel?":             true,
		"When was Ines Varga born?":                      true,
		"how did Ines Varga die":                         true,
		"Tell me about Marenland.":                       true,
		"Please tell me more about the Harn Bridge!":     true,
		"Who discovered Élise Crater 12?":                true,
		"What is the official language of South Norland": true,
		// What refers to what was said, or may.
		"And when was he born?":                   false,
		"When was he born?":                       false,
		"Where was Erik born?":                    false, // which one is known from before
		"Who wrote The Quiet Harbour?":            false,
		"What is the population of Bergen?":       false,
		"What about Marenland?":                   false,
		"Marenland?":                              false,
		"And Marenland?":                          false,
		"Who is the director?":                    false,
		"What is the capital?":                    false,
		"Is Marenland bigger?":                    false,
		"How many in Marenland?":                  false,
		"Who won in Marenland?":                   false,
		"Was the director born in London?":        false,
		"Which of them was born in London?":       false,
		"What is the capital of It?":              false,
		"Who directed The Second One?":            false,
		"Who was She?":                            false,
		"who is ines varga":                       false, // nothing tells the name
		"Wo wurde er geboren?":                    false,
		"Wer schrieb The Glass Orchard?":          false,
		"What is the capital of Marenland, then?": false,
		"": false,
	} {
		t.Run(question, func(t *testing.T) {
			if got := standsAlone(question, said); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
