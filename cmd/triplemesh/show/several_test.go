package show

import (
	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// labelTriple sets the knowledge graph of a triple.
func labelTriple(kg string, t *graphv1.Triple) *graphv1.Triple {
	t.KgName = kg
	return t
}

// severalRun returns a question to two knowledge graphs that say different things.
func severalRun() *orchestratorv1.Run {
	one, other := labelTriple("wikidata", spo("Ada Brandt", "place of birth", "Oslo")),
		labelTriple("freebase", spo("Ada Brandt", "people.person.place_of_birth", "Bergen"))
	born := []*graphv1.RelationStep{{Relation: "place of birth"}}
	return &orchestratorv1.Run{
		Id: "01JNA0000000000000000000AD", Question: "Where was Ada Brandt born?", Method: "ger",
		Kg:       &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 1},
		OtherKgs: []*graphv1.KnowledgeGraphRef{{Name: "freebase", Snapshot: 2}},
		Answers: []*orchestratorv1.Answer{{Answer: "Oslo", Evidence: []*graphv1.Triple{one}},
			{Answer: "Bergen", Evidence: []*graphv1.Triple{other}}},
		Text:            "Oslo, Bergen",
		Grounding:       orchestratorv1.Grounding_GROUNDING_GROUNDED,
		GroundingReason: "triples of the knowledge graph name every answer",
		Confidence:      new(float32(0.83)),
		Conflicts: []*orchestratorv1.Conflict{{Subject: "Ada Brandt", Relation: "place of birth",
			Triples: []*graphv1.Triple{one, other}}},
		Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
			TopicEntities: []*graphv1.EntityLink{
				{Entity: "Ada Brandt", Mention: "Ada Brandt", Match: graphv1.LinkMatch_LINK_MATCH_EXACT, Score: 1,
					KgName: "wikidata"},
				{Entity: "Ada Brandt", Mention: "Ada Brandt", Match: graphv1.LinkMatch_LINK_MATCH_EXACT, Score: 1,
					KgName: "freebase"},
			},
			RelationPaths: []*graphv1.RelationPath{{Steps: born, Score: proto.Float32(0.7), Ends: proto.Uint32(1),
				KgName: "wikidata"}},
			ReasoningPaths: []*graphv1.ReasoningPath{{Entities: []string{"Ada Brandt", "Oslo"}, Steps: born,
				KgName: "wikidata"}},
		}},
	}
}

// withheldRun returns one that was not sure enough of its answer.
func withheldRun() *orchestratorv1.Run {
	fact := labelTriple("wikidata", spo("Ada Brandt", "place of birth", "Oslo"))
	return &orchestratorv1.Run{
		Question: "Where was Ada Brandt born?", Method: "pg-akv",
		Kg:              &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 1},
		OtherKgs:        []*graphv1.KnowledgeGraphRef{{Name: "freebase", Snapshot: 2}},
		Text:            "This is not in the knowledge graphs wikidata and freebase.",
		Grounding:       orchestratorv1.Grounding_GROUNDING_ABSTAINED,
		GroundingReason: "the confidence in what would have been answered is 0.31, below the 0.40 asked for",
		Confidence:      new(float32(0.31)),
		Withheld:        []*orchestratorv1.Answer{{Answer: "Oslo", Evidence: []*graphv1.Triple{fact}}},
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
			GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{
				{Subject: "Ada Brandt", Confidence: 0.6, Hits: 1, KgName: "wikidata",
					Triples: []*graphv1.ScoredTriple{hit(0.6, fact)}},
			}},
			Dropped: []*graphv1.DroppedSubject{{Subject: "Ada", Confidence: 0.4, Hits: 1, KgName: "freebase",
				Reason: graphv1.DropReason_DROP_REASON_CONFIDENCE}},
		}},
	}
}
