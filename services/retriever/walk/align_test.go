package walk

import (
	"context"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func aimed(t *testing.T, g *storetest.Graph, question string, topics ...string) *aim {
	t.Helper()
	a, err := newAim(context.Background(), g, &storetest.WordEncoder{},
		SuggestRequest{Question: question, Topics: ids(g, topics...)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func fitOf(t *testing.T, g *storetest.Graph, a *aim, topic, path string) float32 {
	t.Helper()
	return a.matchWords(g, g.ID(topic), steps(g, path))
}

func TestWordsStandBetweenTheTopicAndTheAnswer(t *testing.T) {
	tests := []struct {
		name, question string
		topics         []string
		want           []float32 // places for the first topic, -1 for none
	}{
		{"beside the topic is 0, beside the question word 1", "who cast films of the director of Harbour",
			[]string{"Harbour"}, []float32{6. / 7, 5. / 7, 2. / 7}},
		{"a question may end in its question word", "Harbour cast which", []string{"Harbour"}, []float32{0.5}},
		{"without a question word the answer is before the question", "cast of Harbour", []string{"Harbour"},
			[]float32{2. / 3}},
		{"a topic that the question does not name has no place", "who was cast", []string{"Harbour"}, []float32{-1}},
		{"names of topics are no words of the question", "what has Bo of Harbour directed", []string{"Harbour", "Bo"},
			[]float32{1. / 6}},
		{"only names and stop words", "who is Bo", []string{"Bo"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := aimed(t, films, tt.question, tt.topics...)
			if len(a.words) != len(tt.want) {
				t.Fatalf("%d words, want %d", len(a.words), len(tt.want))
			}
			for i, want := range tt.want {
				got := float32(-1)
				if places := a.places[films.ID(tt.topics[0])]; places != nil {
					got = places[i]
				}
				if diff := got - want; diff > 1e-6 || diff < -1e-6 {
					t.Errorf("word %d stands at %v, want %v", i, got, want)
				}
			}
		})
	}
}

func TestMatchWords(t *testing.T) {
	const question = "who is in the cast of films of the director of Harbour"
	tests := []struct{ name, question, better, worse string }{
		{"hops that the question describes", question, "director, director^, cast", "director, director^, born in"},
		{"the order of the words is that of the hops", question, "director, director^, cast", "cast, cast^, director"},
		{"a word without a hop lowers the score", question, "director, director^, cast", "director"},
		{"a hop without a word lowers the score", "director of Harbour", "director", "director, born in"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := aimed(t, films, tt.question, "Harbour")
			if better, worse := fitOf(t, films, a, "Harbour", tt.better), fitOf(t, films, a, "Harbour",
				tt.worse); better <= worse {
				t.Errorf("%q fits by %v, %q by %v", tt.better, better, tt.worse, worse)
			}
		})
	}
	if fit := fitOf(t, films, aimed(t, films, "Harbour", "Harbour"), "Harbour", "cast"); fit != 0 {
		t.Errorf("a question without words fits by %v", fit)
	}
}

func TestMentionsLongerThanTheQuestion(t *testing.T) {
	g := storetest.NewGraph([3]string{"A very long name indeed", "cast", "!?"})
	names, named := findMentions(g, []string{"who"}, []store.EntityID{g.ID("A very long name indeed"), g.ID("!?")})
	if len(names) != 0 || len(named) != 1 || named[0] {
		t.Errorf("mentions %v, %v", names, named)
	}
}

func TestLeastHop(t *testing.T) {
	tests := []struct {
		name, question, path string
		hopOf                []int
		least, most          float32
	}{
		{"each hop has a word", "who is in the cast of films of the director of Harbour", "director, director^, cast",
			[]int{1, 2, 3}, -1, 0.2},
		{"two words for two hops", "director of the cast of Harbour", "cast, director", []int{1, 2}, 0.99, 1.01},
		{"one word is for one hop alone", "cast of Harbour", "cast, cast^", []int{1, 2}, -1, -1},
		{"a hop over a mediator is said by either relation",
			"cast of Harbour", "cast, born in", []int{1, 1}, 0.99, 1.01},
		{"the question does not speak of a hop", "cast and award of Harbour", "cast, director", []int{1, 2}, -1, 0.2},
		{"one hop", "cast of Harbour", "cast", []int{1}, 0.99, 1.01},
		{"no words", "Harbour", "cast", []int{1}, -1, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &prospect{topic: films.ID("Harbour"), steps: steps(films, tt.path), hopOf: tt.hopOf,
				hops: tt.hopOf[len(tt.hopOf)-1]}
			if got := aimed(t, films, tt.question, "Harbour").leastHop(films, p); got < tt.least || got > tt.most {
				t.Errorf("got %v, want %v to %v", got, tt.least, tt.most)
			}
		})
	}
}
