package show

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestEntity(t *testing.T) {
	for _, tt := range []struct{ name, entity, id, want string }{
		{"an id beside the name", "Douglas Adams", "Q42", "Douglas Adams  (Q42)"},
		{"an id that is the name", "Douglas Adams", "Douglas Adams", "Douglas Adams"},
		{"no id", "Douglas Adams", "", "Douglas Adams"},
		{"a name that shows its id", "Springfield (Q28515)", "Q28515", "Springfield (Q28515)"},
		{"a name in parentheses that is not its id", "Springfield (Ohio)", "Q28515", "Springfield (Ohio)  (Q28515)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := entity(tt.entity, tt.id); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIDsAndProvenanceAreShown(t *testing.T) {
	fact := &graphv1.Triple{Subject: "Douglas Adams", SubjectId: "Q42", Relation: "genre", Object: "satire",
		ObjectId: "Q128758", Provenance: "facts.csv:12"}
	draft := spo("Douglas Adams", "wrote", "satire")
	const shown = "Douglas Adams | genre | satire  from facts.csv:12\n"
	pgakv := &orchestratorv1.Run{
		Answers:   []*orchestratorv1.Answer{{Answer: "satire", Id: "Q128758", Evidence: []*graphv1.Triple{fact}}},
		Conflicts: []*orchestratorv1.Conflict{{Triples: []*graphv1.Triple{fact}}},
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
			GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Subject: "Douglas Adams",
				SubjectId: "Q42", Triples: []*graphv1.ScoredTriple{hit(0.9, fact)}}}},
			Dropped: []*graphv1.DroppedSubject{{Subject: "John Adams", SubjectId: "Q11806"}},
			Edits: []*graphv1.Edit{{Kind: graphv1.EditKind_EDIT_KIND_DELETE, Before: draft,
				Evidence: []*graphv1.ScoredTriple{hit(0.9, fact)}}},
		}},
	}
	ger := &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
		TopicEntities: []*graphv1.EntityLink{{Entity: "Douglas Adams", EntityId: "Q42", Score: 1}},
		Candidates:    []*graphv1.CandidateAnswer{{Answer: "satire", AnswerId: "Q128758"}},
	}}}
	rag := &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{
		Hits: []*graphv1.ScoredTriple{hit(0.9, fact)}}}}
	for _, tt := range []struct {
		name  string
		print printer
		run   *orchestratorv1.Run
		want  []string
	}{
		{"answers, their evidence and conflicts", Answer, pgakv, []string{"satire  (Q128758)\n  " + shown,
			"conflict:  | \n  " + shown}},
		{"subjects and evidence of pg-akv", Explain, pgakv, []string{"Douglas Adams  (Q42)\n        0.90  " + shown,
			"John Adams  (Q11806): ", "evidence 0.90  " + shown}},
		{"changes", Changes, pgakv, []string{"by 0.90  " + shown}},
		{"topic entities and candidates of ger", Explain, ger, []string{"Douglas Adams  (Q42) (given)",
			"satire  (Q128758)\n"}},
		{"hits of rag", Explain, rag, []string{"0.90  " + shown}},
		{"a comparison", printCompared, pgakv, []string{"satire  (Q128758)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := tt.print(&b, tt.run, Style{Width: 100}); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("lacks %q:\n%s", want, b.String())
				}
			}
		})
	}
	t.Run("nothing without provenance", func(t *testing.T) {
		without := proto.Clone(fact).(*graphv1.Triple)
		without.Provenance = ""
		if got := evidenceTriple(without); got != triple(fact) {
			t.Errorf("got %q", got)
		}
	})
}
