package calibrate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// graph is a mesh of one knowledge graph: facts of a question beside the one
// that answers it.
type graph struct {
	// shows tells how many triples the ground graph of a question has, and
	// whether one of them answers it.
	shows  func(question string, o *retrieverv1.GroundingOptions) (triples int, answered bool)
	listed []*retrieverv1.SnapshotInfo
	fails  error
}

func (g *graph) Ask(_ context.Context, req *orchestratorv1.AskRequest,
	_ ...grpc.CallOption) (*orchestratorv1.AskResponse, error) {
	if g.fails != nil {
		return nil, g.fails
	}
	if o := req.GetOptions(); o.GetUntil() != orchestratorv1.Stage_STAGE_PSEUDO_GRAPH || !o.GetNoRecord() ||
		req.GetKg().GetSnapshot() != 4 {
		return nil, status.Errorf(codes.InvalidArgument, "asked %v", req)
	}
	draft := &graphv1.PseudoGraph{Triples: []*graphv1.Triple{{Subject: req.GetQuestion(), Relation: "is",
		Object: "guess"}}}
	return &orchestratorv1.AskResponse{Run: &orchestratorv1.Run{
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{PseudoGraph: draft}},
	}}, nil
}

func (g *graph) GroundGraph(_ context.Context, req *retrieverv1.GroundGraphRequest,
	_ ...grpc.CallOption) (*retrieverv1.GroundGraphResponse, error) {
	if drafted := req.GetPseudoGraph().GetTriples(); len(drafted) != 1 || drafted[0].GetSubject() != req.GetQuestion() {
		return nil, status.Error(codes.InvalidArgument, "the draft is another question's")
	}
	triples, answered := g.shows(req.GetQuestion(), req.GetOptions())
	subject := &graphv1.SubjectEvidence{Subject: req.GetQuestion()}
	for i := range triples {
		object := fmt.Sprintf("other %d", i)
		if answered && i == 0 {
			object = "the answer"
		}
		subject.Triples = append(subject.Triples,
			&graphv1.ScoredTriple{Triple: &graphv1.Triple{Subject: req.GetQuestion(), Relation: "is", Object: object}})
	}
	return &retrieverv1.GroundGraphResponse{GroundGraph: &graphv1.GroundGraph{
		Subjects: []*graphv1.SubjectEvidence{subject}}}, nil
}

func (g *graph) ListKnowledgeGraphs(context.Context, *retrieverv1.ListKnowledgeGraphsRequest,
	...grpc.CallOption) (*retrieverv1.ListKnowledgeGraphsResponse, error) {
	return &retrieverv1.ListKnowledgeGraphsResponse{Snapshots: g.listed}, nil
}

func active() []*retrieverv1.SnapshotInfo {
	return []*retrieverv1.SnapshotInfo{
		{Kg: &graphv1.KnowledgeGraphRef{Name: "mine", Snapshot: 3}},
		{Kg: &graphv1.KnowledgeGraphRef{Name: "mine", Snapshot: 4}, Active: true, Encoder: "small@1"},
	}
}

func facts(o *retrieverv1.GroundingOptions) int {
	if o.MaxFacts != nil {
		return int(o.GetMaxFacts())
	}
	return 18
}

func calibrate(t *testing.T, g *graph, questions int, out string) (Result, error) {
	t.Helper()
	return calibratePart(t, g, questions, out, "all")
}

func calibratePart(t *testing.T, g *graph, questions int, out, part string) (Result, error) {
	t.Helper()
	var text strings.Builder
	for i := range questions {
		fmt.Fprintf(&text, `{"id": "q%d", "question": "question %d", "answers": ["The Answer"]}`+"\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "questions.jsonl")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	c := &Command{Questions: file, KG: "mine", Tuning: dataset.Tuning{Part: part}, Seed: 1, Price: 0.002, Out: out,
		Parallel: 4, JSON: true}
	if err := c.Run(t.Context(), Mesh{Asker: g, Grounder: g, Graphs: g},
		terminal.NewBoard(terminal.Detect(io.Discard, nil)),
		&stdout); err != nil {
		return Result{}, err
	}
	var result Result
	if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
		t.Fatal(err)
	}
	return result, nil
}

func TestTheSmallestGroundGraphsThatStillHoldTheAnswersAreChosen(t *testing.T) {
	t.Parallel()
	g := &graph{listed: active(), shows: func(_ string, o *retrieverv1.GroundingOptions) (int, bool) {
		return facts(o), facts(o) >= 9 && o.GetPreset() == retrieverv1.Preset_PRESET_DEFAULT
	}}
	result, err := calibrate(t, g, 60, "-")
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Chosen.Setting.String(); got != "default max_facts=9" {
		t.Errorf("chosen %s, want default max_facts=9", got)
	}
	if result.Chosen.Tuning.Rate() != 1 || result.Chosen.Validation.Rate() != 1 || result.Chosen.Tuning.Triples != 9 {
		t.Errorf("chosen %+v", result.Chosen)
	}
	if result.Curve[0].Setting.String() != "default" || result.Curve[1].Setting.String() != "paper" {
		t.Errorf("the curve begins with %s and %s, want the presets", result.Curve[0].Setting, result.Curve[1].Setting)
	}
}

func TestACalibrationAsksNoQuestionThatFiguresArePublishedOn(t *testing.T) {
	t.Parallel()
	var asked sync.Map
	g := &graph{listed: active(), shows: func(question string, _ *retrieverv1.GroundingOptions) (int, bool) {
		asked.Store(strings.Replace(question, "question ", "q", 1), true)
		return 3, true
	}}
	if _, err := calibratePart(t, g, 120, "-", ""); err != nil {
		t.Fatal(err)
	}
	n := 0
	asked.Range(func(id, _ any) bool {
		n++
		if part := dataset.PartOf(id.(string)); part != dataset.Tune {
			t.Errorf("%s of the part %s was asked", id, part)
		}
		return true
	})
	if n < 20 {
		t.Errorf("%d questions were asked", n)
	}
	if _, err := calibratePart(t, g, 120, "-", "report"); err == nil || !strings.Contains(err.Error(), "--part") {
		t.Errorf("the part report: error %v", err)
	}
}

func TestWhatIsFoundMustHoldOnTheQuestionsItWasNotFoundBy(t *testing.T) {
	t.Parallel()
	number := map[string]string{}
	for i := range 60 {
		number[fmt.Sprintf("question %d", i)] = fmt.Sprintf("q%d", i)
	}
	g := &graph{listed: active(), shows: func(question string, o *retrieverv1.GroundingOptions) (int, bool) {
		return facts(o), !isHeld(number[question]) || facts(o) >= 18
	}}
	result, err := calibrate(t, g, 60, "-")
	if err != nil {
		t.Fatal(err)
	}
	if result.Best.Setting.String() == "default" || result.Chosen.Setting.String() != "default" {
		t.Errorf("found %s, chosen %s; want the default chosen over it", result.Best.Setting, result.Chosen.Setting)
	}
	if !strings.Contains(result.Reason, "not chosen by") {
		t.Errorf("reason %q", result.Reason)
	}
}

func TestTheCalibrationStandsInTheConfigurationThatTheRetrieverReads(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "triplemesh.yaml")
	before := "# ours\nllm:\n  model: big # the good one\nretriever:\n  grounding:\n    other: {max_facts: 5}\n    " +
		"mine: {max_facts: 99}\n"
	if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	g := &graph{listed: active(), shows: func(_ string, o *retrieverv1.GroundingOptions) (int, bool) {
		return facts(o), facts(o) >= 12
	}}
	if _, err := calibrate(t, g, 60, file); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# ours", "# the good one", "small@1", "snapshot 4", "max_facts=12"} {
		if !strings.Contains(string(after), want) {
			t.Errorf("the file lacks %q:\n%s", want, after)
		}
	}
	var written struct {
		Retriever struct {
			Grounding map[string]map[string]any
		}
	}
	if err := yaml.Unmarshal(after, &written); err != nil {
		t.Fatalf("%v\n%s", err, after)
	}
	want := map[string]map[string]any{"mine": {"preset": "default", "max_facts": 12}, "other": {"max_facts": 5}}
	if got := written.Retriever.Grounding; !reflect.DeepEqual(got, want) {
		t.Errorf("grounding: got %v, want %v", got, want)
	}
}

func TestACalibrationThatCannotBeSaysWhy(t *testing.T) {
	t.Parallel()
	fine := func(string, *retrieverv1.GroundingOptions) (int, bool) { return 3, true }
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("retriever: [1, 2]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		graph     *graph
		questions int
		out       string
		says      string
	}{
		{"too few questions decide nothing", &graph{listed: active(), shows: fine}, 12, "-", "too few"},
		{"a graph that is not active", &graph{listed: active()[:1], shows: fine}, 60, "-", "no active snapshot"},
		{"a model that is down", &graph{listed: active(), shows: fine, fails: status.Error(codes.Unavailable, "down")},
			60, "-", "draft the pseudo-graph"},
		{"a configuration of another shape", &graph{listed: active(), shows: fine}, 60, bad,
			"line 1: retriever: want keys and values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := calibrate(t, c.graph, c.questions, c.out)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}
