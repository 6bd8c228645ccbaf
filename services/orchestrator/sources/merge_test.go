package sources_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func scoredTriple(object string, score float32) *graphv1.ScoredTriple {
	return &graphv1.ScoredTriple{Triple: stagetest.Triple("s", "r", object), Score: score}
}

func subject(name string, confidence float32) *graphv1.SubjectEvidence {
	return &graphv1.SubjectEvidence{Subject: name, Confidence: confidence,
		Triples: []*graphv1.ScoredTriple{{Triple: stagetest.Triple(name, "r", "o")}}}
}

func dropped(reason graphv1.DropReason) *graphv1.DroppedSubject {
	return &graphv1.DroppedSubject{Subject: "d", Reason: reason}
}

func TestGroundGraphsAreOrderedAndCutAsOne(t *testing.T) {
	const selection, confidence = graphv1.DropReason_DROP_REASON_CANDIDATE_SELECTION,
		graphv1.DropReason_DROP_REASON_CONFIDENCE
	ground := func(of []*graphv1.SubjectEvidence, drops ...*graphv1.DroppedSubject) *retrieverv1.GroundGraphResponse {
		return &retrieverv1.GroundGraphResponse{GroundGraph: &graphv1.GroundGraph{Subjects: of}, Dropped: drops}
	}
	for _, c := range []struct {
		name      string
		old, next *retrieverv1.GroundGraphResponse
		kept      string
		dropped   int
	}{
		{"by confidence, where none had to choose all stay",
			ground([]*graphv1.SubjectEvidence{subject("A", .9), subject("B", .5)}),
			ground([]*graphv1.SubjectEvidence{subject("C", .7)}),
			"old A, next C, old B", 0},
		{"as many as one that had to choose",
			ground([]*graphv1.SubjectEvidence{subject("A", .9), subject("B", .5)}, dropped(selection)),
			ground([]*graphv1.SubjectEvidence{subject("C", .7)}),
			"old A, next C", 2},
		{"what it dropped for want of confidence had been chosen",
			ground([]*graphv1.SubjectEvidence{subject("A", .9)}, dropped(selection), dropped(confidence)),
			ground([]*graphv1.SubjectEvidence{subject("C", .7), subject("D", .6)}),
			"old A, next C", 3},
		{"a subject that both hold stays two and counts as one",
			ground([]*graphv1.SubjectEvidence{subject("A", .9)}, dropped(selection)),
			ground([]*graphv1.SubjectEvidence{subject("C", .8), subject("a", .7)}, dropped(selection)),
			"old A, next C, next a", 2},
		{"one with nothing to say", ground(nil), ground([]*graphv1.SubjectEvidence{subject("C", .8)}), "next C", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t)
			c.old.Hits, c.next.Hits = []*graphv1.ScoredTriple{scoredTriple("x", .9), scoredTriple("y", .2)},
				[]*graphv1.ScoredTriple{scoredTriple("z", .5)}
			script[*retrieverv1.GroundGraphRequest](r, map[string]*retrieverv1.GroundGraphResponse{"old": c.old,
				"next": c.next}, nil)
			got, err := r.GroundGraph(r.reading(t, both...), &retrieverv1.GroundGraphRequest{Kg: old, Question: "?"})
			if err != nil {
				t.Fatal(err)
			}
			var kept []string
			for _, s := range got.GetGroundGraph().GetSubjects() {
				kept = append(kept, s.GetKgName()+" "+s.GetSubject())
				if label := s.GetTriples()[0].GetTriple().GetKgName(); label != s.GetKgName() {
					t.Errorf("a triple of %s is labelled %q", s.GetKgName(), label)
				}
			}
			if strings.Join(kept, ", ") != c.kept || len(got.GetDropped()) != c.dropped {
				t.Errorf("kept %q, dropped %v", kept, got.GetDropped())
			}
			for _, d := range got.GetDropped() {
				if d.GetKgName() == "" || d.GetReason() == 0 {
					t.Errorf("dropped %v", d)
				}
			}
			if hits := objects(got.GetHits()); hits != "old x, next z, old y" {
				t.Errorf("hits %s", hits)
			}
		})
	}
}

func objects(triples []*graphv1.ScoredTriple) string {
	var all []string
	for _, t := range triples {
		all = append(all, t.GetTriple().GetKgName()+" "+t.GetTriple().GetObject())
	}
	return strings.Join(all, ", ")
}

func TestHitsOfEachQueryAreMergedByScoreAndCut(t *testing.T) {
	r := newReader(t)
	script[*retrieverv1.SearchTriplesRequest](r, map[string]*retrieverv1.SearchTriplesResponse{
		"old": {Results: []*retrieverv1.TripleHits{{Triples: []*graphv1.ScoredTriple{scoredTriple("a", .9),
			scoredTriple("b", .3)}}, {Triples: []*graphv1.ScoredTriple{scoredTriple("c", .4)}}}},
		"next": {Results: []*retrieverv1.TripleHits{{Triples: []*graphv1.ScoredTriple{scoredTriple("d", .8),
			scoredTriple("e", .2)}}, {}}},
	}, nil)
	got, err := r.SearchTriples(r.reading(t, both...), &retrieverv1.SearchTriplesRequest{Kg: old,
		Queries: []string{"1", "2"}, Limit: 3})
	if err != nil || len(got.GetResults()) != 2 {
		t.Fatalf("got %v, %v", got, err)
	}
	if first, second := objects(got.GetResults()[0].GetTriples()),
		objects(got.GetResults()[1].GetTriples()); first != "old a, next d, old b" || second != "old c" {
		t.Errorf("got %s; %s", first, second)
	}
}

func TestARelationThatBothHaveIsOne(t *testing.T) {
	r := newReader(t)
	hit := func(name string, score float32) *retrieverv1.ScoredRelation {
		return &retrieverv1.ScoredRelation{Relation: name, Score: score, Triples: 2}
	}
	script[*retrieverv1.SearchRelationsRequest](r, map[string]*retrieverv1.SearchRelationsResponse{
		"old": {Results: []*retrieverv1.RelationHits{{Relations: []*retrieverv1.ScoredRelation{hit("spouse", .9),
			hit("child", .4)}}}},
		"next": {Results: []*retrieverv1.RelationHits{{Relations: []*retrieverv1.ScoredRelation{hit("parent", .8),
			hit("child", .6)}}}},
	}, nil)
	got, err := r.SearchRelations(r.reading(t, both...), &retrieverv1.SearchRelationsRequest{Kg: old,
		Queries: []string{"1"}})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, s := range got.GetResults()[0].GetRelations() {
		text += fmt.Sprintf("%s %.1f %d; ", s.GetRelation(), s.GetScore(), s.GetTriples())
	}
	if text != "spouse 0.9 2; parent 0.8 2; child 0.6 4; " {
		t.Errorf("got %s", text)
	}
}

func TestAnEntityThatBothHoldIsOneTopicEntity(t *testing.T) {
	r := newReader(t)
	link := func(entity string, score float32) *graphv1.EntityLink {
		return &graphv1.EntityLink{Entity: entity, Score: score}
	}
	script[*retrieverv1.LinkEntitiesRequest](r, map[string]*retrieverv1.LinkEntitiesResponse{
		"old":  {Links: []*graphv1.EntityLink{link("Oslo", .6), link("Norway", .5)}},
		"next": {Links: []*graphv1.EntityLink{link("Bergen", .8), link("Norway", .7), link("Voss", .1)}},
	}, nil)
	got, err := r.LinkEntities(r.reading(t, both...), &retrieverv1.LinkEntitiesRequest{Kg: old, Text: "?", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, l := range got.GetLinks() {
		text += l.GetKgName() + " " + l.GetEntity() + "; "
	}
	if text != "next Bergen; old Norway; next Norway; old Oslo; " {
		t.Errorf("got %s", text)
	}
}

func TestAnEntityIsThatOfTheFirstKnowledgeGraphThatHoldsIt(t *testing.T) {
	r := newReader(t)
	script[*retrieverv1.BatchGetEntitiesRequest](r, map[string]*retrieverv1.BatchGetEntitiesResponse{
		"old": {Entities: map[string]*graphv1.Entity{"Q585": {Id: "Q585", Name: "Oslo"}}},
		"next": {Entities: map[string]*graphv1.Entity{"Q585": {Id: "Q585", Name: "x"},
			"Voss": {Id: "v", Name: "Voss"}}},
	}, nil)
	got, err := r.BatchGetEntities(r.reading(t, both...), &retrieverv1.BatchGetEntitiesRequest{Kg: old,
		Entities: []string{"Q585", "Voss", "Rome", "Rome"}})
	if err != nil {
		t.Fatal(err)
	}
	oslo, voss := got.GetEntities()["Q585"], got.GetEntities()["Voss"]
	if oslo.GetName() != "Oslo" || oslo.GetKgName() != "old" || voss.GetKgName() != "next" ||
		len(got.GetEntities()) != 2 || strings.Join(got.GetUnknownEntities(), " ") != "Rome" {
		t.Errorf("got %v", got)
	}
}

func TestRelationPathsAreLabelledMergedByScoreAndCut(t *testing.T) {
	r := newReader(t)
	path := func(relation string, score float32) *graphv1.RelationPath {
		return &graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: relation}}, Score: proto.Float32(score)}
	}
	script[*retrieverv1.SuggestPathsRequest](r, map[string]*retrieverv1.SuggestPathsResponse{
		"old":  {Paths: []*graphv1.RelationPath{path("a", .9), path("b", .5)}, UnknownEntities: []string{"x", "y"}},
		"next": {Paths: []*graphv1.RelationPath{path("c", .7), path("d", .1)}, UnknownEntities: []string{"y", "z"}},
	}, nil)
	got, err := r.SuggestPaths(r.reading(t, both...), &retrieverv1.SuggestPathsRequest{
		Kg: old, Question: "?", TopicEntities: []string{"x", "y", "z"}, Limit: 3,
		Proposed: []*graphv1.RelationPath{path("p", 0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, p := range got.GetPaths() {
		text += p.GetKgName() + " " + p.GetSteps()[0].GetRelation() + "; "
	}
	if unknown := strings.Join(got.GetUnknownEntities(), " "); text != "old a; next c; old b; " || unknown != "y" {
		t.Errorf("got %s, unknown %q", text, unknown)
	}
}

func TestWalksComeInTheOrderOfTheRelationPaths(t *testing.T) {
	r := newReader(t)
	step := func(relation string, inverse bool) []*graphv1.RelationStep {
		return []*graphv1.RelationStep{{Relation: relation, Inverse: inverse}}
	}
	walk := func(from string, steps []*graphv1.RelationStep, to string) *graphv1.ReasoningPath {
		return &graphv1.ReasoningPath{Entities: []string{from, to}, Steps: steps}
	}
	script[*retrieverv1.FollowPathsRequest](r, map[string]*retrieverv1.FollowPathsResponse{
		"old": {Paths: []*graphv1.ReasoningPath{walk("e", step("a", false), "1"), walk("e", step("c", false), "2"),
			walk("f", step("b", true), "3")}},
		"next": {Paths: []*graphv1.ReasoningPath{walk("f", step("b", false), "4"), walk("e", step("c", false), "5"),
			walk("e", step("?", false), "6")}, Truncated: true},
	}, nil)
	got, err := r.FollowPaths(r.reading(t, both...), &retrieverv1.FollowPathsRequest{
		Kg: old, TopicEntities: []string{"e", "f"}, Paths: []*graphv1.RelationPath{
			{Steps: step("a", false), KgName: "old"}, {Steps: step("b", false), KgName: "next",
				TopicEntities: []string{"f"}},
			{Steps: step("c", false)}, {Steps: step("b", true)},
		},
	})
	if err != nil || !got.GetTruncated() {
		t.Fatalf("got %v, %v", got, err)
	}
	text := ""
	for _, p := range got.GetPaths() {
		text += p.GetKgName() + " " + p.GetEntities()[1] + "; "
	}
	if text != "old 1; next 4; old 2; next 5; old 3; next 6; " {
		t.Errorf("got %s", text)
	}
}

func TestNeighboursOfBothAreJoinedOutgoingFirst(t *testing.T) {
	r := newReader(t)
	count := func(relation string, inverse bool, n uint64) *retrieverv1.RelationCount {
		return &retrieverv1.RelationCount{Relation: relation, Inverse: inverse, Triples: n}
	}
	script[*retrieverv1.ListNeighboursRequest](r, map[string]*retrieverv1.ListNeighboursResponse{
		"old": {Triples: []*graphv1.Triple{stagetest.Triple("e", "r", "1"), stagetest.Triple("e", "r", "2"),
			stagetest.Triple("3", "r", "e")}, Total: 3,
			Relations: []*retrieverv1.RelationCount{count("r", false, 2), count("r", true, 1)}},
		"next": {Triples: []*graphv1.Triple{stagetest.Triple("e", "q", "4"), stagetest.Triple("5", "r", "e")}, Total: 9,
			Relations: []*retrieverv1.RelationCount{count("r", true, 8), count("q", false, 1)}},
	}, nil)
	got, err := r.ListNeighbours(r.reading(t, both...), &retrieverv1.ListNeighboursRequest{Kg: old,
		Entity: "e", Limit: 4})
	if err != nil || got.GetTotal() != 12 {
		t.Fatalf("got %v, %v", got, err)
	}
	text := ""
	for _, n := range got.GetTriples() {
		text += n.GetKgName() + " " + n.GetSubject() + n.GetObject() + "; "
	}
	for _, c := range got.GetRelations() {
		text += fmt.Sprintf("%s %t %d; ", c.GetRelation(), c.GetInverse(), c.GetTriples())
	}
	if text != "old e1; next e4; old e2; old 3e; r true 9; r false 2; q false 1; " {
		t.Errorf("got %s", text)
	}
}
