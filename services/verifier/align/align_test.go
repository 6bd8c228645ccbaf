package align_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier/align"
)

var defaults = align.Config{MinSimilarity: 0.4, Added: 1, MaxTriples: 10}

func triple(s, r, o string) *graphv1.Triple {
	return &graphv1.Triple{Subject: s, Relation: r, Object: o}
}

func during(t *graphv1.Triple, start, end string) *graphv1.Triple {
	t.Validity = &graphv1.ValidityInterval{Start: start, End: end}
	return t
}

// withScores is evidence with its cosine to the question and to each draft.
func withScores(t *graphv1.Triple, question float32, drafts ...float32) *graphv1.ScoredTriple {
	return &graphv1.ScoredTriple{Triple: t, QuestionScore: question, PseudoTripleScores: drafts}
}

func ground(triples ...*graphv1.ScoredTriple) *graphv1.GroundGraph {
	return &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Triples: triples}}}
}

func pseudo(triples ...*graphv1.Triple) *graphv1.PseudoGraph {
	return &graphv1.PseudoGraph{Triples: triples}
}

// steps shows edits as "replace A -> B".
func steps(edits []*graphv1.Edit) []string {
	verbs := map[graphv1.EditKind]string{
		graphv1.EditKind_EDIT_KIND_KEEP: "keep", graphv1.EditKind_EDIT_KIND_REPLACE: "replace",
		graphv1.EditKind_EDIT_KIND_ADD: "add", graphv1.EditKind_EDIT_KIND_DELETE: "delete",
	}
	var out []string
	for _, e := range edits {
		s := verbs[e.GetKind()]
		if e.GetBefore() != nil {
			s += " " + e.GetBefore().GetObject()
		}
		if e.GetAfter() != nil {
			s += " -> " + e.GetAfter().GetObject()
		}
		out = append(out, s)
	}
	return out
}

// graph shows a fixed graph's objects, unverified ones with a question mark.
func graph(g *graphv1.FixedGraph) []string {
	var out []string
	for _, t := range g.GetTriples() {
		s := t.GetTriple().GetObject()
		if t.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED {
			s += "?"
		}
		out = append(out, s)
	}
	return out
}

func TestAlign(t *testing.T) {
	mayors := []*graphv1.ScoredTriple{
		withScores(during(triple("V", "mayor", "Reik"), "2006", ""), .5, .6),
		withScores(during(triple("V", "mayor", "Brandt"), "1998", "2006"), .6, .9),
		withScores(during(triple("V", "mayor", "Ano"), "1990", "1998"), .4, .5),
	}
	for _, c := range []struct {
		name   string
		drafts *graphv1.PseudoGraph
		ground *graphv1.GroundGraph
		cfg    align.Config
		edits  []string
		graph  []string
	}{
		{"the nearest evidence replaces a draft",
			pseudo(triple("H", "directed by", "Holm")),
			ground(withScores(triple("H", "genre", "drama"), .1, .5), withScores(triple("H", "director", "Erik"), .3,
				.8)),
			align.Config{MinSimilarity: .4, MaxTriples: 10},
			[]string{"replace Holm -> Erik"}, []string{"Erik"}},
		{"evidence that says the same in other letters keeps a draft, spelt as the evidence",
			pseudo(triple("h", "DIRECTED_BY", "ERIK")),
			ground(withScores(triple("H", "directed by", "Erik"), .3, 1)), defaults,
			[]string{"keep ERIK -> Erik"}, []string{"Erik"}},
		{"a draft without near evidence stays unverified",
			pseudo(triple("X", "r", "Y")),
			ground(withScores(triple("H", "director", "Erik"), .3, .39)), align.Config{MinSimilarity: .4,
				MaxTriples: 10},
			[]string{"keep Y -> Y"}, []string{"Y?"}},
		{"unverified drafts stand farther from the question than evidence",
			pseudo(triple("H", "director", "Holm"), triple("X", "r", "Y")),
			ground(withScores(triple("H", "director", "Erik"), .3, .8, .1)), defaults,
			[]string{"replace Holm -> Erik", "keep Y -> Y"}, []string{"Y?", "Erik"}},
		{"evidence nearest to the question is added",
			pseudo(triple("H", "director", "Holm")),
			ground(withScores(triple("H", "director", "Erik"), .3, .8), withScores(triple("E", "born", "Bergen"), .9,
				.1),
				withScores(triple("E", "died", "Oslo"), .2, .1)), defaults,
			[]string{"replace Holm -> Erik", "add -> Bergen"}, []string{"Erik", "Bergen"}},
		{"a list is kept together",
			pseudo(triple("V", "river", "Tessen")),
			ground(withScores(triple("V", "river", "Orla"), .5, .7), withScores(triple("V", "area", "9"), .6, .1),
				withScores(triple("V", "river", "Elde"), .4, .6)),
			align.Config{MinSimilarity: .4, MaxTriples: 10},
			[]string{"replace Tessen -> Orla", "add -> Elde"}, []string{"Elde", "Orla"}},
		{"of a fact that changed over time the last counts and stands last",
			pseudo(triple("V", "mayor", "Holm")), ground(mayors...), align.Config{MinSimilarity: .4, MaxTriples: 10},
			[]string{"replace Holm -> Reik", "add -> Brandt", "add -> Ano"}, []string{"Ano", "Brandt", "Reik"}},
		{"the bound holds for what is added",
			pseudo(triple("V", "mayor", "Holm")), ground(mayors...), align.Config{MinSimilarity: .4, MaxTriples: 2},
			[]string{"replace Holm -> Reik", "add -> Brandt"}, []string{"Brandt", "Reik"}},
		{"two drafts may give way to one triple",
			pseudo(triple("H", "director", "Holm"), triple("H", "directed by", "Lund")),
			ground(withScores(triple("H", "director", "Erik"), .3, .8, .8)), defaults,
			[]string{"replace Holm -> Erik", "replace Lund -> Erik"}, []string{"Erik"}},
		{"a triple that stands under two subjects counts once",
			pseudo(), ground(withScores(triple("H", "director", "Erik"), .3),
				withScores(triple("H", "director", "Erik"), .3)),
			defaults,
			[]string{"add -> Erik"}, []string{"Erik"}},
		{"evidence scored for fewer drafts than there are is near to none of the rest",
			pseudo(triple("A", "r", "B"), triple("C", "r", "D")),
			ground(withScores(triple("A", "r", "Z"), .3, .8)), defaults,
			[]string{"replace B -> Z", "keep D -> D"}, []string{"D?", "Z"}},
		{"a cosine that is no number is near to nothing",
			pseudo(triple("A", "r", "B")),
			ground(withScores(triple("A", "r", "Z"), .3, float32(math.NaN())),
				withScores(triple("A", "s", "Y"), .1, .5)),
			align.Config{MinSimilarity: .4, MaxTriples: 10},
			[]string{"replace B -> Y"}, []string{"Y"}},
		{"a draft that stands twice is unverified once",
			pseudo(triple("A", "r", "B"), triple("A", "r", "B")), nil, defaults,
			[]string{"keep B -> B", "keep B -> B"}, []string{"B?"}},
		{"what evidence says is supported, though a draft that says it too was near to none",
			pseudo(triple("A", "r", "B"), triple("A", "r", "C")),
			ground(withScores(triple("A", "r", "B"), .3, .1, .8)), defaults,
			[]string{"keep B -> B", "replace C -> B"}, []string{"B"}},
		{"with no ground graph every draft stays unverified",
			pseudo(triple("A", "r", "B")), nil, defaults, []string{"keep B -> B"}, []string{"B?"}},
		{"with no pseudo-graph what is nearest to the question is added",
			nil, ground(withScores(triple("A", "r", "B"), .3)), defaults, []string{"add -> B"}, []string{"B"}},
		{"with neither there is nothing", nil, nil, defaults, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := align.Align("", c.drafts, c.ground, c.cfg)
			if edits := steps(got.Edits); !slices.Equal(edits, c.edits) {
				t.Errorf("edits %q, want %q", edits, c.edits)
			}
			if g := graph(got.FixedGraph); !slices.Equal(g, c.graph) {
				t.Errorf("fixed graph %q, want %q", g, c.graph)
			}
		})
	}
}

// An answer that is a text tells all that is known of what it is about.
func TestAlignWhole(t *testing.T) {
	evidence := ground(
		withScores(triple("Velmora", "river", "Tessen"), .9, .8), withScores(triple("Velmora", "river", "Orla"), .8,
			.1),
		withScores(triple("Velmora", "area", "9"), .3, .1), withScores(triple("Velmora", "mayor", "Reik"), .2, .1),
		withScores(triple("Harn", "twin", "Velmora"), .7, .1), withScores(triple("Harn", "area", "8"), .5, .95),
		withScores(triple("Old Velmora", "founded", "1200"), .25, .1),
	)
	for _, c := range []struct {
		name, question string
		drafts         *graphv1.PseudoGraph
		cfg            align.Config
		graph          []string
	}{
		{"all that is said of the subject asked about is added, the nearest last", "Tell me about Velmora.", nil,
			align.Config{Added: 1, MaxTriples: 10, AllFacts: true}, []string{"Reik", "9", "Orla", "Tessen"}},
		{"what replaces a draft stands beside it", "Tell me about Velmora.", pseudo(triple("Harn", "area", "7")),
			align.Config{MinSimilarity: .4, NameWeight: .3, MaxTriples: 10, AllFacts: true},
			[]string{"8", "Reik", "9", "Orla", "Tessen"}},
		{"the bound leaves out what is farthest", "Tell me about Velmora.", nil,
			align.Config{MaxTriples: 2, AllFacts: true}, []string{"Orla", "Tessen"}},
		{"where the question names no subject, the nearest one is told of", "Tell me about the town on the two rivers.",
			nil,
			align.Config{MaxTriples: 10, AllFacts: true}, []string{"Reik", "9", "Orla", "Tessen"}},
		{"of several subjects named all are told of", "Tell me about Velmora and Harn.", nil,
			align.Config{MaxTriples: 10, AllFacts: true}, []string{"Reik", "9", "8", "Velmora", "Orla", "Tessen"}},
		{"of names within names the longest is asked for", "Tell me about Old Velmora.", nil,
			align.Config{MaxTriples: 10, AllFacts: true}, []string{"1200"}},
		{"a name that stands alone too is asked for", "Tell me about Old Velmora and Velmora.", nil,
			align.Config{MaxTriples: 10, AllFacts: true}, []string{"Reik", "1200", "9", "Orla", "Tessen"}},
		{"without it the added ones are what is nearest", "Tell me about Velmora.", nil,
			align.Config{Added: 1, MaxTriples: 10}, []string{"Orla", "Tessen"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if g := graph(align.Align(c.question, c.drafts, evidence, c.cfg).FixedGraph); !slices.Equal(g, c.graph) {
				t.Errorf("fixed graph %q, want %q", g, c.graph)
			}
		})
	}
	if got := align.Align("Tell me about Velmora.", nil, nil,
		align.Config{MaxTriples: 10, AllFacts: true}); len(got.Edits) > 0 {
		t.Errorf("of nothing %d edits were made", len(got.Edits))
	}
}

// Whatever the graphs: one edit for each draft in its order, then additions;
// what is supported is in the ground graph; an edit without evidence is the
// keeping of an unverified draft; the fixed graph is what the edits lead to.
func TestAlignmentHoldsForAnyGraphs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	name := func() string { return fmt.Sprint("n", random.IntN(6)) }
	for range 500 {
		g, held := &graphv1.GroundGraph{}, map[string]bool{}
		drafts := pseudo()
		for range random.IntN(5) {
			drafts.Triples = append(drafts.Triples, triple(name(), name(), name()))
		}
		for range random.IntN(3) {
			s := &graphv1.SubjectEvidence{}
			for range random.IntN(8) {
				e := triple(name(), name(), name())
				if random.IntN(2) == 0 {
					during(e, fmt.Sprint(1990+random.IntN(9)), "")
				}
				st := withScores(e, random.Float32())
				for range drafts.Triples {
					st.PseudoTripleScores = append(st.PseudoTripleScores, 2*random.Float32()-1)
				}
				s.Triples = append(s.Triples, st)
				held[align.Key(e)] = true
			}
			g.Subjects = append(g.Subjects, s)
		}
		cfg := align.Config{MinSimilarity: random.Float32(), Added: random.IntN(4), MaxTriples: 1 + random.IntN(6),
			AllFacts: random.IntN(4) == 0}
		got := align.Align("", drafts, g, cfg)

		stands := map[string]bool{}
		for i, e := range got.Edits {
			if i < len(drafts.Triples) && e.GetBefore() != drafts.Triples[i] || i >= len(drafts.Triples) &&
				e.GetKind() != graphv1.EditKind_EDIT_KIND_ADD {
				t.Fatalf("edit %d is %v", i, e)
			}
			if len(e.GetEvidence()) == 0 && e.GetKind() != graphv1.EditKind_EDIT_KIND_KEEP {
				t.Fatalf("edit %d names no evidence: %v", i, e)
			}
			stands[align.Key(e.GetAfter())] = true
		}
		supported := 0
		for _, f := range got.FixedGraph.GetTriples() {
			if f.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
				supported++
				if !held[align.Key(f.GetTriple())] {
					t.Fatalf("supported, but not in the ground graph: %s", kgtext.FormatFact(f.GetTriple()))
				}
			}
			if !stands[align.Key(f.GetTriple())] {
				t.Fatalf("no edit leads to %s", kgtext.FormatFact(f.GetTriple()))
			}
		}
		if most := max(cfg.MaxTriples, len(drafts.Triples)); supported > most {
			t.Fatalf("%d supported triples, want at most %d", supported, most)
		}
	}
}

func TestFromEdits(t *testing.T) {
	a, b := triple("A", "r", "a"), triple("B", "r", "b")
	evidence := []*graphv1.ScoredTriple{{Triple: b}}
	got := align.FromEdits([]*graphv1.Edit{
		{Kind: graphv1.EditKind_EDIT_KIND_REPLACE, Before: a, After: b, Evidence: evidence},
		{Kind: graphv1.EditKind_EDIT_KIND_DELETE, Before: triple("C", "r", "c")},
		{Kind: graphv1.EditKind_EDIT_KIND_KEEP, Before: a, After: a},
		{Kind: graphv1.EditKind_EDIT_KIND_ADD, After: b, Evidence: evidence},
	})
	if g := graph(got.FixedGraph); !slices.Equal(g, []string{"a?", "b"}) {
		t.Errorf("got %q: unverified first, each once, nothing deleted", g)
	}
	if len(got.Edits) != 4 {
		t.Errorf("got %d edits, want all 4", len(got.Edits))
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b *graphv1.Triple
		want bool
	}{
		{"case and spacing do not matter", triple("The  Harbour", "director", "erik"), triple("the harbour", "Director",
			"Erik"), true},
		{"however the relation is written", triple("A", "film.film.directed_by", "B"), triple("A", "directed by", "B"),
			true},
		{"another object is another triple", triple("A", "r", "B"), triple("A", "r", "C"), false},
		{"the other way round is another triple", triple("A", "r", "B"), triple("B", "r", "A"), false},
		{"the time it holds is not said by words", during(triple("A", "r", "B"), "1998", ""), triple("A", "r", "B"),
			true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := align.SameWording(c.a, c.b); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
	if align.Key(during(triple("A", "r", "B"), "1998", "")) == align.Key(triple("A", "r", "B")) {
		t.Error("the key does not tell the time apart")
	}
}

// Names are folded once each, not for every pair of a draft and its evidence.
func TestAlignFoldsNamesOnce(t *testing.T) {
	const size = 200
	allocations := func(drafts int) float64 {
		graph, evidence := pseudo(), &graphv1.SubjectEvidence{}
		for i := range drafts {
			graph.Triples = append(graph.Triples, triple(fmt.Sprint("Draft ", i), "r", "o"))
		}
		for i := range size {
			e := withScores(triple(fmt.Sprint("Subject ", i), "r", fmt.Sprint("Object ", i)), 0.1)
			for range drafts {
				e.PseudoTripleScores = append(e.PseudoTripleScores, 0.1)
			}
			evidence.Triples = append(evidence.Triples, e)
		}
		g := &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{evidence}}
		return testing.AllocsPerRun(3, func() {
			align.Align("who is it", graph, g, align.Config{MinSimilarity: .9, NameWeight: .1, MaxTriples: 1})
		})
	}
	if perDraft := (allocations(33) - allocations(1)) / 32; perDraft > size/4 {
		t.Errorf("%.0f allocations for each draft beside %d triples of evidence", perDraft, size)
	}
}

func TestWhoIsNoDate(t *testing.T) {
	t.Parallel()
	dated := ground(withScores(triple("Orla", "elected", "1998"), .9, .9),
		withScores(triple("Orla", "mayor", "Mara Vell"), .6, .6))
	got := align.Align("Who was elected in Orla?", pseudo(triple("Orla", "elected", "1999")), dated,
		align.Config{MinSimilarity: .4, NameWeight: .3, MaxTriples: 10})
	if objects := graph(got.FixedGraph); !slices.Equal(objects, []string{"1998"}) {
		t.Errorf("a date that was drafted: %v", objects)
	}
	evidence := ground(withScores(triple("Orla", "discovered", "1868-11-17"), .9, .9),
		withScores(triple("Orla", "discoverer", "Mara Vell"), .6, .6))
	for question, want := range map[string]string{"Who discovered Orla?": "Mara Vell",
		"When was Orla discovered?": "1868-11-17"} {
		got := align.Align(question, pseudo(triple("Per Holm", "discovered", "Orla")), evidence,
			align.Config{MinSimilarity: .4, NameWeight: .3, MaxTriples: 10})
		if objects := graph(got.FixedGraph); !slices.Equal(objects, []string{want}) {
			t.Errorf("%q: %v, want %s", question, objects, want)
		}
	}
}

func TestWhoIsNoKindAndNoFlag(t *testing.T) {
	t.Parallel()
	evidence := ground(withScores(triple("Orla", "instance of", "animal"), .9, .9),
		withScores(triple("Orla", "endangered", "yes"), .8, .8),
		withScores(triple("Orla", "keeper", "Per Holm"), .5, .5))
	cfg := align.Config{MinSimilarity: .4, NameWeight: .3, MaxTriples: 10}
	for _, c := range []struct {
		question string
		draft    *graphv1.Triple
		want     string
	}{
		{"Who looks after Orla?", triple("Orla", "looks after", "Amy"), "Per Holm"},
		{"What is Orla?", triple("Orla", "is a", "dog"), "animal"},
		{"Who is Orla?", triple("Orla", "is a", "dog"), "animal"},
	} {
		got := align.Align(c.question, pseudo(c.draft), evidence, cfg)
		if objects := graph(got.FixedGraph); !slices.Equal(objects, []string{c.want}) {
			t.Errorf("%q: %v, want %s", c.question, objects, c.want)
		}
	}
}

func TestTheRelationThatIsAskedForIsNearerUnlessARankerKnows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		draft       string
		probability float32
		want        []string
	}{
		"the question asks for it": {"country", 0, []string{"replace Orla -> leek", "add -> Velmoran"}},
		"the draft says it":        {"recipe cuisine", 0, []string{"replace Orla -> Velmoran"}},
		"a ranker has read facts":  {"recipe cuisine", .4, []string{"replace Orla -> leek"}},
	} {
		of := func(relation, object string, question, draft float32) *graphv1.ScoredTriple {
			e := withScores(triple("Leek Pie", relation, object), question, draft)
			e.Probability = &c.probability
			return e
		}
		got := align.Align("What cuisine is the Leek Pie?", pseudo(triple("Leek Pie", c.draft, "Orla")),
			ground(of("recipeIngredient", "leek", .65, .7), of("recipeCuisine", "Velmoran", .5, .6)), defaults)
		if edits := steps(got.Edits); !slices.Equal(edits, c.want) {
			t.Errorf("%s: got %q, want %q", name, edits, c.want)
		}
	}
}
