package load_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

const prefixes = `
@rdfs http://www.w3.org/2000/01/rdf-schema#
@skos http://www.w3.org/2004/02/skos/core#
@schema http://schema.org/
@xsd http://www.w3.org/2001/XMLSchema#
@wd http://www.wikidata.org/entity/
@wdt http://www.wikidata.org/prop/direct/
@ex http://example.org/
`

// nt expands <prefix:name> so that the cases below stay short.
func nt(text string) string {
	for line := range strings.SplitSeq(strings.TrimSpace(prefixes), "\n") {
		short, long, _ := strings.Cut(strings.TrimPrefix(line, "@"), " ")
		text = strings.ReplaceAll(text, "<"+short+":", "<"+long)
	}
	return text
}

func TestNTriples(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"an IRI without a label is shown by its last part": {
			`<ex:Barack_Obama> <ex:birthPlace> <http://example.org/x#Honolulu> .`,
			[]string{"Barack Obama | birthPlace | Honolulu"}},
		"percent signs in it are resolved": {
			`<ex:S%C3%A3o_Paulo> <ex:in> <ex:100%> .`,
			[]string{"São Paulo | in | 100%"}},
		"an IRI without a last part is shown whole": {
			`<ex:a> <ex:in> <http://example.org/> .`,
			[]string{"a | in | example.org"}},
		"labels name entities and relations and are no facts": {
			`<ex:Q1> <ex:P1> <ex:Q2> .
			 <ex:Q1> <rdfs:label> "Paris"@en .
			 <ex:Q2> <skos:prefLabel> "France" .
			 <ex:P1> <schema:name> "capital of"@en-gb .`,
			[]string{"Paris | capital of | France"}},
		"English goes before no language before another one": {
			`<ex:Q1> <ex:is> <ex:Q2> .
			 <ex:Q1> <rdfs:label> "Wien"@de .
			 <ex:Q1> <rdfs:label> "Vienna"@en .
			 <ex:Q1> <rdfs:label> "Vienne"@fr .
			 <ex:Q2> <rdfs:label> "Stadt"@de .
			 <ex:Q2> <rdfs:label> "city" .`,
			[]string{"Vienna | is | city"}},
		"another language is better than none": {
			`<ex:Q1> <ex:is> <ex:Q2> .
			 <ex:Q1> <rdfs:label> "Wien"@de .`,
			[]string{"Wien | is | Q2"}},
		"rdfs:label goes before other names": {
			`<ex:Q1> <ex:is> <ex:Q2> .
			 <ex:Q1> <schema:name> "third"@en .
			 <ex:Q1> <skos:prefLabel> "second"@en .
			 <ex:Q1> <rdfs:label> "first"@en .`,
			[]string{"first | is | Q2"}},
		"two IRIs of one label stay two": {
			`<ex:Q90> <ex:in> <ex:Q142> .
			 <ex:Q830149> <ex:in> <ex:Q1439> .
			 <ex:Q90> <rdfs:label> "Paris"@en .
			 <ex:Q830149> <rdfs:label> "Paris"@en .`,
			[]string{"Paris (Q830149) | in | Q1439", "Paris (Q90) | in | Q142"}},
		"two IRIs of one label and one last part stay two": {
			`<http://a.org/x> <ex:in> <http://b.org/x> .`,
			[]string{"x (x) (http://a.org/x) | in | x (x) (http://b.org/x)"}},
		"a Wikidata property is named by its entity": {
			`<wd:Q64> <wdt:P36> <wd:Q183> .
			 <wd:P36> <rdfs:label> "capital"@en .`,
			[]string{"Q64 | capital | Q183"}},
		"literals are shown by their text": {
			`<ex:a> <ex:height> "1.5"^^<xsd:decimal> .
			 <ex:a> <ex:motto> "Fluctuat\nnec \"mergitur\"\u00e9"@la .`,
			[]string{`a | height | 1.5`, `a | motto | Fluctuat nec "mergitur"é`}},
		"a literal and an entity of one name are one": {
			`<ex:a> <ex:knows> <ex:b> .
			 <ex:c> <ex:says> "b" .`,
			[]string{"a | knows | b", "c | says | b"}},
		"blank nodes are nodes": {
			`_:b0 <ex:spouse> <ex:x> .
			 <ex:y> <ex:marriage> _:b0.`,
			[]string{"_:b0 | spouse | x", "y | marriage | _:b0"}},
		"comments and spaces are passed over": {
			"# a comment\n  <ex:a>\t<ex:is>   <ex:b>.  # another\n   # a third",
			[]string{"a | is | b"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := loadTexts(t, load.Options{}, input{"x.nt", nt(c.text)})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestLabelsAndBlankNodesOfSeveralFiles(t *testing.T) {
	got, _, err := loadTexts(t, load.Options{},
		input{"facts.nt", nt("<ex:Q1> <ex:is> <ex:Q2> .\n_:b <ex:is> <ex:Q2> .\n")},
		input{"labels.nt", nt("<ex:Q1> <rdfs:label> \"one\"@en .\n_:b <ex:is> <ex:Q3> .\n")})
	want := []string{"_:b | is | Q2", "_:f2.b | is | Q3", "one | is | Q2"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, error %v, want %q", got, err, want)
	}
}

func TestOtherNamesBecomeAliases(t *testing.T) {
	graphs := embedded.New(t.TempDir())
	defer graphs.Close()
	l := load.New(load.Options{KG: "test"})
	text := nt(`<ex:Q1> <ex:is> <ex:Q2> .
<ex:Q1> <rdfs:label> "New York City"@en .
<ex:Q1> <skos:altLabel> "Big Apple"@en .
<ex:Q1> <skos:altLabel> "Großer Apfel"@de .
<ex:Q1> <schema:name> "NYC" .
<ex:Q9> <skos:altLabel> "Nobody"@en .
`)
	if err := l.Read(t.Context(), "x.nt", load.DetectFormat, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Finish(t.Context(), graphs, storetest.HashEncoder(8)); err != nil {
		t.Fatal(err)
	}
	s, err := graphs.Open(t.Context(), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	for key, want := range map[string]bool{"big apple": true, "nyc": true, "new york city": true,
		"grosser apfel": false, "nobody": false, "q1": false} {
		ids, err := s.Match(t.Context(), key)
		if err != nil || len(ids) > 1 || (len(ids) == 1 && s.EntityName(ids[0]) == "New York City") != want {
			t.Errorf("%q names %v, error %v, want %v", key, ids, err, want)
		}
	}
	if n := s.Info().Entities; n != 2 {
		t.Errorf("%d entities, want 2", n)
	}
}
