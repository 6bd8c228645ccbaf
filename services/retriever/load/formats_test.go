package load_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/table"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a.tsv": {"Ann\tis\tBob\n", []string{"Ann | is | Bob"}},
		"a.nq":  {"<http://x/Ann> <http://x/is> <http://x/Bob> <http://x/graph> .\n", []string{"Ann | is | Bob"}},
		"a.ttl": {"@prefix : <http://x/> .\n:Ann :is :Bob, 5 ; :was :Carl .\n",
			[]string{"Ann | is | 5", "Ann | is | Bob", "Ann | was | Carl"}},
		"a.csv":    {"subject,relation,object\nAnn,is,Bob\n", []string{"Ann | is | Bob"}},
		"a.jsonld": {`{"@id": "http://x/Ann", "http://x/is": {"@id": "http://x/Bob"}}`, []string{"Ann | is | Bob"}},
		"a.json": {`[
{"type":"item","id":"Q1","labels":{"en":{"language":"en","value":"Berlin"}},"claims":{"P36":[` +
			`{"mainsnak":{"snaktype":"value","property":"P36","datatype":"wikibase-item",` +
			`"datavalue":{"value":{"entity-type":"item","id":"Q2"},"type":"wikibase-entityid"}},` +
			`"type":"statement","rank":"normal"}],` +
			`"P2046":[{"mainsnak":{"snaktype":"value","property":"P2046","datatype":"quantity",` +
			`"datavalue":{"value":{"amount":"+891","unit":"http://www.wikidata.org/entity/Q3"},"type":"quantity"}},` +
			`"type":"statement","rank":"normal"}]}},
{"type":"item","id":"Q3","labels":{"en":{"language":"en","value":"square kilometre"}}},
{"type":"property","id":"P36","labels":{"en":{"language":"en","value":"capital"}}}
]`, []string{"Berlin | P2046 | 891 square kilometre", "Berlin | capital | Q2"}},
	} {
		got, report, err := loadTexts(t, load.Options{}, input{name, c.text})
		if err != nil || !slices.Equal(got, c.want) || report.BadLines != 0 {
			t.Errorf("%s: got %q, %v, error %v, want %q", name, got, report.Errors, err, c.want)
		}
	}
}

// finishLoad ends a load and shows what is active then.
func finishLoad(t *testing.T, l *load.Loader, graphs *embedded.Store) ([]string, load.Report) {
	t.Helper()
	report, err := l.Finish(t.Context(), graphs, storetest.HashEncoder(8))
	if err != nil {
		t.Fatal(err)
	}
	s, err := graphs.Open(t.Context(), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	return listFacts(s), report
}

func TestTablesAndOtherSources(t *testing.T) {
	graphs := embedded.New(t.TempDir())
	defer graphs.Close()
	l := load.New(load.Options{KG: "test"})
	defer l.Close()
	text := "who;what\nAnn;Bob\n"
	if err := l.ReadTable(t.Context(), "a.txt", table.Columns{Subject: "who", Separator: ';'},
		strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := l.Read(t.Context(), "dump", source.Freebase,
		strings.NewReader("<http://rdf.freebase.com/ns/m.01>\t"+
			"<http://rdf.freebase.com/ns/a.b.c>\t<http://rdf.freebase.com/ns/m.02>\t.\n")); err != nil {
		t.Fatal(err)
	}
	if err := l.ReadFrom(t.Context(), "database", func(_ context.Context, to source.Sink) (uint64, error) {
		return 1, to.Statement(source.Statement{Subject: source.Term{Key: "1"}, Relation: "is",
			Object: source.Term{Key: "2", Kind: store.Number}})
	}); err != nil {
		t.Fatal(err)
	}
	got, report := finishLoad(t, l, graphs)
	if want := []string{"1 | is | 2", "Ann | what | Bob", "m.01 | a.b.c | m.02"}; !slices.Equal(got, want) ||
		report.Lines != 3 {
		t.Errorf("got %q, %d lines, want %q", got, report.Lines, want)
	}
}

func TestDeltas(t *testing.T) {
	graphs := embedded.New(t.TempDir())
	defer graphs.Close()
	step := func(mode load.Mode, text string) ([]string, load.Report) {
		l := load.New(load.Options{KG: "test", Mode: mode})
		defer l.Close()
		if err := l.Read(t.Context(), "x.ttl", load.DetectFormat,
			strings.NewReader("@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"+
				text)); err != nil {
			t.Fatal(err)
		}
		return finishLoad(t, l, graphs)
	}
	step(load.Replace, `:Ann :is :Bob . :Ann :was :Carl .`)
	got, report := step(load.Add, `:Ann :is :Bob . :Ann :likes :Q1 . :Q1 rdfs:label "Dora" . :Ann :age 5 .`)
	want := []string{"Ann | age | 5", "Ann | is | Bob", "Ann | likes | Dora", "Ann | was | Carl"}
	if !slices.Equal(got, want) || report.Added != 2 || report.Duplicates != 1 || report.Snapshot.Base != 1 ||
		!report.Active {
		t.Errorf("after adding: %q, %+v, want %q", got, report, want)
	}
	got, report = step(load.Remove, `:Ann :is :Bob . :Ann :is :Nobody .`)
	want = []string{"Ann | age | 5", "Ann | likes | Dora", "Ann | was | Carl"}
	if !slices.Equal(got, want) || report.Removed != 1 || report.Snapshot.Base != 2 {
		t.Errorf("after removing: %q, %+v, want %q", got, report, want)
	}
	l := load.New(load.Options{KG: "test", Mode: load.Add})
	if err := l.Read(t.Context(), "x.tsv", load.DetectFormat, strings.NewReader("a\tis\tb\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Finish(t.Context(), &failingTarget{Target: graphs},
		storetest.HashEncoder(8)); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a store that takes no deltas: %v", err)
	}
}

func TestVectorsOfRelationsAlone(t *testing.T) {
	graphs := embedded.New(t.TempDir())
	defer graphs.Close()
	l := load.New(load.Options{KG: "test", Vectors: load.RelationVectors})
	if err := l.Read(t.Context(), "x.tsv", load.DetectFormat, strings.NewReader("a\tis\tb\n")); err != nil {
		t.Fatal(err)
	}
	enc := &countingEncoder{Encoder: storetest.HashEncoder(8)}
	if _, err := l.Finish(t.Context(), graphs, enc); err != nil || enc.texts != 1 {
		t.Errorf("%d texts were encoded, error %v", enc.texts, err)
	}
}

func TestBadInput(t *testing.T) {
	good := "a\tis\tb\n"
	long := strings.Repeat("word ", 2<<20)
	for name, c := range map[string]struct {
		file, text string
		bad        uint64
		says       string
		fails      bool
	}{
		"a literal of ten megabytes": {"x.nt", "<http://x/a> <http://x/b> \"" + long +
			"\" .\n<http://x/a> <http://x/b> <http://x/c> .\n", 1, "x.nt:1: the line is longer", false},
		"… in Turtle": {"x.ttl", "<http://x/a> <http://x/b> \"" + long +
			"\" .\n<http://x/a> <http://x/b> <http://x/c> .\n", 1, "x.ttl:1", false},
		"a name with tabs and ends of lines": {"x.nt", `<http://x/a> <http://x/b> "one\ttwo\nthree" .` + "\n", 0, "",
			false},
		"bytes that are no UTF-8": {"x.tsv", good + "a\t\xc3\x28\tb\n", 1, "x.tsv:2: the line is not UTF-8",
			false},
		"an archive that is cut off": {"x.tsv.gz", gzipText(t, strings.Repeat(good, 1<<16))[:200], 0,
			"x.tsv.gz", true},
		"facts that are there twice":          {"x.tsv", good + good + good, 0, "", false},
		"facts that contradict each other":    {"x.tsv", good + "a\tis\tc\na\tis not\tb\n", 0, "", false},
		"Turtle that ends within a statement": {"x.ttl", "<http://x/a> <http://x/b> .", 0, "x.ttl:1", true},
	} {
		t.Run(name, func(t *testing.T) {
			_, report, err := loadTexts(t, load.Options{}, input{c.file, c.text})
			if c.fails {
				if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error is %v, want it to say %q", err, c.says)
				}
				return
			}
			if err != nil || report.BadLines != c.bad || c.bad > 0 &&
				!strings.Contains(report.Errors[0].Error(), c.says) {
				t.Errorf("%d bad lines %v, error %v, want %d that say %q", report.BadLines, report.Errors,
					err, c.bad, c.says)
			}
		})
	}
}

func TestALoadWithoutTriplesExplainsWhy(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"one.csv": {"Ann,knows,Bob\n", `no triples; fix the first bad line: ` +
			`one.csv:1: no rows under the headings ["Ann" "knows" "Bob"]; the first line must name the columns`},
		"bad.tsv": {"Ann\tknows\n", `no triples; fix the first bad line: bad.tsv:1: ` +
			`2 columns`},
		"no.tsv": {"", `load knowledge graph "test": nothing was read: the files are empty`},
	} {
		_, _, err := loadTexts(t, load.Options{}, input{name, c.text})
		if status.Code(err) != codes.InvalidArgument || !strings.HasPrefix(fmt.Sprint(err), c.want) ||
			strings.HasSuffix(fmt.Sprint(err), "invalid") {
			t.Errorf("%s: error is %v, want %q", name, err, c.want)
		}
	}
}
