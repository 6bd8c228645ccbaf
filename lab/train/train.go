// Package train trains a ranker of relation paths (services/retriever/rank) from questions with
// answers: it reads candidate paths with their features and ends of a running mesh, fits weights, and
// evaluates them on questions that are held back.
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/leak"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

const (
	// minUsable is the number of training questions with a path to an answer below which a ranker is
	// not trained.
	minUsable = 30
	// maxSet bounds the questions of one set. With two choices of topic entities and 96 paths, 10,000
	// questions take 0.8 GB.
	maxSet = 10000
)

// RefusedError says why something is not trained on, or not activated.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "training refused: " + e.Reason }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// Set is a set of questions about a knowledge graph.
type Set struct {
	// Name is that of its file, KG the knowledge graph.
	Name string                     `json:"name"`
	KG   *graphv1.KnowledgeGraphRef `json:"-"`
	// Questions are all that can be trained on: with answers that are not free text.
	Questions []dataset.Question `json:"-"`
	// Read is how many the file has, Taken how many of them are used, Unanswered and Open how many are
	// not because they have no answer or a free text. The rest is sampled away.
	Read       int `json:"read"`
	Taken      int `json:"taken"`
	Unanswered int `json:"unanswered"`
	Open       int `json:"open"`
	// Synthetic reports that the questions were made of the knowledge graph. Those whose path is not among
	// the candidates are not trained on.
	Synthetic bool `json:"synthetic,omitempty"`
	// Test reports that all questions are held back.
	Test bool `json:"test,omitempty"`
	// Leaked is how many were left out of training because their words are those of a question that is
	// held back, or in a test set.
	Leaked int `json:"leaked"`
}

// NewSet makes a set of questions, at most limit of them, chosen by seed.
func NewSet(name string, kg *graphv1.KnowledgeGraphRef, questions []dataset.Question, limit int,
	seed int64) (*Set, error) {
	s := &Set{Name: name, KG: kg, Read: len(questions)}
	for _, q := range questions {
		switch {
		case len(q.Answers) == 0:
			s.Unanswered++
		case q.Kind == dataset.Open:
			s.Open++
		default:
			s.Questions = append(s.Questions, q)
		}
	}
	if len(s.Questions) == 0 {
		return nil, refuse("%s: none of its %d questions has an answer that is the name of an entity or a value", name,
			s.Read)
	}
	if limit == 0 || limit > maxSet {
		limit = maxSet
	}
	s.Questions = dataset.Sample(s.Questions, limit, seed)
	s.Taken = len(s.Questions)
	return s, nil
}

// Trainer trains a ranker on sets.
type Trainer struct {
	Retriever Retriever
	Sets      []*Set
	// Hold is the share of questions to evaluate on, chosen by their ids.
	Hold float64
	// MaxHops, GoldOnly and Parallel are as in Gatherer.
	MaxHops  int
	GoldOnly bool
	Parallel int
	// LeaveGraphOut evaluates, besides, rankers that are trained on the other knowledge graphs.
	LeaveGraphOut bool
	// NotIn are questions that must not be trained on.
	NotIn []leak.Set
	// Start are weights to begin with; nil begins from chance.
	Start *rank.Weights
	// Fit are the settings of the fit; the encoder's name is set.
	Fit FitOptions
	// Now returns the time for the weights' provenance.
	Now func() time.Time
	// Progress is called with what is under way, how far it is and of how much; may be nil.
	Progress func(what string, done, of int)
}

// Result is a trained ranker and what it is worth.
type Result struct {
	Weights *rank.Weights `json:"-"`
	Sets    []*Set        `json:"sets"`
	// Trained is the number of questions with a path to an answer that were trained on, Examples that of
	// their samples, Held that of questions that are held back.
	Trained  int `json:"trained"`
	Examples int `json:"examples"`
	Held     int `json:"held"`
	// Encoder made the vectors.
	Encoder string `json:"encoder"`
	// Evaluations are those of the weights, LeftOut those of weights trained on other knowledge graphs.
	Evaluations []Evaluation `json:"evaluations"`
	LeftOut     []Evaluation `json:"left_out,omitempty"`
	// GatherSeconds and FitSeconds are the time it took.
	GatherSeconds float64 `json:"gather_seconds"`
	FitSeconds    float64 `json:"fit_seconds"`
}

// IsHeld reports whether a question is held back: by a hash of its id, so that the parts of two runs
// are the same whatever else is trained on.
func IsHeld(id string, share float64) bool {
	h := fnv.New64a()
	_, _ = io.WriteString(h, id)
	// The upper bits of FNV differ little between short ids.
	mixed := h.Sum64() * 0x9e3779b97f4a7c15
	return float64(mixed>>11)/(1<<53) < share
}

// Train gathers, fits and evaluates.
func (t *Trainer) Train(ctx context.Context) (*Result, error) {
	began := time.Now()
	result := &Result{Sets: t.Sets}
	samples, err := t.gather(ctx, result)
	if err != nil {
		return nil, err
	}
	result.GatherSeconds = time.Since(began).Seconds()
	began = time.Now()
	if result.Weights, err = t.fit(ctx, samples, "ranker", result); err != nil {
		return nil, err
	}
	ranker, err := rank.New(result.Weights)
	if err != nil {
		return nil, err
	}
	if result.Evaluations, err = evaluate(ranker, samples); err != nil {
		return nil, err
	}
	result.FitSeconds = time.Since(began).Seconds()
	if t.LeaveGraphOut {
		if err := t.leaveGraphsOut(ctx, samples, result); err != nil {
			return nil, err
		}
	}
	t.setProvenance(result)
	return result, nil
}

func (t *Trainer) gather(ctx context.Context, result *Result) ([]Sample, error) {
	total, done := 0, 0
	for _, s := range t.Sets {
		if err := t.dropLeaked(s); err != nil {
			return nil, err
		}
		total += len(s.Questions)
	}
	gatherers := map[string]*Gatherer{}
	var samples []Sample
	for _, s := range t.Sets {
		key := kgtext.FormatKG(s.KG)
		g := gatherers[key]
		if g == nil {
			g = &Gatherer{Retriever: t.Retriever, KG: s.KG, MaxHops: t.MaxHops, GoldOnly: t.GoldOnly,
				Parallel: t.Parallel}
			if t.Progress != nil {
				g.Progress = func() {
					g.mutex.Lock()
					defer g.mutex.Unlock()
					done++
					t.Progress("questions", done, total)
				}
			}
			gatherers[key] = g
		}
		read, err := g.Gather(ctx, s.Name, s.Questions, func(id string) bool { return t.isHeld(s, id) })
		if err != nil {
			return nil, fmt.Errorf("read paths of %s: %w", key, err)
		}
		if s.Synthetic {
			read = slices.DeleteFunc(read, func(r Sample) bool { return !r.Held && !r.isFound() })
		}
		samples = append(samples, read...)
		if err := checkLanguage(s, g.Relations()); err != nil {
			return nil, err
		}
		if result.Encoder = cmp.Or(result.Encoder, g.Encoder()); g.Encoder() != "" && g.Encoder() != result.Encoder {
			return nil, refuse("%s has vectors of the encoder %q, the others of %q", key, g.Encoder(), result.Encoder)
		}
	}
	trained, heldBack := map[string]bool{}, map[string]bool{}
	for _, s := range samples {
		id := s.Set + "\x00" + s.ID
		switch {
		case s.Held:
			heldBack[id] = true
		case s.usable():
			trained[id] = true
			result.Examples++
		}
	}
	result.Trained, result.Held = len(trained), len(heldBack)
	if result.Trained < minUsable {
		return nil, refuse("%d questions to train on have a path of up to %d hops to an answer, and %d are needed: "+
			"give more questions, check that their answers are named as in the knowledge graph, or raise --max-hops",
			result.Trained, t.MaxHops, minUsable)
	}
	return samples, nil
}

// minFound is the F1 from which on a synthesised question's path is among the candidates.
const minFound = 0.9

// isFound reports whether a path leads to all answers and little else.
func (s *Sample) isFound() bool {
	return slices.ContainsFunc(s.F1, func(f float32) bool { return f >= minFound })
}

func (t *Trainer) isHeld(s *Set, id string) bool { return s.Test || IsHeld(id, t.Hold) }

// dropLeaked leaves out of training what is held back, or in a test set, by its words.
func (t *Trainer) dropLeaked(s *Set) error {
	before, training := slices.Clone(t.NotIn), []dataset.Question{}
	for _, other := range t.Sets {
		var held []dataset.Question
		for _, q := range other.Questions {
			if t.isHeld(other, q.ID) {
				held = append(held, q)
			} else if other == s {
				training = append(training, q)
			}
		}
		before = append(before, leak.NewSet("held back of "+other.Name, dataset.Dataset{}, held))
	}
	if len(training) == 0 {
		return nil
	}
	ask := leak.NewSet(s.Name, dataset.Dataset{}, training)
	drop := map[string]bool{}
	for _, p := range leak.Check(append(before, ask)...) {
		if p.B.Set == s.Name {
			drop[p.B.ID] = true
		}
	}
	s.Leaked = len(drop)
	s.Questions = slices.DeleteFunc(s.Questions, func(q dataset.Question) bool { return drop[q.ID] })
	if len(drop) == len(training) {
		return refuse("%s: all of its questions are in a test set or held back", s.Name)
	}
	return nil
}

// fit fits weights on the samples that are not held back.
func (t *Trainer) fit(ctx context.Context, samples []Sample, what string, result *Result) (*rank.Weights, error) {
	var examples []Example
	for _, s := range samples {
		if !s.Held && s.usable() {
			examples = append(examples, s.Example)
		}
	}
	options := t.Fit
	options.Encoder = result.Encoder
	if t.Start != nil && t.Start.Encoder == result.Encoder {
		options.Start = t.Start
	}
	if t.Progress != nil {
		options.Progress = func(done, of int) { t.Progress(what, done, of) }
	}
	return Fit(ctx, examples, options)
}

// leaveGraphsOut evaluates, for each knowledge graph, weights that are trained on the others.
func (t *Trainer) leaveGraphsOut(ctx context.Context, samples []Sample, result *Result) error {
	var graphs []string
	for _, s := range samples {
		if !slices.Contains(graphs, s.KG.GetName()) {
			graphs = append(graphs, s.KG.GetName())
		}
	}
	if len(graphs) < 2 {
		return errors.New("--leave-graph-out: needs questions about two knowledge graphs or more")
	}
	for _, left := range graphs {
		isLeft := func(s Sample) bool { return s.KG.GetName() == left }
		weights, err := t.fit(ctx, slices.DeleteFunc(slices.Clone(samples), isLeft), "without "+left, result)
		if err != nil {
			return fmt.Errorf("train without %s: %w", left, err)
		}
		ranker, err := rank.New(weights)
		if err != nil {
			return err
		}
		others := slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return !isLeft(s) })
		evaluations, err := evaluate(ranker, others)
		if err != nil {
			return err
		}
		result.LeftOut = append(result.LeftOut, evaluations...)
	}
	return nil
}

func (t *Trainer) setProvenance(result *Result) {
	p := rank.Provenance{Trained: result.Trained, Held: result.Held, Date: t.Now().UTC().Format(time.DateOnly)}
	for _, s := range t.Sets {
		p.Questions = append(p.Questions, filepath.Base(s.Name))
	}
	for _, e := range result.Evaluations {
		p.Graphs = append(p.Graphs, e.KG)
	}
	slices.Sort(p.Graphs)
	p.Graphs = slices.Compact(p.Graphs)
	p.First = mean(result.Evaluations, func(e Evaluation) Ranking { return e.Trained }).First
	p.FirstBefore = mean(result.Evaluations, func(e Evaluation) Ranking { return e.Current }).First
	result.Weights.Provenance = p
}

// minHeld is the number of held questions below which an evaluation does not say whether a ranker
// got better.
const minHeld = 10

// CheckBetter refuses weights that rank the held questions of a knowledge graph worse than the mesh
// does without them.
func (r *Result) CheckBetter(kg string) error {
	var of []Evaluation
	held := 0
	for _, e := range r.Evaluations {
		if graphName(e.KG) == kg {
			of = append(of, e)
			held += e.Questions
		}
	}
	before, after := mean(of, func(e Evaluation) Ranking { return e.Current }),
		mean(of, func(e Evaluation) Ranking { return e.Trained })
	relations := len(r.Weights.Relations)
	switch {
	case r.isSyntheticAlone(kg) && r.Trained < perRelation*relations:
		return refuse("%d questions made of %s with its %d relations teach too little of each, and %d are needed: "+
			"raise --count, train on real questions, or show with --test that the ranker is better on them", r.Trained,
			kg, relations, perRelation*relations)
	case held < minHeld:
		return refuse("%d questions on %s are held back, and %d are needed to tell whether the ranker is better: "+
			"give more questions or raise --hold", held, kg, minHeld)
	case after.First < before.First || after.F1 < before.F1 && after.First == before.First:
		return refuse("on the questions of %s that are held back the ranker is worse: the first path leads to an "+
			"answer for %.1f %%, before for %.1f %%; the present ranking stays", kg, 100*after.First, 100*before.First)
	case math.IsNaN(after.F1):
		return refuse("the fit diverged; train with another --seed")
	}
	return nil
}

// graphName returns the knowledge graph of NAME@SNAPSHOT.
func graphName(kg string) string {
	name, _, _ := strings.Cut(kg, "@")
	return name
}

// perRelation is the number of synthesised questions per relation below which a ranker learns the
// templates instead of the relations: with 0.3 it ranked real questions on the Freebase slice worse
// than the rules, with 38 and more (MetaQA, PathQuestion) better.
const perRelation = 20

// isSyntheticAlone reports whether all questions on a knowledge graph were made of it.
func (r *Result) isSyntheticAlone(kg string) bool {
	return !slices.ContainsFunc(r.Sets, func(s *Set) bool { return s.KG.GetName() == kg && !s.Synthetic })
}
