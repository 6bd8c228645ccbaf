package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// BenchmarkOverhead measures what the mesh adds to the model's time: questions by pg-akv over six
// services on loopback, with a model that answers at once. The first 10,000 questions differ, so no
// encoding is cached. TRIPLEMESH_BENCH_KG names a directory of knowledge graphs, which is only
// read; the default is the tests' small one.
//
// It reports the median of the whole question in milliseconds, and, from the spans of a second run,
// the medians of encoding, of searching, and of the rest.
func BenchmarkOverhead(b *testing.B) {
	m := start(b, options{data: benchGraphs(b), model: instant(b)})
	questions := benchQuestions(b, 10_000)
	ask := func(i int, spans bool) (*orchestratorv1.Run, time.Duration) {
		began := time.Now()
		resp, err := m.orchestrator.Ask(b.Context(), &orchestratorv1.AskRequest{
			Question: questions[i%len(questions)], Method: "pg-akv",
			Kg: &graphv1.KnowledgeGraphRef{Name: wikidata}, Options: &orchestratorv1.AskOptions{Spans: spans},
		})
		took := time.Since(began)
		if err != nil {
			b.Fatal(err)
		}
		if len(resp.GetRun().GetPgAkv().GetEdits()) == 0 {
			b.Fatalf("nothing came of %q", questions[i%len(questions)])
		}
		return resp.GetRun(), took
	}
	const warm = 20
	for i := range warm {
		ask(i, false)
	}
	var whole, encode, search, rest []time.Duration
	i := warm
	for b.Loop() {
		_, took := ask(i, false)
		whole = append(whole, took)
		i++
	}
	b.StopTimer()
	for range min(len(whole), 200) {
		run, took := ask(i, true)
		i++
		e, s := inSpans(run, "retriever.encode"), inSpans(run, "store.search_triples")
		encode, search, rest = append(encode, e), append(search, s), append(rest, took-e-s)
	}
	for unit, all := range map[string][]time.Duration{"p50-ms": whole, "encode-p50-ms": encode, "search-p50-ms": search,
		"rest-p50-ms": rest} {
		b.ReportMetric(median(all).Seconds()*1e3, unit)
	}
}

// instant is a model that drafts one fact with an invented object, as the bundled model does for
// most questions.
func instant(b *testing.B) *testkit.LLM {
	model := testkit.NewLLM(b)
	asked := regexp.MustCompile(`What is the (.*) of (.*)\?`)
	model.On(testkit.Task("pseudo-graph")).ReplyFunc(func(r testkit.Request) string {
		found := asked.FindAllStringSubmatch(r.LastUser(), -1)
		relation, subject := found[len(found)-1][1], found[len(found)-1][2]
		return fmt.Sprintf("CREATE (s {name: %q})-[:%s]->(o {name: %q})", subject,
			strings.ReplaceAll(strings.ToUpper(relation), " ", "_"), relation+" of it")
	})
	model.On(testkit.Task("answer")).Reply("{that}")
	return model
}

// benchGraphs returns a data directory with the knowledge graphs to ask and a run store of its own.
func benchGraphs(b *testing.B) string {
	dir := os.Getenv("TRIPLEMESH_BENCH_KG")
	if dir == "" {
		return graphs(b)
	}
	if _, err := os.Stat(filepath.Join(dir, wikidata)); err != nil {
		b.Fatalf("TRIPLEMESH_BENCH_KG: %v: want a directory with the knowledge graph %s", err, wikidata)
	}
	data := b.TempDir()
	if err := os.Symlink(dir, filepath.Join(data, "kg")); err != nil {
		b.Fatal(err)
	}
	return data
}

// benchQuestions returns n questions about the bundled facts.
func benchQuestions(b *testing.B, n int) []string {
	facts := testkit.Facts(b, func(int, []string) bool { return true })
	var questions []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(facts)) {
		fields := strings.Split(line, "\t")
		if !seen[fields[0]] && len(questions) < n {
			seen[fields[0]] = true
			questions = append(questions, fmt.Sprintf("What is the %s of %s?", fields[1], fields[0]))
		}
	}
	return questions
}

// inSpans returns the total duration of the spans of a name.
func inSpans(run *orchestratorv1.Run, name string) (sum time.Duration) {
	for _, s := range run.GetSpans() {
		if s.GetName() == name {
			sum += s.GetDuration().AsDuration()
		}
	}
	return sum
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
