package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/generator/query"
)

// plannedQuestion is a question with the plan that is right, in the question's words.
type plannedQuestion struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Answers  []string `json:"answers"`
	Topics   []string `json:"topic_entities"`
	KG       string   `json:"kg"`
	draft    string
}

// plannedQuestions are those of testdata/query_plans.tsv: one for most templates of GeoQuery, and of the
// operations those whose relation has siblings of the same types.
func plannedQuestions(t *testing.T, data string) (all []plannedQuestion) {
	t.Helper()
	plans := map[string]string{}
	text, err := os.ReadFile(filepath.Join("testdata", "query_plans.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		id, draft, _ := strings.Cut(strings.TrimSpace(line), "\t")
		plans[id] = draft
	}
	for _, set := range []string{geoquery, "operations"} {
		text, err := os.ReadFile(filepath.Join(data, set, "questions.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			q := plannedQuestion{KG: geoquery}
			if err := json.Unmarshal(line, &q); err != nil {
				t.Fatal(err)
			}
			if q.draft = plans[q.ID]; q.draft != "" {
				all = append(all, q)
			}
		}
	}
	if len(all) != len(plans) {
		t.Fatalf("%d of the %d planned questions are in the data", len(all), len(plans))
	}
	return all
}

// geoquery is a question set with a graph of the same name.
const geoquery = "geoquery"

// planner aligns and executes plans without a model.
type planner struct {
	retriever retrieverv1.RetrieverServiceClient
	verifier  verifierv1.VerifierServiceClient
}

func (p planner) align(t testing.TB, q plannedQuestion, plan *graphv1.QueryPlan) *verifierv1.AlignQueryPlanResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	found, err := p.retriever.ExploreQueryPlan(ctx, &retrieverv1.ExploreQueryPlanRequest{
		Kg: &graphv1.KnowledgeGraphRef{Name: q.KG}, Question: q.Question, Plan: plan, TopicEntities: q.Topics})
	if err != nil {
		t.Fatalf("%s: explore: %v", q.ID, err)
	}
	aligned, err := p.verifier.AlignQueryPlan(ctx, &verifierv1.AlignQueryPlanRequest{Question: q.Question, Plan: plan,
		Terms: found.GetTerms(), Patterns: found.GetPatterns()})
	if err != nil {
		t.Fatalf("%s: align: %v", q.ID, err)
	}
	return aligned
}

// answer computes a plan and returns its answers, or why there are none.
func (p planner) answer(t testing.TB, kg string, plan *graphv1.QueryPlan) (answers []string, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	resp, err := p.retriever.ExecuteQuery(ctx, &retrieverv1.ExecuteQueryRequest{
		Kg: &graphv1.KnowledgeGraphRef{Name: kg}, Plan: plan, MaxRows: 1000})
	if err != nil {
		return nil, err.Error()
	}
	table := resp.GetTable()
	if table.GetValue() != "" {
		return []string{table.GetValue()}, ""
	}
	for _, row := range table.GetRows() {
		if name := row.GetCells()[0].GetName(); !slices.Contains(answers, name) {
			answers = append(answers, name)
		}
	}
	return answers, table.GetReason()
}

// newPlanner returns a planner over the graphs of the planned questions.
func newPlanner(t *testing.T) (planner, []plannedQuestion) {
	t.Helper()
	data := testkit.CheckoutFile(t, "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		t.Skip("the question sets are not there:", err)
	}
	m := start(t, options{data: t.TempDir(), targets: []string{"retriever", "verifier"}})
	questions := plannedQuestions(t, data)
	loaded := map[string]bool{}
	for _, q := range questions {
		if !loaded[q.KG] {
			loaded[q.KG] = true
			triples, err := os.ReadFile(filepath.Join(data, q.KG, "triples.tsv.gz"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := testkit.Load(timeoutContext(t, 20*time.Minute), m.graphs, &retrieverv1.LoadHeader{
				Kg: &graphv1.KnowledgeGraphRef{Name: q.KG}, Vectors: retrieverv1.Vectors_VECTORS_NONE},
				&retrieverv1.FileHeader{Name: "triples.tsv.gz"}, triples); err != nil {
				t.Fatal(err)
			}
		}
	}
	return plannerOf(t, m), questions
}

// plannerOf returns a planner over the graphs of a mesh.
func plannerOf(tb testing.TB, m *running) planner {
	tb.Helper()
	return planner{retriever: retrieverv1.NewRetrieverServiceClient(m.dial(tb, "retriever")),
		verifier: verifierv1.NewVerifierServiceClient(m.dial(tb, "verifier"))}
}

// sameAnswers compares sets, numbers by value.
func sameAnswers(got, want []string) bool {
	normalize := func(all []string) []string {
		var out []string
		for _, a := range all {
			a = strings.ToLower(strings.TrimSpace(a))
			if q, ok := kgtext.ParseQuantity(a); ok {
				a = fmt.Sprint(q.Number)
			}
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(normalize(got), normalize(want))
}

func TestRightPlansAreAlignedAndExecuted(t *testing.T) {
	p, questions := newPlanner(t)
	exact, of := map[string]int{}, map[string]int{}
	for _, q := range questions {
		of[q.KG]++
		plan := query.Decode(q.draft)
		aligned := p.align(t, q, plan)
		answers, reason := []string(nil), aligned.GetReason()
		if aligned.GetPlan() != nil {
			answers, reason = p.answer(t, q.KG, aligned.GetPlan())
		}
		if sameAnswers(answers, q.Answers) {
			exact[q.KG]++
			continue
		}
		t.Logf("%s %q\n draft   %s\n drafted %s\n aligned %s\n got     %.200q (%s)\n want    %.200q", q.ID,
			q.Question, q.draft,
			strings.Join(kgtext.DescribePlan(plan), "; "), strings.Join(kgtext.DescribePlan(aligned.GetPlan()), "; "),
			answers, reason, q.Answers)
	}
	for kg, n := range of {
		t.Logf("%s: %d of %d exact", kg, exact[kg], n)
		if exact[kg]*100 < 90*n {
			t.Errorf("%s: %d of %d are exact, want 90 %%", kg, exact[kg], n)
		}
	}
}

// siblings are relations of the same types, in the words of questions.
var siblings = [][]string{
	{"population", "area", "population density"},
	{"highest point", "lowest point"},
	{"highest elevation", "lowest elevation"},
	{"capital", "highest point", "lowest point"},
	{"director", "actor", "writer"},
	{"place of birth", "place of death"},
	{"drafted by", "member of sports team"},
	{"cast", "director"},
}

func TestSwappedRelationsAreCaughtByAlignment(t *testing.T) {
	p, questions := newPlanner(t)
	random := rand.New(rand.NewPCG(20, 200))
	type swap struct {
		q          plannedQuestion
		plan, want *graphv1.QueryPlan
		from, to   string
	}
	var swaps []swap
	for _, q := range questions {
		draft := query.Decode(q.draft)
		right := p.align(t, q, draft)
		if right.GetPlan() == nil {
			continue
		}
		for i, c := range draft.GetClauses() {
			steps := c.GetMatch().GetSteps()
			if len(steps) != 1 {
				continue
			}
			for _, group := range siblings {
				if !slices.Contains(group, steps[0].GetRelation()) {
					continue
				}
				for _, other := range group {
					if other == steps[0].GetRelation() {
						continue
					}
					swapped := proto.CloneOf(draft)
					swapped.GetClauses()[i].GetMatch().GetSteps()[0].Relation = other
					swaps = append(swaps, swap{q, swapped, right.GetPlan(), steps[0].GetRelation(), other})
				}
			}
		}
	}
	random.Shuffle(len(swaps), func(i, j int) { swaps[i], swaps[j] = swaps[j], swaps[i] })
	swaps = swaps[:min(len(swaps), 200)]
	caught, named, caughtNamed := 0, 0, 0
	for _, s := range swaps {
		aligned := p.align(t, s.q, s.plan)
		isNamed := kgtext.NewOpenWords(s.q.Question).Has(s.from) > 0
		if isNamed {
			named++
		}
		if aligned.GetPlan() == nil || proto.Equal(aligned.GetPlan(), s.want) {
			if caught++; isNamed {
				caughtNamed++
			}
			continue
		}
		t.Logf("%s %q: %s for %s is aligned to %s (%.2f)", s.q.ID, s.q.Question, s.to, s.from,
			strings.Join(kgtext.DescribePlan(aligned.GetPlan()), "; "), aligned.GetConfidence())
	}
	t.Logf("%d of %d swaps caught", caught, len(swaps))
	t.Logf("%d of %d whose right relation the question names caught", caughtNamed, named)
	if len(swaps) == 0 || caught*100 < 70*len(swaps) {
		t.Errorf("%d of %d swaps are caught, want 70 %%", caught, len(swaps))
	}
}

// BenchmarkPlans aligns and executes the drafted plans of recorded runs, which are those files of `eval run`
// that PLANS (a glob) names, over the graphs of the checkout, without a model. It reports the median, the 99th
// percentile and the most memory that one of them allocated, which bounds what it needed at once.
func BenchmarkPlans(b *testing.B) {
	recorded := recordedPlans(b)
	p := plannerOf(b, start(b, options{data: testkit.CheckoutFile(b, ".cache", "data"),
		targets: []string{"retriever", "verifier"}}))
	compute := func(r *orchestratorv1.Run) (aligned time.Duration) {
		started := time.Now()
		plan := p.align(b, plannedQuestion{ID: r.GetId(), Question: r.GetQuestion(), KG: r.GetKg().GetName()},
			r.GetQuery().GetDraftedPlan())
		aligned = time.Since(started)
		if plan.GetPlan() != nil {
			p.answer(b, r.GetKg().GetName(), plan.GetPlan())
		}
		return aligned
	}
	for _, r := range recorded {
		compute(r) // reads the graphs, and whatever is made once
	}
	var all, aligning []time.Duration
	var most uint64
	var processor []time.Duration
	worst := ""
	for b.Loop() {
		for _, r := range recorded {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			started, used := time.Now(), processorTime(b)
			aligning = append(aligning, compute(r))
			all, processor = append(all, time.Since(started)), append(processor, processorTime(b)-used)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				most, worst = n, r.GetQuestion()
			}
			if all[len(all)-1] > 50*time.Millisecond {
				b.Logf("%v, of which %v to align: %s", all[len(all)-1], aligning[len(aligning)-1], r.GetQuestion())
			}
		}
	}
	slices.Sort(all)
	slices.Sort(aligning)
	slices.Sort(processor)
	b.Logf("%d plans; most memory: %s", len(recorded), worst)
	for _, at := range []int{50, 99} {
		b.ReportMetric(float64(all[len(all)*at/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", at))
		b.ReportMetric(float64(aligning[len(all)*at/100].Microseconds())/1000, fmt.Sprintf("align-p%d-ms", at))
		b.ReportMetric(float64(processor[len(all)*at/100].Microseconds())/1000, fmt.Sprintf("cpu-p%d-ms", at))
	}
	b.ReportMetric(float64(most)/(1<<20), "most-MiB")
}

// processorTime is what this process used of the processor: on a busy machine it tells more than the clock.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func recordedPlans(b *testing.B) (runs []*orchestratorv1.Run) {
	b.Helper()
	files, err := filepath.Glob(os.Getenv("PLANS"))
	if err != nil || len(files) == 0 {
		b.Skip("PLANS names no results of eval run:", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var record struct{ Run json.RawMessage }
			r := &orchestratorv1.Run{}
			if err := json.Unmarshal(line, &record); err != nil {
				b.Fatal(err)
			}
			if len(record.Run) == 0 {
				continue
			}
			if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(record.Run, r); err != nil {
				b.Fatal(err)
			}
			if len(r.GetQuery().GetDraftedPlan().GetClauses()) > 0 {
				runs = append(runs, r)
			}
		}
	}
	return runs
}
