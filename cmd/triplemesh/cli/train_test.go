package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/lab/train"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

func TestTrainRankerRefusesWhatItCannotUse(t *testing.T) {
	addr, dir := serveRivers(t), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := write("one.jsonl", `{"id": "1", "question": "who", "answers": ["Ada"], "topic_entities": ["Velmora"]}`)
	none := write("none.jsonl", `{"id": "1", "question": "who", "answers": []}`)
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no questions", nil, ExitUsage, "--questions"},
		{"no answers", []string{"--questions", none}, ExitFailed, "none of its 1 questions has an answer"},
		{"too many graphs", []string{"--questions", one, "--kg", "venus"}, ExitUsage, "give one for all"},
		{"a share of everything", []string{"--questions", one, "--hold", "1"}, ExitUsage, "--hold"},
		{"no retriever", []string{"--questions", one, "--retriever", testkit.FreeAddr(t)}, exitUnreachable,
			"no retriever"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"train", "ranker", "--kg", "mars", "--retriever", addr, "--part", "all"}, c.args...)
			triplemesh(t, nil, "", args...).Expect(t, c.code, c.says)
		})
	}
}

func TestRankersAreListedAndSwitched(t *testing.T) {
	s := serve(t, &services{rankers: []*retrieverv1.RankerInfo{
		{Number: 2, Active: true, Trained: 120, Held: 30, First: .9, FirstBefore: .5,
			QuestionSets: []string{"a.jsonl"}},
		{Number: 1, Defect: "checksum mismatch"},
	}})
	file := filepath.Join(t.TempDir(), "weights.ranker")
	weights := strings.Repeat("weights", 100000)
	if err := os.WriteFile(file, []byte(weights), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) testkit.Output {
		all := append([]string{"train", args[0], "--kg", "mars", "--retriever", s.addr}, args[1:]...)
		return triplemesh(t, nil, "", all...)
	}
	command("list").Expect(t, ExitOK, "90.0 %", "50.0 %", "a.jsonl", "active", "unusable: checksum mismatch")
	command("list", "--json").Expect(t, ExitOK, `"defect"`)
	command("activate", "7").Expect(t, ExitOK, "active: ranker 7 of mars")
	command("activate").Expect(t, ExitUsage, "by its number, or by --file")
	command("activate", "--file", file).Expect(t, ExitOK, "active: ranker 3 of mars")
	if string(s.ranker) != weights {
		t.Errorf("%d bytes arrived, want %d", len(s.ranker), len(weights))
	}
	command("rollback").Expect(t, ExitOK, "active: ranker 2 of mars")
	command("drop", "1").Expect(t, ExitOK, "dropped ranker 1 of mars")
	s.rankers = nil
	command("rollback").Expect(t, ExitOK, "no ranker of mars is active")
	command("list").Expect(t, ExitOK, "no ranker yet", "triplemesh train ranker --kg mars")
}

func TestFeedbackThatCannotBeTrustedTrainsNothing(t *testing.T) {
	s := serve(t, &services{})
	triplemesh(t, nil, "", "train", "--from-feedback", "--kg", "mars", "--server", s.addr).Expect(t, ExitFailed,
		"feedback refused", "0 questions have an answer that is known to be right, and 30 are needed")
	if got := s.listed.GetKgName(); got != "mars" {
		t.Errorf("asked for the feedback on %q", got)
	}
}

// mothers is a retriever over people whose mothers are asked for. Its ranking puts first what it
// names.
type mothers struct {
	retrieverv1.UnimplementedRetrieverServiceServer
	first string
}

func (m mothers) LinkEntities(_ context.Context,
	req *retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse, error) {
	words := strings.Fields(req.GetText())
	return &retrieverv1.LinkEntitiesResponse{Links: []*graphv1.EntityLink{{Entity: words[len(words)-1]}}}, nil
}

func (m mothers) SuggestPaths(_ context.Context,
	req *retrieverv1.SuggestPathsRequest) (*retrieverv1.SuggestPathsResponse, error) {
	relations := []string{"boss", "mother"}
	if m.first == "mother" {
		slices.Reverse(relations)
	}
	resp := &retrieverv1.SuggestPathsResponse{Kg: &graphv1.KnowledgeGraphRef{Name: "mars", Snapshot: 2}}
	f := &retrieverv1.PathFeatures{ValueNames: rank.ValueNames[:], Encoder: "letters", QuestionVector: []float32{1, 0}}
	for i, r := range relations {
		resp.Paths = append(resp.Paths, &graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: r}},
			TopicEntities: req.GetTopicEntities()})
		vector := []float32{0, 1}
		if r == "mother" {
			vector = []float32{1, 0}
		}
		f.Relations = append(f.Relations, &retrieverv1.RelationVector{Relation: r, Vector: vector})
		f.Candidates = append(f.Candidates, &retrieverv1.CandidatePath{Values: make([]float32, rank.ValueCount),
			Steps: []uint32{uint32(i)}})
	}
	if req.GetIncludeFeatures() {
		resp.Features = f
	}
	return resp, nil
}

func (m mothers) FollowPaths(_ context.Context,
	req *retrieverv1.FollowPathsRequest) (*retrieverv1.FollowPathsResponse, error) {
	resp := &retrieverv1.FollowPathsResponse{}
	for _, p := range req.GetPaths() {
		topic := p.GetTopicEntities()[0]
		resp.Paths = append(resp.Paths, &graphv1.ReasoningPath{Steps: p.GetSteps(),
			Entities: []string{topic, p.GetSteps()[0].GetRelation() + " of " + topic}})
	}
	return resp, nil
}

func TestARankerIsActivatedUnlessItIsWorse(t *testing.T) {
	dir := t.TempDir()
	write := func(name, heldAnswer string) string {
		var text strings.Builder
		for i := range 200 {
			id, answer := fmt.Sprint("q", i), "mother"
			if train.IsHeld(id, .2) {
				answer = heldAnswer
			}
			fmt.Fprintf(&text, `{"id": %q, "question": "who is the parent of p%d", "topic_entities": ["p%d"], `+
				`"answers": ["%s of p%d"]}`+"\n", id, i, i, answer, i)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	serveMothers := func(first string) (*services, []string) {
		s := serve(t, &services{retriever: mothers{first: first}})
		return s, []string{"train", "--kg", "mars", "--retriever", s.addr, "--activate", "--part", "all", "--questions"}
	}
	s, args := serveMothers("boss")
	out := filepath.Join(dir, "weights.ranker")
	triplemesh(t, nil, "", append(args, write("right.jsonl", "mother"), "--out", out)...).Expect(t, ExitOK,
		"active: ranker 3 of mars", "100.0 / 100.0 / 100.0", "mars@2")
	w, err := rank.Read(bytes.NewReader(s.ranker))
	if err != nil || w.Encoder != "letters" || w.Provenance.First != 1 {
		t.Errorf("stored another ranker: %v", err)
	}
	if file, err := os.ReadFile(out); err != nil || !bytes.Equal(file, s.ranker) {
		t.Errorf("wrote another ranker than was stored: %v", err)
	}
	s, args = serveMothers("boss")
	triplemesh(t, nil, "", append(args, write("wrong.jsonl", "boss"))...).Expect(t, ExitFailed, "the ranker is worse",
		"the present ranking stays")
	if s.ranker != nil {
		t.Error("a worse ranker was stored")
	}
}
