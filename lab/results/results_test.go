package results

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/triplemesh/triplemesh/lab/dataset"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// tricky is a question whose texts look like parts of a line.
var tricky = dataset.Question{
	ID: "1", Question: `what is ,"run":{"a":1}} and "run": {}?`, Answers: []string{`"run":`, "}}"},
	Kind: dataset.Set, TopicEntities: []string{`,"run":`},
}

func writeResults(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	defer j.Close()
	for _, l := range []Line{
		NewLine(tricky, nil, nil, status.Error(codes.Unavailable, "down")),
		NewLine(dataset.Question{ID: "2", Question: "q2", Answers: []string{"b"}}, nil, nil,
			status.Error(codes.Internal, "broken")),
		NewLine(tricky, new(2), answer("Paris"), nil),
		NewLine(dataset.Question{ID: "3", Question: "q3", Answers: []string{"c"}}, new(0), answer(`,"run":{`), nil),
	} {
		if err := j.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpenFindsTheLastLineOnEachQuestion(t *testing.T) {
	t.Parallel()
	r, err := Open(writeResults(t))
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != 3 || r.Manifest.Method != "pg-akv" {
		t.Errorf("%d questions by %+v", r.Len(), r.Manifest)
	}
	var ids []string
	for record, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, record.ID)
		if record.ID == "1" && (record.Question != tricky.Question || !reflect.DeepEqual(record.Answers,
			tricky.Answers) ||
			!reflect.DeepEqual(record.TopicEntities, tricky.TopicEntities) || record.Kind != dataset.Set ||
			*record.Hops != 2 || record.Measures == nil || record.Failure != nil) {
			t.Errorf("question 1 came back as %+v", record)
		}
	}
	if strings.Join(ids, " ") != "2 1 3" {
		t.Errorf("questions %v", ids)
	}
}

func TestLinesHaveTheRunsAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	r, err := Open(writeResults(t))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{"1": "Paris", "3": `,"run":{`}
	for line, err := range r.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		want, answered := answers[line.ID]
		if !answered {
			if line.Run != nil || line.Failure == nil {
				t.Errorf("question %s: %s", line.ID, line.Run)
			}
			continue
		}
		var run orchestratorv1.Run
		if err := protojson.Unmarshal(line.Run, &run); err != nil {
			t.Fatalf("question %s: %v in %s", line.ID, err, line.Run)
		}
		if got := run.GetAnswers()[0].GetAnswer(); got != want {
			t.Errorf("question %s: answer %q, want %q", line.ID, got, want)
		}
	}
}

func TestReadersMayStopEarly(t *testing.T) {
	t.Parallel()
	r, err := Open(writeResults(t))
	if err != nil {
		t.Fatal(err)
	}
	for range r.Records() {
		break
	}
	for range r.Lines() {
		break
	}
}

func TestLinesThatAnotherProgramWroteAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line string }{
		{"the run before the measures", `{"id":"1","run":{"text":"x"},"measures":{"answered":true}}`},
		{"spaces", `{ "id": "1", "measures": { "answered": true }, "run": { "text": "x" } }`},
		{"line ends of Windows", `{"id":"1","measures":{"answered":true},"run":{"text":"x"}}` + "\r"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := writeManifest(dir, testManifest()); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, runsName), []byte(c.line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			for line, err := range r.Lines() {
				var run struct{ Text string }
				if err != nil || line.ID != "1" || !line.Measures.Answered || json.Unmarshal(line.Run, &run) != nil ||
					run.Text != "x" {
					t.Errorf("got %+v, run %s, error %v", line.Record, line.Run, err)
				}
			}
			for record, err := range r.Records() {
				if err != nil || !record.Measures.Answered {
					t.Errorf("got %+v, error %v", record, err)
				}
			}
		})
	}
}

func TestOpenSaysWhatIsWrongWithADirectory(t *testing.T) {
	t.Parallel()
	manifest, err := json.Marshal(testManifest())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"one without results", nil, "holds no results of an evaluation: it has no manifest.json"},
		{"a manifest alone", map[string]string{manifestName: string(manifest)}, runsName},
		{"a bad manifest", map[string]string{manifestName: "{", runsName: ""}, "is no manifest"},
		{"a bad line", map[string]string{manifestName: string(manifest), runsName: "{}\n"}, "line 1 is no result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), dir) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestOpenLeavesOutALastLineThatWasCut(t *testing.T) {
	t.Parallel()
	dir := writeResults(t)
	whole := runsFile(t, dir)
	if err := os.WriteFile(filepath.Join(dir, runsName), []byte(whole[:len(whole)-3]), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Open(dir); err != nil || r.Len() != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestRecordsTellOfAFileThatWentAway(t *testing.T) {
	t.Parallel()
	dir := writeResults(t)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, runsName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Records() {
		if err == nil {
			t.Error("a record was read from an empty file")
		}
	}
	if err := os.Remove(filepath.Join(dir, runsName)); err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Lines() {
		if err == nil {
			t.Error("a line was read from no file")
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("1", "q", "a", "text")
	f.Add(`,"run":`, `"run":{`, "}}", `{"run":1}`)
	f.Fuzz(func(t *testing.T, id, question, right, text string) {
		l := NewLine(dataset.Question{ID: id, Question: question, Answers: []string{right}}, nil,
			&orchestratorv1.Run{Text: text}, nil)
		encoded, err := l.encode()
		if err != nil || l.Failure != nil || id == "" {
			return // no UTF-8
		}
		record, head, err := parseRecord(encoded)
		if err != nil || head == 0 {
			t.Fatalf("%q: head %d, %v", encoded, head, err)
		}
		line, err := parseLine(encoded, head)
		if err != nil || !json.Valid(line.Run) || string(line.Run) != string(l.Run) ||
			!reflect.DeepEqual(line.Record, record) {
			t.Fatalf("%q came back as %q, %v", encoded, line.Run, err)
		}
	})
}
