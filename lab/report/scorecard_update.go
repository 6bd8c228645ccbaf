package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/lab/results"
)

// head begins a scorecard that Update writes.
const head = "Thresholds of evaluations: `triplemesh eval scorecard` compares results with them."

// UpdateThresholds rewrites the bounds of a scorecard from results, each with a
// tolerance: an absolute one for shares, a relative one for all else. Where
// there is a file, its thresholds, their order and its comments stay, and those
// without results keep their bounds. Evaluations that no threshold is for get
// some for their scores and their calls.
func UpdateThresholds(path string, evaluations []*Evaluation, tolerance float64) (changed, added int, err error) {
	text, err := os.ReadFile(path)
	var thresholds []Threshold
	document := &yaml.Node{Kind: yaml.DocumentNode, HeadComment: head,
		Content: []*yaml.Node{{Kind: yaml.MappingNode, Content: []*yaml.Node{
			{Kind: yaml.ScalarNode, Value: "thresholds"}, {Kind: yaml.SequenceNode},
		}}}}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return 0, 0, fmt.Errorf("update scorecard: %w", err)
	default:
		if thresholds, err = parse(text); err != nil {
			return 0, 0, fmt.Errorf("read scorecard %s: %w", path, err)
		}
		if err := yaml.Unmarshal(text, document); err != nil {
			return 0, 0, fmt.Errorf("read scorecard %s: %w", path, err)
		}
	}
	list := thresholdValue(document.Content[0], "thresholds")
	has := make(map[*Evaluation]bool)
	for i, t := range thresholds {
		for _, e := range evaluations {
			has[e] = has[e] || t.matches(e)
		}
		e, problem := t.find(evaluations)
		if problem != "" {
			continue
		}
		got, problem := figure(e, t.Metric)
		if problem != "" {
			continue
		}
		t.bound(*got, tolerance)
		for key, v := range map[string]*float64{"at_least": t.AtLeast, "at_most": t.AtMost} {
			if node := thresholdValue(list.Content[i], key); node != nil && v != nil && node.Value != number(*v) {
				node.Value, node.Tag = number(*v), ""
				changed++
			}
		}
	}
	for _, e := range evaluations {
		if has[e] || e.Manifest().Asked > len(e.Records) {
			continue
		}
		for _, t := range fresh(e, tolerance) {
			node := new(yaml.Node)
			if err := node.Encode(t); err != nil {
				return 0, 0, fmt.Errorf("update scorecard: %w", err)
			}
			list.Content = append(list.Content, node)
			added++
		}
	}
	if len(list.Content) == 0 {
		return 0, 0, errors.New("update scorecard: the results have nothing to set a threshold for")
	}
	return changed, added, writeScorecardResults(path, document)
}

// fresh returns the thresholds of an evaluation that has none.
func fresh(e *Evaluation, tolerance float64) []Threshold {
	m := e.Manifest()
	var out []Threshold
	for _, key := range []string{"hit", "f1", "rouge_l", "calls_per_question"} {
		got, problem := figure(e, key)
		if problem != "" {
			continue
		}
		t := Threshold{Dataset: m.Dataset.Name, KG: m.KG, Method: e.Name, Metric: key, AtLeast: new(float64)}
		if key == "calls_per_question" {
			if e.Summary.Figures["cached_calls_per_question"].Value > 0 {
				continue // how many there are depends on the cache
			}
			t.AtLeast, t.AtMost = nil, new(float64)
		}
		if m.GoldEntities {
			t.GoldEntities = new(true)
		}
		t.bound(*got, tolerance)
		out = append(out, t)
	}
	return out
}

// bound sets the bound of a threshold to a figure less, or plus, a tolerance.
func (t *Threshold) bound(got results.Interval, tolerance float64) {
	slack := func(v float64) float64 {
		for _, f := range results.Figures() {
			if f.Key == t.Metric && f.Unit == results.Share {
				return tolerance
			}
		}
		return math.Abs(v) * tolerance
	}
	// Four decimals, on the lenient side; what is off by the last bit is not.
	down := func(v float64) *float64 { return new(math.Floor(v*1e4+1e-6) / 1e4) }
	up := func(v float64) *float64 { return new(math.Ceil(v*1e4-1e-6) / 1e4) }
	if t.AtLeast != nil {
		v := got.Value
		if t.Interval == "low" {
			v = got.Low
		}
		t.AtLeast = down(max(0, v-slack(v)))
		return
	}
	v := got.Value
	if t.Interval == "high" {
		v = got.High
	}
	t.AtMost = up(v + slack(v))
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// thresholdValue returns what a mapping has under a key; nil if it does not.
func thresholdValue(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// writeScorecardResults replaces a file as a whole or not at all.
func writeScorecardResults(path string, document *yaml.Node) error {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(document), encoder.Close()); err != nil {
		return fmt.Errorf("write scorecard: %w", err)
	}
	if err := os.WriteFile(path+".tmp", text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write scorecard %s: %w", filepath.Base(path), errors.Join(err, os.Remove(path+".tmp")))
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("write scorecard: %w", err)
	}
	return nil
}
