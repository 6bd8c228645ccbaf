package rdf_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

// dumped writes short IRIs as Freebase's dump does.
func dumped(text string) string {
	return strings.NewReplacer(
		"<m.", "<http://rdf.freebase.com/ns/m.", "<g.", "<http://rdf.freebase.com/ns/g.", "<xsd:",
		"<http://www.w3.org/2001/XMLSchema#",
		"<people.", "<http://rdf.freebase.com/ns/people.", "<type.", "<http://rdf.freebase.com/ns/type.", "<common.",
		"<http://rdf.freebase.com/ns/common.",
		"<location.", "<http://rdf.freebase.com/ns/location.", "<freebase.", "<http://rdf.freebase.com/ns/freebase.",
	).Replace(text)
}

func readFreebase(t testing.TB, in source.Input, text string) (sink sourcetest.Sink, bad []string) {
	t.Helper()
	in.Name, in.Reader = "fb.nt", strings.NewReader(text)
	in.Bad = func(e *source.PlaceError) error {
		bad = append(bad, e.Error())
		return nil
	}
	if _, err := rdf.ReadFreebase(t.Context(), in, &sink); err != nil {
		t.Fatal(err)
	}
	sink.Check(t)
	return sink, bad
}

func TestReadFreebase(t *testing.T) {
	for name, c := range map[string]struct {
		language, text         string
		facts, labels, aliases []string
	}{
		"names are labels": {"", `<m.0c1> <type.object.name> "Ann Lee"@en .
<m.0c1> <http://www.w3.org/2000/01/rdf-schema#label> "Ann L."@en-GB .
<m.0c1> <type.object.name> "Anna Lee"@de .
<m.0c1> <common.topic.alias> "Annie"@en .
<m.0c1> <common.topic.alias> "Ännchen"@de .`,
			nil, []string{"m.0c1 = Ann Lee", "m.0c1 = Ann L. #1", "m.0c1 = Anna Lee #3"},
			[]string{"m.0c1 ~ Ann L.", "m.0c1 ~ Annie"}},
		"another language may be asked for": {"de", `<m.0c1> <type.object.name> "Anna Lee"@de .
<m.0c1> <people.person.motto> "Bread"@en .
<m.0c1> <people.person.motto> "Brot"@de .`,
			[]string{"m.0c1 | people.person.motto | Brot (text)"}, []string{"m.0c1 = Anna Lee"}, nil},
		"relations lead to topics and mediators": {"", `<m.0c1> <people.person.spouse> <m.0c2> .
<m.0c2> <people.marriage.spouse> <g.11b> .`,
			[]string{"m.0c1 | people.person.spouse | m.0c2", "m.0c2 | people.marriage.spouse | g.11b"}, nil, nil},
		"literals keep their kinds, and numbers need no datatype": {"",
			`<m.0c1> <people.person.birth> "1961-08-04"^^<xsd:date> .
<m.0c1> <people.person.birth> "1961"^^<xsd:gYear> .
<m.0c1> <people.person.height> "1.85" .
<m.0c1> <people.person.motto> "7 up" .`,
			[]string{"m.0c1 | people.person.birth | 1961-08-04 (date)", "m.0c1 | people.person.birth | 1961 (date)",
				"m.0c1 | people.person.height | 1.85 (number)", "m.0c1 | people.person.motto | 7 up (text)"}, nil, nil},
		"noise is left out": {"", `<m.0c1> <type.object.type> <people.person> .
<m.0c1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <people.person> .
<m.0c1> <type.object.key> "/en/ann" .
<m.0c1> <http://rdf.freebase.com/key/en> "ann" .
<m.0c1> <freebase.valuenotation.is_reviewed> <people.person.birth> .
<m.0c1> <common.topic.topic_equivalent_webpage> <http://en.wikipedia.org/wiki/Ann> .
<m.0c1> <people.person.page> <http://ann.example.org/> .
<http://outside.example.org/> <people.person.page> <m.0c1> .
_:b <people.person.page> <m.0c1> .
<m.0c1> <common.topic.notable_types> <m.0c3> .`, []string{"m.0c1 | common.topic.notable_types | m.0c3"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, bad := readFreebase(t, source.Input{Language: c.language}, dumped(c.text))
			sourcetest.Equal(t, "facts", got.Facts, c.facts)
			sourcetest.Equal(t, "labels", got.Labels, c.labels)
			sourcetest.Equal(t, "aliases", got.Aliases, c.aliases)
			sourcetest.Equal(t, "bad lines", bad, nil)
		})
	}
}

func TestBadLines(t *testing.T) {
	long := strings.Repeat("x", source.MaxName+1)
	for text, says := range map[string]string{
		`<m.0c1> <people.person.motto> "" .`:           "fb.nt:1: the object is empty",
		`<m.0c1> <type.object.name> " " .`:             "fb.nt:1: the object is empty",
		`<m.0c1> <common.topic.alias> " " .`:           "fb.nt:1: the object is empty",
		`<m.0c1> <people.person> "` + long + `" .`:     "fb.nt:1: the object has 65537 bytes",
		`<m.0c1> <people.person> <m.` + long + `> .`:   "fb.nt:1: the object has 65539 bytes",
		`<m.` + long + `> <people.person> "a" .`:       "fb.nt:1: the subject has 65539 bytes",
		`<m.0c1> <people.` + long + `> "a" .`:          "fb.nt:1: the predicate has 65544 bytes",
		`<m.0c1> <people.person.place_of_birth> <m.0c`: "fb.nt:1: column",
	} {
		got, bad := readFreebase(t, source.Input{}, dumped(text))
		if len(bad) != 1 || !strings.HasPrefix(bad[0], says) || len(got.Facts) > 0 {
			t.Errorf("%.60s: %.200q, facts %q, want %q", text, bad, got.Facts, says)
		}
	}
}

func FuzzReadFreebase(f *testing.F) {
	f.Add(dumped(`<m.0c1> <type.object.name> "Ann Lee"@en .`))
	f.Add(dumped("<m.0c1> <people.person.height> \"1.85\" .\n<m.0c1> <people.person.birth> \"1961\"^^<xsd:gYear> ."))
	f.Add(dumped("<m.0c1> <people.person.spouse> <m.> .\n<m.0c1> <common.topic.alias> \"\\u0085\" ."))
	f.Fuzz(func(t *testing.T, text string) { readFreebase(t, source.Input{}, text) })
}
