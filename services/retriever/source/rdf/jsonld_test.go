package rdf

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

func input(r io.Reader, bad *[]string) source.Input {
	return source.Input{Name: "x.jsonld", Reader: r, Bad: func(e *source.PlaceError) error {
		*bad = append(*bad, e.Error())
		return nil
	}}
}

const douglas = `{
  "@context": {"@vocab": "http://schema.org/", "km2": "http://dbpedia.org/datatype/squareKilometre",` +
	` "born": {"@id": "birthDate", "@type": "http://www.w3.org/2001/XMLSchema#date"}},
  "@id": "http://x.org/douglas", "name": {"@value": "Douglas Adams", "@language": "en"},` +
	` "born": "1952-03-11", "height": 1.96, "children": 1, "alive": false,
  "address": {"streetAddress": "Duncan Terrace"},
  "birthPlace": {"@id": "http://x.org/cambridge", "area": {"@value": "40.7", "@type": "km2"}}
}`

func TestReadJSONLD(t *testing.T) {
	for name, c := range map[string]struct {
		text           string
		count          uint64
		facts, aliases []string
	}{
		"nothing is no document": {" \n", 0, nil, nil},
		"a document is read by its context": {douglas, 1, []string{
			"http://x.org/douglas | http://schema.org/birthDate | 1952-03-11 (date)",
			"http://x.org/douglas | http://schema.org/height | 1.96 (number)",
			"http://x.org/douglas | http://schema.org/children | 1 (number)",
			"http://x.org/douglas | http://schema.org/alive | false (text)",
			"http://x.org/douglas | http://schema.org/address | _:b0 (mediator)",
			"_:b0 (mediator) | http://schema.org/streetAddress | Duncan Terrace (text)",
			"http://x.org/douglas | http://schema.org/birthPlace | http://x.org/cambridge",
			"http://x.org/cambridge | http://schema.org/area | 40.7 (in http://dbpedia.org/datatype/squareKilometre)",
		}, []string{"http://x.org/douglas ~ Douglas Adams"}},
		"documents follow one another, each with blank nodes of its own": {"\xef\xbb\xbf" +
			`{"x:p": {"x:q": {"@id": "x:a"}}}` + "\n" + `[{"x:p": {"x:q": {"@id": "x:a"}}}]` + "\n", 2, []string{
			"_:b0 (mediator) | x:p | _:b1 (mediator)", "_:b1 (mediator) | x:q | x:a",
			"_:2.b0 (mediator) | x:p | _:2.b1 (mediator)", "_:2.b1 (mediator) | x:q | x:a",
		}, nil},
		"graphs are left aside": {`{"@id": "x:g", "@graph": [{"@id": "x:a", "x:p": {"@id": "x:b"}}]}`, 1,
			[]string{"x:a | x:p | x:b"}, nil},
		"nodes may stand in a circle": {`{"@id": "_:a", "x:p": {"@id": "_:b", "x:p": {"@id": "_:a"}}}`, 1,
			[]string{"_:b0 (mediator) | x:p | _:b1 (mediator)", "_:b1 (mediator) | x:p | _:b0 (mediator)"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var sink sourcetest.Sink
			var bad []string
			count, err := ReadJSONLD(t.Context(), input(strings.NewReader(c.text), &bad), &sink)
			if err != nil || count != c.count || bad != nil {
				t.Errorf("%d documents, bad %q, error %v", count, bad, err)
			}
			sink.Check(t)
			sourcetest.Equal(t, "facts", sink.Facts, c.facts)
			sourcetest.Equal(t, "aliases", sink.Aliases, c.aliases)
		})
	}
}

func TestTheOrderIsAlwaysTheSame(t *testing.T) {
	// A load that continues counts statements.
	text := strings.Replace(douglas, `"alive"`, `"z": [{"b": 1, "a": {"c": 2}}, {"@list": [3, {"d": 4}]}], "alive"`, 1)
	var first []string
	for range 30 {
		var sink sourcetest.Sink
		var bad []string
		if _, err := ReadJSONLD(t.Context(), input(strings.NewReader(text), &bad), &sink); err != nil ||
			len(sink.Facts) != 18 {
			t.Fatalf("%d facts %q, error %v", len(sink.Facts), sink.Facts, err)
		}
		if first == nil {
			first = sink.Facts
		}
		if !slices.Equal(first, sink.Facts) {
			t.Fatalf("once %q, again %q", first, sink.Facts)
		}
	}
}

func TestRejectedDocuments(t *testing.T) {
	good := `{"@id": "x:a", "x:p": {"@id": "x:b"}}`
	for text, says := range map[string]string{
		`{"@context": "https://schema.org/", "name": "a"}`: `x.jsonld, byte 0: document 1: invalid JSON-LD: ` +
			`loading remote context failed: `,
		`{"@context": {"@import": "https://schema.org/"}, "name": "a"}`: `document 1: invalid JSON-LD`,
		`"https://schema.org/"`: `the context "https://schema.org/" is not fetched; ` +
			`inline it into the document`,
		`{"@context": 7}`:           `document 1: invalid JSON-LD: `,
		`{"@id": 7, "x:p": 1}`:      `document 1: invalid JSON-LD: `,
		`{"@type": ""}`:             `document 1: the IRI of the object is empty`,
		`{"@id": "x:a", "x:p": ""}`: `document 1: the object is empty`,
		`{"@id": "x:a", "x:p": "` + strings.Repeat("10 MB", 2<<20) + `"}`: `document 1: the object has 10485760 bytes`,
	} {
		var sink sourcetest.Sink
		var bad []string
		count, err := ReadJSONLD(t.Context(), input(strings.NewReader(text+"\n"+good), &bad), &sink)
		if err != nil || count != 2 || len(bad) != 1 || !strings.Contains(bad[0], says) || len(sink.Facts) != 1 {
			t.Errorf("%.60s: %d documents, %q, facts %q, error %v; want %q", text, count, bad, sink.Facts, err, says)
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	broken := errors.New("broken")
	cut := &source.PlaceError{File: "x.jsonld", Byte: 4, Err: io.ErrUnexpectedEOF}
	for name, c := range map[string]struct {
		r     io.Reader
		says  string
		place bool
	}{
		"half a document": {strings.NewReader(`{"@id": "x:a", `),
			"x.jsonld, byte 15: invalid JSON: unexpected EOF", true},
		"another format": {strings.NewReader("<x:a> <x:b> <x:c> .\n"),
			"invalid JSON: invalid character '<'", true},
		"a document that is too large": {strings.NewReader(`{} {"@id": "` + strings.Repeat("x", 100_000)),
			"x.jsonld, byte 2: the document has more than 50000 bytes", true},
		"an archive that is cut off": {io.MultiReader(strings.NewReader(`{"@id": `), iotest.ErrReader(cut)),
			"x.jsonld, byte 4: unexpected EOF", true},
		"a connection that breaks": {io.MultiReader(strings.NewReader(`{"@id": `), iotest.ErrReader(broken)),
			"read x.jsonld, byte 8: broken", false},
	} {
		t.Run(name, func(t *testing.T) {
			var bad []string
			_, err := readDocuments(t.Context(), input(c.r, &bad), &sourcetest.Sink{}, 50_000)
			var place *source.PlaceError
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.As(err, &place) != c.place {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
	var bad []string
	if _, err := ReadJSONLD(t.Context(), input(strings.NewReader(douglas), &bad),
		&sourcetest.Sink{Err: broken}); !errors.Is(err, broken) || bad != nil {
		t.Errorf("a sink that breaks: %v", err)
	}
}

func FuzzReadJSONLD(f *testing.F) {
	for _, seed := range []string{douglas,
		`{"@id": "_:a", "x:p": [1, 1.5e300, true, null, {"@list": [{"@id": "_:a"}]}]}`,
		`[{"@context": [null, {"a": {"@reverse": "x:p"}}], "a": {"@set": []}}]`,
		`{"@graph": [{"@type": "x:t"}], "@included": {}}`, `"x"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var sink sourcetest.Sink
		var bad []string
		_, err := ReadJSONLD(t.Context(), input(strings.NewReader(text), &bad), &sink)
		var place *source.PlaceError
		if err != nil && !errors.As(err, &place) {
			t.Errorf("%q: %v has no place", text, err)
		}
		sink.Check(t)
	})
}
