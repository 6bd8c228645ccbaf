package load_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

type input struct{ name, text string }

// loadTexts loads texts into a fresh store and shows what is in it: each fact as
// "subject | relation | object" and, if it has one, its validity.
func loadTexts(t *testing.T, options load.Options, files ...input) ([]string, load.Report, error) {
	t.Helper()
	options.KG = "test"
	graphs := embedded.New(t.TempDir())
	defer graphs.Close()
	l := load.New(options)
	for _, f := range files {
		if err := l.Read(t.Context(), f.name, load.DetectFormat, strings.NewReader(f.text)); err != nil {
			return nil, load.Report{}, err
		}
	}
	report, err := l.Finish(t.Context(), graphs, storetest.HashEncoder(16))
	if err != nil {
		return nil, report, err
	}
	s, err := graphs.Open(t.Context(), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	return listFacts(s), report, nil
}

func listFacts(s store.Snapshot) []string {
	var shown []string
	for e := range s.Entities() {
		edges, err := s.Edges(context.Background(), []store.EntityID{e}, store.Out, nil)
		if err != nil {
			return []string{err.Error()}
		}
		for _, edge := range edges[0] {
			line := s.EntityName(e) + " | " + s.RelationName(edge.Relation) + " | " + s.EntityName(edge.Entity)
			if v := s.Validity(edge.Triple); v != (store.Validity{}) {
				line += " [" + v.Start + ".." + v.End + "]"
			}
			shown = append(shown, line)
		}
	}
	slices.Sort(shown)
	return shown
}

func gzipText(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTSV(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
		bad  uint64
		says string
	}{
		"three columns are a fact":   {text: "a\tis\tb\n", want: []string{"a | is | b"}},
		"the last line needs no end": {text: "a\tis\tb", want: []string{"a | is | b"}},
		"Windows ends of line and a mark in front": {text: "\xef\xbb\xbfa\tis\tb\r\nc\tis\td\r\n",
			want: []string{"a | is | b", "c | is | d"}},
		"empty lines are passed over":               {text: "\n \t \na\tis\tb\n\n", want: []string{"a | is | b"}},
		"spaces around and within names are folded": {text: " a  b \tis\t\u00a0c\n", want: []string{"a b | is | c"}},
		"a fact that is there twice is kept once":   {text: "a\tis\tb\na\tis\tb\n", want: []string{"a | is | b"}},
		"columns four and five are its validity": {
			text: "a\tis\tb\t1997\t1998-05-02\nc\tis\td\t\t2001-01\ne\tis\tf\t+1997-05-02T00:00:00Z\n",
			want: []string{"a | is | b [1997..1998-05-02]", "c | is | d [..2001-01]",
				"e | is | f [1997-05-02T00:00:00Z..]"}},
		"one fact at two times is two facts": {text: "a\tis\tb\t1885\t1889\na\tis\tb\t1893\t1897\n",
			want: []string{"a | is | b [1885..1889]", "a | is | b [1893..1897]"}},
		"a line with a column too few": {text: "a\tis\na\tis\tb\n", want: []string{"a | is | b"}, bad: 1,
			says: "x.tsv:1: 2 columns"},
		"a line with a column too many": {text: "a\tis\tb\t\t\t\na\tis\tb\n", want: []string{"a | is | b"},
			bad: 1, says: "x.tsv:1: 6 columns"},
		"a name that is empty": {text: "a\tis\tb\na\t \tb\n", want: []string{"a | is | b"}, bad: 1,
			says: "x.tsv:2: the relation is empty"},
		"a line that is not UTF-8": {text: "a\tis\t\xff\na\tis\tb\n", want: []string{"a | is | b"},
			bad: 1, says: "x.tsv:1: the line is not UTF-8"},
		"a validity that is no date": {text: "a\tis\tb\tsoon\na\tis\tb\n", want: []string{"a | is | b"},
			bad: 1, says: `x.tsv:1: the start of validity "soon"`},
		"a name that is too long": {text: strings.Repeat("n", 65537) + "\tis\tb\na\tis\tb\n",
			want: []string{"a | is | b"}, bad: 1, says: "x.tsv:1: the subject has 65537 bytes"},
		"a line that is too long": {text: "a\tis\t" + strings.Repeat("n", 2<<20) + "\na\tis\tb\n",
			want: []string{"a | is | b"}, bad: 1, says: "x.tsv:1: the line is longer"},
		"a last line that is too long": {text: "a\tis\tb\na\tis\t" + strings.Repeat("n", 2<<20),
			want: []string{"a | is | b"}, bad: 1, says: "x.tsv:2: the line is longer"},
	} {
		t.Run(name, func(t *testing.T) {
			got, report, err := loadTexts(t, load.Options{}, input{"x.tsv", c.text})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if report.BadLines != c.bad || len(report.Errors) != int(c.bad) || c.bad > 0 &&
				!strings.Contains(report.Errors[0].Error(), c.says) {
				t.Errorf("bad lines are %d %v, want %d that say %q", report.BadLines, report.Errors, c.bad, c.says)
			}
			if lines := uint64(strings.Count(strings.TrimSuffix(c.text, "\n"), "\n") + 1); report.Lines != lines {
				t.Errorf("%d lines, want %d", report.Lines, lines)
			}
			if c.bad > 0 {
				_, _, err := loadTexts(t, load.Options{Strict: true}, input{"x.tsv", c.text})
				var line *load.LineError
				if !errors.As(err, &line) || status.Code(err) != codes.InvalidArgument ||
					!strings.Contains(err.Error(), c.says) {
					t.Errorf("strict: error is %v", err)
				}
			}
		})
	}
}

func TestReportKeepsTheFirstBadLines(t *testing.T) {
	_, report, err := loadTexts(t, load.Options{}, input{"x.tsv", strings.Repeat("bad\n", 100) + "a\tis\tb\n"})
	if err != nil || report.BadLines != 100 || len(report.Errors) != 20 || report.Errors[19].Line != 20 {
		t.Errorf("%d bad lines, %d shown, error %v", report.BadLines, len(report.Errors), err)
	}
}

func TestFilesOfAllKinds(t *testing.T) {
	tsv := "a\tis\tb\n"
	nt := "<http://x/c> <http://x/is> <http://x/d> .\n"
	got, report, err := loadTexts(t, load.Options{}, input{"1.tsv", tsv},
		input{"2.TSV.gz", gzipText(t, tsv+"e\tis\tf\n")},
		input{"3.nt", nt}, input{"4.nt.gz", gzipText(t, nt)}, input{"5.txt", ""})
	if err != nil || !slices.Equal(got, []string{"a | is | b", "c | is | d", "e | is | f"}) || report.Lines != 5 ||
		report.Duplicates != 2 {
		t.Errorf("got %q, %+v, error %v", got, report, err)
	}
	for name, text := range map[string]string{
		"no gzip":                 tsv,
		"cut off":                 gzipText(t, strings.Repeat(tsv, 1000))[:40],
		"cut off in its head":     gzipText(t, tsv)[:5],
		"empty":                   "",
		"flipped in the middle":   flipByte(gzipText(t, strings.Repeat("abc\tis\tdef\n", 100)), 30),
		"flipped in its checksum": flipByte(gzipText(t, tsv), -6),
	} {
		if _, _, err := loadTexts(t, load.Options{},
			input{"x.tsv.gz", text}); status.Code(err) != codes.InvalidArgument ||
			!strings.HasPrefix(err.Error(), "x.tsv.gz") {
			t.Errorf("a gzip file that is %s: error is %v", name, err)
		}
	}
	if _, _, err := loadTexts(t, load.Options{}, input{"x.rdf", tsv}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a file of unknown format: %v", err)
	}
}

func flipByte(s string, at int) string {
	b := []byte(s)
	b[(at+len(b))%len(b)] ^= 0xff
	return string(b)
}

// failingTarget is a target that fails where it is told to.
type failingTarget struct {
	load.Target
	activate error
	dropped  []uint64
}

func (w *failingTarget) Activate(ctx context.Context, kg string, number uint64) (store.Info, error) {
	if w.activate != nil {
		return store.Info{}, w.activate
	}
	return w.Target.Activate(ctx, kg, number)
}

func (w *failingTarget) Drop(ctx context.Context, kg string, number uint64) ([]uint64, error) {
	w.dropped = append(w.dropped, number)
	return w.Target.Drop(ctx, kg, number)
}

// failingEncoder is an encoder that is down after its first calls.
type failingEncoder struct {
	encoder.Encoder
	calls int
}

var errDown = status.Error(codes.Unavailable, "down")

func (b *failingEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	if b.calls--; b.calls < 0 {
		return nil, errDown
	}
	return b.Encoder.Encode(ctx, texts)
}

func TestAFailedLoadChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tsv")
	if err := os.WriteFile(path, []byte("a\tis\tb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	graphs := embedded.New(filepath.Join(dir, "kg"))
	defer graphs.Close()
	ctx := t.Context()
	full := &store.Error{Op: "activate", KG: "test", Err: store.ErrFull}
	for name, c := range map[string]struct {
		target *failingTarget
		enc    encoder.Encoder
		paths  []string
		want   error
		code   codes.Code
	}{
		"a file that is not there": {&failingTarget{Target: graphs}, storetest.HashEncoder(8), []string{path + "x"},
			os.ErrNotExist, codes.Internal},
		"an encoder that is down": {&failingTarget{Target: graphs}, &failingEncoder{storetest.HashEncoder(8), 0},
			[]string{path},
			errDown, codes.Unavailable},
		"an encoder that dies on its way": {&failingTarget{Target: graphs},
			&failingEncoder{storetest.HashEncoder(8), 1},
			[]string{path},
			errDown, codes.Unavailable},
		"a disk too full for an activation": {&failingTarget{Target: graphs, activate: full}, storetest.HashEncoder(8),
			[]string{path}, store.ErrFull, codes.ResourceExhausted},
	} {
		_, err := load.Files(ctx, c.target, c.enc, c.paths, load.Options{KG: "test"})
		if !errors.Is(err, c.want) || status.Code(err) != c.code {
			t.Errorf("%s: error is %v, code %v", name, err, status.Code(err))
		}
		if listed, err := graphs.List(ctx, ""); err != nil || len(listed) != 0 {
			t.Errorf("%s: left behind %v, error %v", name, listed, err)
		}
	}
	report, err := load.Files(ctx, graphs, storetest.HashEncoder(8), []string{path},
		load.Options{KG: "test", NoActivate: true})
	if err != nil || report.Active || report.Snapshot.Triples != 1 {
		t.Errorf("a load without activation: %+v, error %v", report, err)
	}
	if _, err := graphs.Open(ctx, "test", 0); !errors.Is(err, store.ErrNoActive) {
		t.Errorf("after a load without activation: %v", err)
	}
}

func TestProgressReachesTheEnd(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "subject %d\tis\tobject %d\n", i, i%7)
	}
	var last load.Progress
	calls := 0
	_, _, err := loadTexts(t, load.Options{Progress: func(p load.Progress) {
		if p.Encoded < last.Encoded {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
		calls++
	}}, input{"x.tsv", text.String()})
	if err != nil || calls < 3 || last.Lines != 5000 || last.Encoded != 5000 || last.Triples != 5000 || last.Rate <= 0 {
		t.Errorf("%d calls, the last %+v, error %v", calls, last, err)
	}
}

// countingEncoder counts the texts that are encoded.
type countingEncoder struct {
	encoder.Encoder
	texts int
}

func (c *countingEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	c.texts += len(texts)
	return c.Encoder.Encode(ctx, texts)
}

func TestTheSameWordsAreEncodedOnce(t *testing.T) {
	b := load.NewBuilder()
	b.Add(load.Fact{Subject: "Ada", Relation: "people.person.place_of_birth", Object: "London"})
	b.Add(load.Fact{Subject: "Ada", Relation: "place of birth", Object: "London"})
	enc := &countingEncoder{Encoder: storetest.HashEncoder(8)}
	content, _, err := b.Content(t.Context(), enc, nil)
	if err != nil {
		t.Fatal(err)
	}
	enc.texts = 0
	rows := 0
	if err := content.TripleVectors(t.Context(), func([]float32) error { rows++; return nil }); err != nil {
		t.Fatal(err)
	}
	if enc.texts != 1 || rows != 2 {
		t.Errorf("%d texts were encoded for %d triples, want 1 for 2", enc.texts, rows)
	}
}
