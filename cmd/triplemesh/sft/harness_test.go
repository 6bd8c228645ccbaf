package sft

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/dataset"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/tenant"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/evaluator/verdict"
	"github.com/triplemesh/triplemesh/services/generator/candidate"
	"github.com/triplemesh/triplemesh/services/generator/relationpath"
	"github.com/triplemesh/triplemesh/services/reflector/reflection"
	"github.com/triplemesh/triplemesh/services/retriever"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/encodertest"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// triples are a small graph in which the questions below have answers at one
// hop, at two, and over a mediator.
const triples = `Velmora	place.body_of_water	Tessen
Velmora	place.body_of_water	Orla
Velmora	place.twinned_city	Harn
Velmora	place.twinned_city	Oster Bay
Velmora	place.country	Norrland
Harn	place.body_of_water	Elde
Oster Bay	place.country	Norrland
The Quiet Harbour	film.starring	Anna Lindqvist
The Quiet Harbour	film.directed_by	Erik Halvorsen
The Quiet Harbour	film.genre	Drama
Salt Road	film.starring	Anna Lindqvist
Salt Road	film.directed_by	Mia Berg
Salt Road	film.genre	Comedy
Low Tide	film.directed_by	Mia Berg
Anna Lindqvist	person.place_of_birth	Velmora
Anna Lindqvist	person.marriage	m.0abcd1
m.0abcd1	marriage.spouse	Lars Holm
m.0abcd1	marriage.from	2001
Anna Lindqvist	person.sibling	Ida Lindqvist
Lars Holm	person.place_of_birth	Harn
`

var questions = []dataset.Question{
	{ID: "q1", Question: "what rivers flow through velmora", Answers: []string{"Tessen", "Orla"}, TopicEntities: []string{"Velmora"}},
	{ID: "q2", Question: "who directed the films that anna lindqvist acted in", Answers: []string{"Erik Halvorsen", "Mia Berg"}, TopicEntities: []string{"Anna Lindqvist"}},
	{ID: "q3", Question: "who is anna lindqvist married to", Answers: []string{"lars holm", "Somebody Else"}, TopicEntities: []string{"Anna Lindqvist"}},
	{ID: "q4", Question: "who was the first mayor of velmora", Answers: []string{"Reik"}, TopicEntities: []string{"Velmora"}},
	{ID: "q5", Question: "what is the longest river", Answers: []string{"Nile"}},
	{ID: "q6", Question: "tell me about velmora", Answers: []string{"Velmora is a town."}, Kind: dataset.Open, TopicEntities: []string{"Velmora"}},
}

var ref = &graphv1.KnowledgeGraphRef{Name: "small"}

// settings are the defaults of the stages.
var settings = Settings{
	RelationPaths: relationpath.DefaultConfig(),
	Candidates:    candidate.Config{MaxGroups: 12, MaxEnds: 12, MaxTokens: 128},
	Verdict:       verdict.Config{Parallel: 4, MaxGroups: 8, MaxEnds: 8, MaxPaths: 2},
	Reflection:    reflection.Config{MaxGroups: 8, MaxEnds: 8, MaxOthers: 12, MaxTokens: 160},
}

// direct calls a retriever in this process.
type direct struct{ *retriever.Service }

func (d direct) ShortestPaths(ctx context.Context, req *retrieverv1.ShortestPathsRequest, _ ...grpc.CallOption) (*retrieverv1.ShortestPathsResponse, error) {
	return d.Service.ShortestPaths(tenant.With(ctx, tenant.Default()), req)
}

func (d direct) SuggestPaths(ctx context.Context, req *retrieverv1.SuggestPathsRequest, _ ...grpc.CallOption) (*retrieverv1.SuggestPathsResponse, error) {
	return d.Service.SuggestPaths(tenant.With(ctx, tenant.Default()), req)
}

func (d direct) FollowPaths(ctx context.Context, req *retrieverv1.FollowPathsRequest, _ ...grpc.CallOption) (*retrieverv1.FollowPathsResponse, error) {
	return d.Service.FollowPaths(tenant.With(ctx, tenant.Default()), req)
}

// small is a retriever over the small graph.
func small(t testing.TB) Retriever {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "triples.tsv")
	if err := os.WriteFile(file, []byte(triples), 0o600); err != nil {
		t.Fatal(err)
	}
	tenants := embedded.NewTenants(filepath.Join(dir, "graphs"))
	t.Cleanup(func() { tenants.Close() })
	graphs, err := tenants.Of(tenant.Default())
	if err != nil {
		t.Fatal(err)
	}
	encoder := encodertest.Hash(64)
	if _, err := load.Files(t.Context(), graphs, encoder, []string{file}, load.Options{KG: "small", Scratch: dir}); err != nil {
		t.Fatal(err)
	}
	service, err := retriever.New(tenants, encoder, nil, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	return direct{service}
}

// export makes the examples of questions over the small graph.
func export(t testing.TB, e Exporter, questions []dataset.Question) ([]Example, Summary) {
	t.Helper()
	if e.Retriever == nil {
		e.Retriever = small(t)
	}
	e.KG, e.Settings, e.MaxHops = ref, settings, 4
	var all []Example
	summary, err := e.Export(t.Context(), questions, func(some []Example) error {
		all = append(all, some...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, summary
}

// asked is the last thing a prompt says; what is before it is the same for all
// examples of a task.
func asked(e Example) string { return e.Messages[len(e.Messages)-2].Content }

func answered(e Example) string { return e.Messages[len(e.Messages)-1].Content }

// shown writes examples for a golden file.
func shown(examples []Example) string {
	var b strings.Builder
	for _, e := range examples {
		sign := "+"
		if e.Negative {
			sign = "-"
		}
		fmt.Fprintf(&b, "%s %s %s\n%s\n=> %s\n\n", sign, e.Task, e.QuestionID, asked(e), answered(e))
	}
	return b.String()
}

func lines(t testing.TB, text string) []Example {
	t.Helper()
	var all []Example
	for read := json.NewDecoder(bytes.NewReader([]byte(text))); read.More(); {
		var e Example
		if err := read.Decode(&e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}
