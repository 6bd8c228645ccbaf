package rdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

var prefixes = strings.NewReplacer(
	"<rdfs:", "<http://www.w3.org/2000/01/rdf-schema#", "<skos:", "<http://www.w3.org/2004/02/skos/core#", "<schema:",
	"<http://schema.org/",
	"<xsd:", "<http://www.w3.org/2001/XMLSchema#", "<wd:", "<http://www.wikidata.org/entity/", "<wdt:",
	"<http://www.wikidata.org/prop/direct/",
	"<p:", "<http://www.wikidata.org/prop/", "<ps:", "<http://www.wikidata.org/prop/statement/", "<wds:",
	"<http://www.wikidata.org/entity/statement/",
)

func readAll(t *testing.T, in source.Input, text string) (sourcetest.Sink, []string) {
	t.Helper()
	var sink sourcetest.Sink
	var bad []string
	in.Name, in.Reader = "x.nt", strings.NewReader(prefixes.Replace(text))
	in.Bad = func(e *source.PlaceError) error {
		bad = append(bad, e.Error())
		return nil
	}
	if _, err := rdf.Read(t.Context(), in, &sink); err != nil {
		t.Fatal(err)
	}
	sink.Check(t)
	return sink, bad
}

const wd = "http://www.wikidata.org/entity/"

func TestInterpret(t *testing.T) {
	for name, c := range map[string]struct {
		language, text         string
		facts, labels, aliases []string
	}{
		"an IRI is shown by its last part": {"",
			`<http://x.org/Barack_Obama> <http://x.org/ns#birthPlace> <http://x.org/S%C3%A3o_Paulo> .`,
			[]string{"http://x.org/Barack_Obama | http://x.org/ns#birthPlace | http://x.org/S%C3%A3o_Paulo"},
			[]string{"http://x.org/Barack_Obama = Barack Obama #16", "http://x.org/ns#birthPlace = birthPlace #16",
				"http://x.org/S%C3%A3o_Paulo = São Paulo #16"}, nil},
		"labels are no facts, and their language and predicate rank them": {"",
			`<x:q> <rdfs:label> "Vienna"@en .
			 <x:q> <rdfs:label> "Wien"@de .
			 <x:q> <skos:prefLabel> "Vindobona" .
			 <x:q> <schema:name> "Vienna, Austria"@en-gb .`,
			nil, []string{"x:q = Vienna", "x:q = Wien #12", "x:q = Vindobona #9", "x:q = Vienna, Austria #6"},
			[]string{"x:q ~ Vindobona", "x:q ~ Vienna, Austria"}},
		"the language asked for comes first": {"de",
			`<x:q> <rdfs:label> "Vienna"@en .
			 <x:q> <rdfs:label> "Wien"@de .`,
			nil, []string{"x:q = Vienna #12", "x:q = Wien"}, nil},
		"a second name of the best rank is a further one": {"",
			`<x:q> <rdfs:label> "New York City"@en .
			 <x:q> <rdfs:label> "New York"@en .
			 <x:r> <rdfs:label> "Rome"@en .`,
			nil, []string{"x:q = New York City", "x:q = New York", "x:r = Rome"}, []string{"x:q ~ New York"}},
		"other names are taken in good languages": {"",
			`<x:q> <skos:altLabel> "Big Apple"@en .
			 <x:q> <skos:altLabel> "Großer Apfel"@de .`,
			nil, nil, []string{"x:q ~ Big Apple"}},
		"a label that is no text is a fact": {"",
			`<x:q> <rdfs:label> <x:r> .`, []string{"x:q | http://www.w3.org/2000/01/rdf-schema#label | x:r"},
			[]string{"http://www.w3.org/2000/01/rdf-schema#label = label #16"}, nil},
		"a Wikidata property is keyed by its entity wherever it is used": {"",
			`<wd:Q1> <wdt:P36> <wd:Q2> .
			 <wd:Q1> <p:P36> <wds:Q1-7> .
			 <wds:Q1-7> <ps:P36> <wd:Q2> .
			 <wd:P36> <rdfs:label> "capital"@en .`,
			[]string{
				wd + "Q1 | " + wd + "P36 | " + wd + "Q2",
				wd + "Q1 | " + wd + "P36 | " + wd + "statement/Q1-7 (mediator)",
				wd + "statement/Q1-7 (mediator) | " + wd + "P36 | " + wd + "Q2",
			},
			[]string{"http://www.wikidata.org/entity/P36 = P36 #16", "http://www.wikidata.org/entity/P36 = capital",
				"http://www.wikidata.org/entity/Q1 = Q1 #16", "http://www.wikidata.org/entity/Q2 = Q2 #16"}, nil},
		"blank nodes are mediators, in circles too": {"",
			`_:a <x:p> _:b .
			 _:b <x:p> _:a .`,
			[]string{"_:a (mediator) | x:p | _:b (mediator)", "_:b (mediator) | x:p | _:a (mediator)"}, nil, nil},
		"literals keep their kinds": {"",
			`<x:a> <x:p> "+1.50"^^<xsd:decimal> .
			 <x:a> <x:p> "1e6"^^<xsd:double> .
			 <x:a> <x:p> "many"^^<xsd:integer> .
			 <x:a> <x:p> "NaN"^^<xsd:double> .
			 <x:a> <x:p> "1961-08-04T00:00:00Z"^^<xsd:dateTime> .
			 <x:a> <x:p> "1961-08-04T10:30:00Z"^^<xsd:dateTime> .
			 <x:a> <x:p> "-0044"^^<xsd:gYear> .
			 <x:a> <x:p> "--08-04"^^<xsd:gMonthDay> .
			 <x:a> <x:p> "yesterday"^^<xsd:date> .
			 <x:a> <x:p> "true"^^<xsd:boolean> .
			 <x:a> <x:p> "007" .
			 <x:a> <x:p> "82350"^^<http://dbpedia.org/datatype/squareKilometre> .
			 <x:a> <x:p> "POINT(1 2)"^^<http://www.opengis.net/ont/geosparql#wktLiteral> .
			 <x:a> <x:p> "Fluctuat\n\tnec \"mergitur\""@la .`,
			[]string{"x:a | x:p | 1.50 (number)", "x:a | x:p | 1e6 (number)", "x:a | x:p | many (text)",
				"x:a | x:p | NaN (text)", "x:a | x:p | 1961-08-04 (date)",
				"x:a | x:p | 1961-08-04T10:30:00Z (date)", "x:a | x:p | -0044 (date)", "x:a | x:p | --08-04 (text)",
				"x:a | x:p | yesterday (text)", "x:a | x:p | true (text)", "x:a | x:p | 007 (text)",
				"x:a | x:p | 82350 (in http://dbpedia.org/datatype/squareKilometre)", "x:a | x:p | POINT(1 2) (text)",
				`x:a | x:p | Fluctuat nec "mergitur" (text)`},
			[]string{"http://dbpedia.org/datatype/squareKilometre = squareKilometre #16"}, nil},
		"a graph may say when its statements hold, others are left aside": {"",
			`<x:a> <x:p> <x:b> <urn:triplemesh:during:1997-07/2003> .
			 <x:a> <x:p> <x:b> <urn:triplemesh:during:../2003> .
			 <x:a> <x:p> <x:b> <urn:triplemesh:during:once/2003> .
			 <x:a> <x:p> <x:b> <x:graph> .`,
			[]string{"x:a | x:p | x:b [1997-07/2003]", "x:a | x:p | x:b [/2003]", "x:a | x:p | x:b", "x:a | x:p | x:b"},
			nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, bad := readAll(t, source.Input{Language: c.language}, c.text)
			sourcetest.Equal(t, "facts", got.Facts, c.facts)
			sourcetest.Equal(t, "labels", got.Labels, c.labels)
			sourcetest.Equal(t, "aliases", got.Aliases, c.aliases)
			sourcetest.Equal(t, "bad lines", bad, nil)
		})
	}
}

func TestBlankNodesOfSeveralFiles(t *testing.T) {
	got, _ := readAll(t, source.Input{Number: 2}, `_:b <x:p> _:c .`)
	sourcetest.Equal(t, "facts", got.Facts, []string{"_:f2.b (mediator) | x:p | _:f2.c (mediator)"})
}

func TestBadStatements(t *testing.T) {
	long := strings.Repeat("x", source.MaxName+1)
	for text, says := range map[string]string{
		`<x:a> <x:p> "" .`:                                        "the object is empty",
		`<x:a> <x:p> "\n" .`:                                      "the object is empty",
		`<x:a> <rdfs:label> " " .`:                                "the object is empty",
		`<x:a> <x:p> "` + long + `" .`:                            "the object has 65537 bytes",
		`<x:a> <x:p> <x:` + long + `> .`:                          "the object has 65539 bytes",
		`<x:` + long + `> <x:p> "a" .`:                            "the subject has 65539 bytes",
		`<x:a> <x:` + long + `> "a" .`:                            "the predicate has 65539 bytes",
		`<x:a> <x:p> "` + strings.Repeat("10 MB ", 10<<18) + `".`: "the line is longer than 1048576 bytes",
	} {
		got, bad := readAll(t, source.Input{}, "# first\n"+text+"\n<x:a> <x:p> <x:b> .")
		if len(bad) != 1 || !strings.HasPrefix(bad[0], "x.nt:2: "+says) || len(got.Facts) != 1 {
			t.Errorf("%.60s: %.200q, %d facts; want it to say %q", text, bad, len(got.Facts), says)
		}
	}
}

func TestWriteReadRoundTrip(t *testing.T) {
	want := []source.Statement{
		{Subject: source.Term{Key: "x:a"}, Relation: "x:p", Object: source.Term{Key: "x:é"}},
		{Subject: source.Term{Key: "_:m", Kind: store.Mediator}, Relation: "x:p", Object: source.Term{Key: "-1.5",
			Kind: store.Number}},
		{Subject: source.Term{Key: "x:a"}, Relation: "x:p", Object: source.Term{Key: `a "text" \ é`, Kind: store.Text},
			Validity: store.Validity{Start: "1997-07"}},
		{Subject: source.Term{Key: "x:a"}, Relation: "x:p", Object: source.Term{Key: "1997-07-01", Kind: store.Date},
			Validity: store.Validity{Start: "1997", End: "-0044-03-15"}},
		{Subject: source.Term{Key: "x:a"}, Relation: "x:p", Object: source.Term{Key: "82350", Kind: store.Quantity,
			Unit: "x:km2"}},
	}
	var out bytes.Buffer
	w := rdf.NewWriter(&out)
	for _, s := range want {
		if err := w.Statement(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Label("x:a", "tab\tline\nquote\"", 0), w.Alias("x:a", "B\u0001"), w.Flush()); err != nil {
		t.Fatal(err)
	}
	got, bad := readAll(t, source.Input{}, out.String())
	sourcetest.Equal(t, "bad lines", bad, nil)
	for i := range want {
		want[i].Line = uint64(i + 1)
	}
	if fmt.Sprint(got.Raw) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got.Raw, want)
	}
	sourcetest.Equal(t, "labels", got.Labels, []string{`x:a = tab line quote" #8`})
	sourcetest.Equal(t, "aliases", got.Aliases, []string{`x:a ~ tab line quote"`, "x:a ~ B"})
}

func TestWriterRejectsKeysThatAreNotIRIs(t *testing.T) {
	w := rdf.NewWriter(io.Discard)
	good, bad := source.Term{Key: "x:a"}, source.Term{Key: "a b"}
	for name, err := range map[string]error{
		"a subject":  w.Statement(source.Statement{Subject: bad, Relation: "x:p", Object: good}),
		"a relation": w.Statement(source.Statement{Subject: good, Relation: "", Object: good}),
		"an object":  w.Statement(source.Statement{Subject: good, Relation: "x:p", Object: bad}),
		"a unit": w.Statement(source.Statement{Subject: good, Relation: "x:p", Object: source.Term{Key: "1",
			Kind: store.Quantity, Unit: "a b"}}),
		"a label's": w.Label("a b", "c", 0),
	} {
		if err == nil || !strings.Contains(err.Error(), "write N-Quads") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "<http://www.wikidata.org/entity/Q%d> <http://www.wikidata.org/prop/direct/P%d> "+
			"<http://www.wikidata.org/entity/Q%d> .\n", i/10, i%50, i*7919%1_000_003)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		n, err := rdf.Read(b.Context(), source.Input{Name: "x.nt", Reader: strings.NewReader(text.String())}, nothing{})
		if err != nil || n != 100_000 {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.N)*100_000/b.Elapsed().Seconds(), "lines/s")
}

// nothing is a Sink that keeps nothing.
type nothing struct{}

func (nothing) Statement(source.Statement) error { return nil }
func (nothing) Label(string, string, int) error  { return nil }
func (nothing) Alias(string, string) error       { return nil }
