package train

import (
	"cmp"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

// Ranking says how good the order of a question's paths is: means over questions, 0 to 1.
type Ranking struct {
	// First is the share of questions whose first path leads to an answer, Three that of those with such
	// a path among the first three.
	First float64 `json:"first"`
	Three float64 `json:"three"`
	// F1 is that of the first path's ends against the answers.
	F1 float64 `json:"f1"`
}

// Evaluation compares rankings on questions that were held back.
type Evaluation struct {
	// Set is the question set, KG the snapshot, Topics whence the topic entities come: "gold" or "linked".
	Set    string `json:"set"`
	KG     string `json:"kg"`
	Topics string `json:"topics"`
	// Questions is their number; those without candidates count as failed.
	Questions int `json:"questions"`
	// Rough is the order before any ranking, Current the ranking of the mesh as it is, Trained that by
	// the new weights, Reachable the best possible.
	Rough     Ranking `json:"rough"`
	Current   Ranking `json:"current"`
	Trained   Ranking `json:"trained"`
	Reachable Ranking `json:"reachable"`
	// Ranked is the share of questions whose paths have relations that the ranker knows. For the
	// others a mesh keeps its ranking.
	Ranked float64 `json:"ranked"`
}

// evaluate evaluates weights on the held samples, by set and topic entities, in the order of samples.
func evaluate(ranker *rank.Ranker, samples []Sample) ([]Evaluation, error) {
	var all []Evaluation
	for _, s := range samples {
		if !s.Held {
			continue
		}
		e := Evaluation{Set: s.Set, KG: kgtext.FormatKG(s.KG), Topics: "gold"}
		if s.Linked {
			e.Topics = "linked"
		}
		i := slices.IndexFunc(all, func(o Evaluation) bool {
			return o.Set == e.Set && o.Topics == e.Topics && graphName(o.KG) == s.KG.GetName()
		})
		if i < 0 {
			i = len(all)
			all = append(all, e)
		}
		at := &all[i]
		at.Questions++
		if s.Question == nil {
			continue
		}
		at.KG = e.KG // a question without topic entities reads no snapshot
		order, err := ranker.Probabilities(s.Question)
		if err != nil {
			return nil, err
		}
		at.Rough.add(s.F1)
		at.Current.add(s.Current)
		at.Trained.add(sortBy(s.F1, order))
		at.Reachable.add(sortBy(s.F1, s.F1))
		if ranker.Covers(s.Question) {
			at.Ranked++
		}
	}
	for i := range all {
		e, n := &all[i], float64(all[i].Questions)
		e.Ranked /= n
		for _, r := range []*Ranking{&e.Rough, &e.Current, &e.Trained, &e.Reachable} {
			r.First, r.Three, r.F1 = r.First/n, r.Three/n, r.F1/n
		}
	}
	return all, nil
}

// add adds a question whose paths have these F1, best path first.
func (r *Ranking) add(f1 []float32) {
	if len(f1) == 0 {
		return
	}
	r.F1 += float64(f1[0])
	if f1[0] > 0 {
		r.First++
	}
	if slices.ContainsFunc(f1[:min(3, len(f1))], func(f float32) bool { return f > 0 }) {
		r.Three++
	}
}

// sortBy returns values in the order of falling keys.
func sortBy(values, keys []float32) []float32 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[b], keys[a]) })
	sorted := make([]float32, len(values))
	for i, at := range order {
		sorted[i] = values[at]
	}
	return sorted
}

// mean is the mean of evaluations, each weighed by its questions.
func mean(all []Evaluation, of func(Evaluation) Ranking) Ranking {
	var m Ranking
	n := 0.0
	for _, e := range all {
		r, q := of(e), float64(e.Questions)
		m.First, m.Three, m.F1, n = m.First+q*r.First, m.Three+q*r.Three, m.F1+q*r.F1, n+q
	}
	if n > 0 {
		m.First, m.Three, m.F1 = m.First/n, m.Three/n, m.F1/n
	}
	return m
}
