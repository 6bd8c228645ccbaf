package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// dump shows all of a content as lines.
func dump(ctx context.Context, c store.Content) (string, error) {
	var b strings.Builder
	var names []string
	err := c.Entities(ctx, func(n store.NamedEntity) error {
		names = append(names, n.Name)
		fmt.Fprintf(&b, "%q is %d\n", n.Name, n.Kind)
		return nil
	})
	if err != nil {
		return "", err
	}
	triples := 0
	if err := c.Triples(ctx, func(t store.DatedTriple) error {
		triples++
		fmt.Fprintf(&b, "%s | %s | %s %v\n", names[t.Subject], c.Relations[t.Relation], names[t.Object], t.Validity)
		return nil
	}); err != nil {
		return "", err
	}
	var aliases []string
	if err := c.Aliases(ctx, func(a store.Alias) error {
		aliases = append(aliases, fmt.Sprintf("%s: %s\n", names[a.Entity], a.Name))
		return nil
	}); err != nil {
		return "", err
	}
	slices.Sort(aliases)
	b.WriteString(strings.Join(aliases, ""))
	if len(names) != c.EntityCount || triples != c.TripleCount || len(c.Relations) != len(c.RelationVectors) {
		return "", fmt.Errorf("%d entities of %d, %d triples of %d", len(names), c.EntityCount, triples, c.TripleCount)
	}
	if c.TripleVectors == nil {
		return b.String(), nil
	}
	vectors := 0
	err = c.TripleVectors(ctx, func(v []float32) error {
		vectors++
		fmt.Fprintln(&b, v)
		return nil
	})
	if err == nil && vectors != triples {
		err = fmt.Errorf("%d vectors of %d triples", vectors, triples)
	}
	return b.String(), err
}

// fill hands statements of all sorts to a sink, the same ones every time.
func fill(t *testing.T, to source.Sink, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 5))
	node := func() source.Term {
		switch r.IntN(10) {
		case 0:
			return source.Term{Key: fmt.Sprint("_:b", r.IntN(20)), Kind: store.Mediator}
		case 1:
			return source.Term{Key: fmt.Sprint("m.0", r.IntN(20))}
		}
		return source.Term{Key: fmt.Sprint("http://x/Q", r.IntN(60))}
	}
	object := func() source.Term {
		switch r.IntN(8) {
		case 0:
			return source.Term{Key: fmt.Sprint(r.IntN(30)), Kind: store.Number}
		case 1:
			return source.Term{Key: fmt.Sprint(r.IntN(30)), Kind: store.Quantity,
				Unit: fmt.Sprint("http://x/Q", r.IntN(4))}
		case 2:
			return source.Term{Key: fmt.Sprint("name ", r.IntN(30)), Kind: store.Text}
		case 3:
			return source.Term{Key: fmt.Sprint(1900 + r.IntN(30)), Kind: store.Date}
		}
		return node()
	}
	var err error
	for range n {
		s := source.Statement{Subject: node(), Relation: fmt.Sprint("http://x/P", r.IntN(8)), Object: object()}
		if r.IntN(4) == 0 {
			s.Validity = store.Validity{Start: fmt.Sprint(1990 + r.IntN(5)), End: fmt.Sprint(2000 + r.IntN(5))}
		}
		err = errors.Join(err, to.Statement(s))
		switch r.IntN(6) {
		case 0: // Many share a label, some have several.
			err = errors.Join(err, to.Label(fmt.Sprint("http://x/Q", r.IntN(80)), fmt.Sprint("name ", r.IntN(40)),
				r.IntN(3)))
		case 1:
			err = errors.Join(err, to.Alias(fmt.Sprint("http://x/Q", r.IntN(80)), fmt.Sprint("alias ", r.IntN(40))))
		case 2:
			err = errors.Join(err, to.Label(fmt.Sprint("http://x/P", r.IntN(9)), fmt.Sprint("relation ", r.IntN(4)),
				r.IntN(3)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestMemoryChangesNothing(t *testing.T) {
	var want string
	for _, memory := range []int{DefaultMemory, 1 << 16, 1 << 13, 1} {
		parent := t.TempDir()
		b := newBuilder(&scratch{disk: osDisk{}, parent: parent}, memory)
		fill(t, b, 400)
		c, duplicates, err := b.Content(t.Context(), storetest.HashEncoder(4), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := dump(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = got
		}
		if got != want || duplicates+c.TripleCount != 400 {
			t.Errorf("with %d bytes the content differs, %d duplicates:\n%s\nwant\n%s", memory, duplicates, got, want)
		}
		left, err := os.ReadDir(parent)
		if err != nil || (len(left) > 0) != (memory != DefaultMemory) {
			t.Errorf("with %d bytes %d scratch files, error %v", memory, len(left), err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
			t.Errorf("with %d bytes %v is left, error %v", memory, left, err)
		}
	}
}

func TestNamesAndKinds(t *testing.T) {
	type label struct {
		key, name string
		rank      int
	}
	entity := func(key string) source.Term { return source.Term{Key: key} }
	of := func(kind store.Kind, key string) source.Term { return source.Term{Key: key, Kind: kind} }
	quantity := func(key, unit string) source.Term { return source.Term{Key: key, Kind: store.Quantity, Unit: unit} }
	for name, c := range map[string]struct {
		labels  []label
		objects []source.Term
		want    []string
	}{
		"a key without a label is its own name": {objects: []source.Term{entity("Q1")}, want: []string{"Q1 0"}},
		"the label of the best rank counts": {labels: []label{{"Q1", "worse", 2}, {"Q1", "best", 0},
			{"Q1", "good", 1}}, objects: []source.Term{entity("Q1")}, want: []string{"best 0"}},
		"of equal ranks the first counts": {labels: []label{{"Q1", "one", 1}, {"Q1", "two", 1}},
			objects: []source.Term{entity("Q1")}, want: []string{"one 0"}},
		"a label of a key that nothing names is not": {labels: []label{{"Q2", "none", 0}},
			objects: []source.Term{entity("Q1")}, want: []string{"Q1 0"}},
		"a literal has no label": {labels: []label{{"1", "one", 0}},
			objects: []source.Term{of(store.Number, "1")}, want: []string{"1 3"}},
		"two keys of one label are told apart": {labels: []label{{"x/Q1", "P", 0}, {"x/Q2", "P", 0}},
			objects: []source.Term{entity("x/Q1"), entity("x/Q2")}, want: []string{"P (Q1) 0", "P (Q2) 0"}},
		"… by the whole key where that is needed": {labels: []label{{"x/Q1", "P", 0}, {"y/Q1", "P", 0},
			{"x/Q2", "P", 0}}, objects: []source.Term{entity("x/Q1"), entity("y/Q1"), entity("x/Q2")},
			want: []string{"P (Q1) (x/Q1) 0", "P (Q1) (y/Q1) 0", "P (Q2) 0"}},
		"… also where a third one has that very name": {labels: []label{{"x/Q1", "P", 0}, {"x/Q2", "P", 0},
			{"x/Q3", "P (Q1)", 0}}, objects: []source.Term{entity("x/Q1"), entity("x/Q2"), entity("x/Q3")},
			want: []string{"P (Q1) (x/Q1) 0", "P (Q1) (x/Q3) 0", "P (Q2) 0"}},
		"a name that is a key is what has that label": {labels: []label{{"x/Q1", "P", 0}},
			objects: []source.Term{entity("x/Q1"), entity("P")}, want: []string{"P 0"}},
		"a literal and an entity of one name are one": {objects: []source.Term{of(store.Text, "Gold"), entity("Gold")},
			want: []string{"Gold 0"}},
		"a kind that was said goes before none": {objects: []source.Term{entity("1997"), of(store.Date, "1997")},
			want: []string{"1997 5"}},
		"a date goes before a number": {objects: []source.Term{of(store.Date, "1997"),
			of(store.Number, "1997")}, want: []string{"1997 5"}},
		"a number goes before a text": {objects: []source.Term{of(store.Text, "1997"),
			of(store.Number, "1997")}, want: []string{"1997 3"}},
		"a node that was called a mediator is one": {objects: []source.Term{of(store.Mediator, "_:b"),
			entity("_:b")}, want: []string{"_:b 1"}},
		"a mediator of Freebase is told by its name": {objects: []source.Term{entity("m.04j60kc")},
			want: []string{"m.04j60kc 1"}},
		"… but for one that has a label": {labels: []label{{"m.04j60kc", "Ann", 0}},
			objects: []source.Term{entity("m.04j60kc")}, want: []string{"Ann 0"}},
		"a quantity has the label of its unit": {labels: []label{{"Q712226", "square kilometre", 0}},
			objects: []source.Term{quantity("82350", "Q712226")}, want: []string{"82350 square kilometre 4"}},
		"a unit without a label is shown by its key": {objects: []source.Term{quantity("82350", "Q712226")},
			want: []string{"82350 Q712226 4"}},
		"a unit is no entity for being one": {labels: []label{{"Q1", "metre", 0}},
			objects: []source.Term{quantity("2", "Q1"), entity("Q1")}, want: []string{"2 metre 4", "metre 0"}},
		"quantities of one text are one": {labels: []label{{"Q1", "metre", 0}, {"Q2", "metre", 0}},
			objects: []source.Term{quantity("2", "Q1"), quantity("2", "Q2")}, want: []string{"2 metre 4"}},
		"keys that differ in a zero byte's place stay": {objects: []source.Term{entity("a"), entity("a b"),
			entity("ab")}, want: []string{"a 0", "a b 0", "ab 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, memory := range []int{DefaultMemory, 1} {
				b := newBuilder(&scratch{disk: osDisk{}, parent: t.TempDir()}, memory)
				var err error
				for _, l := range c.labels {
					err = errors.Join(err, b.Label(l.key, l.name, l.rank))
				}
				for _, o := range c.objects {
					err = errors.Join(err, b.Statement(source.Statement{Subject: entity("!subject"),
						Relation: "is", Object: o}))
				}
				if err != nil {
					t.Fatal(err)
				}
				content, _, err := b.Content(t.Context(), storetest.HashEncoder(4), nil)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				if err := content.Entities(t.Context(), func(n store.NamedEntity) error {
					if n.Name != "!subject" {
						got = append(got, fmt.Sprint(n.Name, " ", n.Kind))
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("with %d bytes: got %q, want %q", memory, got, c.want)
				}
			}
		})
	}
}

func TestASharedLabelIsAnAliasOfEachNode(t *testing.T) {
	b := NewBuilder()
	err := errors.Join(
		b.Statement(source.Statement{Subject: source.Term{Key: "x/Q1"}, Relation: "is",
			Object: source.Term{Key: "x/Q2"}}),
		b.Label("x/Q1", "Paris", 0), b.Label("x/Q2", "Paris", 0),
		b.Alias("x/Q1", "Lutetia"), b.Alias("x/Q1", "Lutetia"), b.Alias("x/Q1", "Paris"), b.Alias("x/Q3", "nobody"))
	if err != nil {
		t.Fatal(err)
	}
	content, _, err := b.Content(t.Context(), storetest.HashEncoder(4), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []store.Alias
	if err := content.Aliases(t.Context(), func(a store.Alias) error { got = append(got, a); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []store.Alias{{Entity: 0, Name: "Lutetia"}, {Entity: 0, Name: "Paris"},
		{Entity: 1, Name: "Paris"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAZeroByteIsRefused(t *testing.T) {
	good := source.Statement{Subject: source.Term{Key: "a"}, Relation: "is", Object: source.Term{Key: "b"}}
	for name, spoil := range map[string]func(*source.Statement){
		"in a subject":  func(s *source.Statement) { s.Subject.Key = "a\x00" },
		"in a relation": func(s *source.Statement) { s.Relation = "\x00" },
		"in an object":  func(s *source.Statement) { s.Object.Key = "b\x00c" },
		"in a unit": func(s *source.Statement) {
			s.Object = source.Term{Key: "1", Kind: store.Quantity,
				Unit: "\x00"}
		},
		"a kind that there is not": func(s *source.Statement) { s.Object.Kind = 17 },
	} {
		s := good
		spoil(&s)
		if err := NewBuilder().Statement(s); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	b := NewBuilder()
	if errors.Join(b.Label("a\x00", "b", 0)) == nil || b.Label("a", "b\x00", 0) == nil ||
		b.Alias("a\x00", "b") == nil || b.Alias("a", "b\x00") == nil {
		t.Error("a label or alias with a zero byte is taken")
	}
	b.Add(Fact{Subject: "a", Relation: "is", Object: "\x00"})
	if _, _, err := b.Content(t.Context(), storetest.HashEncoder(4), nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a fact with a zero byte: %v", err)
	}
}

func TestDistinctNamesCanBeReadAgain(t *testing.T) {
	nodes := extsort.NewStrings(extsort.Options{})
	for value, entry := range [][]byte{nameEntry([]byte("Paris"), []byte("x/Q1")), nameEntry([]byte("Paris"),
		[]byte("y/Q1")), nameEntry([]byte("Rome"), []byte("x/Q2"))} {
		if err := nodes.Add(entry, uint64(value)); err != nil {
			t.Fatal(err)
		}
	}
	names := distinctNames{nodes: nodes}
	defer names.close()
	lost := map[uint64]string{}
	if err := names.resolve(t.Context(), func(value uint64, name []byte) error {
		lost[value] = string(name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := map[uint64]string{0: "Paris", 1: "Paris"}; !maps.Equal(lost, want) {
		t.Errorf("renamed %v, want %v", lost, want)
	}
	for range 2 {
		reader, err := names.reader()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			entry, _, err := reader.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			name, _ := splitEntry(entry)
			got = append(got, string(name))
		}
		if want := []string{"Paris (Q1) (x/Q1)", "Paris (Q1) (y/Q1)", "Rome"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	again := distinctNames{nodes: nodes}
	defer again.close()
	if err := again.resolve(cancelled, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

func TestLookupFindsNamesByID(t *testing.T) {
	table := &nameTable{text: (&scratch{disk: osDisk{}, parent: t.TempDir()}).spool("names", 1<<20)}
	keyOf := func(i int) string { return strings.Repeat("k", i%3) }
	var want []string
	for i := range 3*blockNames + 5 {
		want = append(want, fmt.Sprintf("name %04d%s", i, strings.Repeat("x", i%5)))
		if err := table.add([]byte(want[i]), []byte(keyOf(i)), store.Text); err != nil {
			t.Fatal(err)
		}
	}
	l := lookup{table: table}
	for _, i := range rand.Perm(len(want)) {
		if got, err := l.name(store.EntityID(i)); err != nil ||
			got != (store.NamedEntity{Name: want[i], Kind: store.Text, Key: keyOf(i)}) {
			t.Errorf("%d is %v, error %v, want %q", i, got, err, want[i])
		}
	}
	for _, beyond := range []int{len(want), 100 * blockNames} {
		if _, err := l.name(store.EntityID(beyond)); err == nil {
			t.Errorf("%d has a name", beyond)
		}
	}
}

func FuzzNameTable(f *testing.F) {
	f.Add([]byte("\x00\x01\x00a\x01\x01\x00b"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x00a"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := (&scratch{disk: osDisk{}}).spool("names", len(text))
		if _, err := s.Write(text); err != nil {
			t.Fatal(err)
		}
		table := &nameTable{text: s, blocks: []int64{0}, count: 1}
		_, _ = (&lookup{table: table}).name(0)
		_ = table.forEach(t.Context(), func(store.NamedEntity) error { return nil })
	})
}

func FuzzWords(f *testing.F) {
	f.Add([]byte("\x00\x02Na\x04"), 1)
	f.Add([]byte("\x00\x02Na\x07\x00\x01b\x02\x01c\x01d"), 2)
	f.Fuzz(func(t *testing.T, text []byte, keys int) {
		s := (&scratch{disk: osDisk{}}).spool("vocabulary", len(text))
		if _, err := s.Write(text); err != nil {
			t.Fatal(err)
		}
		w, err := (&partial{vocabulary: s, keys: keys % 100}).words()
		if err != nil {
			t.Fatal(err)
		}
		var to word
		for more := true; more && err == nil && w.remaining >= 0; {
			_, more, err = w.next(&to)
		}
	})
}

// FuzzLoad compares a load with hardly any memory with one that has enough.
func FuzzLoad(f *testing.F) {
	f.Add("x.tsv", "a\tis\tb\na\tis\tb\t1997\nc\n")
	f.Add("x.nt", "<x:a> <x:b> \"c\"@en .\n_:a <x:y> _:b .\n<x:a> <http://www.w3.org/2000/01/rdf-schema#label> "+
		"\"A\"@en .\n")
	f.Add("x.ttl", "<x:/a> <x:is> 5, <y:/a> . <x:/a> <http://www.w3.org/2000/01/rdf-schema#label> \"A\" .")
	f.Fuzz(func(t *testing.T, name, text string) {
		var shown [2]recordingTarget
		var reports [2]Report
		var errs [2]error
		for i, memory := range []int{DefaultMemory, 1 << 10} {
			l := New(Options{KG: "fuzz", Memory: memory, Scratch: t.TempDir()})
			err := l.Read(t.Context(), name, DetectFormat, strings.NewReader(text))
			if err == nil {
				reports[i], err = l.Finish(t.Context(), &shown[i], storetest.HashEncoder(2))
			}
			errs[i] = err
		}
		if (errs[0] == nil) != (errs[1] == nil) || shown[0] != shown[1] ||
			reports[0].Duplicates != reports[1].Duplicates {
			t.Errorf("%s %q:\n%s, error %v\nwith little memory:\n%s, error %v", name, text, shown[0].content, errs[0],
				shown[1].content, errs[1])
		}
	})
}
