package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// Part is one of the parts that every set of questions is split into.
type Part string

// The parts.
const (
	// Tune is what constants are chosen by and models are trained on: prompts, thresholds, weights.
	Tune Part = "tune"
	// Validate is what a choice is checked by before it is kept.
	Validate Part = "validate"
	// Report is what published figures are measured on. Nothing may be chosen by it.
	Report Part = "report"
	// All is the whole set, unsplit.
	All Part = "all"
)

// ParsePart reads the name of a part; empty is All.
func ParsePart(name string) (Part, error) {
	switch p := Part(name); p {
	case "":
		return All, nil
	case Tune, Validate, Report, All:
		return p, nil
	}
	return "", fmt.Errorf("unknown part %q; it is one of tune, validate, report, all", name)
}

// PartOf returns the part of an id: the first eight bytes of the SHA-256 sum of "part\n<id>", as a
// big-endian number modulo 10, is 0 to 3 for Tune, 4 or 5 for Validate, 6 to 9 for Report. So a
// question stays in its part on every machine, in every order and subset of its set.
func PartOf(id string) Part {
	sum := sha256.Sum256([]byte("part\n" + id))
	switch n := binary.BigEndian.Uint64(sum[:8]) % 10; {
	case n < 4:
		return Tune
	case n < 6:
		return Validate
	}
	return Report
}

// ClusterKey names the questions that share a subject and are no independent draws: the cluster that
// the dataset gives, else the words of the question.
func (q Question) ClusterKey() string {
	if q.Cluster != "" {
		return q.Cluster
	}
	return strings.Join(strings.Fields(strings.ToLower(q.Question)), " ")
}

// Parts returns the part of each question: that of its id, or for a cluster of several questions that
// of the least of their ids, so that no two parts share a question.
func Parts(questions []Question) []Part {
	least := make(map[string]string, len(questions))
	for _, q := range questions {
		key := q.ClusterKey()
		if id, seen := least[key]; !seen || q.ID < id {
			least[key] = q.ID
		}
	}
	parts := make([]Part, len(questions))
	for i, q := range questions {
		parts[i] = PartOf(least[q.ClusterKey()])
	}
	return parts
}

// Select returns the questions of a part in their order, each with its part.
func Select(questions []Question, part Part) []Question {
	var selected []Question
	for i, p := range Parts(questions) {
		if part == All || p == part {
			q := questions[i]
			q.Part = p
			selected = append(selected, q)
		}
	}
	return selected
}

// ReadPart returns Read with the questions of one part alone. A part without a question is an error.
func ReadPart(path, format string, part Part) (Dataset, error) {
	d, err := Read(path, format)
	if err != nil {
		return Dataset{}, err
	}
	whole := len(d.Questions)
	if d.Questions = Select(d.Questions, part); len(d.Questions) == 0 {
		return Dataset{}, fmt.Errorf("read questions %s: none of its %d questions is in the part %s; give more "+
			"questions, or all of them with --part all", path, whole, part)
	}
	return d, nil
}

// Tuning is the flag of commands that choose something by questions: it admits every part but Report.
type Tuning struct {
	Part string `enum:"tune,validate,all" default:"tune" help:"${tuning_part}"`
}

// HelpTexts are the help texts that are too long for a struct tag: kong variables.
var HelpTexts = map[string]string{
	"tuning_part": "Part of the questions to read, by a hash of their ids: tune, validate, or all of them if no " +
		"figure is published on the others. The part report cannot be read. (default: tune)",
	"fetch_mirror": "Folder with copies of the sets, <set>/<file>, such as the sets folder of another machine; what " +
		"it lacks is downloaded.",
}

// Read returns ReadPart of the chosen part.
func (t Tuning) Read(path, format string) (Dataset, error) {
	part, err := ParsePart(t.Part)
	switch {
	case err != nil:
		return Dataset{}, fmt.Errorf("--part: %w", err)
	case t.Part == "":
		part = Tune
	case part == Report:
		return Dataset{}, fmt.Errorf("--part report: figures are published on it, so nothing may be chosen by it; " +
			"choose tune or validate")
	}
	return ReadPart(path, format, part)
}
