package tests

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// claimReader is a model that extracts a claim from each sentence of a text.
func claimReader(tb testing.TB, claims map[string]string) *testkit.LLM {
	tb.Helper()
	model := testkit.NewLLM(tb)
	model.On(testkit.Task("claims")).ReplyFunc(func(r testkit.Request) string {
		for _, words := range slices.Sorted(maps.Keys(claims)) {
			if strings.Contains(r.LastUser()[strings.Index(r.LastUser(), "Text: "):], words) {
				return claims[words]
			}
		}
		return "none"
	}).Usage(50, 8)
	return model
}

func TestATextIsCheckedAgainstTheKnowledgeGraph(t *testing.T) {
	m := start(t, options{model: claimReader(t, map[string]string{
		"Robert Stam": "Robert Stam | employer | Google", "He was": "Robert Stam | place of birth | Paris",
		"Nobody": "Ronald Stam | employer | Google", "not employed": "Robert Stam | not employer | " + employer,
	})})
	const text = "Robert Stam worked at Google — so they say.\n\nHe was born in Paris. Nobody knows Ronald Stam of " +
		"Google. Robert S. was not employed by " + employer + ". Ah!"
	stream, err := m.orchestrator.CheckStream(t.Context(),
		&orchestratorv1.CheckStreamRequest{Request: &orchestratorv1.CheckRequest{
			Text: text, Kg: &graphv1.KnowledgeGraphRef{Name: wikidata, Snapshot: 1},
		}})
	if err != nil {
		t.Fatal(err)
	}
	var checked *orchestratorv1.Check
	progress := 0
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if event.GetProgress() != nil {
			progress++
		}
		checked = event.GetCheck()
	}
	want := []verifierv1.Verdict{
		verifierv1.Verdict_VERDICT_CONTRADICTED, verifierv1.Verdict_VERDICT_NOT_IN_KG,
		verifierv1.Verdict_VERDICT_NOT_IN_KG, verifierv1.Verdict_VERDICT_CONTRADICTED,
	}
	if len(checked.GetClaims()) != len(want) || progress < 2 {
		t.Fatalf("after %d messages of progress came %v", progress, checked.GetClaims())
	}
	for i, c := range checked.GetClaims() {
		if c.GetVerdict() != want[i] {
			t.Errorf("%s is %v: %s", show(c.GetTriple()), c.GetVerdict(), c.GetReason())
		}
	}
	if first := checked.GetClaims()[0]; len(first.GetEvidence()) != 1 ||
		show(first.GetEvidence()[0].GetTriple()) != "Robert Stam | employer | "+employer {
		t.Errorf("it rests on %v", first.GetEvidence())
	}
	if got := checked.GetCorrectedText(); got != strings.Replace(text, "Google", employer, 1) {
		t.Errorf("corrected to %q", got)
	}
	if len(checked.GetStages()) != 3 || checked.GetUsage().GetCalls() != 5 ||
		!traceID.MatchString(checked.GetTraceId()) {
		t.Errorf("got %v", checked)
	}
}

func TestATextIsCheckedAgainstSeveralKnowledgeGraphs(t *testing.T) {
	m := start(t, options{data: t.TempDir(), model: claimReader(t, map[string]string{
		"Oslo": "Ada Brandt | place of birth | Oslo", "Turku": "Ada Brandt | mother | Turku",
		"from Norway": "Ada Brandt | place of birth | Norway",
	})})
	for kg, facts := range map[string]string{
		"north": "Ada Brandt\tplace of birth\tOslo\nAda Brandt\toccupation\tpainter\n",
		"south": "Ada Brandt\tmother\tEva Brandt\nOslo\tcountry\tNorway\n",
	} {
		if _, err := testkit.LoadTSV(t.Context(), m.graphs, kg, []byte(facts), false); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := m.orchestrator.Check(t.Context(), &orchestratorv1.CheckRequest{
		Text: "Ada Brandt was born in Oslo. Her mother was Turku. Ada Brandt came from Norway.",
		Kg:   &graphv1.KnowledgeGraphRef{Name: "north"}, OtherKgs: []*graphv1.KnowledgeGraphRef{{Name: "south"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	claims := resp.GetCheck().GetClaims()
	if len(claims) != 3 {
		t.Fatalf("got %v", claims)
	}
	if c := claims[2]; c.GetVerdict() != verifierv1.Verdict_VERDICT_SUPPORTED || len(c.GetEvidence()) != 2 ||
		c.GetEvidence()[0].GetTriple().GetKgName() != "north" || c.GetEvidence()[1].GetTriple().GetKgName() != "south" {
		t.Errorf("a country that holds the city is %v", c)
	}
	for i, want := range []struct {
		verdict verifierv1.Verdict
		kg      string
	}{{verifierv1.Verdict_VERDICT_SUPPORTED, "north"}, {verifierv1.Verdict_VERDICT_CONTRADICTED, "south"}} {
		c := claims[i]
		if c.GetVerdict() != want.verdict || len(c.GetEvidence()) == 0 ||
			c.GetEvidence()[0].GetTriple().GetKgName() != want.kg || !strings.Contains(c.GetReason(), want.kg) {
			t.Errorf("%s: got %v", show(c.GetTriple()), c)
		}
	}
	if len(resp.GetCheck().GetOtherKgs()) != 1 {
		t.Errorf("read %v beside %v", resp.GetCheck().GetOtherKgs(), resp.GetCheck().GetKg())
	}
}

func TestCountsAndSuperlativesOfATextAreComputed(t *testing.T) {
	model := claimReader(t, map[string]string{
		"directed two films": "Mara Vell | directed | two films",
		"three films":        "Mara Vell | directed | three films", "one hundred": "Mara Vell | directed | 100 films",
		"at least": "Mara Vell | directed | at least 2 films", "fewer": "Mara Vell | directed | fewer than 3 films",
		"comedies": "Mara Vell | directed | two comedies", "Brisk is": "Orlanda | largest city | Brisk",
		"Tessen": "Tessen | largest city in | Orlanda", "Velmora": "Velmora | is | the largest city in Orlanda",
		"Low Tide": "Low Tide | largest film in | Orlanda", "wrote two": "Mara Vell | wrote | two films",
		"before 1400": "Brisk | was founded before | 1400", "before 1312": "Brisk | founded | before 1312",
		"since 1312": "Brisk | was founded | since 1312", "May 1312": "Brisk | was founded before | May 1312",
		"after 1900": "Tessen | was founded after | 1900", "before 1800": "Salt | was founded before | 1800",
		"one million": "Brisk | population | over 1 million",
		"48,000":      "Tessen | has a population of | at least 48,000",
		"before 1850": "Orla | was founded before | 1850", "2 metres": "Per Holm | height | more than 2 metres",
		"not over 3": "Per Holm | height | over 3 metres", "1,000 feet": "Per Holm | height | over 1,000 feet",
		"200 cm": "Per Holm | height | over 200 cm", "1,000 hours": "Per Holm | height | over 1,000 hours",
		"oldest": "Brisk | is | the oldest", "all of it": "Tessen | is | the largest in Orlanda",
	})
	model.On(testkit.Task("query-plan")).Reply("I cannot say.") // of what rules leave open
	m := start(t, options{data: t.TempDir(), model: model})
	facts := ""
	for _, f := range []string{"Low Tide", "Orla", "Grey Door"} {
		facts += "Mara Vell\tdirected\t" + f + "\n" + f + "\tinstance of\tfilm\n"
	}
	for city, population := range map[string]string{"Brisk": "900,000", "Tessen": "48,000", "Salt": "310,000"} {
		facts += city + "\tinstance of\tcity\n" + city + "\tcountry\tOrlanda\n" + city + "\tpopulation\t" + population +
			"\n"
	}
	facts += "Brisk\tfounded\t1312\nTessen\tfounded\t12 May 1850\nSalt\tfounded\t1790\nSalt\tfounded\t1830\n" +
		"Per Holm\theight\t2.1 metre\n"
	facts += "Velmora\tinstance of\tcity\nVelmora\tcountry\tOrlanda\nOrlanda\tinstance of\tcountry\n"
	if _, err := testkit.LoadTSV(t.Context(), m.graphs, "made", []byte(facts), false); err != nil {
		t.Fatal(err)
	}
	const supported, contradicted, unknown = verifierv1.Verdict_VERDICT_SUPPORTED,
		verifierv1.Verdict_VERDICT_CONTRADICTED, verifierv1.Verdict_VERDICT_NOT_IN_KG
	for _, c := range []struct {
		name, text string
		want       verifierv1.Verdict
		corrected  string
	}{
		{"fewer than the graph lists", "Mara Vell directed two films.", contradicted, ""},
		{"as many as the graph lists", "Mara Vell directed three films.", supported, ""},
		{"more than the graph lists, which may be incomplete", "Mara Vell directed one hundred films.", unknown, ""},
		{"a lower bound", "Mara Vell directed at least 2 films.", supported, ""},
		{"an upper bound that the graph exceeds", "Mara Vell directed fewer than 3 films.", contradicted, ""},
		{"a kind that the graph does not tell apart", "Mara Vell directed two comedies.", unknown, ""},
		{"a relation that the graph lacks", "Mara Vell wrote two films.", unknown, ""},
		{"the best", "The largest city of Orlanda, Brisk is old.", supported, ""},
		{"not the best", "The largest city in Orlanda is Tessen.", contradicted,
			"The largest city in Orlanda is Brisk."},
		{"one without the value", "Velmora is the largest city in Orlanda.", unknown, ""},
		{"a date within a bound", "Brisk was founded before 1400.", supported, ""},
		{"a date beyond a bound", "Brisk was founded before 1312.", contradicted, ""},
		{"since when something is so", "Brisk has stood since 1312.", supported, ""},
		{"a date less precise than its bound", "Brisk was founded before May 1312.", unknown, ""},
		{"a day beyond a bound", "It was founded after 1900.", contradicted, ""},
		{"dates on both sides of a bound", "Salt was founded before 1800.", unknown, ""},
		{"a bound of what has no such value", "Orla was founded before 1850.", unknown, ""},
		{"a number beyond a bound", "Brisk has over one million people.", contradicted, ""},
		{"a number at a bound", "It has 48,000 inhabitants or more.", supported, ""},
		{"a quantity within a bound", "Per Holm is more than 2 metres high.", supported, ""},
		{"a quantity beyond a bound", "He is not over 3 metres high.", contradicted, ""},
		{"a quantity beyond a bound in another unit", "He is over 1,000 feet high.", contradicted, ""},
		{"a quantity within a bound in another unit", "He is over 200 cm high.", supported, ""},
		{"a quantity of another measure", "He is over 1,000 hours high.", unknown, ""},
		{"a superlative of no kind", "Brisk, the oldest.", unknown, ""},
		{"a superlative of no kind in a place", "It is the largest of all of it.", unknown, ""},
		{"a measure that nothing has", "Low Tide is the largest film in Orlanda.", unknown, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := m.orchestrator.Check(t.Context(), &orchestratorv1.CheckRequest{Text: c.text,
				Kg: &graphv1.KnowledgeGraphRef{Name: "made"}})
			if err != nil || len(resp.GetCheck().GetClaims()) != 1 {
				t.Fatalf("got %v, %v", resp, err)
			}
			claim := resp.GetCheck().GetClaims()[0]
			if claim.GetVerdict() != c.want || claim.GetReason() == "" {
				t.Errorf("%v: %s", claim.GetVerdict(), claim.GetReason())
			}
			least := 2
			if strings.Contains(claim.GetReason(), "bound") || strings.Contains(c.text, " since ") {
				least = 1
			}
			if c.want != unknown && len(claim.GetEvidence()) < least {
				t.Errorf("it rests on %v", claim.GetEvidence())
			}
			if got := resp.GetCheck().GetCorrectedText(); c.corrected != "" && got != c.corrected {
				t.Errorf("corrected to %q", got)
			}
		})
	}
}
