package tests

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/eval"
	"github.com/triplemesh/triplemesh/lab/reader"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// drafting is a model that drafts and plans, and fails the test if it is to read.
func drafting(tb testing.TB) *testkit.LLM {
	model := testkit.NewLLM(tb)
	model.On(testkit.Task("pseudo-graph")).Reply(
		`CREATE (s:Person {name: "Robert Stam"})-[:EMPLOYER]->(:Institution {name: "Google"})`)
	model.On(testkit.Task("relation-paths")).Reply("director -> educated at\ndirector")
	model.On(testkit.Task("rank-candidates")).ReplyFunc(chooses("director", "educated at"))
	return model
}

// oracle returns a reader that knows the answers to the tests' two questions.
func oracle(tb testing.TB, name string) *reader.Reader {
	tb.Helper()
	r, err := reader.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	r.Learn([]dataset.Question{
		{ID: "employer", Question: employerQuestion, Answers: []string{employer}},
		{ID: "study", Question: studyQuestion, Answers: []string{yale, tisch}},
	}, 1)
	return r
}

func TestTheOracleReaderGivesTheAnswersThatItIsShown(t *testing.T) {
	model := drafting(t)
	mesh := start(t, options{model: model, substitute: oracle(t, "oracle")})
	study := []string{tisch, yale}
	const (
		align   = verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN
		edits   = verifierv1.VerificationMode_VERIFICATION_MODE_EDITS
		rewrite = verifierv1.VerificationMode_VERIFICATION_MODE_REWRITE
		weigh   = reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH
		reflect = reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL
	)
	for _, c := range []struct {
		name, method, question string
		options                *orchestratorv1.AskOptions
		want                   []string
	}{
		{"pg-akv that aligns", "pg-akv", employerQuestion, &orchestratorv1.AskOptions{Verification: align},
			[]string{employer}},
		{"pg-akv that edits", "pg-akv", employerQuestion, &orchestratorv1.AskOptions{Verification: edits},
			[]string{employer}},
		{"pg-akv that rewrites", "pg-akv", employerQuestion, &orchestratorv1.AskOptions{Verification: rewrite},
			[]string{employer}},
		{"pg-akv without a pseudo-graph", "pg-akv", employerQuestion,
			&orchestratorv1.AskOptions{Ablation: orchestratorv1.Ablation_ABLATION_NO_PSEUDO_GRAPH}, []string{employer}},
		{"rag", "rag", employerQuestion, nil, []string{employer}},
		{"ger that weighs", "ger", studyQuestion, &orchestratorv1.AskOptions{Reflection: weigh}, study},
		{"ger that lets the reader reflect", "ger", studyQuestion, &orchestratorv1.AskOptions{Reflection: reflect},
			study},
		{"ger that reads the candidates twice", "ger", studyQuestion,
			&orchestratorv1.AskOptions{Ablation: orchestratorv1.Ablation_ABLATION_GENERATOR_REFLECTS}, study},
		{"rog", "rog", studyQuestion, nil, study},
		{"tog", "tog", studyQuestion, nil, study},
		{"tog-r", "tog-r", studyQuestion, nil, study},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := question(c.method)
			req.Question, req.Options = c.question, c.options
			if c.question == studyQuestion {
				req.TopicEntities = []string{"Alexander"}
			}
			run := mesh.ask(t, req)
			got := strings.Split(names(run), ", ")
			slices.Sort(got)
			if c.options.GetReflection() == weigh { // which may add ends that the reader did not name
				got = slices.DeleteFunc(got, func(name string) bool { return !slices.Contains(c.want, name) })
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("answers %q, want %q\n%v", got, c.want, run.GetStages())
			}
			if !slices.Contains(run.GetUsage().GetModels(), "oracle") {
				t.Errorf("models %q", run.GetUsage().GetModels())
			}
		})
	}
	for _, r := range model.Requests() {
		if !slices.Contains([]string{"pseudo-graph", "relation-paths", "rank-candidates"}, r.Task) {
			t.Errorf("the model was asked for %s", r.Task)
		}
	}
}

func TestAReaderThatErrsReadsWhatIsWrong(t *testing.T) {
	mesh := start(t, options{model: drafting(t), substitute: oracle(t, "oracle:1")})
	for method, right := range map[string]string{"pg-akv": employer, "rag": employer, "rog": yale} {
		req := question(method)
		if method == "rog" {
			req.Question, req.TopicEntities = studyQuestion, []string{"Alexander"}
		}
		run := mesh.ask(t, req)
		// What its no to a doubtful answer withholds was read too.
		read := names(run) + names(&orchestratorv1.Run{Answers: run.GetWithheld()})
		if strings.Contains(read, right) || read == "" {
			t.Errorf("%s read %q", method, read)
		}
	}
}

func TestEvaluationsWithAReaderAreKeptApartAndDraftsAreCached(t *testing.T) {
	cache, out := t.TempDir(), t.TempDir()
	file := suite(t, "evaluations:\n- {questions: two.jsonl, kg: wikidata@1, methods: [pg-akv]}\n")
	// What a weak model read would be corrected.
	set := map[string]string{"llm.cache.dir": cache, "llm.reader": "strong"}
	model := drafting(t)
	model.On(testkit.Task("answer")).Reply("{Google}")

	m := start(t, options{model: model, set: set})
	if _, err := m.evaluate(t, &eval.Command{Suite: file, Out: out}); err != nil {
		t.Fatal(err)
	}
	m.stop()
	model.Kill() // the drafts are in the cache

	r, err := reader.Parse("oracle")
	if err != nil {
		t.Fatal(err)
	}
	m = start(t, options{model: model, set: set, substitute: r})
	if _, err := m.evaluate(t, &eval.Command{Suite: file, Out: out, Reader: "oracle"}); err == nil ||
		!strings.Contains(err.Error(), "--local") {
		t.Errorf("a mesh without the reader: %v", err)
	}
	done, err := m.evaluateBy(t, r, &eval.Command{Suite: file, Out: out, Reader: "oracle"})
	if err != nil {
		t.Fatal(err)
	}
	m.stop()
	const name = "two-wikidata@1-pg-akv-reader-oracle"
	if len(done) != 1 || done[0].Summary.Errors > 0 || filepath.Base(done[0].Dir) != name {
		t.Fatalf("got %+v", done)
	}
	if got := answersOf(t, done[0].Dir)["employer"]; !strings.Contains(got, "|"+employer) {
		t.Errorf("answered %q", got)
	}
	kept, err := results.Open(done[0].Dir)
	if err != nil {
		t.Fatal(err)
	}
	if m := kept.Manifest; m.Reader != "oracle" || !slices.Contains(m.Models, "oracle") {
		t.Errorf("the manifest has reader %q and models %q", m.Reader, m.Models)
	}

	// What the oracle read is not in the cache: the model's own answers are.
	m = start(t, options{model: model, set: set})
	replayed, err := m.evaluate(t, &eval.Command{Suite: file, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got := answersOf(t, replayed[0].Dir)["employer"]; !strings.Contains(got, "|Google") {
		t.Errorf("without the reader the answer is %q", got)
	}
}
