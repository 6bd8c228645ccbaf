package report

import (
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	"github.com/triplemesh/triplemesh/lab/score"
)

// record returns one whose graphs hold the answer or not, as the letters say: a
// capital letter for a graph that does.
func record(graphs string, hit float64) results.Record {
	m := &results.Measures{Answered: true, Scores: score.Scores{Hit: hit}}
	for _, letter := range graphs {
		switch letter {
		case 'H', 'h':
			m.InHits = new(letter == 'H')
		case 'G', 'g':
			m.InGround = new(letter == 'G')
		case 'F', 'f':
			m.InFixed = new(letter == 'F')
		case 'P', 'p':
			m.InPaths = new(letter == 'P')
		case 'C', 'c':
			m.InCandidates = new(letter == 'C')
		}
	}
	return results.Record{ID: "q", Kind: dataset.Set, Measures: m}
}

func abstained(r results.Record) results.Record {
	r.Measures.Abstained, r.Measures.Answered = true, false
	return r
}

func TestAt(t *testing.T) {
	tests := []struct {
		name   string
		record results.Record
		want   string
	}{
		{"a right answer is not lost", record("HGF", 1), ""},
		{"a right answer that no graph holds is not lost", record("hgf", 1), ""},
		{"what was never found is lost among the hits", record("hgf", 0), "hits"},
		{"what pruning took is lost there", record("Hgf", 0), "ground"},
		{"what verification took is lost there", record("HGf", 0), "fixed"},
		{"what the last graph holds is lost in the answer", record("HGF", 0), "answer"},
		{"what came in again counts from there", record("hgF", 0), "answer"},
		{"without a path it is lost among the paths", record("pc", 0), "paths"},
		{"without a candidate it is lost there", record("Pc", 0), "candidates"},
		{"a judged candidate is lost in the answer", record("PC", 0), "answer"},
		{"a method without graphs loses in the answer", record("", 0), "answer"},
		{"an answer withheld is one abstained from", abstained(record("HGF", 0)), "abstained"},
		{"what was lost before it was withheld is lost there", abstained(record("hgf", 0)), "hits"},
		{"a failure is one", results.Record{ID: "q", Failure: &results.Failure{}}, "failed"},
		{"an open question loses nothing", results.Record{ID: "q", Kind: dataset.Open, Measures: &results.Measures{}},
			""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			at, is := LostAt(test.record)
			if at.Key != test.want || is != (test.want != "") {
				t.Errorf("lost at %q (%v), want %q", at.Key, is, test.want)
			}
		})
	}
}

func TestFunnel(t *testing.T) {
	levels := Funnel([]results.Record{
		record("HGF", 1), record("HGF", 0), record("HGf", 0), record("Hgf", 1), record("hgf", 0),
		{ID: "failed", Failure: &results.Failure{}}, {ID: "open", Kind: dataset.Open, Measures: &results.Measures{}},
	})
	want := []FunnelLevel{{Count: 6}, {Hits, 4, 0}, {Ground, 3, 0}, {Fixed, 2, 0}, {Answer, 2, 1}}
	if len(levels) != len(want) {
		t.Fatalf("%d levels, want %d", len(levels), len(want))
	}
	for i, l := range levels {
		if l.Step.Key != want[i].Step.Key || l.Count != want[i].Count || l.Anew != want[i].Anew {
			t.Errorf("level %d is %s %d (%d new), want %s %d (%d)", i, l.Step.Key, l.Count, l.Anew, want[i].Step.Key,
				want[i].Count, want[i].Anew)
		}
	}
}

func TestFunnelLeavesOutGraphsOfFewRuns(t *testing.T) {
	levels := Funnel([]results.Record{record("HGF", 1), record("PC", 1), record("PC", 0)})
	var keys []string
	for _, l := range levels {
		keys = append(keys, l.Step.Key)
	}
	if len(keys) != 4 || keys[1] != "paths" || keys[2] != "candidates" {
		t.Errorf("levels are %v", keys)
	}
	if Funnel([]results.Record{{Kind: dataset.Open, Measures: &results.Measures{}}}) != nil {
		t.Error("open questions have a funnel")
	}
}
