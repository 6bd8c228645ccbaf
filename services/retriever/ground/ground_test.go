package ground

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var lakes = storetest.NewGraph(
	[3]string{"Lake Superior", "area", "82350"},
	[3]string{"Lake Superior", "country", "Canada"},
	[3]string{"Lake Superior", "country", "United States"},
	[3]string{"Lake Superior", "outflow", "St. Marys River"},
	[3]string{"Lake Huron", "area", "59600"},
	[3]string{"Lake Huron", "country", "Canada"},
	[3]string{"Lake Erie", "area", "25700"},
	[3]string{"Lake Erie", "country", "United States"},
	[3]string{"Toronto", "mayor", "m.0aaaa1"},
	[3]string{"m.0aaaa1", "office.holder", "Olivia Chow"},
	[3]string{"m.0aaaa1", "office.from", "2023"},
	[3]string{"Blue Book", "author", "Ann"},
)

func runStep(ctx context.Context, _ string, do func(context.Context) (int, error)) error {
	_, err := do(ctx)
	return err
}

func groundLakes(t *testing.T, question string, pseudo []Fact, options Options) *Result {
	t.Helper()
	r, err := Ground(context.Background(), lakes, &storetest.WordEncoder{}, runStep, question, pseudo, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// line formats a fact as "subject | relation | object".
func line(f Fact) string { return strings.Join([]string{f.Subject, f.Relation, f.Object}, " | ") }

func evidence(r *Result) []string {
	var lines []string
	for _, e := range r.Subjects {
		for _, f := range e.Facts {
			lines = append(lines, line(f.Fact))
		}
	}
	return lines
}

func subjects(r *Result) []string {
	var names []string
	for _, e := range r.Subjects {
		names = append(names, e.Subject)
	}
	return names
}

// damagedGraph is a graph of which one thing cannot be read.
type damagedGraph struct {
	*storetest.Graph
	damaged string
}

func (g damagedGraph) failIf(what string) {
	if what == g.damaged {
		panic(&store.Fault{Err: store.ErrCorrupt})
	}
}

func (g damagedGraph) EntityName(id store.EntityID) string {
	g.failIf("names")
	return g.Graph.EntityName(id)
}

func (g damagedGraph) Triple(id store.TripleID) store.Triple {
	g.failIf("triples")
	return g.Graph.Triple(id)
}

func (g damagedGraph) RelationVector(id store.RelationID) []float32 {
	g.failIf("vectors of relations")
	return g.Graph.RelationVector(id)
}

func TestDamageIsAnErrorWhicheverStepMeetsIt(t *testing.T) {
	for _, what := range []string{"names", "triples", "vectors of relations"} {
		options := Default()
		options.Ranker = lastRelation{[]string{"area"}, true}
		_, err := Ground(t.Context(), damagedGraph{lakes, what}, &storetest.WordEncoder{}, runStep,
			"How large is Lake Superior?", []Fact{{Subject: "Lake Superior", Relation: "area", Object: "1"}}, options)
		if !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("damaged %s: error %v, want %v", what, err, store.ErrCorrupt)
		}
	}
}

func TestAPanicReachesTheCaller(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "no such step") {
			t.Errorf("recovered %v", p)
		}
	}()
	observe := func(_ context.Context, name string, do func(context.Context) (int, error)) error {
		if name == "retriever.prune" {
			panic("no such step")
		}
		return runStep(t.Context(), name, do)
	}
	_, err := Ground(t.Context(), lakes, &storetest.WordEncoder{}, observe, "How large is Lake Superior?", nil,
		Default())
	t.Errorf("it went on, error %v", err)
}

func TestDefaultGroundsAWrongGuess(t *testing.T) {
	r := groundLakes(t, "How large is Lake Superior?",
		[]Fact{{Subject: "Lake Superior", Relation: "AREA", Object: "999"}},
		Default())
	if got := subjects(r); got[0] != "Lake Superior" {
		t.Fatalf("subjects %q, want Lake Superior first", got)
	}
	first := r.Subjects[0].Facts[0]
	if line(first.Fact) != "Lake Superior | area | 82350" {
		t.Errorf("first fact %q", line(first.Fact))
	}
	if len(first.Pseudo) != 1 || first.Pseudo[0] <= 0.4 || first.Question <= 0.2 || first.Score < first.Pseudo[0] {
		t.Errorf("scores of the first fact: pseudo %v, question %v, best %v", first.Pseudo, first.Question, first.Score)
	}
}

func TestDefaultShowsFullLists(t *testing.T) {
	options := Default()
	options.TopK = 1
	r := groundLakes(t, "In which country is Lake Superior?",
		[]Fact{{Subject: "Lake Superior", Relation: "country", Object: "Canada"}}, options)
	got := evidence(r)
	for _, want := range []string{"Lake Superior | country | Canada", "Lake Superior | country | United States"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

func TestMediatorsAreResolved(t *testing.T) {
	tests := []struct {
		name   string
		pseudo Fact
		want   string
	}{
		{"a hit that ends in one", Fact{Subject: "Toronto", Relation: "mayor", Object: "Rob Ford"},
			"Toronto | mayor / office.holder | Olivia Chow"},
		{"a hit that begins in one", Fact{Subject: "Toronto", Relation: "holder", Object: "Olivia Chow"},
			"Toronto | mayor / office.holder | Olivia Chow"},
		{"other facts it joins are shown too", Fact{Subject: "Toronto", Relation: "mayor", Object: "Rob Ford"},
			"Toronto | mayor / office.from | 2023"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for preset, options := range map[string]Options{"default": Default(), "paper": Paper()} {
				options.MinConfidence = 0.1
				r := groundLakes(t, "Who is mayor of Toronto?", []Fact{tt.pseudo}, options)
				var hits []string
				for _, h := range r.Hits {
					hits = append(hits, line(h.Fact))
				}
				if !slices.Contains(hits, tt.want) {
					t.Errorf("%s: hits %q lack %q", preset, hits, tt.want)
				}
				for _, l := range append(hits, evidence(r)...) {
					if strings.Contains(l, "m.0aaaa1") {
						t.Errorf("%s: %q shows an opaque id", preset, l)
					}
				}
			}
			if got := evidence(groundLakes(t, "Who is mayor of Toronto?", []Fact{tt.pseudo},
				Default())); !slices.Contains(got, tt.want) {
				t.Errorf("evidence %q lacks %q", got, tt.want)
			}
		})
	}
}

func TestPaperKeepsOnlyHits(t *testing.T) {
	options := Paper()
	options.TopK, options.MinConfidence = 2, 0.3
	r := groundLakes(t, "How large is Lake Superior?",
		[]Fact{{Subject: "Lake Superior", Relation: "area", Object: "82350"}}, options)
	if len(r.Hits) != 2 {
		t.Fatalf("%d hits, want the top 2 of the pseudo-triple alone", len(r.Hits))
	}
	if got := subjects(r); len(got) != 1 {
		t.Errorf("subjects %q, want as many as the pseudo-graph has", got)
	}
	var hits []string
	for _, h := range r.Hits {
		hits = append(hits, line(h.Fact))
	}
	for _, l := range evidence(r) {
		if !slices.Contains(hits, l) {
			t.Errorf("%q is no hit", l)
		}
	}
	if got := r.Subjects[0].Facts[0]; got.Score < 0.999 {
		t.Errorf("the pseudo-triple's own fact scores %v", got.Score)
	}
}

func TestDroppedSubjectsHaveAReason(t *testing.T) {
	options := Default()
	options.MaxSubjects, options.MinConfidence = 2, 0.6
	r := groundLakes(t, "lake area", []Fact{{Subject: "Lake Superior", Relation: "area", Object: "x"}}, options)
	reasons := map[DropReason]int{}
	for _, d := range r.Dropped {
		reasons[d.Reason]++
		if d.Hits < 1 || (d.Reason == LowConfidence && d.Confidence >= 0.6) {
			t.Errorf("dropped %+v", d)
		}
	}
	if reasons[OutsideSelection] == 0 || len(r.Subjects) > 2 {
		t.Errorf("%d subjects kept, dropped by reason %v", len(r.Subjects), reasons)
	}
	if len(r.Subjects)+len(r.Dropped) < 4 {
		t.Errorf("%d kept and %d dropped do not account for all subjects", len(r.Subjects), len(r.Dropped))
	}
}

func TestWithoutAPseudoGraphTheQuestionIsTheQuery(t *testing.T) {
	for name, options := range map[string]Options{"paper": Paper(), "default": Default()} {
		options.MinConfidence, options.TopK = 0.3, 1
		r := groundLakes(t, "Blue Book author", nil, options)
		if got := subjects(r); len(got) == 0 || got[0] != "Blue Book" {
			t.Fatalf("%s: subjects %q, want Blue Book first", name, got)
		}
		if r.Subjects[0].Facts[0].Pseudo != nil {
			t.Errorf("%s: scores to pseudo-triples although there are none", name)
		}
	}
}

func TestEvidenceIsBounded(t *testing.T) {
	options := Default()
	options.MaxFacts, options.MinConfidence = 3, 0.2
	r := groundLakes(t, "lake country area", []Fact{{Subject: "Lake Superior", Relation: "country", Object: "x"},
		{Subject: "Lake Huron", Relation: "area", Object: "x"}}, options)
	if n := len(evidence(r)); n > max(options.MaxFacts, len(r.Subjects)) {
		t.Errorf("%d facts of %d subjects, want at most %d or one each", n, len(r.Subjects), options.MaxFacts)
	}
	for _, e := range r.Subjects {
		if len(e.Facts) == 0 {
			t.Errorf("%s has no evidence", e.Subject)
		}
	}
}

func TestErrorsOfEveryStepAreReturned(t *testing.T) {
	down := errors.New("down")
	var steps []string
	var mu sync.Mutex
	_, err := Ground(context.Background(), lakes, &storetest.WordEncoder{}, func(ctx context.Context, step string,
		do func(context.Context) (int, error)) error {
		mu.Lock()
		steps = append(steps, step)
		mu.Unlock()
		return runStep(ctx, step, do)
	}, "x", nil, Default())
	if err != nil || len(steps) != 9 {
		t.Fatalf("steps %q, error %v", steps, err)
	}
	for _, failing := range steps {
		_, err := Ground(context.Background(), lakes, &storetest.WordEncoder{}, func(ctx context.Context, step string,
			do func(context.Context) (int, error)) error {
			if step == failing {
				return down
			}
			return runStep(ctx, step, do)
		}, "x", nil, Default())
		if !errors.Is(err, down) {
			t.Errorf("%s fails with %v, want %v", failing, err, down)
		}
	}
}

func TestAnExactNameFindsItsSubject(t *testing.T) {
	pseudo := []Fact{{Subject: "blue BOOK", Relation: "lake area country", Object: "82350"}}
	options := Default()
	options.TopK, options.MaxSubjects = 1, 1
	r := groundLakes(t, "lake area country", pseudo, options)
	if got := subjects(r); !slices.Contains(got, "Blue Book") {
		t.Errorf("subjects %q lack the named one", got)
	}
	options = Paper()
	options.TopK, options.MinConfidence = 1, 0.1
	if got := subjects(groundLakes(t, "lake area country", pseudo, options)); slices.Contains(got, "Blue Book") {
		t.Errorf("subjects %q: the paper searches by meaning alone", got)
	}
}

func TestANamedSubjectUnlikeTheQuestionIsStillDropped(t *testing.T) {
	options := Default()
	options.MinConfidence, options.MinNamed = 0.95, 0.9
	r := groundLakes(t, "lake area", []Fact{{Subject: "Blue Book", Relation: "lake", Object: "area"}}, options)
	for _, d := range r.Dropped {
		if d.Subject == "Blue Book" {
			return
		}
	}
	t.Errorf("subjects %q, want Blue Book among the dropped", subjects(r))
}

func TestFactsAreReadInBothDirections(t *testing.T) {
	g := storetest.NewGraph(
		[3]string{"Seven", "cast member", "Morgan Freeman"}, [3]string{"Wanted", "cast member", "Morgan Freeman"},
		[3]string{"Morgan Freeman", "born in", "Memphis"}, [3]string{"m.0aaaa1", "cast member", "Morgan Freeman"},
	)
	options := Default()
	options.TopK, options.MaxGap = 1, 2
	r, err := Ground(context.Background(), g, &storetest.WordEncoder{}, runStep, "Morgan Freeman born",
		[]Fact{{Subject: "Morgan Freeman", Relation: "born in", Object: "x"}}, options)
	if err != nil {
		t.Fatal(err)
	}
	if got := subjects(r); !slices.Equal(got, []string{"Morgan Freeman"}) {
		t.Fatalf("subjects %q, want Morgan Freeman alone", got)
	}
	want := []string{"Morgan Freeman | born in | Memphis", "Seven | cast member | Morgan Freeman",
		"Wanted | cast member | Morgan Freeman"}
	got := evidence(r)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("evidence %q, want %q", got, want)
	}
}

func TestFactsOfNamedSubjectsAreShownFirst(t *testing.T) {
	options := Default()
	options.MaxFacts, options.MinConfidence = 4, 0.2
	shown := func(bonus float32) int {
		options.NamedBonus = bonus
		r := groundLakes(t, "the superior lake, its country, area and outflow",
			[]Fact{{Subject: "Lake Huron", Relation: "area", Object: "x"}}, options)
		for _, e := range r.Subjects {
			if e.Subject == "Lake Huron" {
				return len(e.Facts)
			}
		}
		return 0
	}
	if without, with := shown(0), shown(1); with <= without {
		t.Errorf("%d facts of the named subject without a bonus and %d with one", without, with)
	}
}

func TestAnEntityThatTheQuestionNamesIsASubject(t *testing.T) {
	options := Default()
	options.MaxSubjects = 1
	r := groundLakes(t, "what is the area of Lake Huron",
		[]Fact{{Subject: "Lake Superior", Relation: "area", Object: "x"}}, options)
	for _, name := range []string{"Lake Huron", "Lake Superior"} {
		if !slices.Contains(subjects(r), name) {
			t.Errorf("subjects %q lack %s", subjects(r), name)
		}
	}
}

func TestRelationScoreIgnoresTheNamesInTheQuestion(t *testing.T) {
	r := groundLakes(t, "Lake Superior area", nil, Default())
	scores := map[string]float32{}
	for _, e := range r.Subjects {
		for _, f := range e.Facts {
			if f.Subject == "Lake Superior" {
				scores[f.Relation] = f.RelationScore
			}
		}
	}
	// The words that remain are those of the relation itself.
	if scores["area"] < 0.99 || scores["country"] > scores["area"]-0.2 {
		t.Errorf("the relations score %v", scores)
	}
}

func TestATopicThatIsNoSubjectShowsWhatLeadsToIt(t *testing.T) {
	options := Default()
	options.MinConfidence, options.MinNamed = 0.99, 0.01
	guess := []Fact{{Subject: "John Doe", Relation: "writer", Object: "Red Novel"}}
	for _, tt := range []struct {
		name, question string
		want           []string
	}{
		{"of the topic", "Who is by St. Marys River?", []string{"Lake Superior | outflow | St. Marys River"}},
		{"of another", "Which novel is by Bea?", nil},
		{"each of a list", "What is in the United States?", []string{"Lake Superior | country | United States",
			"Lake Erie | country | United States"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := evidence(groundLakes(t, tt.question, guess, options)); !slices.Equal(got, tt.want) {
				t.Errorf("evidence %q, want %q", got, tt.want)
			}
		})
	}
}
