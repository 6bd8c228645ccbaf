package grounding_test

import (
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/grounding"
)

func TestAnswersAndStatus(t *testing.T) {
	evidence := []*graphv1.Triple{
		{Subject: "The Quiet Harbour", Relation: "director", Object: "Erik Halvorsen"},
		{Subject: "Erik  Halvorsen", Relation: "born in", Object: "Bergen"},
	}
	for _, c := range []struct {
		name     string
		answers  []string
		evidence []*graphv1.Triple
		backed   []int // triples that name each answer
		want     orchestratorv1.Grounding
		text     string
	}{
		{"triples that name an answer as subject or object ground it", []string{"erik halvorsen"}, evidence, []int{2}, orchestratorv1.Grounding_GROUNDING_GROUNDED, "{erik halvorsen}"},
		{"case, spacing and punctuation do not matter", []string{"«Bergen.»"}, evidence, []int{1}, orchestratorv1.Grounding_GROUNDING_GROUNDED, "{«Bergen.»}"},
		{"a part of a name is another name", []string{"Harbour"}, evidence, []int{0}, orchestratorv1.Grounding_GROUNDING_UNGROUNDED, "{Harbour}"},
		{"some named and some not are partly grounded", []string{"Bergen", "Oslo"}, evidence, []int{1, 0}, orchestratorv1.Grounding_GROUNDING_PARTIAL, "{Bergen}, {Oslo}"},
		{"without evidence it is the model's own knowledge", []string{"Oslo"}, nil, []int{0}, orchestratorv1.Grounding_GROUNDING_UNGROUNDED, "{Oslo}"},
		{"an answer of signs is named by nothing", []string{"?!"}, append(evidence, &graphv1.Triple{Subject: "—", Object: "…"}), []int{0}, orchestratorv1.Grounding_GROUNDING_UNGROUNDED, "{?!}"},
		{"no answer is an abstention", nil, evidence, nil, orchestratorv1.Grounding_GROUNDING_ABSTAINED, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := grounding.Answers(c.answers, c.evidence)
			var backed []int
			for _, a := range answers {
				backed = append(backed, len(a.GetEvidence()))
			}
			status, reason := grounding.Status(answers, len(c.evidence) > 0)
			if !slices.Equal(backed, c.backed) || status != c.want || reason == "" || grounding.Text(answers) != c.text {
				t.Errorf("backed by %v, %v (%s), %q; want %v, %v, %q", backed, status, reason, grounding.Text(answers), c.backed, c.want, c.text)
			}
		})
	}
	_, found := grounding.Status(grounding.Answers([]string{"x"}, evidence), true)
	_, nothing := grounding.Status(grounding.Answers([]string{"x"}, nil), false)
	if found == nothing {
		t.Error("the reason does not tell evidence that names nothing from no evidence")
	}
}
