package rdf_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

const integer = "http://www.w3.org/2001/XMLSchema#integer"

func TestParseLine(t *testing.T) {
	iri := func(text string) rdf.Term { return rdf.Term{Text: text} }
	for name, c := range map[string]struct {
		text string
		want rdf.Quad
		none bool
	}{
		"three IRIs": {`<x:a> <x:b> <x:c> .`, rdf.Quad{Subject: iri("x:a"), Predicate: iri("x:b"),
			Object: iri("x:c")}, false},
		"no space is needed": {`<x:a><x:b><x:c>.`, rdf.Quad{Subject: iri("x:a"), Predicate: iri("x:b"),
			Object: iri("x:c")}, false},
		"tabs and a comment": {"\t<x:a>\t<x:b>\t<x:c>\t. # <x:d>", rdf.Quad{Subject: iri("x:a"),
			Predicate: iri("x:b"), Object: iri("x:c")}, false},
		"a graph": {`<x:a> <x:b> <x:c> <x:g> .`, rdf.Quad{Subject: iri("x:a"), Predicate: iri("x:b"),
			Object: iri("x:c"), Graph: "x:g"}, false},
		"a graph without name": {`<x:a> <x:b> <x:c> _:g .`, rdf.Quad{Subject: iri("x:a"), Predicate: iri("x:b"),
			Object: iri("x:c")}, false},
		"blank nodes": {`_:a <x:b> _:c.1.`, rdf.Quad{Subject: rdf.Term{Kind: rdf.Blank, Text: "a"},
			Predicate: iri("x:b"), Object: rdf.Term{Kind: rdf.Blank, Text: "c.1"}}, false},
		"a text": {`<x:a> <x:b> "c" .`, rdf.Quad{Subject: iri("x:a"), Predicate: iri("x:b"),
			Object: rdf.Term{Kind: rdf.Literal, Text: "c"}}, false},
		"one with a language": {`<x:a> <x:b> "c"@pt-BR .`, rdf.Quad{Subject: iri("x:a"), Predicate: iri("x:b"),
			Object: rdf.Term{Kind: rdf.Literal, Text: "c", Language: "pt-BR"}}, false},
		"one with a datatype": {`<x:a> <x:b> "1"^^<` + integer + `> .`, rdf.Quad{Subject: iri("x:a"),
			Predicate: iri("x:b"), Object: rdf.Term{Kind: rdf.Literal, Text: "1", Datatype: integer}}, false},
		"one with escapes": {`<x:a> <x:b> "\"\\\t\n\u00e9\U0001F600" .`, rdf.Quad{Subject: iri("x:a"),
			Predicate: iri("x:b"), Object: rdf.Term{Kind: rdf.Literal, Text: "\"\\\t\né😀"}}, false},
		"an escape in an IRI": {`<x:\u00e9> <x:b> <x:c> .`, rdf.Quad{Subject: iri("x:é"), Predicate: iri("x:b"),
			Object: iri("x:c")}, false},
		"a comment is nothing":  {"  # <x:a> <x:b> <x:c> .", rdf.Quad{}, true},
		"a blank line likewise": {" \t", rdf.Quad{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok, err := rdf.ParseLine(c.text)
			if err != nil || ok == c.none || got != c.want {
				t.Errorf("got %+v, %v, error %v, want %+v", got, ok, err, c.want)
			}
		})
	}
}

func TestParseBadLines(t *testing.T) {
	for text, says := range map[string]string{
		`<x:a> <x:is> <x:b>`:                "column 19: the full stop is missing",
		`<x:a> <x:is> .`:                    "column 14: object: want",
		`<x:a> "is" <x:b> .`:                "the predicate is not an IRI",
		`"a" <x:is> <x:b> .`:                "the subject is a literal",
		`<x:a> <x:is> <x:b> . <x:c>`:        "follows the full stop",
		`<x:a> <x:is> <x:b> <x g> .`:        "graph: \"x g\" is not an IRI",
		`<x:a> <x:is> "open .`:              "object: '\"' is missing",
		`<x:a> <x:is> "open\" .`:            "object: '\"' is missing",
		`<x:a> <x:is> "bad \x escape" .`:    "is no escape",
		`<x:a> <x:is> "\ud800" .`:           "is no character",
		`<x:a> <x:is> "\U00110000" .`:       "is no character",
		`<x:a> <x:is> "\u12" .`:             "is no character",
		`<x:a> <x:is> "\u+123" .`:           "is no character",
		`<x:a> <x:is> "end\`:                "is missing",
		`<x:a> <x:is> "a"@ .`:               "whose language is not a tag",
		`<x:a> <x:is> "a"@1 .`:              "whose language is not a tag",
		`<x:a> <x:is> "1"^^"x" .`:           "datatype is not an IRI",
		`<x:a> <x:is> "1"^^<x y> .`:         "datatype is not an IRI: \"x y\"",
		`<x:a b> <x:is> <x:c> .`:            "is not an IRI",
		`<x:a\u0020b> <x:is> <x:c> .`:       "is not an IRI",
		"<x:a\u0085b> <x:is> <x:c> .":       "is not an IRI",
		`<> <x:is> <x:c> .`:                 "is not an IRI",
		`<x:a <x:is> <x:c> .`:               "is not an IRI",
		`<x:a`:                              "'>' is missing",
		`_: <x:is> <x:c> .`:                 "without a label",
		"_:a\u2028 <x:is> <x:c> .":          "without a label",
		`a is b .`:                          "column 1: subject: want",
		`{"type": "item", "id": "Q42"}`:     "column 1: subject: want",
		"subject\trelation\tobject":         "column 1: subject: want",
		"@prefix ex: <http://example.org/>": "column 1: subject: want",
	} {
		if _, ok, err := rdf.ParseLine(text); ok || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v; want it to say %q", text, ok, err, says)
		}
	}
}

func TestParseLineAllocatesNothing(t *testing.T) {
	line := `<http://example.org/a> <http://example.org/b> "c"@en .`
	if n := testing.AllocsPerRun(100, func() {
		if _, ok, err := rdf.ParseLine(line); !ok || err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`<http://x/a> <http://x/b> "c\u0041"@en .`,
		"_:a <x:y> _:b.\n_:a <http://www.w3.org/2000/01/rdf-schema#label> \"A\"@en .",
		`<x:a> <x:b> "1"^^<http://www.w3.org/2001/XMLSchema#integer> . # d`,
		`<x:a> <x:b> "-5"^^<x:metre> <urn:triplemesh:during:1997/..> .`,
		`<a> <b> <http://x/%C3%A3_%zz> .`, `<a> <b> "\n" .`, `<http://x/\n> <b> <c> .`,
		"\xef\xbb\xbf<a> <b> \"\xff\" .",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var sink sourcetest.Sink
		bad := 0
		in := source.Input{Name: "fuzz", Reader: strings.NewReader(text), Bad: func(*source.PlaceError) error {
			bad++
			return nil
		}}
		n, err := rdf.Read(t.Context(), in, &sink)
		if err != nil || uint64(len(sink.Facts)+bad) > n {
			t.Errorf("%d facts and %d bad of %d lines, error %v", len(sink.Facts), bad, n, err)
		}
		sink.Check(t)
	})
}

func FuzzUnescape(f *testing.F) {
	f.Add(`\u00e9\n`)
	f.Add(`\`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := rdf.Unescape(text)
		if err == nil && utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

func BenchmarkParseLine(b *testing.B) {
	lines := []string{
		`<http://www.wikidata.org/entity/Q42> <http://www.wikidata.org/prop/direct/P19> ` +
			`<http://www.wikidata.org/entity/Q350> .`,
		`<http://www.wikidata.org/entity/Q42> <http://www.w3.org/2000/01/rdf-schema#label> "Douglas Adams"@en .`,
		`<http://www.wikidata.org/entity/Q42> <http://www.wikidata.org/prop/direct/P569> ` +
			`"1952-03-11T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .`,
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			if _, ok, err := rdf.ParseLine(line); !ok || err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(lines))/b.Elapsed().Seconds(), "lines/s")
}
