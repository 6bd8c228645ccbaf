package runs

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestRecordParsesAsARun(t *testing.T) {
	run := &orchestratorv1.Run{Id: "01", Question: "why?", Subject: "ci"}
	data, err := EncodeRecord(run)
	if err != nil {
		t.Fatal(err)
	}
	plain := &orchestratorv1.Run{}
	if err := proto.Unmarshal(data, plain); err != nil || plain.RecordChecksum == nil {
		t.Errorf("it is %v, %v", plain, err)
	}
	if got, err := decodeRecord(data, "01", decodeFull); err != nil || !proto.Equal(got, run) ||
		len(got.ProtoReflect().GetUnknown()) > 0 {
		t.Errorf("it is read back as %v, %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	whole, err := EncodeRecord(&orchestratorv1.Run{Id: "01", Question: "why?"})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{whole, whole[:4], whole[6:], nil, append(whole, whole...)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := decodeRecord(data, "01", decodeFull)
		if (err == nil) != (run.GetId() == "01") || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v, %v", run, err)
		}
	})
}

func TestOutlineIsTheRunWithoutItsDetails(t *testing.T) {
	for name, graphs := range map[string]*orchestratorv1.Run{
		"pg-akv": {Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{Cypher: "CREATE"}}},
		"ger":    {Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{}}},
		"none":   {},
	} {
		want := &orchestratorv1.Run{
			Id: "01", Question: "why", Text: "because", Subject: "ci", Partial: true,
			Answers:  []*orchestratorv1.Answer{{Answer: "a"}, {Answer: "b"}},
			OtherKgs: []*graphv1.KnowledgeGraphRef{{Name: "rivers"}}, StandaloneQuestion: "why so",
		}
		run := proto.CloneOf(want)
		run.Graphs = graphs.Graphs
		run.Stages, run.Spans = []*orchestratorv1.StageReport{{}, {}}, []*orchestratorv1.Span{{Name: "s"}}
		data, err := proto.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeOutline(data); err != nil || !proto.Equal(got, want) ||
			len(got.ProtoReflect().GetUnknown()) > 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if _, err := decodeOutline(data[:len(data)-1]); err == nil {
			t.Errorf("%s: one that was cut is read", name)
		}
	}
}
