package show

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func pathTo(relation, from string, score float32) *graphv1.RelationPath {
	return &graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: relation}}, TopicEntities: []string{from},
		Score: proto.Float32(score), Ends: proto.Uint32(2)}
}

func river(end string, score float32) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: []string{"Velmora", end},
		Steps: []*graphv1.RelationStep{{Relation: "river"}}, Score: proto.Float32(score)}
}

func velmora() []*graphv1.EntityLink {
	return []*graphv1.EntityLink{{Entity: "Velmora", Mention: "velmora", Match: graphv1.LinkMatch_LINK_MATCH_NORMALISED,
		Score: .9}}
}

func ragRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{Method: "rag", Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 1},
		Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{Hits: []*graphv1.ScoredTriple{
			hit(.91, spo("Velmora", "river", "Tessen")), hit(.52, spo("Velmora", "twinned city", "Harn")),
		}}}}
}

func scRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{Method: "sc",
		Graphs: &orchestratorv1.Run_Sc{Sc: &orchestratorv1.ScGraphs{Samples: []*orchestratorv1.Sample{
			{Text: "Velmora lies in the north.\nThere flow Tessen and Orla.", Answers: []string{"Tessen", "Orla"}},
			{Text: "I do not know."},
		}}}}
}

func togRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{Method: "tog", Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 1},
		Graphs: &orchestratorv1.Run_Tog{Tog: &orchestratorv1.TogGraphs{
			TopicEntities: velmora(),
			Depths: []*orchestratorv1.TogDepth{
				{Relations: []*graphv1.RelationPath{pathTo("river", "Velmora", .7),
					pathTo("twinned city", "Velmora", .2)},
					Entities:       5,
					ReasoningPaths: []*graphv1.ReasoningPath{river("Tessen", .6)}, Probability: proto.Float32(.25)},
				{Relations: []*graphv1.RelationPath{pathTo("mouth", "Tessen", .5)}, Entities: 1, Sufficient: true},
			},
			ReasoningPaths: []*graphv1.ReasoningPath{river("Tessen", .6), river("Orla", .3)},
		}}}
}

func rogRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{Method: "rog", Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 1},
		Graphs: &orchestratorv1.Run_Rog{Rog: &orchestratorv1.RogGraphs{
			TopicEntities: velmora(), PlannedPaths: []*graphv1.RelationPath{pathTo("flows through", "", 0)},
			RelationPaths:  []*graphv1.RelationPath{pathTo("river", "Velmora", .4)},
			ReasoningPaths: []*graphv1.ReasoningPath{river("Tessen", 0), river("Orla", 0)},
		}}}
}

func autoRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{Method: "auto", Ablation: orchestratorv1.Ablation_ABLATION_NO_REFLECTION,
		Kg:     &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 1},
		Choice: &orchestratorv1.Choice{Method: "pg-akv", Reason: "the question asks for facts"},
		Graphs: pgakvRun().GetGraphs()}
}

// undraftedRun is a run of auto whose question was likely to be answered without a draft.
func undraftedRun() *orchestratorv1.Run {
	run := autoRun()
	run.Choice.Reason += "; no draft, since a relation path is likely to answer it"
	g := run.GetPgAkv()
	g.PseudoGraph, g.Cypher, g.Diagnostics = nil, "", nil
	g.Edits = slices.DeleteFunc(g.GetEdits(), func(e *graphv1.Edit) bool {
		return e.GetKind() != graphv1.EditKind_EDIT_KIND_ADD
	})
	return run
}

// A method that ended before it found anything has graphs with nothing in them.
func TestEveryMethodExplainsThatThereIsNothing(t *testing.T) {
	for _, run := range []*orchestratorv1.Run{
		{Graphs: &orchestratorv1.Run_Rag{}}, {Graphs: &orchestratorv1.Run_Sc{}}, {Graphs: &orchestratorv1.Run_Tog{}},
		{Graphs: &orchestratorv1.Run_Rog{}}, {Choice: &orchestratorv1.Choice{}},
	} {
		var b bytes.Buffer
		if err := Explain(&b, run, Style{}); err != nil || !bytes.Contains(b.Bytes(), []byte("(none")) &&
			!bytes.Contains(b.Bytes(), []byte("0 walks")) {
			t.Errorf("%T: %v\n%s", run.GetGraphs(), err, b.Bytes())
		}
	}
}

func TestLongListsAreCut(t *testing.T) {
	run := ragRun()
	for i := range 100 {
		run.GetRag().Hits = append(run.GetRag().Hits, hit(.1, spo("Velmora", "number", fmt.Sprint(i))))
	}
	var b bytes.Buffer
	if err := Explain(&b, run, Style{}); err != nil || !bytes.Contains(b.Bytes(), []byte("and 90 more")) {
		t.Errorf("%v\n%s", err, b.Bytes())
	}
}
