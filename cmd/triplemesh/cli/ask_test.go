package cli

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

func TestAskPrintsTheAnswer(t *testing.T) {
	s := serve(t, &services{run: answeredRun()})
	triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr).Expect(t, ExitOK, "Ada", "grounded: a triple says so")
	full := triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--explain", "--trace")
	full.Expect(t, ExitOK, "Pseudo-graph", "Cost", "Trace", "orchestrator Ask")
	if full.Stderr != "" {
		t.Errorf("it also says %q", full.Stderr)
	}
}

func TestAskPrintsJSONAlone(t *testing.T) {
	answered := answeredRun()
	answered.Answers[0].Id = "Q7259"
	answered.Answers[0].Evidence = []*graphv1.Triple{{Subject: "Ada", SubjectId: "Q7259", Relation: "knows",
		Object: "Charles", ObjectId: "Q46633", Provenance: "facts.csv:12"}}
	s := serve(t, &services{run: answered})
	o := triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--json", "--explain")
	var run orchestratorv1.Run
	if err := protojson.Unmarshal([]byte(o.Stdout), &run); err != nil || !proto.Equal(&run, answered) ||
		o.Code != ExitOK {
		t.Errorf("got %q, %v", o.Stdout, err)
	}
}

func TestAskExitCodes(t *testing.T) {
	abstained := answeredRun()
	abstained.Answers, abstained.Text, abstained.Grounding = nil, "", orchestratorv1.Grounding_GROUNDING_ABSTAINED
	stopped := answeredRun()
	stopped.Answers, stopped.Text, stopped.Grounding = nil, "", orchestratorv1.Grounding_GROUNDING_UNSPECIFIED
	// grounded returns an answer with a grounding that read kg, if it is not empty.
	grounded := func(g orchestratorv1.Grounding, kg string) *orchestratorv1.Run {
		run := answeredRun()
		if run.Grounding, run.Kg = g, nil; kg != "" {
			run.Kg = &graphv1.KnowledgeGraphRef{Name: kg, Snapshot: 1}
		}
		return run
	}
	tests := []struct {
		name string
		run  *orchestratorv1.Run
		err  error
		args []string
		code int
		says string
	}{
		{"an answer", answeredRun(), nil, nil, ExitOK, "Ada"},
		{"an answer of the model's own beside a knowledge graph",
			grounded(orchestratorv1.Grounding_GROUNDING_UNGROUNDED, "mars"), nil, nil, exitUngrounded, "Ada"},
		{"an answer of the model's own beside a knowledge graph, as JSON",
			grounded(orchestratorv1.Grounding_GROUNDING_UNGROUNDED, "mars"), nil, []string{"--json"}, exitUngrounded,
			"GROUNDING_UNGROUNDED"},
		{"an answer of the model's own by a method that reads no knowledge graph",
			grounded(orchestratorv1.Grounding_GROUNDING_UNGROUNDED, ""), nil, []string{"--method", "io"},
			ExitOK, "Ada"},
		{"an answer in part from a knowledge graph", grounded(orchestratorv1.Grounding_GROUNDING_PARTIAL, "mars"), nil,
			nil, ExitOK, "partly grounded"},
		{"an answer that the knowledge graph names but does not say",
			grounded(orchestratorv1.Grounding_GROUNDING_RELATED, "mars"), nil, nil, ExitOK, "related"},
		{"no answer", abstained, nil, nil, exitNoAnswer, "no answer"},
		{"stopped before the answer on purpose", stopped, nil, []string{"--until", "ground"}, ExitOK,
			"stopped before the answer"},
		{"an unknown knowledge graph says how to load one", nil, status.Error(codes.NotFound,
			"no such knowledge graph"), nil, ExitFailed, "triplemesh kg load"},
		{"no active snapshot", nil, status.Error(codes.FailedPrecondition, "no active snapshot"), nil, ExitFailed,
			"kg activate"},
		{"the model server is down", nil, status.Error(codes.Unavailable, "the model server is down"), nil, ExitFailed,
			"triplemesh doctor"},
		{"a spent budget", nil, status.Error(codes.ResourceExhausted, "no calls left"), nil, ExitFailed, "--max-calls"},
		{"out of time", nil, status.Error(codes.DeadlineExceeded, "too slow"), nil, ExitFailed, "--timeout"},
		{"a damaged snapshot", nil, status.Error(codes.DataLoss, "checksum"), nil, ExitFailed, "kg rollback"},
		{"a refused request", nil, status.Error(codes.InvalidArgument, "there is no method nope; there are: io"), nil,
			ExitUsage, "there are: io"},
		{"advice is not given twice", nil, status.Error(codes.NotFound, "none; see `triplemesh kg list`"), nil,
			ExitFailed, "none; see"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &services{run: tt.run, err: tt.err})
			o := triplemesh(t, nil, "", append([]string{"ask", "Who?", "--server", s.addr}, tt.args...)...)
			o.Expect(t, tt.code, tt.says)
			if strings.Contains(o.Stderr, "rpc error") {
				t.Errorf("it speaks gRPC to the user: %s", o.Stderr)
			}
		})
	}
}

func TestAskWithoutAServerSaysHowToStartOne(t *testing.T) {
	triplemesh(t, nil, "", "ask", "Who?", "--server", testkit.FreeAddr(t)).Expect(t, exitUnreachable,
		"triplemesh up", "--local")
	triplemesh(t, []string{}, "", "kg", "list", "--retriever", testkit.FreeAddr(t)).Expect(t, exitUnreachable,
		"triplemesh up")
}

func TestAskSendsWhatTheFlagsSay(t *testing.T) {
	s := serve(t, &services{run: answeredRun()})
	triplemesh(t, nil, " Where is\nMars? ", "ask", "-", "--server", s.addr, "--method", "ger", "--kg", "mars@3",
		"--topic", "Mars, the planet", "--topic", "Phobos", "--until", "paths", "--verification", "edits",
		"--preset", "paper",
		"--at", "2005", "--max-hops", "3", "--ablation", "no-reflection", "--model", "m", "--max-calls", "4",
		"--max-tokens", "500", "--trace").Expect(t, ExitOK)
	got := s.asked
	o := got.GetOptions()
	if got.GetQuestion() != "Where is\nMars?" || got.GetMethod() != "ger" || kgtext.FormatKG(got.GetKg()) != "mars@3" ||
		strings.Join(got.GetTopicEntities(), "|") != "Mars, the planet|Phobos" ||
		o.GetUntil() != orchestratorv1.Stage_STAGE_PATHS ||
		o.GetAblation() != orchestratorv1.Ablation_ABLATION_NO_REFLECTION || !o.GetSpans() || o.GetMaxHops() != 3 ||
		o.GetVerification() != verifierv1.VerificationMode_VERIFICATION_MODE_EDITS ||
		o.GetGrounding().GetPreset() != retrieverv1.Preset_PRESET_PAPER ||
		o.GetGrounding().GetFilter().GetAt() != "2005" ||
		got.GetLimits().GetModel().GetModel() != "m" || got.GetLimits().GetBudget().GetMaxCalls() != 4 ||
		got.GetLimits().GetBudget().GetMaxTokens() != 500 {
		t.Errorf("sent %v", got)
	}
}

func TestAskReadsSeveralKnowledgeGraphs(t *testing.T) {
	s := serve(t, &services{run: answeredRun()})
	triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--kg", "mars@3", "--kg", "venus", "--kg", "io@2",
		"--abstain-below", "0.4").Expect(t, ExitOK)
	var others []string
	for _, kg := range s.asked.GetOtherKgs() {
		others = append(others, kgtext.FormatKG(kg))
	}
	if kgtext.FormatKG(s.asked.GetKg()) != "mars@3" || strings.Join(others, " ") != "venus io@2" ||
		s.asked.GetOptions().GetAbstainBelow() != 0.4 {
		t.Errorf("sent %v", s.asked)
	}
}

func TestAskLeavesTheChoiceOfTheKnowledgeGraphToTheMesh(t *testing.T) {
	s := serve(t, &services{run: answeredRun(), kgs: []*retrieverv1.SnapshotInfo{snapshot("wikidata", 1, true)}})
	triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr).Expect(t, ExitOK)
	if kg := s.asked.GetKg(); kg != nil {
		t.Errorf("asked %q", kg.GetName())
	}
}

func TestOfSeveralKnowledgeGraphsOneMustBeNamed(t *testing.T) {
	wikidata, mars := snapshot("wikidata", 1, true), snapshot("mars", 2, true)
	tests := []struct {
		name string
		kgs  []*retrieverv1.SnapshotInfo
		code int
		says string
	}{
		{"the only one is read", []*retrieverv1.SnapshotInfo{mars, snapshot("mars", 1, false)}, ExitOK, "supported"},
		{"several are listed", []*retrieverv1.SnapshotInfo{wikidata, mars}, ExitUsage, "one of mars, wikidata"},
		{"without one the way to load it is told", nil, ExitFailed, "kg load"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &services{kgs: tt.kgs})
			s.check = &checks{checked: checkedText(verifierv1.Verdict_VERDICT_SUPPORTED)}
			triplemesh(t, nil, "Zoë sings.", "check", "-", "--server", s.addr).Expect(t, tt.code, tt.says)
			if got := s.check.asked.GetKg().GetName(); tt.code == ExitOK && got != "mars" {
				t.Errorf("checked by %q", got)
			}
		})
	}
}

func TestWrongUsage(t *testing.T) {
	tests := []struct {
		name string
		args []string
		says string
	}{
		{"no command", nil, "expected one of"},
		{"an unknown flag", []string{"ask", "Who?", "--loud"}, "--loud"},
		{"no question", []string{"ask"}, "question"},
		{"an empty question", []string{"ask", "  "}, "empty"},
		{"an unknown stage", []string{"ask", "Who?", "--until", "lunch"}, "pseudo-graph"},
		{"a confidence that is none", []string{"ask", "Who?", "--abstain-below", "40"}, "0 to 1"},
		{"one bad name of several", []string{"ask", "Who?", "--kg", "mars", "--kg", "venus@0"}, "NAME@N"},
		{"a date that is none", []string{"ask", "Who?", "--at", "banana"}, "2005-03-01"},
		{"a date in words", []string{"ask", "Who?", "--at", "5 May 2005"}, "2005-03-01"},
		{"an unknown ablation", []string{"ask", "Who?", "--ablation", "no-thinking"}, "no-reflection"},
		{"a snapshot that is no number", []string{"ask", "Who?", "--kg", "mars@x"}, "NAME@N"},
		{"an unknown mode", []string{"ask", "Who?", "--verification", "magic"}, "align"},
		{"an unknown service", []string{"up", "--target", "kitchen"}, "retriever"},
		{"an unknown setting", []string{"up", "--set", "verifier.mood=good", "--print-config"}, "verifier.mode"},
		{"a file that is not there", []string{"kg", "load", "mars", "/no/such/file"}, "/no/such/file"},
		{"a folder in place of a file", []string{"kg", "load", "mars", "/"}, "folder"},
		{"a name that cannot be", []string{"kg", "load", "Bad Name", "-"}, "lower-case"},
		{"activate without a number", []string{"kg", "activate", "mars"}, "mars@1"},
		{"an unknown shell", []string{"completion", "tcsh"}, "bash"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			triplemesh(t, nil, "", tt.args...).Expect(t, ExitUsage, tt.says)
		})
	}
}

func TestTwoDashes(t *testing.T) {
	got := strings.Join(twoDashes([]string{"up", "-target=retriever", "-h", "-x=1", "-5", "--json", "--", "-target"}),
		" ")
	if want := "up --target=retriever -h -x=1 -5 --json -- -target"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
