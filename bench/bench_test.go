package bench

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// clock returns a contestant that takes the times it is given, one a turn, and as
// long a turn as it must.
func clock(name string, turns *[]string, took ...time.Duration) contestant {
	n := 0
	return contestant{name: name, run: func(context.Context) (time.Duration, error) {
		n++
		switch n % 2 {
		case 1:
			*turns = append(*turns, name)
			return time.Nanosecond, nil // the first run of a turn does not count
		default:
			time.Sleep(turnTime)
			return took[n/2-1], nil
		}
	}}
}

func TestContestantsTakeTurns(t *testing.T) {
	var turns []string
	b := &bench{}
	ms := time.Millisecond
	first := clock("engine", &turns, 2*ms, 3*ms, 4*ms)
	first.recall = func() float64 { return 0.5 }
	if err := b.contest(t.Context(), "race", 3, first, clock("peer", &turns, 30*ms, 20*ms, 40*ms)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(turns, " "); got != strings.TrimSpace(strings.Repeat("engine peer ", 3)) {
		t.Errorf("the turns were %s", got)
	}
	engine, peer := b.rows[0], b.rows[1]
	if engine.Value != 2 || engine.Median != 3 || engine.Ratio != 0 || engine.Recall != 0.5 {
		t.Errorf("a first run counts, or the best does not: %+v", engine)
	}
	if peer.Value != 20 || peer.Ratio != 10 {
		t.Errorf("the peer is %+v, want ten times the engine", peer)
	}
}

func TestAContestEndsWithTheFirstError(t *testing.T) {
	b := &bench{}
	broken := contestant{name: "peer", run: func(context.Context) (time.Duration, error) {
		return 0,
			io.ErrUnexpectedEOF
	}}
	err := b.contest(t.Context(), "race", 3, broken)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "measure race: peer") {
		t.Errorf("the error is %v", err)
	}
}

func TestRecallCountsTies(t *testing.T) {
	hits := func(scores ...float32) [][]vector.Hit { return fromPeer([][]float32{scores}) }
	tests := []struct {
		name        string
		found, best [][]vector.Hit
		want        float64
	}{
		{"all found", hits(0.9, 0.8), hits(0.9, 0.8), 1},
		{"another row with the same score", hits(0.9, 0.8), hits(0.9, 0.8), 1},
		{"one missed", hits(0.9, 0.7), hits(0.9, 0.8), 0.5},
		{"nothing found", hits(), hits(0.9, 0.8), 0},
		{"the last digit differs", hits(0.9, 0.7999995), hits(0.9, 0.8), 1},
		{"nothing to find", hits(), hits(), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := recall(tt.found, tt.best); got != tt.want {
				t.Errorf("recall is %v, want %v", got, tt.want)
			}
		})
	}
}

func TestGeneratedVectorsComeInFamilies(t *testing.T) {
	g := newGenerated(64, 1)
	product := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	all := make([][]float32, 2*cluster)
	for i := range all {
		all[i] = clone(g.next())
		if length := product(all[i], all[i]); math.Abs(length-1) > 1e-5 {
			t.Fatalf("vector %d has length %v", i, length)
		}
	}
	if same, other := product(all[0], all[1]), product(all[0], all[cluster]); same < 0.6 || other > 0.5 {
		t.Errorf("the cosine within a family is %.2f, to another %.2f", same, other)
	}
}

func clone(v []float32) []float32 { return append([]float32(nil), v...) }

func TestRepeatedVectorsResembleTheirOriginals(t *testing.T) {
	g := newGenerated(128, 2)
	var originals [][]float32
	next := repeated(func() []float32 {
		originals = append(originals, clone(g.next()))
		return originals[len(originals)-1]
	}, 3)
	for i := range 9 {
		v := clone(next())
		var cosine, length float64
		for j := range v {
			cosine += float64(v[j]) * float64(originals[i%3][j])
			length += float64(v[j]) * float64(v[j])
		}
		if math.Abs(length-1) > 1e-5 || cosine < 0.95 || (i >= 3) != (cosine < 0.9999) {
			t.Errorf("vector %d has a cosine of %.4f to its original and a length of %.4f", i, cosine, length)
		}
	}
}

func TestWrittenVectorsAreFound(t *testing.T) {
	b := &bench{work: t.TempDir()}
	set, err := b.write(t.Context(), "set", 1000, 32, newGenerated(32, 1).next)
	if err != nil {
		t.Fatal(err)
	}
	row, err := set.Row(77)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []vector.Method{vector.ByFull, vector.ByCodes, vector.ByBits} {
		hits, err := set.Search(t.Context(), [][]float32{row}, 1, vector.Options{Method: method})
		if err != nil || hits[0][0].Row != 77 {
			t.Errorf("method %d finds %v, error %v", method, hits, err)
		}
	}
	if err := set.close(); err != nil {
		t.Error(err)
	}
}

func TestBandwidthReadsEveryCacheLine(t *testing.T) {
	for threads := 1; threads <= 4; threads++ {
		// Every part of every thread begins with a cache line.
		data := make([]byte, 64*4*threads*10)
		for i := 0; i < len(data); i += 64 {
			data[i] = 1
		}
		if got, want := bandwidth(data, threads), uint64(len(data)/64); got != want {
			t.Errorf("%d threads add up %d, want %d", threads, got, want)
		}
	}
}

func TestRunRefusesWhatItDoesNotKnow(t *testing.T) {
	_, err := Run(t.Context(), Options{Only: []string{"swim"}}, nil)
	if err == nil || !strings.Contains(err.Error(), `"swim"`) || !strings.Contains(err.Error(), "search: ") {
		t.Errorf("the error is %v", err)
	}
}

func TestMeasuresWithoutTheirDataAreLeftOut(t *testing.T) {
	var said bytes.Buffer
	rows, err := Run(t.Context(), Options{Only: []string{"walk", "bits"}, Rounds: 1, Work: t.TempDir()}, &said)
	if err != nil || len(rows) != 0 {
		t.Errorf("rows %v, error %v", rows, err)
	}
	for _, want := range []string{"--plans", "--triples"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it does not say what is missing: %s", said.String())
		}
	}
}

func TestFilesWithoutQuestionsOrPlansAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(path, []byte(`{"id": "1", "paths": [["director"]]}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for only, want := range map[string]string{"walk": "read plans", "ground": "read questions"} {
		options := Options{Only: []string{only}, Rounds: 1, Work: t.TempDir(), Plans: path, Questions: path,
			Triples: path}
		_, err := Run(t.Context(), options, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one that says %q and names the file", only, err, want)
		}
	}
}

func TestResultsAreWritten(t *testing.T) {
	rows := []Row{
		{Contest: "search <b>", Name: "engine", Value: 2, Median: 2.5, Unit: "ms", Recall: 1},
		{Contest: "search <b>", Name: "peer & co", Value: 200, Median: 210, Unit: "ms", Ratio: 100},
		{Contest: "open", Name: "engine", Value: 12.3, Unit: "ms"},
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := Write(dir, rows); err != nil {
		t.Fatal(err)
	}
	plot, err := os.ReadFile(filepath.Join(dir, "contest-1.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(bytes.NewReader(plot)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the plot is no XML: %v", err)
		}
	}
	if !strings.Contains(string(plot), "logarithmic") || !strings.Contains(string(plot), "peer &amp; co") {
		t.Errorf("the plot is %s", plot)
	}
	if _, err := os.Stat(filepath.Join(dir, "contest-2.svg")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a contest with one contestant has a plot")
	}
	text, err := os.ReadFile(filepath.Join(dir, "results.md"))
	if err != nil || !strings.Contains(string(text), "| peer & co | 200 | 210 | ms | 100x |") {
		t.Errorf("the tables are %s, error %v", text, err)
	}
	var table bytes.Buffer
	if err := WriteTable(&table, rows); err != nil || !strings.Contains(table.String(), "12.3") {
		t.Errorf("the table is %s, error %v", table.String(), err)
	}
}

// fakePeer runs shell instead of Python.
func fakePeer(t *testing.T, script string) *peer {
	t.Helper()
	p := &peers{python: "/bin/sh", dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(p.dir, "fake.py"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	running, err := p.start(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.stop)
	return running
}

func TestPeersAnswerRequests(t *testing.T) {
	p := fakePeer(t, `while read line; do echo '{"ms": [1.5, 2.5], "walks": 3}'; done`)
	c, last := p.contestant("peer", "", map[string]any{"walk": "file"})
	took, err := c.run(t.Context())
	if err != nil || took != 4*time.Millisecond || last.Walks != 3 {
		t.Errorf("it took %v and answered %+v, error %v", took, last, err)
	}
}

func TestPeersThatFailSayWhy(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"an error of its own", `read line; echo '{"error": "no such file"}'; read line`, "no such file"},
		{"it ends", `read line; echo "ModuleNotFoundError: faiss" >&2; exit 1`, "ModuleNotFoundError"},
		{"it talks nonsense", `read line; echo hello; read line`, "hello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := fakePeer(t, tt.script).ask(map[string]any{}); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want it to tell %q", err, tt.want)
			}
		})
	}
}
