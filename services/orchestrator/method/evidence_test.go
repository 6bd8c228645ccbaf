package method

import (
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestGroundingOfAnswers(t *testing.T) {
	evidence := []*graphv1.Triple{
		{Subject: "The Quiet Harbour", Relation: "director", Object: "Erik Halvorsen"},
		{Subject: "Erik  Halvorsen", Relation: "born in", Object: "Bergen"},
	}
	values := []*graphv1.Triple{
		{Subject: "The Quiet Harbour", Relation: "depth", Object: "12.5 (metres)"},
		{Subject: "The Quiet Harbour", Relation: "elevation", Object: "-3.35"},
		{Subject: "The Quiet Harbour", Relation: "opened", Object: "1961-05-04"},
		{Subject: "The Quiet Harbour", Relation: "studied at", Object: "Orla State, B.S. 1955"},
		{Subject: "The Quiet Harbour", Relation: "in", Object: "Velmora (state)"},
		{Subject: "The Quiet Harbour", Relation: "near", Object: "Velmora (city)"},
		{Subject: "1984", Relation: "author", Object: "Erik Halvorsen"},
	}
	for _, c := range []struct {
		name      string
		answers   []string
		evidence  []*graphv1.Triple
		supported []int // triples that name each answer
		want      orchestratorv1.Grounding
		text      string
	}{
		{"triples that name an answer as subject or object ground it", []string{"erik halvorsen"}, evidence, []int{2},
			orchestratorv1.Grounding_GROUNDING_GROUNDED, "erik halvorsen"},
		{"case, spacing and punctuation do not matter", []string{"«Bergen.»"}, evidence, []int{1},
			orchestratorv1.Grounding_GROUNDING_GROUNDED, "«Bergen.»"},
		{"a part of a name is another name", []string{"Harbour"}, evidence, []int{0},
			orchestratorv1.Grounding_GROUNDING_UNGROUNDED, "Harbour"},
		{"a number has the unit of its object", []string{"12.5"}, values, []int{1},
			orchestratorv1.Grounding_GROUNDING_GROUNDED, "12.5 (metres)"},
		{"a number has the sign of its object", []string{"3.35"}, values, []int{1},
			orchestratorv1.Grounding_GROUNDING_GROUNDED, "-3.35"},
		{"a date in words is that of its object", []string{"4 May 1961"}, values, []int{1},
			orchestratorv1.Grounding_GROUNDING_GROUNDED, "4 May 1961"},
		{"a name without what qualifies it", []string{"Orla State"}, values, []int{1},
			orchestratorv1.Grounding_GROUNDING_GROUNDED, "Orla State, B.S. 1955"},
		{"a name of several that a word tells apart stays", []string{"Velmora"}, values, []int{2},
			orchestratorv1.Grounding_GROUNDING_GROUNDED, "Velmora"},
		{"a number that names something is its name", []string{"1984"}, values, []int{1},
			orchestratorv1.Grounding_GROUNDING_GROUNDED, "1984"},
		{"some named and some not are partly grounded", []string{"Bergen", "Oslo"}, evidence, []int{1, 0},
			orchestratorv1.Grounding_GROUNDING_PARTIAL, "Bergen, Oslo"},
		{"without evidence it is the model's own knowledge", []string{"Oslo"}, nil, []int{0},
			orchestratorv1.Grounding_GROUNDING_UNGROUNDED, "Oslo"},
		{"an answer of signs is named by nothing", []string{"?!"}, append(evidence, &graphv1.Triple{Subject: "—",
			Object: "…"}), []int{0}, orchestratorv1.Grounding_GROUNDING_UNGROUNDED, "?!"},
		{"no answer is an abstention", nil, evidence, nil, orchestratorv1.Grounding_GROUNDING_ABSTAINED, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := tripleEvidence(c.evidence).support(c.answers)
			var supported []int
			for _, a := range answers {
				supported = append(supported, len(a.GetEvidence()))
			}
			status, reason := groundingOf(answers, len(c.evidence) > 0)
			if !slices.Equal(supported, c.supported) || status != c.want || reason == "" ||
				JoinNames(answers) != c.text {
				t.Errorf("supported by %v, %v (%s), %q; want %v, %v, %q", supported, status, reason,
					JoinNames(answers),
					c.supported, c.want, c.text)
			}
		})
	}
	_, found := groundingOf(tripleEvidence(evidence).support([]string{"x"}), true)
	_, nothing := groundingOf(tripleEvidence(nil).support([]string{"x"}), false)
	if found == nothing {
		t.Error("the reason does not tell evidence that names nothing from no evidence")
	}
}

func TestTextGrounding(t *testing.T) {
	facts := []*graphv1.Triple{
		{Subject: "Velmora", Relation: "capital", Object: "St. Orla"},
		{Subject: "Velmora", Relation: "population", Object: "12,300"},
		{Subject: "The Quiet Harbour", Relation: "director", Object: "Erik Halvorsen"},
		{Subject: "…", Relation: "sign", Object: "!"},
	}
	for _, c := range []struct {
		name, text string
		evidence   []*graphv1.Triple
		want       orchestratorv1.Grounding
	}{
		{"every sentence says what a triple says", "Velmora has 12,300 people. Erik Halvorsen directed The Quiet " +
			"Harbour.", facts, orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"a pronoun stands for what was named before, or asked about", "It has 12,300 people", facts,
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"some sentences do", "Velmora has 12,300 people. Its flag is green.", facts,
			orchestratorv1.Grounding_GROUNDING_PARTIAL},
		{"to name one end alone says nothing", "Erik Halvorsen is a man.", facts,
			orchestratorv1.Grounding_GROUNDING_UNGROUNDED},
		{"a part of a word is not a name", "It has 12,3001 people.", facts,
			orchestratorv1.Grounding_GROUNDING_UNGROUNDED},
		{"without evidence it is the model's own", "Velmora has 12,300 people.", nil,
			orchestratorv1.Grounding_GROUNDING_UNGROUNDED},
		{"signs alone are no answer", " … ", facts, orchestratorv1.Grounding_GROUNDING_ABSTAINED},
		{"nothing is no answer", "", facts, orchestratorv1.Grounding_GROUNDING_ABSTAINED},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, reason := textGrounding("Tell me about Velmora.", c.text, c.evidence); got != c.want ||
				reason == "" {
				t.Errorf("got %v (%s), want %v", got, reason, c.want)
			}
		})
	}
}

func TestTheTextHasTheSignOfTheAnswer(t *testing.T) {
	t.Parallel()
	answers := []*orchestratorv1.Answer{{Answer: "-3.35"}, {Answer: "12.5 (metres)"}}
	got := signText("It is {3.35} metres, or {12.5}.", []string{"3.35", "12.5"}, answers)
	if want := "It is {-3.35} metres, or {12.5}."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
