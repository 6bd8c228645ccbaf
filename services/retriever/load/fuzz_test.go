package load

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/encoder/encodertest"
)

// checkBuilder looks for facts that a store would refuse or the contract does
// not allow.
func checkBuilder(t *testing.T, b *Builder) {
	t.Helper()
	for _, names := range [][]string{b.entities.names, b.relations.names} {
		for _, name := range names {
			if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
				t.Errorf("a name is %q", name)
			}
		}
	}
	content, duplicates, err := b.Content(t.Context(), encodertest.Hash(4), nil)
	if err != nil || content.TripleCount+duplicates != len(b.rows) {
		t.Errorf("%d triples and %d duplicates of %d rows, error %v", content.TripleCount, duplicates, len(b.rows), err)
	}
}

func fuzzLines(f *testing.F, format Format) {
	f.Fuzz(func(t *testing.T, text string) {
		l := New(Options{KG: "fuzz"})
		if err := l.Read(t.Context(), "fuzz", format, strings.NewReader(text)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if uint64(len(l.builder.rows)+len(l.rdf.facts))+l.report.BadLines > l.report.Lines {
			t.Errorf("%q: %d facts and %d bad lines of %d lines", text, len(l.builder.rows), l.report.BadLines, l.report.Lines)
		}
		l.rdf.show(l.builder)
		checkBuilder(t, l.builder)
	})
}

func FuzzTSV(f *testing.F) {
	for _, seed := range []string{"a\tis\tb\n", "a\tis\tb\t1997\t1998\r\n", "\xef\xbb\xbfa\t\t\xff", "\u0085\t\u200b\tb", "a\x00\tb\tc"} {
		f.Add(seed)
	}
	fuzzLines(f, TSV)
}

func FuzzNTriples(f *testing.F) {
	for _, seed := range []string{
		`<http://x/a> <http://x/b> "c\u0041"@en .`,
		"_:a <x:y> _:b.\n_:a <http://www.w3.org/2000/01/rdf-schema#label> \"A\"@en .",
		`<a> <b> "1"^^<c> . # d`,
		`<a> <b> <http://x/%C3%A3_%zz> .`,
		`<a> <b> "\n" .`,
		`<http://x/\n> <b> <c> .`,
	} {
		f.Add(seed)
	}
	fuzzLines(f, NTriples)
}
