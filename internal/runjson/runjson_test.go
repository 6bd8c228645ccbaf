package runjson_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/internal/runjson"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// old is a run with the field names before 0.1.0, and one of a later version.
const old = `{"question": "who wrote it", "kg": {"name": "books", "snapshot": "2"},
"started": "2026-01-02T03:04:05Z", "fromTheFuture": {"kg": 1},
"answers": [{"answer": "Ada", "evidence": [{"subject": "It", "relation": "author", "object": "Ada", "kg": "books",
  "validity": {"start": "1843"}}]}],
"rog": {"reasoningPaths": [{"entities": ["It", "Ada"], "steps": [{"relation": "author"}], "score": 0.5,
  "kg": "books"}]},
"spans": [{"spanId": "1", "name": "ask", "start": "2026-01-02T03:04:06Z",
  "attributes": {"kg": "books", "start": "now"}}]}`

func TestOldNamesOfFieldsAreRead(t *testing.T) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := &orchestratorv1.Run{
		Question: "who wrote it", Kg: &graphv1.KnowledgeGraphRef{Name: "books", Snapshot: 2},
		StartTime: timestamppb.New(started),
		Answers: []*orchestratorv1.Answer{{Answer: "Ada",
			Evidence: []*graphv1.Triple{{Subject: "It", Relation: "author", Object: "Ada", KgName: "books",
				Validity: &graphv1.ValidityInterval{Start: "1843"}}},
		}},
		Spans: []*orchestratorv1.Span{{SpanId: "1", Name: "ask", StartTime: timestamppb.New(started.Add(time.Second)),
			Attributes: map[string]string{"kg": "books", "start": "now"}}},
		Graphs: &orchestratorv1.Run_Rog{Rog: &orchestratorv1.RogGraphs{ReasoningPaths: []*graphv1.ReasoningPath{
			{Entities: []string{"It", "Ada"}, Steps: []*graphv1.RelationStep{{Relation: "author"}},
				Score: new(float32(0.5)), KgName: "books"}}}},
	}
	got, err := runjson.Unmarshal([]byte(old))
	if err != nil || !proto.Equal(got, want) {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
	text, err := protojson.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = runjson.Unmarshal(text); err != nil || !proto.Equal(got, want) {
		t.Errorf("with the present names: %v, %v\nwant %v", got, err, want)
	}
}

func TestWhatIsNoRunIsRefused(t *testing.T) {
	for _, text := range []string{"", "7", "[]", `{"question": 7}`, `{"question"`, `{"started": "yesterday"}`} {
		if run, err := runjson.Unmarshal([]byte(text)); err == nil {
			t.Errorf("%q is the run %v", text, run)
		}
	}
}
