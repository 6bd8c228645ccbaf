package kgtext_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

const (
	entities = graphv1.AnswerForm_ANSWER_FORM_ENTITIES
	text     = graphv1.AnswerForm_ANSWER_FORM_TEXT
)

func chosenForm(question string) graphv1.AnswerForm {
	return kgtext.ChooseAnswerForm(question, graphv1.AnswerForm_ANSWER_FORM_UNSPECIFIED)
}

func TestAskedNumber(t *testing.T) {
	for question, want := range map[string]string{
		"When was Erik Halvorsen born?":             "when",
		"In what year was the Harn Bridge opened?":  "what year",
		"How tall is the Harn Bridge?":              "how tall",
		"how many towns does Norland have":          "how many",
		"Since when is Velmora a town?":             "when",
		"Who was mayor when the bridge was opened?": "",
		"How did Erik Halvorsen die?":               "",
		"What days of the week is the bridge open?": "",
	} {
		if got := kgtext.AskedNumber(question); got != want {
			t.Errorf("%q asks for %q, want %q", question, got, want)
		}
	}
	for name, want := range map[string]bool{"1961-08-04": true, "12 m": true, "Super Bowl XXX": true, "Chicago": false,
		"": false, "Malcolm X": false} {
		if got := kgtext.IsNumbered(name); got != want {
			t.Errorf("%q has a number: %t, want %t", name, got, want)
		}
	}
}

func TestAsksPlace(t *testing.T) {
	for question, want := range map[string]bool{
		"Where was Mara Vell born?": true, "In which city was Mara Vell born?": true, "which country is Orla in": true,
		"When was Mara Vell born?": false, "Which floor is Orla on?": false, "Who is from where?": false,
	} {
		if got := kgtext.AsksPlace(question); got != want {
			t.Errorf("%q asks for a place: %v", question, got)
		}
	}
}

func TestChooseAnswerForm(t *testing.T) {
	for question, want := range map[string]graphv1.AnswerForm{
		"Tell me about Velmora.":                                    text,
		"tell us something about velmora":                           text,
		"Please tell me more about the Harn Bridge!":                text,
		"Tell me everything you know about Erik Halvorsen.":         text,
		"Could you please tell me about Velmora?":                   text,
		"What can you tell me about Velmora?":                       text,
		"What do you know about Velmora?":                           text,
		"what is known about velmora":                               text,
		"I would like to know more about Velmora":                   text,
		"I'd like to hear about Velmora":                            text,
		"Describe the Harn Bridge.":                                 text,
		"Can you describe Velmora?":                                 text,
		"Give me some information about Velmora.":                   text,
		"give a short description of velmora":                       text,
		"Provide an overview of Velmora":                            text,
		"Write a paragraph about Velmora.":                          text,
		"Write about Velmora":                                       text,
		"Summarise the career of Erik Halvorsen":                    text,
		"Who is the director of The Quiet Harbour?":                 entities,
		"What is The Quiet Harbour about?":                          entities,
		"please tell me erik halvorsen 's daughter present address": entities,
		"Tell me who directed The Quiet Harbour.":                   entities,
		"Tell me the mayor of Velmora":                              entities,
		"Give me all rivers in Norland.":                            entities,
		"Give me the capital of Norland.":                           entities,
		"Which film describes Velmora?":                             entities,
		"Who wrote Tell Me About Love?":                             entities,
		"who wrote about velmora":                                   entities,
		"What book did the author of Describe the Night write?":     entities,
		"Show me all films about Velmora":                           entities,
		"List the towns of Norland":                                 entities,
		"Describe":                                                  entities,
		"":                                                          entities,
		"?!":                                                        entities,
	} {
		if got := chosenForm(question); got != want {
			t.Errorf("%q takes %v, want %v", question, got, want)
		}
	}
}

func TestIsYesNo(t *testing.T) {
	for question, want := range map[string]bool{
		"Is K2 in Nepal?":                              true,
		"was the Eiger first climbed in 1858":          true,
		"Did Erik Halvorsen direct The Quiet Harbour?": true,
		"Do penguins live in the Arctic?":              true,
		"Isn't Velmora the capital of Norland?":        true,
		"And is Orla a river?":                         true,
		"Is it true that K2 is in Nepal?":              true,
		"Has Velmora more than one river?":             true,
		"Is K2 in Nepal or in Pakistan?":               false,
		"In which country is K2?":                      false,
		"K2 is in Nepal.":                              false,
		"What is K2?":                                  false,
		"Do the Right Thing":                           true, // a title reads like a question
		"Who did Erik Halvorsen marry?":                false,
		"Name a river that is in Norland":              false,
		"Can you tell me where K2 is?":                 false,
		"Is":                                           false,
		"":                                             false,
		"does he have to do it himself or will somebody help?": false,
	} {
		if got := kgtext.IsYesNo(question); got != want {
			t.Errorf("%q: %v, want %v", question, got, want)
		}
	}
}

func TestTheRequestedFormIsChosen(t *testing.T) {
	if got := kgtext.ChooseAnswerForm("Tell me about Velmora.", entities); got != entities {
		t.Errorf("got %v", got)
	}
	if got := kgtext.ChooseAnswerForm("who founded velmora", text); got != text {
		t.Errorf("got %v", got)
	}
}

// ambiguousQuestions ask for a single value in the words of those that ask for a text.
var ambiguousQuestions = []string{"what can you tell me about the population of missouri"}

// Every question of the open-ended set takes a text, and none of the other sets does.
func TestPublishedQuestions(t *testing.T) {
	var asked [2]int
	err := filepath.WalkDir(testkit.SharedData(t), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") && !strings.HasSuffix(path, ".txt") {
			return err
		}
		want, i := entities, 0
		if filepath.Base(path) == "open.jsonl" {
			want, i = text, 1
		}
		for _, question := range questions(t, path) {
			asked[i]++
			if got := chosenForm(question); got != want && !slices.Contains(ambiguousQuestions, question) {
				t.Errorf("%s: %q takes %v, want %v", filepath.Base(path), question, got, want)
			}
		}
		return nil
	})
	if err != nil || asked[0] < 10_000 || asked[1] != 148 {
		t.Errorf("read %d questions for entities and %d for a text, %v", asked[0], asked[1], err)
	}
}

// questions returns the questions of a file, one per line: the field of a JSON
// object, or the text before a tab.
func questions(t *testing.T, path string) (found []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row struct{ Question string }
		if filepath.Ext(path) == ".txt" {
			row.Question, _, _ = strings.Cut(lines.Text(), "\t")
		} else if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if row.Question != "" {
			found = append(found, row.Question)
		}
	}
	if lines.Err() != nil {
		t.Fatalf("%s: %v", path, lines.Err())
	}
	return found
}

func FuzzChooseAnswerForm(f *testing.F) {
	f.Add("Tell me about it")
	f.Add("\xff describe \x00")
	f.Fuzz(func(t *testing.T, question string) {
		if got := chosenForm(question); got != entities && got != text {
			t.Errorf("%q takes %v", question, got)
		}
	})
}

func TestAskedKinds(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"Which data centre is web-01 in?":      "data, data centre",
		"In which country was Anna Lind born?": "country, country was",
		"What films did Orla make?":            "films, films did",
		"What is the price of Orla?":           "",
		"What does Orla sell?":                 "",
		"Who made Orla?":                       "",
		"Which?":                               "",
	} {
		if got := strings.Join(kgtext.AskedKinds(question), ", "); got != want {
			t.Errorf("%s: got %q, want %q", question, got, want)
		}
	}
}
