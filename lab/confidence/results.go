package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// maxLine bounds a line of a results file, in bytes: a run includes its graphs.
const maxLine = 64 << 20

// readResults reads the examples of a results directory of `triplemesh eval`. A run is
// right if its first answer is. Failed questions and runs without an answer are skipped.
//
// Only the questions of one part of their set are read: tune, validate, report or all. Results say
// which part each question is in.
func readResults(dir, part string) ([]example, error) {
	name := filepath.Join(dir, "runs.jsonl")
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	defer f.Close()
	examples, err := readExamples(f, part)
	if err != nil {
		return nil, fmt.Errorf("read results: %s: %w", name, err)
	}
	return examples, nil
}

// readExamples reads one question per line. If a question repeats, its last line counts; a
// truncated last line is skipped.
func readExamples(r io.Reader, part string) ([]example, error) {
	var examples []example
	place := map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var bad error
	for n := 1; lines.Scan(); n++ {
		if bad != nil {
			return nil, bad
		}
		e, ok, err := parseExample(lines.Bytes(), part)
		if err != nil {
			bad = fmt.Errorf("line %d: %w", n, err)
			continue
		}
		if at, known := place[e.ID]; ok && known {
			examples[at] = e
		} else if ok {
			place[e.ID] = len(examples)
			examples = append(examples, e)
		}
	}
	return examples, lines.Err()
}

func parseExample(line []byte, part string) (e example, ok bool, err error) {
	var record struct {
		ID       string `json:"id"`
		Part     string `json:"part"`
		Measures *struct {
			Scores struct {
				// HitsAt1 is missing in old results.
				HitsAt1 *float64 `json:"hits_at_1"`
				Hit     float64  `json:"hit"`
			} `json:"scores"`
		} `json:"measures"`
		Run json.RawMessage `json:"run"`
	}
	if err := json.Unmarshal(line, &record); err != nil {
		return e, false, err
	}
	if record.ID == "" {
		return e, false, errors.New("it has no id")
	}
	if record.Measures == nil || len(record.Run) == 0 || part != "all" && record.Part != part {
		return e, false, nil
	}
	run := &orchestratorv1.Run{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(record.Run, run); err != nil {
		return e, false, fmt.Errorf("the run of question %q: %w", record.ID, err)
	}
	if len(run.GetWithheld()) > 0 { // what was held back is what was scored as nothing
		return e, false, nil
	}
	e = example{ID: record.ID, Run: run, Right: record.Measures.Scores.Hit > 0}
	if first := record.Measures.Scores.HitsAt1; first != nil {
		e.Right = *first > 0
	}
	return e, len(run.GetAnswers()) > 0, nil
}
