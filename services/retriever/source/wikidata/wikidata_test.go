package wikidata_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
	"github.com/triplemesh/triplemesh/services/retriever/source/wikidata"
)

func readAll(t testing.TB, in source.Input, o wikidata.Options,
	text string) (sink sourcetest.Sink, bad []string, count uint64) {
	t.Helper()
	in.Name, in.Reader = "w.json", strings.NewReader(text)
	in.Bad = func(e *source.PlaceError) error {
		bad = append(bad, e.Error())
		return nil
	}
	count, err := wikidata.Read(t.Context(), in, &sink, o)
	if err != nil {
		t.Fatal(err)
	}
	sink.Check(t)
	return sink, bad, count
}

func dump(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/entities.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var facts = []string{
	"Q42 | P31 | Q5", "Q42 | P19 | Q350",
	"Q42 | P69 | Q691283 [1971/1974]", "Q42 | P26 | Q14623681 [1991-11-25/2001-05-11]",
	"Q42 | P569 | 1952-03-11 (date)", "Q42 | P2048 | 1.96 (in Q11573)", "Q42 | P1971 | 1 (number)",
	"Q42 | P1477 | Douglas Noël Adams (text)", "Q42 | P856 | https://douglasadams.com/ (text)",
	"Q42 | P166 | Q3414212 [1979/1979]",
	"Q350 | P625 | 52.20806, 0.1225 (text)", "Q350 | P1082 | 145674 (number) [2021-03-21/2021-03-21]",
	"Q350 | P1082 | 123867 (number) [2011-03/2011-03]",
	"Q1048 | P570 | -0044-03-15 (date)", "P31 | P1628 | http://www.w3.org/1999/02/22-rdf-syntax-ns#type (text)",
}

func TestADump(t *testing.T) {
	got, bad, count := readAll(t, source.Input{}, wikidata.Options{}, dump(t))
	if count != 9 {
		t.Errorf("%d lines, want 9", count)
	}
	sourcetest.Equal(t, "facts", got.Facts, facts)
	sourcetest.Equal(t, "labels", got.Labels, []string{
		"Q42 = Douglas Adams", "Q350 = Cambridge", "Q1048 = Gaius Iulius Caesar #2", "P19 = place of birth",
		"P31 = instance of", "Q11573 = metre",
	})
	sourcetest.Equal(t, "aliases", got.Aliases, []string{"Q42 ~ Douglas Noel Adams", "Q42 ~ DNA", "Q1048 ~ Caesar",
		"P19 ~ born in"})
	sourcetest.Equal(t, "bad lines", bad, nil)
}

func TestWithoutBracketsAndWithIdentifiers(t *testing.T) {
	text := strings.NewReplacer("[\n", "", ",\n", "\n", "\n]\n", "").Replace(dump(t))
	got, _, count := readAll(t, source.Input{}, wikidata.Options{Identifiers: true}, text)
	if count != 7 {
		t.Errorf("%d lines, want 7", count)
	}
	sourcetest.Equal(t, "facts", got.Facts, append([]string{"Q42 | P214 | 113230702 (text)",
		"Q42 | P18 | Douglas adams portrait cropped.jpg (text)"}, facts...))
}

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		name, language, labels, want string
	}{
		{"the language asked for comes first", "de", `"en":{"value":"E"},"de":{"value":"D"}`, "Q1 = D"},
		{"then one of its kinds", "pt-br", `"mul":{"value":"M"},"pt":{"value":"P"}`, "Q1 = P #1"},
		{"then one of all languages", "de", `"en":{"value":"E"},"mul":{"value":"M"}`, "Q1 = M #2"},
		{"then English", "de", `"fr":{"value":"F"},"en":{"value":"E"}`, "Q1 = E #3"},
		{"then the first there is", "de", `"fr":{"value":"F"},"it":{"value":"I"}`, "Q1 = F #4"},
		{"a label of nothing is none", "de", `"de":{"value":" "},"fr":{"value":"F\tF\n"}`, "Q1 = F F #4"},
		{"names may be missing", "de", ``, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, bad, _ := readAll(t, source.Input{Language: c.language}, wikidata.Options{},
				`{"id":"Q1","labels":{`+c.labels+`}}`)
			if strings.Join(got.Labels, ";") != c.want || bad != nil {
				t.Errorf("got %q, bad %q, want %q", got.Labels, bad, c.want)
			}
		})
	}
}

// claim is an entity with one claim of a value.
func claim(kind, value string) string {
	return fmt.Sprintf(
		`{"id":"Q1","claims":{"P1":[{"mainsnak":{"snaktype":"value",`+
			`"datavalue":{"type":%q,"value":%s}},"rank":"normal"}]}}`,
		kind, value)
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		time      string
		precision int
		want      string
	}{
		{"+1952-03-11T00:00:00Z", 11, "1952-03-11 (date)"},
		{"+1952-03-00T00:00:00Z", 10, "1952-03 (date)"},
		{"+1952-03-11T00:00:00Z", 10, "1952-03 (date)"},
		{"+1952-00-00T00:00:00Z", 9, "1952 (date)"},
		{"+1952-01-01T00:00:00Z", 9, "1952 (date)"},
		{"+1952-03-00T00:00:00Z", 11, "1952-03 (date)"},
		{"+1952-00-00T00:00:00Z", 11, "1952 (date)"},
		{"+00000001952-03-11T00:00:00Z", 11, "1952-03-11 (date)"},
		{"+1952-03-11T10:20:30Z", 14, "1952-03-11T10:20:30Z (date)"},
		{"-0044-03-15T00:00:00Z", 11, "-0044-03-15 (date)"},
		{"-12000-00-00T00:00:00Z", 9, "-12000 (date)"},
		{"+1957-00-00T00:00:00Z", 8, "1950s (text)"},
		{"+1900-00-00T00:00:00Z", 7, "19th century (text)"},
		{"+1901-00-00T00:00:00Z", 7, "20th century (text)"},
		{"+2001-00-00T00:00:00Z", 7, "21st century (text)"},
		{"-0250-00-00T00:00:00Z", 7, "3rd century BC (text)"},
		{"+1500-00-00T00:00:00Z", 6, "2nd millennium (text)"},
		{"+1100-00-00T00:00:00Z", 7, "11th century (text)"},
		{"-13798000000-00-00T00:00:00Z", 3, "13798000000 BC (text)"},
	} {
		got, bad, _ := readAll(t, source.Input{}, wikidata.Options{},
			claim("time", fmt.Sprintf(`{"time":%q,"precision":%d}`, c.time, c.precision)))
		if len(got.Facts) != 1 || got.Facts[0] != "Q1 | P1 | "+c.want || bad != nil {
			t.Errorf("%s at %d: %q, bad %q, want %q", c.time, c.precision, got.Facts, bad, c.want)
		}
	}
}

func TestOddClaims(t *testing.T) {
	for name, c := range map[string]struct{ line, fact, bad string }{
		"an item of an old dump has a number": {claim("wikibase-entityid", `{"entity-type":"item","numeric-id":5}`),
			"Q1 | P1 | Q5", ""},
		"so has a property": {claim("wikibase-entityid",
			`{"entity-type":"property","numeric-id":5}`), "Q1 | P1 | P5", ""},
		"a lexeme is left out": {claim("wikibase-entityid", `{"entity-type":"lexeme","id":"L5"}`),
			"", ""},
		"an entity without id is bad": {claim("wikibase-entityid", `{}`), "",
			"w.json:1: P1 of Q1: an entity without an id"},
		"a new type is left out": {claim("wikibase-thought", `"x"`), "", ""},
		"a date that is none is bad": {claim("time", `{"time":"yesterday","precision":11}`), "",
			"w.json:1: P1 of Q1: \"yesterday\" is not a time"},
		"so is one of thirteen digits": {claim("time",
			`{"time":"+1234567890123-01-01T00:00:00Z","precision":9}`), "",
			"w.json:1: P1 of Q1: \"+1234567890123-01-01T00:00:00Z\" is not a time"},
		"an amount that is none is bad": {claim("quantity", `{"amount":"many","unit":"1"}`), "",
			"w.json:1: P1 of Q1: the amount \"many\" is not a number"},
		"a unit that is no item is bad": {claim("quantity", `{"amount":"+1","unit":"metre"}`), "",
			"w.json:1: P1 of Q1: the unit \"metre\" is not an item"},
		"a place needs both its degrees": {claim("globecoordinate", `{"latitude":1}`), "",
			"w.json:1: P1 of Q1: a place without its longitude"},
		"a text is put on one line": {claim("string", `"a\tb\n\u0000c"`), "Q1 | P1 | a b c (text)", ""},
		"a text of nothing is bad": {claim("string", `" "`), "",
			"w.json:1: P1 of Q1: the value is empty"},
		"half a character stays as it is written": {claim("string", `"a\ud800"`), "Q1 | P1 | a\\ud800 (text)", ""},
		"a text of 10 MB is bad": {claim("string", `"`+strings.Repeat("10 MB", 2<<20)+`"`), "",
			"w.json:1: P1 of Q1: the value has 10485760 bytes, the limit is 65536"},
		"a claim without value is bad": {`{"id":"Q1","claims":{"P1":[{"mainsnak":{"snaktype":"value"}}]}}`,
			"", "w.json:1: P1 of Q1: a value is missing"},
		"a claim of no property is bad": {`{"id":"Q1","claims":{"x":[]}}`, "",
			"w.json:1: claims of \"x\", which is not a property"},
		"empty lists stand for empty objects": {`{"id":"Q1","labels":[],"aliases":[],"claims":[]}`, "", ""},
		"an entity without id is none":        {`{"labels":{}}`, "", "w.json:1: the entity has no id"},
		"JSON-LD is told": {`{"@context":{},"@id":"x:a"}`, "",
			"w.json:1: this is JSON-LD; name that format"},
		"half a line is bad":             {`{"id":"Q1","claims":{"P1`, "", "w.json:1: the entity is not valid JSON"},
		"so is a line of another format": {"Q1\tis\tQ2", "", "w.json:1: \"Q1\\tis\\tQ2\" begins no entity"},
		"one of a file of one entity is read": {`{"entities":{"Q1":` + claim("string", `"a"`) + `}}`,
			"Q1 | P1 | a (text)", ""},
		"types may be mixed up": {
			`{"id":"Q1","labels":{"en":[1]},"aliases":{"en":{"a":1}},` +
				`"claims":{"P1":{"a":[]},"P2":[[],1,"x",{"mainsnak":[]}]}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, bad, _ := readAll(t, source.Input{}, wikidata.Options{}, c.line)
			if strings.Join(got.Facts, ";") != c.fact || len(bad) > 1 || (c.bad == "") != (bad == nil) ||
				(c.bad != "" && !strings.HasPrefix(bad[0], c.bad)) {
				t.Errorf("got %q, bad %.300q, want %q, %q", got.Facts, bad, c.fact, c.bad)
			}
		})
	}
}

func TestABadClaimDoesNotHideOtherClaims(t *testing.T) {
	text := strings.Replace(dump(t), "+1.96", "tall", 1)
	got, bad, _ := readAll(t, source.Input{}, wikidata.Options{}, text)
	if len(got.Facts) != len(facts)-1 || len(bad) != 1 || !strings.HasPrefix(bad[0], "w.json:2: P2048 of Q42") {
		t.Errorf("%d facts, bad %q", len(got.Facts), bad)
	}
}

func FuzzTake(f *testing.F) {
	for line := range strings.Lines(dump(f)) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		readAll(t, source.Input{}, wikidata.Options{Identifiers: true}, line)
	})
}

// BenchmarkTake reads entities with the weight that real ones have: names in
// many languages, references and sitelinks.
func BenchmarkTake(b *testing.B) {
	douglas := bytes.Split([]byte(dump(b)), []byte("\n"))[1]
	var labels, links strings.Builder
	for i := range 150 {
		fmt.Fprintf(&labels, `"l%d":{"language":"l%d","value":"Douglas Adams \u0434 %d"},`, i, i, i)
		fmt.Fprintf(&links,
			`"l%dwiki":{"site":"l%dwiki","title":"Douglas Adams","badges":[],`+
				`"url":"https://l%d.wikipedia.org/wiki/Douglas_Adams"},`, i, i, i)
	}
	douglas = bytes.Replace(douglas, []byte(`"labels":{`), []byte(`"labels":{`+labels.String()), 1)
	douglas = bytes.Replace(douglas, []byte(`"sitelinks":{`), []byte(`"sitelinks":{`+links.String()), 1)
	r := wikidata.NewReader(source.Input{}, wikidata.Options{})
	b.SetBytes(int64(len(douglas)))
	b.ReportAllocs()
	for b.Loop() {
		var sink sourcetest.Sink
		if err := r.ReadLine(douglas, &sink); err != nil || len(sink.Facts) != 10 {
			b.Fatal(err, sink.Facts)
		}
	}
}
