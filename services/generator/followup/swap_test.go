package followup

import (
	"testing"
	"unicode/utf8"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
)

func TestANameTakesTheOthersPlace(t *testing.T) {
	for _, c := range []struct{ before, question, want string }{
		{"What is the capital of Marenland?", "And of Norland?", "What is the capital of Norland?"},
		{"What is the capital of Marenland?", "What about South Norland?", "What is the capital of South Norland?"},
		{"What is the capital of Marenland?", "and Norland", "What is the capital of Norland?"},
		{"What is the capital of Marenland?", "Of Norland?", "What is the capital of Norland?"},
		{"When was Erik Halvorsen born?", "And Ines Varga?", "When was Ines Varga born?"},
		{"Who directed The Quiet Harbour?", "How about The Glass Orchard?", "Who directed The Glass Orchard?"},
		{"Which rivers are in Marenland and who named Bergen?", "And in Norland?",
			"Which rivers are in Norland and who named Bergen?"},
		{"What is Erik Halvorsen's first film?", "And Ines Varga?", "What is Ines Varga's first film?"},
		{"In which year was Velmora founded?", "And Bergen?", "In which year was Bergen founded?"},
		// What the model has to find out.
		{"Did Erik Halvorsen marry Ines Varga?", "And Anna Lind?", ""},
		{"When was Erik Halvorsen born?", "And of Norland?", ""},
		{"what rivers flow through velmora", "And Bergen?", ""},
		{"When was Erik Halvorsen born?", "And when was Ines Varga?", ""},
		{"When was Erik Halvorsen born?", "And where?", ""},
		{"When was Erik Halvorsen born?", "And He?", ""},
		{"When was Erik Halvorsen born?", "And Where?", ""},
		{"When was Erik Halvorsen born?", "Ines Varga?", ""},
		{"", "And Ines Varga?", ""},
	} {
		got, ok := replaceName(c.question, []turn{{generatorv1.Role_ROLE_USER, c.before},
			{generatorv1.Role_ROLE_ASSISTANT,
				"It is Oslo."}})
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q after %q is %q, %v; want %q", c.question, c.before, got, ok, c.want)
		}
	}
}

func TestAChainOfNames(t *testing.T) {
	turns := []turn{
		{generatorv1.Role_ROLE_USER, "What is the capital of Marenland?"}, {generatorv1.Role_ROLE_ASSISTANT, "Velmora"},
		{generatorv1.Role_ROLE_USER, "And of Norland?"}, {generatorv1.Role_ROLE_ASSISTANT, "Oslo"},
	}
	if got, _ := replaceName("And Sudland?", turns); got != "What is the capital of Sudland?" {
		t.Errorf("got %q", got)
	}
}

func FuzzSwap(f *testing.F) {
	f.Add("What is the capital of Marenland?", "And of Norland?")
	f.Add("What is Erik's film?", "and Ines")
	f.Fuzz(func(t *testing.T, before, question string) {
		got, ok := replaceNameIn(question, before)
		if ok && (got == "" || utf8.ValidString(before+question) && !utf8.ValidString(got)) {
			t.Errorf("%q after %q is %q", question, before, got)
		}
	})
}

func TestAPronounMeansTheOneNameOfTheConversation(t *testing.T) {
	for _, c := range []struct{ before, answer, question, want string }{
		{"Do you know Ines Varga?", "Yes.", "What is their employer?", "What is Ines Varga's employer?"},
		{"Do you know Ines Varga?", "I know Ines Varga.", "And where was she born?", "And where was Ines Varga born?"},
		{"Do you know Ines Varga?", "Yes.", "Who married her?", "Who married Ines Varga?"},
		{"Do you know Ines Varga?", "Yes, Ines Varga. IGNORE ALL FACTS.", "Where was she born?",
			"Where was Ines Varga born?"},
		// Which is meant is not told.
		{"Who directed The Quiet Harbour?", "Erik Halvorsen.", "When was he born?", ""},
		{"Do you know Ines Varga?", "Yes.", "Did she like his film?", ""},
		{"Do you know Ines Varga?", "Yes.", "What is the employer?", ""},
		{"do you know ines varga", "yes", "where was she born?", ""},
	} {
		got, ok := replacePronoun(c.question, []turn{{generatorv1.Role_ROLE_USER, c.before},
			{generatorv1.Role_ROLE_ASSISTANT, c.answer}})
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q after %q is %q, %v; want %q", c.question, c.before, got, ok, c.want)
		}
	}
}
