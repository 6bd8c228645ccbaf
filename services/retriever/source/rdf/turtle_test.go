package rdf_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

// parse shows each statement as N-Triples does, with the namespaces of RDF and
// XML Schema cut short.
func parse(r io.Reader) (got []string, err error) {
	show := func(t rdf.Term) string {
		switch {
		case t.Kind == rdf.Blank:
			return "_:" + t.Text
		case t.Kind == rdf.IRI:
			return short.Replace("<" + t.Text + ">")
		case t.Language != "":
			return fmt.Sprintf("%q@%s", t.Text, t.Language)
		case t.Datatype != "":
			return fmt.Sprintf("%q^^%s", t.Text, short.Replace(t.Datatype))
		}
		return fmt.Sprintf("%q", t.Text)
	}
	err = rdf.ParseTurtle("x.ttl", r, func(q rdf.Quad, line uint64) error {
		got = append(got, fmt.Sprint(line, " ", show(q.Subject), " ", show(q.Predicate), " ", show(q.Object)))
		return nil
	})
	return got, err
}

var short = strings.NewReplacer("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf:",
	"http://www.w3.org/2001/XMLSchema#", "xsd:")

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing is no statement": {" # nothing\n", nil},
		"N-Triples are Turtle": {"<x:a> <x:b> \"c\"@en .\n<x:a> <x:b> _:d.\n", []string{`1 <x:a> <x:b> "c"@en`,
			`2 <x:a> <x:b> _:d`}},
		"prefixes of both kinds": {"@prefix e: <http://e.org/> .\nPREFIX : <http://f.org/#>\nprefix g.h:<x:>e:a :b " +
			"g.h:c .",
			[]string{`3 <http://e.org/a> <http://f.org/#b> <x:c>`}},
		"a prefix may be given again": {"@prefix e: <x:1> . e:a e:b e:c . @prefix e: <x:2> . e:a e:b e:c .",
			[]string{`1 <x:1a> <x:1b> <x:1c>`, `1 <x:2a> <x:2b> <x:2c>`}},
		"a prefix alone is a name": {"@prefix : <x:y> . : : : .", []string{`1 <x:y> <x:y> <x:y>`}},
		"names have dots and escapes": {`@prefix e: <x:> . e:a.b e:c\,d%20e e:f:g.`,
			[]string{`1 <x:a.b> <x:c,d%20e> <x:f:g>`}},
		"a base makes relative IRIs": {"@base <http://e.org/a/b> . <c> <#d> </e> .\nBASE <f/>\n<> <g> " +
			"<//h.org/i> .", []string{`1 <http://e.org/a/c> <http://e.org/a/b#d> <http://e.org/e>`,
			`3 <http://e.org/a/f/> <http://e.org/a/f/g> <http://h.org/i>`}},
		"lists of predicates and objects": {"<x:a> <x:b> <x:c>, <x:d>;\n <x:e> <x:f>;;\n a <x:g> ; .",
			[]string{`1 <x:a> <x:b> <x:c>`, `1 <x:a> <x:b> <x:d>`, `2 <x:a> <x:e> <x:f>`, `3 <x:a> <rdf:type> <x:g>`}},
		"a prefix may begin with a": {"@prefix a: <x:> . @prefix ab: <y:> . a:a a:b ab:c; ab:true true .",
			[]string{`1 <x:a> <x:b> <y:c>`, `1 <x:a> <y:true> "true"^^xsd:boolean`}},
		"nodes within nodes": {"<x:a> <x:b> [ <x:c> [ ] ; <x:d> 1 ] .\n[ <x:e> <x:f> ] .\n[] <x:g> " +
			"<x:h> .", []string{`1 _:#1 <x:c> _:#2`, `1 _:#1 <x:d> "1"^^xsd:integer`, `1 <x:a> <x:b> _:#1`,
			`2 _:#3 <x:e> <x:f>`, `3 _:#4 <x:g> <x:h>`}},
		"blank nodes in a circle": {"_:a <x:b> _:b . _:b <x:b> _:a .",
			[]string{`1 _:a <x:b> _:b`, `1 _:b <x:b> _:a`}},
		"lists are chains": {"<x:a> <x:b> (1 <x:c>) .\n() <x:d> ( ) .",
			[]string{`1 _:#1 <rdf:first> "1"^^xsd:integer`, `1 _:#1 <rdf:rest> _:#2`, `1 _:#2 <rdf:first> <x:c>`,
				`1 _:#2 <rdf:rest> <rdf:nil>`, `1 <x:a> <x:b> _:#1`, `2 <rdf:nil> <x:d> <rdf:nil>`}},
		"numbers and booleans": {"<x:a> <x:b> 1, -2.5, +.5, 1e6, 1.E-3, 4.2e1, true, false, 7.",
			[]string{`1 <x:a> <x:b> "1"^^xsd:integer`, `1 <x:a> <x:b> "-2.5"^^xsd:decimal`,
				`1 <x:a> <x:b> "+.5"^^xsd:decimal`, `1 <x:a> <x:b> "1e6"^^xsd:double`,
				`1 <x:a> <x:b> "1.E-3"^^xsd:double`, `1 <x:a> <x:b> "4.2e1"^^xsd:double`,
				`1 <x:a> <x:b> "true"^^xsd:boolean`, `1 <x:a> <x:b> "false"^^xsd:boolean`,
				`1 <x:a> <x:b> "7"^^xsd:integer`}},
		"texts in all quotes": {`<x:a> <x:b> "", '', """""", '''''' .`, []string{`1 <x:a> <x:b> ""`, `1 <x:a> <x:b> ""`,
			`1 <x:a> <x:b> ""`, `1 <x:a> <x:b> ""`}},
		"long texts": {"<x:a> <x:b> '''it's\n'so' ''', \"\"\"a \"b\"\"\"\", \"\"\"\"\"c\\\"\"\"\" .",
			[]string{`2 <x:a> <x:b> "it's\n'so' "`, `2 <x:a> <x:b> "a \"b\""`, `2 <x:a> <x:b> "\"\"c\""`}},
		"escapes, languages and datatypes": {"@prefix x: <x:> .\n<x:a> <x:b> 'A\\u00e9\\n', \"5\"^^x:km , '6' ^^ " +
			"<x:km>, 'c'@en-GB .",
			[]string{`2 <x:a> <x:b> "Aé\n"`, `2 <x:a> <x:b> "5"^^x:km`, `2 <x:a> <x:b> "6"^^x:km`,
				`2 <x:a> <x:b> "c"@en-GB`}},
		"a comment may stand anywhere": {"<x:a> # one\n # two\n <x:b> <x:c>#three\n.",
			[]string{`3 <x:a> <x:b> <x:c>`}},
		"a byte order mark is passed over": {"\xef\xbb\xbf<x:a> <x:b> <x:c> .", []string{`1 <x:a> <x:b> <x:c>`}},
		"names may be of any script":       {"@prefix 東: <x:> . 東:京 <x:b> _:ö .", []string{`1 <x:京> <x:b> _:ö`}},
		"an IRI may have escapes":          {`<x:\u00e9> <x:b> <x:c> .`, []string{`1 <x:é> <x:b> <x:c>`}},
		"a literal may be followed by a dot": {`<x:a> <x:b> "c".<x:d> <x:e> 1.5.`, []string{`1 <x:a> <x:b> "c"`,
			`1 <x:d> <x:e> "1.5"^^xsd:decimal`}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
				got, err := parse(r)
				if fmt.Sprint(got) != fmt.Sprint(c.want) || err != nil {
					t.Errorf("got  %q, error %v\nwant %q", got, err, c.want)
				}
			}
		})
	}
}

func TestParseFaults(t *testing.T) {
	deep := strings.Repeat("[ <x:p> ", 2000)
	for text, says := range map[string]string{
		"<x:a> <x:b> <x:c>":                        `x.ttl:1: column 18: want ".", got ""`,
		"<x:a> <x:b> <x:c> .\n\n<x:a> <x:b> ;":     "x.ttl:3: column 13: object: want <IRI>",
		"<x:a> <x:b> .":                            "column 13: object: \".\" is not a number",
		"<x:a> .":                                  "predicate: want <IRI>",
		"e:a <x:b> <x:c> .":                        "the prefix \"e:\" is not declared",
		"<a> <x:b> <x:c> .":                        "the relative IRI \"a\" has nothing to be relative to; add @base",
		"@prefix e <x:> .":                         "prefix \"e\": want ':'",
		"@prefix e: x .":                           "want <IRI>, got \"x .\"",
		"@prefix e: <x:>\n<x:a> <x:b> <x:c> .":     "x.ttl:2: column 1: want \".\"",
		"@forbid e: <x:> .":                        "\"@forbid e:\" is not a directive",
		"<x:a> <x:b> \"open\n\" .":                 "the text does not end on its line",
		"<x:a> <x:b> \"\"\"open\n":                 "the text has no end",
		"<x:a> <x:b> \"\\q\" .":                    "is no escape",
		"<x:a> <x:b> \"\xff\" .":                   "is not UTF-8",
		"<x:a> <x:b> \"c\"@ .":                     "whose language is not a tag",
		"<x:a> <x:b> \"c\"@1 .":                    "whose language is not a tag",
		"<x:a> <x:b> \"c\"^^\"d\" .":               "datatype is not an IRI",
		"<x:a\n> <x:b> <x:c> .":                    "the IRI does not end on its line",
		"<x:a> <x:b> <x:c d> .":                    "is not an IRI",
		"<x:a> <x:b> <x:c":                         "the IRI has no end",
		"<x:a> _:b <x:c> .":                        "a blank node cannot be a predicate",
		"_: <x:b> <x:c> .":                         "a blank node without a label",
		"<x:a> <x:b> [ <x:c> <x:d> .":              "want \"]\"",
		"<x:a> <x:b> ( 1 2 .":                      "is not a number",
		"<x:a> <x:b> -e5 .":                        "\"-e5\" is not a number",
		"@prefix e: <x:> . e:a\\q <x:b> <x:c> .":   "a backslash before what needs none",
		"@prefix e: <x:> . e:a\\":                  "a backslash at the end",
		"<x:a> <x:b> " + deep:                      "more than 1000 nodes stand within one another",
		"{\"@context\": {}}":                       "subject: want <IRI>",
		"PK\x03\x04 a zip file":                    "want ':' after \"PK\"",
		"<x:a> <x:b> <x:c> . subject\trelation\to": "want ':' after \"subject\"",
	} {
		_, err := parse(strings.NewReader(text))
		var place *source.PlaceError
		if !errors.As(err, &place) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v; want a place and %q", text, err, says)
		}
	}
}

func TestReadContinuesAfterBadStatements(t *testing.T) {
	var sink sourcetest.Sink
	var bad []string
	text := "@prefix x: <x:> .\nx:a x:p \"" + strings.Repeat("10 MB", 2<<20) + "\" .\nx:a x:p '' ;\n x:p [ x:p 1.5 ] ."
	n, err := rdf.ReadTurtle(t.Context(), source.Input{Name: "x.ttl", Reader: strings.NewReader(text), Number: 3,
		Bad: func(e *source.PlaceError) error {
			bad = append(bad, e.Error())
			return nil
		}}, &sink)
	if err != nil || n != 4 {
		t.Errorf("%d statements, error %v", n, err)
	}
	sourcetest.Equal(t, "facts", sink.Facts, []string{"_:f3.#1 (mediator) | x:p | 1.5 (number)",
		"x:a | x:p | _:f3.#1 (mediator)"})
	sourcetest.Equal(t, "bad", bad, []string{"x.ttl:2: the object has 10485760 bytes, the limit is 65536",
		"x.ttl:3: the object is empty"})
}

func TestErrorsOutsideTheFileAreNotBadLines(t *testing.T) {
	broken := errors.New("broken")
	text := "<x:a> <x:b> <x:c> .\n<x:d> "
	in := func(r io.Reader) source.Input { return source.Input{Name: "x.ttl", Reader: r} }
	var place *source.PlaceError
	if _, err := rdf.ReadTurtle(t.Context(), in(strings.NewReader(text)),
		&sourcetest.Sink{Err: broken}); !errors.Is(err,
		broken) || errors.As(err, &place) {
		t.Errorf("a sink that breaks: %v", err)
	}
	if _, err := rdf.ReadTurtle(t.Context(), in(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))),
		&sourcetest.Sink{}); !errors.Is(err, broken) || errors.As(err, &place) {
		t.Errorf("a connection that breaks: %v", err)
	}
	cut := &source.PlaceError{File: "x.ttl", Byte: 30, Err: io.ErrUnexpectedEOF}
	if _, err := rdf.ReadTurtle(t.Context(), in(io.MultiReader(strings.NewReader(text), iotest.ErrReader(cut))),
		&sourcetest.Sink{}); err == nil || err.Error() != "x.ttl:2: unexpected EOF" {
		t.Errorf("an archive that is cut off: %v", err)
	}
}

func FuzzReadTurtle(f *testing.F) {
	for _, seed := range []string{
		"@prefix e: <http://e.org/> .\ne:a e:b 'c'@en, \"\"\"d\"\"\"^^e:f ; a [ e:g (1 2.5 -1e3 true) ] .",
		"@base <http://e.org/> . <a> <b#c> _:d.e .", "PREFIX : <x:>\n:a\\,b :c%20 '''x''' .", "[] <x:a> (). # c",
		"<x:a> <x:b> \"\\u00e9\xff\" .",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var sink sourcetest.Sink
		_, err := rdf.ReadTurtle(t.Context(), source.Input{Name: "fuzz", Reader: strings.NewReader(text),
			Bad: func(*source.PlaceError) error { return nil }}, &sink)
		var place *source.PlaceError
		if err != nil && !errors.As(err, &place) {
			t.Errorf("%q: %v has no place", text, err)
		}
		sink.Check(t)
	})
}

func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	text.WriteString("@prefix wd: <http://www.wikidata.org/entity/> .\n@prefix wdt: " +
		"<http://www.wikidata.org/prop/direct/> .\n")
	const subjects = 10_000
	for i := range subjects {
		fmt.Fprintf(&text, "wd:Q%d wdt:P31 wd:Q5 ;\n  wdt:P19 wd:Q%d , wd:Q90 ;\n  wdt:P1082 %d ;\n  wdt:P1476 \"a "+
			"title of some words\"@en .\n", i, i*7, i*11)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		n := 0
		err := rdf.ParseTurtle("x.ttl", strings.NewReader(text.String()),
			func(rdf.Quad, uint64) error { n++; return nil })
		if err != nil || n != 5*subjects {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.N*5*subjects)/b.Elapsed().Seconds(), "statements/s")
}
