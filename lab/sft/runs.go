package sft

import (
	"cmp"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Of a recorded run no more is kept than a prompt shows: so many relation
// paths, ends of each, and reasoning paths to each end.
const (
	keptGroups = 12
	keptEnds   = 32
	keptWalks  = 2
)

// recordedRun is what a run made of a question.
type recordedRun struct {
	question   string
	paths      []*graphv1.ReasoningPath
	candidates []string
	verdicts   map[string]*graphv1.AnswerVerdict
	verdict    *graphv1.QuestionVerdict
}

// runs are recorded runs by the id of their question.
type runs map[string][]recordedRun

// RunsRead counts the recorded runs that were looked at.
type RunsRead struct {
	// Read is the number of all.
	Read int `json:"read"`
	// Used is the number of those that examples can be made of.
	Used int `json:"used"`
	// OtherQuestions are of questions that are not exported.
	OtherQuestions int `json:"other_questions"`
	// WithoutPaths read another knowledge graph or none, found no reasoning
	// path, or failed.
	WithoutPaths int `json:"without_paths"`
}

// readRuns reads the runs of some questions over a knowledge graph in results
// directories of evaluations. Those of other questions are passed over,
// whatever their ids are.
func readRuns(dirs []string, kg string, questions []dataset.Question) (runs, RunsRead, error) {
	asked := map[string]string{}
	for _, q := range questions {
		asked[q.ID] = kgtext.Fold(q.Question)
	}
	found, count := runs{}, RunsRead{}
	for _, dir := range dirs {
		r, err := results.Open(dir)
		if err != nil {
			return nil, RunsRead{}, err
		}
		for line, err := range r.Lines() {
			if err != nil {
				return nil, RunsRead{}, err
			}
			count.Read++
			if text, ok := asked[line.ID]; !ok || text != kgtext.Fold(line.Question) {
				count.OtherQuestions++
				continue
			}
			run, ok, err := readRun(line.Run, kg)
			if err != nil {
				return nil, RunsRead{}, fmt.Errorf("read results %s: the run of question %s: %w", dir, line.ID, err)
			}
			if !ok {
				count.WithoutPaths++
				continue
			}
			count.Used++
			found[line.ID] = append(found[line.ID], run)
		}
	}
	return found, count, nil
}

// readRun takes what examples need from a run in its JSON form. ok is false
// if it has no reasoning path in the knowledge graph.
func readRun(text json.RawMessage, kg string) (r recordedRun, ok bool, err error) {
	if len(text) == 0 {
		return recordedRun{}, false, nil
	}
	run := &orchestratorv1.Run{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, run); err != nil {
		return recordedRun{}, false, err
	}
	if run.GetKg().GetName() != kg {
		return recordedRun{}, false, nil
	}
	r.question = cmp.Or(run.GetStandaloneQuestion(), run.GetQuestion())
	switch {
	case run.GetGer() != nil:
		r.ger(run.GetGer())
	case run.GetRog() != nil:
		r.paths = run.GetRog().GetReasoningPaths()
		for _, a := range run.GetAnswers() {
			r.candidates = append(r.candidates, a.GetAnswer())
		}
	}
	if run.GetAblation() == orchestratorv1.Ablation_ABLATION_NEGATIVE_VERDICTS {
		r.verdicts, r.verdict = nil, nil // nobody judged
	}
	r.paths = shortened(r.paths)
	r.candidates = onPaths(r.candidates, r.paths)
	return r, len(r.paths) > 0, nil
}

func (r *recordedRun) ger(g *orchestratorv1.GerGraphs) {
	r.paths, r.verdict = g.GetReasoningPaths(), g.GetQuestionVerdict()
	for _, c := range g.GetCandidates() {
		r.candidates = append(r.candidates, c.GetAnswer())
	}
	for _, v := range g.GetAnswerVerdicts() {
		if r.verdicts == nil {
			r.verdicts = map[string]*graphv1.AnswerVerdict{}
		}
		r.verdicts[v.GetAnswer()] = v
	}
}

// onPaths keeps the names, each once, that reasoning paths end in.
func onPaths(names []string, paths []*graphv1.ReasoningPath) []string {
	ends := map[string]bool{}
	for _, p := range paths {
		ends[kgtext.PathEnd(p)] = true
	}
	var kept []string
	for _, name := range dataset.Distinct(names) {
		if ends[name] {
			kept = append(kept, name)
		}
	}
	return kept
}

// shortened keeps the reasoning paths that a prompt may show.
func shortened(paths []*graphv1.ReasoningPath) []*graphv1.ReasoningPath {
	var kept []*graphv1.ReasoningPath
	groups := kgtext.GroupPaths(paths)
	for _, g := range groups[:min(len(groups), keptGroups)] {
		walks := map[string]int{}
		for _, p := range g.Paths {
			end := kgtext.PathEnd(p)
			if _, seen := walks[end]; !seen && len(walks) == keptEnds {
				continue
			}
			if walks[end]++; walks[end] <= keptWalks {
				kept = append(kept, p)
			}
		}
	}
	return kept
}
