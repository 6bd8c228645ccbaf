package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/orchestrator/confidence"
)

const good = `{"id": "1", "measures": {"scores": {"hit": 1}}, ` +
	`"run": {"answers": [{"answer": "x"}], "from_the_future": 1}}`

func TestResults(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       int
		says       string
	}{
		{"right and wrong runs", good + "\n" + strings.NewReplacer(`"1"`, `"2"`, `"hit": 1`, `"hit": 0`).Replace(good) +
			"\n", 2, ""},
		{"a question that failed is no example", `{"id": "1", "failure": {"code": "Unavailable"}}` + "\n", 0, ""},
		{"nor is a run without an answer", strings.Replace(good, `[{"answer": "x"}]`, `[]`, 1), 0, ""},
		{"nor one whose answers were withheld", strings.Replace(good, `"answers"`, `"withheld"`, 1), 0, ""},
		{"of a question that was asked again the last run counts", strings.Replace(good, `"hit": 1`, `"hit": 0`, 1) +
			"\n" + good, 1, ""},
		{"a last line that was cut short is left out", good + "\n" + good[:40], 1, ""},
		{"a bad line elsewhere is not", good[:40] + "\n" + good, 0, "line 1"},
		{"a line without an id", "{}\n" + good, 0, "no id"},
		{"a run that is none", strings.Replace(good, `[{"answer": "x"}]`, `7`, 1) + "\n" + good, 0, `question "1"`},
		{"nothing", "", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "runs.jsonl"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := readResults(dir, "all")
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), dir) {
					t.Errorf("got %v, want %q", err, c.says)
				}
				return
			}
			if err != nil || len(got) != c.want {
				t.Fatalf("got %v, %v", got, err)
			}
			if c.want == 1 && !got[0].Right {
				t.Errorf("the run is taken for wrong: %v", got[0])
			}
		})
	}
	if _, err := readResults("/no/such/dir", "all"); err == nil {
		t.Error("a directory that is not there was read")
	}
}

func TestResultsAreReadOfOnePartAlone(t *testing.T) {
	var file strings.Builder
	for id, part := range map[string]string{"1": "tune", "2": "validate", "3": "report", "4": ""} {
		file.WriteString(strings.Replace(good, `"id": "1"`, `"part": "`+part+`", "id": "`+id+`"`, 1) + "\n")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "runs.jsonl"), []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]string{"tune": "1", "validate": "2", "report": "3"} {
		got, err := readResults(dir, part)
		if err != nil || len(got) != 1 || got[0].ID != want {
			t.Errorf("%s: got %v, %v", part, got, err)
		}
	}
}

func FuzzParseExample(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"id": "1", "measures": {}, "run": null}`))
	f.Add(
		[]byte(
			`{"id": "1", "measures": {"scores": {"hit": 1}}, ` +
				`"run": {"pgAkv": {"groundGraph": {"subjects": [{"triples": [{}]}]}}, ` +
				`"answers": [{"evidence": [{}]}]}}`))
	m, err := confidence.Default()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, ok, err := parseExample(line, "all")
		if err != nil || !ok {
			return
		}
		if c := m.Estimate(e.Run); c != nil && !(*c >= 0.01 && *c <= 0.99) {
			t.Errorf("the confidence is %g", *c)
		}
	})
}
