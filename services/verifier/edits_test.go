package verifier_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	"github.com/triplemesh/triplemesh/services/verifier"
	"github.com/triplemesh/triplemesh/services/verifier/align"
)

// model answers with its texts by turns, the last one for ever.
type model struct {
	texts []string
	asked []llm.Request
}

func (m *model) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	m.asked = append(m.asked, req)
	text := m.texts[min(len(m.asked), len(m.texts))-1]
	if text == "spent" {
		return llm.Response{}, llm.ErrBudget
	}
	return llm.Response{Text: text}, nil
}

var (
	drafts = &graphv1.PseudoGraph{Triples: []*graphv1.Triple{triple("H", "director", "Holm"),
		triple("H", "genre", "comedy")}}
	pool = []*graphv1.ScoredTriple{
		{Triple: triple("H", "genre", "drama"), PseudoTripleScores: []float32{.1, .8}},
		{Triple: triple("Erik", "born in", "Bergen")},
		{Triple: triple("H", "directed by", "Erik"), PseudoTripleScores: []float32{.9, .1}},
	}
	aligned = align.Align("", drafts, &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Triples: pool}}},
		align.Config{MinSimilarity: .4, MaxTriples: 9})
)

func edit(t *testing.T, m *model) ([]string, align.Alignment, error) {
	t.Helper()
	got, _, err := verifier.NewEditor(m, 32).Edit(t.Context(), "who directed H", drafts, pool, aligned,
		llm.NewLedger(nil))
	var steps []string
	for _, e := range got.Edits {
		steps = append(steps, strings.ToLower(strings.TrimPrefix(e.GetKind().String(), "EDIT_KIND_"))+" "+
			e.GetBefore().GetObject()+" "+e.GetAfter().GetObject())
		if len(e.GetEvidence()) == 0 && e.GetKind() != graphv1.EditKind_EDIT_KIND_KEEP &&
			e.GetKind() != graphv1.EditKind_EDIT_KIND_DELETE {
			t.Errorf("an edit names no evidence: %v", e)
		}
	}
	return steps, got, err
}

func TestEdit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"drafts are replaced, deleted and added to by number",
			`{"edits":[{"draft":1,"action":"replace","evidence":3},{"draft":2,"action":"delete","evidence":1}],` +
				`"add":[2]}`,
			[]string{"replace Holm Erik", "delete comedy ", "add  Bergen"}},
		{"a kept draft is unverified where evidence says otherwise",
			`{"edits":[{"draft":1,"action":"keep","evidence":3},{"draft":2,"action":"keep","evidence":0}],"add":[]}`,
			[]string{"keep Holm Holm", "keep comedy comedy"}},
		{"a replacement by no evidence leaves the draft to the alignment",
			`{"edits":[{"draft":1,"action":"replace","evidence":0},{"draft":2,"action":"replace","evidence":1}],` +
				`"add":[]}`,
			[]string{"replace Holm Erik", "replace comedy drama"}},
		{"what stands already is not added",
			`{"edits":[{"draft":1,"action":"replace","evidence":3},{"draft":2,"action":"delete","evidence":0}],` +
				`"add":[3,2,2]}`,
			[]string{"replace Holm Erik", "delete comedy ", "add  Bergen"}},
		{"no evidence pointed at leaves drafts unverified",
			`{"edits":[{"draft":1,"action":"keep","evidence":0},{"draft":2,"action":"keep","evidence":0}],"add":[]}`,
			[]string{"keep Holm Holm", "keep comedy comedy"}},
		{"all evidence pointed at is added once each, unless it stands",
			`{"edits":[{"draft":1,"action":"replace","evidence":3},{"draft":2,"action":"replace","evidence":1}],` +
				`"add":[1,2,3]}`,
			[]string{"replace Holm Erik", "replace comedy drama", "add  Bergen"}},
		{"of two words on a draft the last counts",
			`{"edits":[{"draft":1,"action":"delete","evidence":0},{"draft":1,"action":"replace","evidence":3}],` +
				`"add":[]}`,
			[]string{"replace Holm Erik", "replace comedy drama"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := edit(t, &model{texts: []string{c.text}})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestNumbersOutOfRangeAreRefusedAndAskedForAgain(t *testing.T) {
	m := &model{texts: []string{
		`{"edits":[{"draft":7,"action":"replace","evidence":99},{"draft":2,"action":"delete","evidence":0}],` +
			`"add":[-1]}`,
		`{"edits":[{"draft":1,"action":"delete","evidence":0},{"draft":2,"action":"delete","evidence":0}],"add":[]}`,
	}}
	got, fixed, err := edit(t, m)
	if err != nil || !slices.Equal(got, []string{"delete Holm ", "delete comedy "}) {
		t.Errorf("got %q, %v", got, err)
	}
	if len(m.asked) != 2 || len(fixed.FixedGraph.GetTriples()) != 0 {
		t.Errorf("asked %d times, fixed graph %v", len(m.asked), fixed.FixedGraph)
	}
}

func TestWithoutEvidenceDraftsAreKeptUnverifiedOrDeleted(t *testing.T) {
	m := &model{texts: []string{
		`{"edits":[{"draft":1,"action":"keep","evidence":0},{"draft":2,"action":"delete","evidence":0}],"add":[]}`}}
	none := align.Align("", drafts, &graphv1.GroundGraph{}, align.Config{MinSimilarity: .4, MaxTriples: 9})
	got, _, err := verifier.NewEditor(m, 32).Edit(t.Context(), "who directed H", drafts, nil, none, llm.NewLedger(nil))
	if err != nil || len(got.Edits) != 2 || got.Edits[0].GetKind() != graphv1.EditKind_EDIT_KIND_KEEP ||
		got.Edits[1].GetKind() != graphv1.EditKind_EDIT_KIND_DELETE {
		t.Fatalf("got %v, %v", got.Edits, err)
	}
	for _, f := range got.FixedGraph.GetTriples() {
		if f.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
			t.Errorf("supported by nothing: %v", f)
		}
	}
}

func TestOutputThatCannotBeReadIsUnusable(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  error
	}{
		{"prose twice", []string{"I would keep both."}, llm.ErrUnusable},
		{"no budget to ask again", []string{"prose", "spent"}, llm.ErrUnusable},
		{"no budget to ask at all", []string{"spent"}, llm.ErrBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := edit(t, &model{texts: c.texts}); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestEvidenceThatIsNotShownIsNotPointedAt(t *testing.T) {
	m := &model{texts: []string{"spent"}}
	_, _, err := verifier.NewEditor(m, 32).Edit(t.Context(), "q", drafts, pool[:1], aligned,
		llm.NewLedger(&llmv1.Limits{}))
	if !errors.Is(err, llm.ErrBudget) {
		t.Fatal(err)
	}
	last := m.asked[0].Messages[len(m.asked[0].Messages)-1].Content
	if strings.Contains(last, "nearest evidence 0") || !strings.Contains(last, "nearest evidence 1") {
		t.Errorf("the prompt is %q", last)
	}
}
