package results

import (
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/score"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Graphs say, of each graph that a run made, whether a right answer is an
// entity of it, and how large it is. Those that the run did not come to are
// unset.
type Graphs struct {
	// InHits reports whether a right answer is an entity of G_t (pg-akv) or of the
	// triples nearest to the question (rag).
	InHits *bool `json:"answer_in_hits,omitempty"`
	// InGround reports whether one is an entity of G_g.
	InGround *bool `json:"answer_in_ground,omitempty"`
	// InFixed reports whether one is an entity of G_f.
	InFixed *bool `json:"answer_in_fixed,omitempty"`
	// InPaths reports whether a reasoning path leads to one: ends in it (ger, rog),
	// or passes it (tog, which answers from whole paths).
	InPaths *bool `json:"answer_in_paths,omitempty"`
	// PathRecall is the share of the right answers that reasoning paths lead to.
	PathRecall *float64 `json:"path_recall,omitempty"`
	// InCandidates reports whether one is a candidate (ger) or the answer of a
	// sample (sc).
	InCandidates *bool `json:"answer_in_candidates,omitempty"`
	// Hits is the number of triples found.
	Hits *int `json:"hits,omitempty"`
	// GroundTriples is the number of triples of G_g.
	GroundTriples *int `json:"ground_triples,omitempty"`
	// FixedTriples is the number of triples of G_f.
	FixedTriples *int `json:"fixed_triples,omitempty"`
	// PathEnds is the number of distinct entities that reasoning paths lead to.
	PathEnds *int `json:"path_ends,omitempty"`
	// Candidates is the number of candidates, or of distinct sampled answers.
	Candidates *int `json:"candidates,omitempty"`
	// CandidateScores are those that the candidates alone would have: the
	// answer of generation with neither evaluation nor reflection.
	CandidateScores *score.Scores `json:"candidate_scores,omitempty"`
	// EditsRight is the number of edits that mended the pseudo-graph.
	EditsRight *int `json:"edits_right,omitempty"`
	// EditsWrong is the number of edits that spoilt it.
	EditsWrong *int `json:"edits_wrong,omitempty"`
}

type stages map[orchestratorv1.Stage]bool

func measureGraphs(q dataset.Question, run *orchestratorv1.Run) Graphs {
	var g Graphs
	reached := make(stages)
	for _, stage := range run.GetStages() {
		reached[stage.GetStage()] = true
	}
	switch made := run.GetGraphs().(type) {
	case *orchestratorv1.Run_PgAkv:
		g.pgAkv(q, made.PgAkv, reached)
	case *orchestratorv1.Run_Ger:
		g.ger(q, made.Ger, reached)
	case *orchestratorv1.Run_Rag:
		if reached[orchestratorv1.Stage_STAGE_SEARCH] {
			g.hits(q, made.Rag.GetHits())
		}
	case *orchestratorv1.Run_Sc:
		if reached[orchestratorv1.Stage_STAGE_SAMPLE] {
			g.samples(q, made.Sc.GetSamples())
		}
	case *orchestratorv1.Run_Tog:
		if reached[orchestratorv1.Stage_STAGE_EXPLORE] {
			paths := made.Tog.GetReasoningPaths()
			for _, depth := range made.Tog.GetDepths() {
				paths = append(paths, depth.GetReasoningPaths()...)
			}
			g.paths(q, passed(paths))
		}
	case *orchestratorv1.Run_Rog:
		if reached[orchestratorv1.Stage_STAGE_PATHS] {
			g.paths(q, pathEnds(made.Rog.GetReasoningPaths()))
		}
	}
	return g
}

func (g *Graphs) pgAkv(q dataset.Question, made *orchestratorv1.PgAkvGraphs, reached stages) {
	if reached[orchestratorv1.Stage_STAGE_GROUND_GRAPH] {
		g.hits(q, made.GetHits())
		var ground []string
		triples := 0
		for _, subject := range made.GetGroundGraph().GetSubjects() {
			triples += len(subject.GetTriples())
			for _, scored := range subject.GetTriples() {
				ground = appendEnds(ground, scored.GetTriple())
			}
		}
		g.InGround = new(score.ContainsAnswer(q.Names(), ground))
		g.GroundTriples = &triples
	}
	if reached[orchestratorv1.Stage_STAGE_VERIFY] {
		var fixed []string
		for _, triple := range made.GetFixedGraph().GetTriples() {
			fixed = appendEnds(fixed, triple.GetTriple())
		}
		g.InFixed = new(score.ContainsAnswer(q.Names(), fixed))
		g.FixedTriples = new(len(made.GetFixedGraph().GetTriples()))
		right, wrong := judgeEdits(q, made.GetEdits())
		g.EditsRight, g.EditsWrong = &right, &wrong
	}
}

func (g *Graphs) ger(q dataset.Question, made *orchestratorv1.GerGraphs, reached stages) {
	if reached[orchestratorv1.Stage_STAGE_PATHS] {
		g.paths(q, pathEnds(made.GetReasoningPaths()))
	}
	if reached[orchestratorv1.Stage_STAGE_CANDIDATES] {
		candidates := make([]string, len(made.GetCandidates()))
		for i, candidate := range made.GetCandidates() {
			candidates[i] = candidate.GetAnswer()
		}
		g.InCandidates = new(score.ContainsAnswer(q.Names(), candidates))
		g.Candidates = new(len(candidates))
		g.CandidateScores = new(score.Question(q, oneALine(candidates)))
	}
}

func (g *Graphs) hits(q dataset.Question, hits []*graphv1.ScoredTriple) {
	var names []string
	for _, hit := range hits {
		names = appendEnds(names, hit.GetTriple())
	}
	g.InHits = new(score.ContainsAnswer(q.Names(), names))
	g.Hits = new(len(hits))
}

func (g *Graphs) paths(q dataset.Question, ends []string) {
	g.InPaths = new(score.ContainsAnswer(q.Names(), ends))
	g.PathEnds = new(len(ends))
	if len(q.Answers) > 0 {
		g.PathRecall = new(float64(score.CountFound(q, ends)) / float64(len(q.Answers)))
	}
}

func (g *Graphs) samples(q dataset.Question, samples []*orchestratorv1.Sample) {
	var answers []string
	seen := make(map[string]bool)
	for _, sample := range samples {
		for _, answer := range sample.GetAnswers() {
			if key := score.Normalise(answer); !seen[key] {
				seen[key] = true
				answers = append(answers, answer)
			}
		}
	}
	g.InCandidates = new(score.ContainsAnswer(q.Names(), answers))
	g.Candidates = new(len(answers))
}

// judgeEdits counts the edits that mended the pseudo-graph and those that
// spoilt it, by whether a right answer is an entity of an edit's triples:
//
//   - right: it is one after and not before, or the draft was deleted without
//     one by evidence that has one;
//   - wrong: it is one before and not after.
//
// All others are neither: a kept draft, and facts that are not the answer's.
func judgeEdits(q dataset.Question, edits []*graphv1.Edit) (right, wrong int) {
	names := func(triples ...*graphv1.Triple) bool {
		var ends []string
		for _, t := range triples {
			if t != nil {
				ends = appendEnds(ends, t)
			}
		}
		return score.ContainsAnswer(q.Names(), ends)
	}
	for _, edit := range edits {
		before, after := names(edit.GetBefore()), names(edit.GetAfter())
		if edit.GetKind() == graphv1.EditKind_EDIT_KIND_DELETE && !before {
			var evidence []*graphv1.Triple
			for _, scored := range edit.GetEvidence() {
				evidence = append(evidence, scored.GetTriple())
			}
			after = names(evidence...)
		}
		switch {
		case after && !before:
			right++
		case before && !after:
			wrong++
		}
	}
	return right, wrong
}

func appendEnds(names []string, t *graphv1.Triple) []string {
	return append(names, t.GetSubject(), t.GetObject())
}

// pathEnds returns the distinct entities that paths end in, in their order.
func pathEnds(paths []*graphv1.ReasoningPath) []string {
	var ends distinct
	for _, path := range paths {
		if entities := path.GetEntities(); len(entities) > 0 {
			ends.add(entities[len(entities)-1])
		}
	}
	return ends.names
}

// passed returns the distinct entities that paths lead to, on the way or at the
// end, in their order.
func passed(paths []*graphv1.ReasoningPath) []string {
	var all distinct
	for _, path := range paths {
		if entities := path.GetEntities(); len(entities) > 0 {
			for _, entity := range entities[1:] {
				all.add(entity)
			}
		}
	}
	return all.names
}

type distinct struct {
	names []string
	seen  map[string]bool
}

func (d *distinct) add(name string) {
	if d.seen == nil {
		d.seen = make(map[string]bool)
	}
	if !d.seen[name] {
		d.seen[name] = true
		d.names = append(d.names, name)
	}
}
