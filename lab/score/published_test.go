package score

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestScoresByRoGsFormula recomputes scores of our own predictions, which another implementation of the
// formula gave, and, with the evaluation data, the 802 published ones of a model
// on WebQSP.
func TestScoresByRoGsFormula(t *testing.T) {
	files := map[string]int{filepath.Join("testdata", "rog.jsonl"): 12}
	if dir := dataDir(); dir != "" {
		files[filepath.Join(dir, "scoring", "webqsp_scored.jsonl")] = 802
	}
	for name, want := range files {
		if rows := checkScored(t, name); rows != want {
			t.Errorf("read %d rows of %s, want %d", rows, name, want)
		}
	}
}

func checkScored(t *testing.T, name string) (rows int) {
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var row struct {
		ID          string
		Prediction  string
		GroundTruth []string `json:"ground_truth"`
		Scores      struct {
			Acc, Hit, Hit1, F1, Recall float64
			Precision                  float64 `json:"precission"`
		}
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rows++
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s:%d: %v", name, rows, err)
		}
		got := Score(row.Prediction, row.GroundTruth)
		want := got
		want.Hit, want.HitsAt1 = row.Scores.Hit, row.Scores.Hit1
		want.RoG = RoG{row.Scores.Precision, row.Scores.Recall, row.Scores.F1}
		if !almostEqual(got, want) || row.Scores.Acc != row.Scores.Recall {
			t.Errorf("%s: prediction %q, answers %q\n got %+v\nwant %+v", row.ID, row.Prediction, row.GroundTruth, got,
				want)
		}
		if got.F1 > 1 || got.Precision > 1 || got.F1 > got.RoG.F1+1e-9 {
			t.Errorf("%s: matched one to one, %+v", row.ID, got)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// dataDir returns the directory of the evaluation data, that of TRIPLEMESH_DATA or the one beside the
// checkout; empty if there is none.
func dataDir() string {
	if dir := os.Getenv("TRIPLEMESH_DATA"); dir != "" {
		return dir
	}
	dir := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// readFixture decodes the lines of a JSON Lines file of testdata.
func readFixture[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var x T
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, x)
	}
	return all
}
