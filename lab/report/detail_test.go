package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/report/reporttest"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func section(t *testing.T, v View, title string) DetailSection {
	t.Helper()
	for _, s := range v.Sections {
		if s.Title == title {
			return s
		}
	}
	t.Fatalf("there is no section %q", title)
	return DetailSection{}
}

func TestPgAkvShowsItsGraphs(t *testing.T) {
	q := reporttest.Question(7)
	v := NewView(reporttest.PgAkv(q, reporttest.InAnswer, 30), q.Answers)
	if s := section(t, v, "Pseudo-graph"); !strings.HasPrefix(s.Code, "CREATE") || strings.Join(s.Rows[0].Triple,
		"|") != "Thing|same as|Draft" {
		t.Errorf("pseudo-graph is %+v", s)
	}
	hits := section(t, v, "Hits")
	if len(hits.Rows) != maxHits+1 || hits.Rows[maxHits].Text != "and 10 more" {
		t.Errorf("%d hits, the last %+v", len(hits.Rows), hits.Rows[len(hits.Rows)-1])
	}
	if first := hits.Rows[0]; first.Gold != End || *first.Score != 0.88 {
		t.Errorf("the first hit is %+v", first)
	}
	if s := section(t, v, "Ground graph"); s.Rows[0].Kind != Subject || len(s.Rows[0].Rows) != 1 ||
		!strings.Contains(s.Note, "29 dropped") {
		t.Errorf("ground graph is %+v", s)
	}
	edit := section(t, v, "Edits").Rows[0]
	if edit.Kind != Replace || edit.Rows[0].Kind != Delete || edit.Rows[1].Label != "evidence" {
		t.Errorf("edit is %+v", edit)
	}
	if s := section(t, v, "Fixed graph"); s.Rows[0].Kind != Right {
		t.Errorf("fixed graph is %+v", s)
	}
	if len(v.Answers) != 1 || v.Answers[0].Gold != Whole || len(v.Answers[0].Rows) != 1 {
		t.Errorf("answers are %+v", v.Answers)
	}
}

func TestGerShowsPathsCandidatesAndVerdicts(t *testing.T) {
	q := reporttest.Question(7)
	run := reporttest.Ger(q, []string{"Answer 7", "Other"}, []string{"Answer 7"}, []string{"Answer 7"})
	v := NewView(run, q.Answers)
	walk := section(t, v, "Reasoning paths").Rows[0]
	if strings.Join(walk.Path, "|") != "Thing|←same as|Answer 7" || walk.Gold != End {
		t.Errorf("the first walk is %+v", walk)
	}
	if s := section(t, v, "Candidates"); s.Rows[0].Gold != Whole || s.Rows[0].Kind != Plain {
		t.Errorf("candidates are %+v", s)
	}
}

func TestOtherMethodsShowWhatTheyMade(t *testing.T) {
	walk := &graphv1.ReasoningPath{Entities: []string{"A", "B"}, Steps: []*graphv1.RelationStep{{Relation: "r"}}}
	hit := &graphv1.ScoredTriple{Triple: &graphv1.Triple{Subject: "A", Relation: "r", Object: "B", KgName: "freebase"},
		Score: .5}
	tests := []struct {
		name     string
		run      *orchestratorv1.Run
		sections string
	}{
		{"rag shows its hits", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{
			Hits: []*graphv1.ScoredTriple{hit}}}}, "Hits"},
		{"sc shows its samples", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Sc{Sc: &orchestratorv1.ScGraphs{
			Samples: []*orchestratorv1.Sample{{Text: "B", Answers: []string{"B"}}}}}}, "Samples"},
		{"tog shows each hop", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Tog{Tog: &orchestratorv1.TogGraphs{
			Depths:         []*orchestratorv1.TogDepth{{Probability: new(float32(.5))}, {Sufficient: true}},
			ReasoningPaths: []*graphv1.ReasoningPath{walk}}}}, "Topic entities, Hop 1, Hop 2, Reasoning paths"},
		{"rog shows its plans", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Rog{Rog: &orchestratorv1.RogGraphs{
			ReasoningPaths: []*graphv1.ReasoningPath{walk}}}},
			"Topic entities, Planned relation paths, Relation paths, Reasoning paths"},
		{"auto shows its choice and the chosen method's graphs",
			&orchestratorv1.Run{Choice: &orchestratorv1.Choice{Method: "ger", Reason: "two hops"},
				Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{}}},
			"Choice, Topic entities, Relation paths, Reasoning paths, Candidates"},
		{"io has no graphs", &orchestratorv1.Run{}, ""},
		{"an empty message of graphs is no panic",
			&orchestratorv1.Run{Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
				Edits: []*graphv1.Edit{{}}}}}, "Pseudo-graph, Edits"},
		{"conflicts are shown", &orchestratorv1.Run{Conflicts: []*orchestratorv1.Conflict{{Subject: "A", Relation: "r",
			Triples: []*graphv1.Triple{hit.GetTriple()}}}}, "Conflicts"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var titles []string
			for _, s := range NewView(test.run, []string{"B"}).Sections {
				titles = append(titles, s.Title)
			}
			if got := strings.Join(titles, ", "); got != test.sections {
				t.Errorf("sections are %q, want %q", got, test.sections)
			}
		})
	}
}

func TestClip(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"what is short stays", "name", "name"},
		{"what is long says how long it was", strings.Repeat("n", 10_000), strings.Repeat("n", maxName) +
			"… (10000 characters)"},
		{"a letter is not cut in two", strings.Repeat("n", maxName-1) + "öö",
			strings.Repeat("n", maxName-1) + fmt.Sprintf("… (%d characters)", maxName+1)},
		{"what is no UTF-8 is replaced", "a\xffb", "a�b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := clip(test.text, maxName); got != test.want {
				t.Errorf("clipped to %q, want %q", got, test.want)
			}
		})
	}
}

func TestPacksHoldEveryViewWhereItWasPut(t *testing.T) {
	var p Packer
	const views = 2*PackSize + 3
	places := make([]Place, views)
	for i := range places {
		var err error
		if places[i], err = p.Add(View{Text: fmt.Sprintf("</script> view %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	packs, err := p.Packs()
	if err != nil {
		t.Fatal(err)
	}
	if len(packs) != 3 {
		t.Fatalf("%d packs, want 3", len(packs))
	}
	for i, place := range places {
		if got := unpackViews(t, packs[place.Pack])[place.Index].Text; got != fmt.Sprintf("</script> view %d", i) {
			t.Errorf("view %d is %q", i, got)
		}
	}
}

func unpackViews(t *testing.T, pack string) []View {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(pack)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	var views []View
	if err := json.Unmarshal(text, &views); err != nil {
		t.Fatal(err)
	}
	return views
}
