// Package align corrects a pseudo-graph by its ground graph with no language
// model: by the cosines that the retriever measured.
//
// It is the small model's stand-in for the published rewriting
// (PG&AKV §III-B): small models keep their own wrong draft beside the right
// evidence, where the nearest evidence would have told them better.
package align

import (
	"cmp"
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Config is how near evidence must be.
type Config struct {
	// MinSimilarity is the least cosine between a draft and the evidence that
	// replaces it, -1 to 1.
	MinSimilarity float32 `koanf:"min_similarity"`
	// NameWeight is added to the cosine of evidence about the very entity that a
	// draft is about, or that the question names: an encoder hardly tells rare
	// names apart.
	NameWeight float32 `koanf:"name_weight"`
	// Added is how many triples nearest to the question are added beside those
	// that replace drafts. A triple brings along the others of its subject and
	// relation: they answer the same question.
	Added int `koanf:"added"`
	// MaxTriples bounds the supported triples of the fixed graph: nothing is
	// added beyond it. What replaces a draft always stands.
	MaxTriples int `koanf:"max_triples"`
	// Whole adds all that is known of what the question names, up to MaxTriples,
	// in place of Added: the answer is to be a text about it.
	Whole bool `koanf:"-"`
}

// Alignment is a fixed graph and the edits that lead to it.
type Alignment struct {
	FixedGraph *graphv1.FixedGraph
	// Edits are one for each draft, in the order of the pseudo-graph, then one
	// for each triple added.
	Edits []*graphv1.Edit
}

// evidence is one triple of the ground graph while it is being weighed.
type evidence struct {
	*graphv1.ScoredTriple
	// named tells that the question names its subject or object.
	named bool
	// near is how near it is to the question: its cosine, and NameWeight where
	// it is named.
	near float32
	used bool
}

// Align replaces each draft by its nearest evidence, where that is near
// enough, keeps it as unverified where it is not, and adds what is nearest to
// the question.
func Align(question string, drafts *graphv1.PseudoGraph, ground *graphv1.GroundGraph, cfg Config) Alignment {
	pool := collect(question, ground, cfg.NameWeight)
	var out Alignment
	for i, draft := range drafts.GetTriples() {
		best := nearest(pool, i, draft, cfg)
		if best == nil {
			out.Edits = append(out.Edits, &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_KEEP, Before: draft, After: draft})
			continue
		}
		best.used = true
		out.Edits = append(out.Edits, Settle(draft, best.ScoredTriple))
	}
	for _, e := range closest(question, pool, cfg) {
		if !e.used {
			e.used = true
			out.Edits = append(out.Edits, &graphv1.Edit{
				Kind: graphv1.EditKind_EDIT_KIND_ADD, After: e.Triple, Evidence: []*graphv1.ScoredTriple{e.ScoredTriple},
			})
		}
	}
	out.FixedGraph = &graphv1.FixedGraph{Triples: append(unverified(out.Edits), supported(pool)...)}
	return out
}

// Settle is the edit by which a draft gives way to its evidence, or is found
// to say the same.
func Settle(draft *graphv1.Triple, e *graphv1.ScoredTriple) *graphv1.Edit {
	kind := graphv1.EditKind_EDIT_KIND_REPLACE
	if Same(draft, e.GetTriple()) {
		kind = graphv1.EditKind_EDIT_KIND_KEEP
	}
	return &graphv1.Edit{Kind: kind, Before: draft, After: e.GetTriple(), Evidence: []*graphv1.ScoredTriple{e}}
}

// collect lists the evidence, each triple once, with its nearness to the
// question.
func collect(question string, ground *graphv1.GroundGraph, nameWeight float32) []*evidence {
	var pool []*evidence
	words := " " + verbalise.Fold(question) + " "
	seen := map[string]bool{}
	for _, s := range ground.GetSubjects() {
		for _, t := range s.GetTriples() {
			if k := Key(t.GetTriple()); !seen[k] {
				seen[k] = true
				e := &evidence{ScoredTriple: t, near: t.GetQuestionScore()}
				if names(words, t.GetTriple().GetSubject()) || names(words, t.GetTriple().GetObject()) {
					e.named, e.near = true, e.near+nameWeight
				}
				pool = append(pool, e)
			}
		}
	}
	return pool
}

// nearest is the evidence most like draft i; of triples that tell the same
// thing at different times, the last.
func nearest(pool []*evidence, i int, draft *graphv1.Triple, cfg Config) *evidence {
	var best *evidence
	score := cfg.MinSimilarity
	for _, e := range pool {
		scores := e.GetPseudoTripleScores()
		if i >= len(scores) {
			continue
		}
		s := scores[i]
		if e.named || about(e.GetTriple(), draft) {
			s += cfg.NameWeight
		}
		if s >= score && (best == nil || s > score) { // NaN is near nothing
			best, score = e, s
		}
	}
	if best == nil {
		return nil
	}
	return latest(pool, best)
}

// latest follows a fact through time: where the evidence holds the same
// subject and relation for several spans of time, the last one counts
// (PG&AKV, pseudo-graph verification).
func latest(pool []*evidence, e *evidence) *evidence {
	if e.GetTriple().GetValidity() == nil {
		return e
	}
	last := e
	for _, other := range pool {
		if sameFact(e, other) && other.GetTriple().GetValidity().GetStart() > last.GetTriple().GetValidity().GetStart() {
			last = other
		}
	}
	return last
}

// closest picks the evidence nearest to the question, and the rest of the
// subject and relation of each triple picked or used already, up to the bound:
// a question that asks for one of a list asks for the list.
func closest(question string, pool []*evidence, cfg Config) []*evidence {
	ranked := slices.Clone(pool)
	slices.SortStableFunc(ranked, func(a, b *evidence) int { return cmp.Compare(b.near, a.near) })
	room := cfg.MaxTriples
	for _, e := range pool {
		if e.used {
			room--
		}
	}
	var picked []*evidence
	have := map[*evidence]bool{}
	seeds := slices.DeleteFunc(slices.Clone(ranked), func(e *evidence) bool { return !e.used })
	if cfg.Whole {
		seeds = append(portrait(question, ranked), seeds...)
	} else {
		relevant := connected(ranked)
		seeds = append(seeds, relevant[:min(cfg.Added, len(relevant))]...)
	}
	for _, e := range seeds {
		for _, other := range ranked {
			if len(picked) < room && sameFact(e, other) && !have[other] && !other.used {
				have[other] = true
				picked = append(picked, other)
			}
		}
	}
	return picked
}

// connected narrows evidence to what is about an entity that the question
// names, or that evidence used or named is about: where the knowledge graph
// knows the entity asked for, what it says of others only distracts. Where the
// question names none, all of it may matter.
func connected(pool []*evidence) []*evidence {
	if !slices.ContainsFunc(pool, func(e *evidence) bool { return e.named }) {
		return pool
	}
	entities := map[string]bool{}
	for _, e := range pool {
		if e.named || e.used {
			entities[e.GetTriple().GetSubject()] = true
			entities[e.GetTriple().GetObject()] = proper(e.GetTriple().GetObject())
		}
	}
	return slices.DeleteFunc(slices.Clone(pool), func(e *evidence) bool {
		return !e.named && !entities[e.GetTriple().GetSubject()] && !entities[e.GetTriple().GetObject()]
	})
}

// supported lists the evidence used: farthest from the question first, so that
// the nearest stands next to it in the prompt; what changes over time in
// chronological order.
func supported(pool []*evidence) []*graphv1.FixedTriple {
	var used []*evidence
	for _, e := range pool {
		if e.used {
			used = append(used, e)
		}
	}
	// Triples of one fact stand together, at the place of the nearest of them.
	at := map[string]float32{}
	for _, e := range used {
		k := factKey(e)
		if s, ok := at[k]; !ok || e.near > s {
			at[k] = e.near
		}
	}
	slices.SortStableFunc(used, func(a, b *evidence) int {
		return cmp.Or(
			cmp.Compare(at[factKey(a)], at[factKey(b)]),
			cmp.Compare(factKey(a), factKey(b)),
			cmp.Compare(a.GetTriple().GetValidity().GetStart(), b.GetTriple().GetValidity().GetStart()),
			cmp.Compare(a.near, b.near),
		)
	})
	fixed := make([]*graphv1.FixedTriple, len(used))
	for i, e := range used {
		fixed[i] = &graphv1.FixedTriple{Triple: e.GetTriple(), Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED}
	}
	return fixed
}

func sameFact(a, b *evidence) bool { return factKey(a) == factKey(b) }

func factKey(e *evidence) string {
	return e.GetTriple().GetSubject() + "\x00" + e.GetTriple().GetRelation()
}
