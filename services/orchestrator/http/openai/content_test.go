package openai

import (
	"testing"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestRemaining(t *testing.T) {
	for _, c := range []struct{ name, sent, content, want string }{
		{"all of it where nothing was sent", "", "Tessen", "Tessen"},
		{"or nothing but space", " \n", "Tessen", "Tessen"},
		{"nothing where all was sent", "It was Erik Halvorsen.", "It was Erik Halvorsen.", ""},
		{"space around it is no difference", " It was Erik.\n", "It was Erik.", ""},
		{"the end of what broke off", "It was ", "It was Erik.", "Erik."},
		{"nothing where reasoning stands before it", "The film is from 1987.\nAnswer: 1987", "1987", ""},
		{"another answer is a paragraph of its own", "It was Lars", "Erik Halvorsen", "\n\nErik Halvorsen"},
		{"the end of a word is another answer", "In 1987", "87", "\n\n87"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := remaining(c.sent, c.content); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestContentOf(t *testing.T) {
	for _, c := range []struct {
		name string
		run  *orchestratorv1.Run
		want string
	}{
		{"a text without the space around it", &orchestratorv1.Run{Text: " It was Erik.\n"}, "It was Erik."},
		{"answers where there is no text", &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: "Tessen"},
			{Answer: "Orla"}}}, "Tessen, Orla"},
		{"why an answer is not confirmed", &orchestratorv1.Run{Text: "It was Erik.",
			Grounding:       orchestratorv1.Grounding_GROUNDING_RELATED,
			GroundingReason: "triples name it, and may not say it"},
			"It was Erik.\n\nNot confirmed: triples name it, and may not say it."},
		{"why there is none", &orchestratorv1.Run{Grounding: orchestratorv1.Grounding_GROUNDING_ABSTAINED,
			GroundingReason: "the model wrote nothing"}, "There is no answer: the model wrote nothing."},
		{"that the question was stopped", &orchestratorv1.Run{},
			"There is no answer: the question was not to be taken so far."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := contentOf(c.run); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestConversationOmitsWhatIsNotConfirmed(t *testing.T) {
	_, history, err := conversation([]message{{"user", []byte(`"Who made it?"`)},
		{"assistant", []byte(`"It was Erik.\n\nNot confirmed: triples may not say it."`)}, {"user", []byte(`"When?"`)}})
	if err != nil || len(history) != 2 || history[1].GetText() != "It was Erik." {
		t.Errorf("%v, %v", history, err)
	}
}
