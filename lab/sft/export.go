package sft

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Exporter makes examples of questions.
type Exporter struct {
	// Retriever reads the knowledge graph KG.
	Retriever Retriever
	KG        *graphv1.KnowledgeGraphRef
	// Settings are those of the stages that the model will serve.
	Settings Settings
	// Tasks are the tasks wanted; none takes all.
	Tasks []Task
	// MaxHops is the longest walk to an answer.
	MaxHops int
	// PathsApart makes an example of each relation path, instead of one of all
	// that a question has.
	PathsApart bool
	// Seed chooses among negatives. The same seed, questions, snapshot and runs
	// make the same examples.
	Seed int64
	// Parallel is how many questions are under way at a time.
	Parallel int

	runs runs
	// marked are the answers of runs and what callers said of them, by question.
	marked map[string]recordedRun
}

// skip is why a question has no examples.
type skip int

const (
	none skip = iota
	openEnded
	withoutTopics
	unreachable
)

// exportResult is the result of a question.
type exportResult struct {
	examples         []Example
	skipped          skip
	kg               *graphv1.KnowledgeGraphRef
	answers, reached int
	truncated        bool
	err              error
}

// Export makes the examples of all questions and hands them out question by
// question, in their order. No more questions are under way or kept than are
// asked in parallel.
func (e *Exporter) Export(ctx context.Context, questions []dataset.Question,
	write func([]Example) error) (Summary, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	turns := make(chan chan exportResult, max(1, e.Parallel)-1)
	go func() {
		defer close(turns)
		for _, q := range questions {
			turn := make(chan exportResult, 1)
			select {
			case turns <- turn:
			case <-ctx.Done():
				return
			}
			go func() { turn <- e.question(ctx, q) }()
		}
	}()
	summary := Summary{Examples: map[Task]Count{}}
	var kg *graphv1.KnowledgeGraphRef
	i := 0
	for turn := range turns {
		m := <-turn
		if m.err != nil {
			return Summary{}, fmt.Errorf("make examples of question %s: %w", questions[i].ID, m.err)
		}
		i++
		switch {
		case m.kg == nil:
		case kg == nil:
			kg = m.kg
		case kg.GetSnapshot() != m.kg.GetSnapshot():
			return Summary{}, fmt.Errorf("make examples over %s: snapshot %d was activated while %d was read; name "+
				"one of them: --kg %s@%d",
				kg.GetName(), m.kg.GetSnapshot(), kg.GetSnapshot(), kg.GetName(), m.kg.GetSnapshot())
		}
		if err := write(m.examples); err != nil {
			return Summary{}, err
		}
		summary.add(m)
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, err
	}
	summary.KG = fmt.Sprintf("%s@%d", kg.GetName(), kg.GetSnapshot())
	return summary, nil
}

// question makes the examples of one question.
func (e *Exporter) question(ctx context.Context, q dataset.Question) exportResult {
	switch {
	case q.Kind == dataset.Open:
		return exportResult{skipped: openEnded}
	case len(q.TopicEntities) == 0:
		return exportResult{skipped: withoutTopics}
	}
	k, err := gather(ctx, e.Retriever, e.KG, q, e.MaxHops)
	if err != nil {
		return exportResult{err: err}
	}
	m := exportResult{kg: k.kg, answers: len(q.Answers), reached: k.reached, truncated: k.truncated}
	if len(k.plans) == 0 {
		m.skipped = unreachable
	}
	m.examples, m.err = e.examples(q, k)
	return m
}

func (e *Exporter) examples(q dataset.Question, k evidence) (all []Example, err error) {
	base := scene{question: q.Question, id: q.ID, gold: newGold(q)}
	var scenes []scene
	for _, r := range e.runs[q.ID] { // first: mistakes that were made teach most
		s := base
		s.paths, s.candidates, s.verdicts, s.verdict = r.paths, r.candidates, r.verdicts, r.verdict
		scenes = append(scenes, s)
	}
	if len(k.plans) > 0 {
		s := base
		s.random = e.random(q.ID)
		s = newScene(s, k, e.Settings.maxGroups())
		if m, ok := e.marked[q.ID]; ok {
			s.candidates = onPaths(m.candidates, s.paths)
			s.verdicts, s.verdict = m.verdicts, m.verdict
		}
		scenes = append(scenes, s)
	}
	if e.includes(RelationPaths) {
		if all, err = e.Settings.planPaths(base, q.TopicEntities, k.plans, e.PathsApart); err != nil {
			return nil, err
		}
	}
	taught := map[string]bool{}
	lessons := map[Task]func(scene) ([]Example, error){
		CandidateAnswers: e.Settings.readCandidates,
		EvaluateQuestion: e.Settings.judgeSet,
		EvaluateAnswer:   func(s scene) ([]Example, error) { return e.Settings.judgeAnswers(s, taught) },
		Reflect:          e.Settings.reflect,
	}
	for i, s := range scenes {
		for _, task := range Tasks {
			if lessons[task] == nil || !e.includes(task) {
				continue
			}
			s.random = e.random(q.ID, string(task), strconv.Itoa(len(scenes)-i))
			some, err := lessons[task](s)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}

func (e *Exporter) includes(t Task) bool { return len(e.Tasks) == 0 || slices.Contains(e.Tasks, t) }

// random returns a source of its own for each purpose: what is drawn for one
// question and task depends on no other.
func (e *Exporter) random(purpose ...string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(purpose, "\x00")))
	return rand.New(rand.NewPCG(uint64(e.Seed), h.Sum64()))
}
