package profile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/lab/profile"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// model is a model that reads as read does, and writes tokens for each answer.
type model struct {
	generatorv1.GeneratorServiceClient
	evaluatorv1.EvaluatorServiceClient
	read   func(question string, facts []*graphv1.Triple) []string
	tokens uint64
}

func (m model) GenerateAnswer(_ context.Context, req *generatorv1.GenerateAnswerRequest,
	_ ...grpc.CallOption) (*generatorv1.GenerateAnswerResponse, error) {
	var facts []*graphv1.Triple
	for _, f := range req.GetFixedGraph().GetTriples() {
		facts = append(facts, f.GetTriple())
	}
	return &generatorv1.GenerateAnswerResponse{
		Answers: m.read(req.GetQuestion(), facts), Usage: &llmv1.Usage{Calls: 1, CompletionTokens: m.tokens},
	}, nil
}

// EvaluateAnswers takes the candidate whose path fits the question's words for right: the first.
func (m model) EvaluateAnswers(_ context.Context, req *evaluatorv1.EvaluateAnswersRequest,
	_ ...grpc.CallOption) (*evaluatorv1.EvaluateAnswersResponse, error) {
	resp := &evaluatorv1.EvaluateAnswersResponse{}
	for i := range req.GetCandidates() {
		resp.Verdicts = append(resp.Verdicts, &graphv1.AnswerVerdict{Correct: i == 0})
	}
	return resp, nil
}

// asks lists, for the words of a question, the relations to follow; "-" before one follows it to its
// subject.
var asks = map[string]string{
	"who does": "employer", "who works": "-employer", "is married to the author": "author spouse",
	"who is married": "spouse -spouse", "where was the director": "director place of birth",
	"in which country": "place of birth country", "where was": "place of birth", "who was born": "-place of birth",
	"who wrote": "author", "what did": "-author -architect", "which rivers": "tributary",
	"which river does": "-tributary", "which groups": "member of", "who belongs": "-member of",
	"which towns": "twinned town -twinned town", "who designed": "architect",
	"where is the company": "employer headquarters",
}

// readAll names what every fact about an entity of the question says, along any relation asked for.
func readAll(question string, facts []*graphv1.Triple) []string {
	words := ""
	for phrase := range asks { // the longest phrase decides
		if strings.Contains(question, phrase) && len(phrase) > len(words) {
			words = phrase
		}
	}
	var topic string
	for _, f := range facts {
		for _, name := range []string{f.GetSubject(), f.GetObject()} {
			if strings.HasSuffix(" "+question, " "+name) || strings.Contains(question, " "+name+" ") {
				topic = name
			}
		}
	}
	isAsked := func(relation, sign string) bool {
		return strings.Contains(" "+asks[words], " "+sign+relation)
	}
	var ends, middles []string
	for _, f := range facts {
		if f.GetSubject() == topic && isAsked(f.GetRelation(), "") {
			ends = append(ends, f.GetObject())
			middles = append(middles, f.GetObject())
		}
		if f.GetObject() == topic && isAsked(f.GetRelation(), "-") {
			ends = append(ends, f.GetSubject())
		}
	}
	for _, f := range facts {
		for _, middle := range middles {
			if f.GetSubject() == middle && isAsked(f.GetRelation(), "") {
				ends = []string{f.GetObject()}
			}
		}
	}
	return ends
}

func measure(t *testing.T, m model) profile.Measurement {
	t.Helper()
	calls := 0
	got, err := profile.Measure(t.Context(), profile.Services{Generator: m, Evaluator: m}, func(done, total int) {
		calls++
		if done != calls || total < done {
			t.Errorf("progress said %d of %d after %d items", done, total, calls)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAModelThatReadsWhatIsAskedIsAStrongReader(t *testing.T) {
	got := measure(t, model{read: readAll, tokens: 20})
	if got.Few != 1 || got.Many != 1 || got.Verdicts != 1 || len(got.Kinds) != 4 {
		t.Errorf("it measured %+v, want 1 throughout", got)
	}
	p := profile.Choose("m", got, time.Now())
	if p.Reader != llm.StrongReader || p.ReasoningTokens != 0 {
		t.Errorf("the profile is %+v, want a strong reader that does not think", p)
	}
}

func TestAReaderIsRightAsOftenAsItWasMeasured(t *testing.T) {
	for _, c := range []struct {
		name      string
		few, many float64
		share     float32
	}{
		{"more than two dozen items can show", 1, 0.99, 0.95},
		{"less off many facts", 0.98, 0.9, 0.9},
		{"a weak reader", 0.98, 0.5, 0},
	} {
		p := profile.Choose("m", profile.Measurement{Few: c.few, Many: c.many}, time.Now())
		if p.ReadingShare != c.share {
			t.Errorf("%s: got %g, want %g", c.name, p.ReadingShare, c.share)
		}
		chosen, own := llm.Config{Reader: llm.AutoReader}, llm.Config{Reader: llm.AutoReader, ReadingShare: 0.7}
		p.Apply(&chosen)
		p.Apply(&own)
		if chosen.ReadingShare != c.share || own.ReadingShare != 0.7 {
			t.Errorf("%s: applied, it left %g, and %g of the user's 0.7", c.name, chosen.ReadingShare,
				own.ReadingShare)
		}
		setting := fmt.Sprintf("llm.reading_share=%.2f", c.share)
		if slices.Contains(p.Settings(), setting) != (c.share > 0) {
			t.Errorf("%s: the settings are %q", c.name, p.Settings())
		}
	}
}

func TestAModelThatNamesOneOfAListIsAWeakReader(t *testing.T) {
	got := measure(t, model{read: func(q string, facts []*graphv1.Triple) []string {
		return readAll(q, facts)[:1]
	}})
	if got.Kinds["single"] != 1 || got.Kinds["list"] >= 0.5 {
		t.Errorf("it measured %+v, want 1 for single answers and less than half for lists", got)
	}
	if p := profile.Choose("m", got, time.Now()); p.Reader != llm.WeakReader {
		t.Errorf("the profile is %+v, want a weak reader", p)
	}
}

func TestAModelThatThinksForLongGetsTokensForIt(t *testing.T) {
	for tokens, want := range map[uint64]int{40: 0, 300: 0, 1500: 3000, 90000: 16384} {
		p := profile.Choose("m", measure(t, model{read: readAll, tokens: tokens}), time.Now())
		if p.ReasoningTokens != want {
			t.Errorf("with %d tokens an answer it may think %d, want %d", tokens, p.ReasoningTokens, want)
		}
	}
}

func TestEveryModelReadsTheSameItems(t *testing.T) {
	items := func() []string {
		var mu sync.Mutex
		var seen []string
		measure(t, model{read: func(question string, facts []*graphv1.Triple) []string {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprint(question, facts))
			return nil
		}})
		slices.Sort(seen)
		return seen
	}
	first, second := items(), items()
	if len(first) != 24 || !slices.Equal(first, second) {
		t.Errorf("two measurements had %d and %d items, want the same 24", len(first), len(second))
	}
}

func TestAProfileSetsOnlyWhatIsLeftToBeChosen(t *testing.T) {
	p := profile.Profile{Model: "m", Reader: llm.StrongReader, ReasoningTokens: 4096}
	c := llm.DefaultConfig()
	if p.Apply(&c); c.Reader != llm.StrongReader || c.ReasoningTokens != 4096 {
		t.Errorf("it left %s and %d", c.Reader, c.ReasoningTokens)
	}
	c.Reader, c.ReasoningTokens = llm.WeakReader, 1
	if p.Apply(&c); c.Reader != llm.WeakReader || c.ReasoningTokens != 1 {
		t.Errorf("it replaced the user's settings by %s and %d", c.Reader, c.ReasoningTokens)
	}
}

func TestProfilesAreKeptByTheWholeNameOfTheModel(t *testing.T) {
	s := profile.Store{Dir: filepath.Join(t.TempDir(), "new")}
	if _, found, err := s.Load("org/Model"); found || err != nil {
		t.Fatalf("before any was saved: found %v, %v", found, err)
	}
	for _, name := range []string{"org/Model", "org_model", "../../etc/passwd", strings.Repeat("long ", 100)} {
		want := profile.Choose(name, profile.Measurement{Few: 1, Many: 0.9}, time.Now())
		if err := s.Save(want); err != nil {
			t.Fatal(err)
		}
		if got, found, err := s.Load(name); err != nil || !found || got.Model != name || got.Reader != want.Reader {
			t.Errorf("%q: loaded %+v, %v, %v", name, got, found, err)
		}
	}
	if files, err := os.ReadDir(s.Dir); err != nil || len(files) != 4 {
		t.Errorf("the directory holds %d files, %v; want 4", len(files), err)
	}
}

func TestAFileThatIsNoProfileIsRefusedWithWhatToDo(t *testing.T) {
	for _, text := range []string{``, `{}`, `[1]`, `{"model":"other","reader":"weak"}`, `{"model":"m","reader":"good"}`,
		`{"model":"m","reader":"strong","reading_share":1}`, `{"model":"m","reader":"weak","reasoning_tokens":-1}`,
		`{"model":"m","reader":"weak","reasoning_tokens":9e9}`} {
		s := profile.Store{Dir: t.TempDir()}
		if err := s.Save(profile.Profile{Model: "m", Reader: llm.WeakReader}); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(s.Dir, "*.json"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Load("m"); err == nil || !strings.Contains(err.Error(), "--test-model") {
			t.Errorf("%q: got error %v, want one that says how to measure again", text, err)
		}
	}
}
