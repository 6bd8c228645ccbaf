// Package align corrects a pseudo-graph by its ground graph with no language
// model: by the cosines that the retriever measured.
//
// It replaces the published rewriting (PG&AKV §III-B) for small models, which keep their own wrong
// draft although the nearest evidence is right.
package align

import (
	"cmp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Config is how near evidence must be.
type Config struct {
	// MinSimilarity is the least cosine between a draft and the evidence that replaces it, -1 to 1.
	MinSimilarity float32 `koanf:"min_similarity"`
	// NameWeight is added to the cosine of evidence about the entity that the draft is about or the
	// question names: an encoder hardly distinguishes rare names.
	NameWeight float32 `koanf:"name_weight"`
	// Added is how many triples nearest to the question are added beside those that replace drafts.
	// A triple brings along the others of its subject and relation: they answer the same question.
	// -1 chooses by llm.reader: 3 for a weak one, which more would distract, all for a strong one.
	Added int `koanf:"added"`
	// MaxTriples bounds the supported triples of the fixed graph: nothing is added beyond it.
	// Replacements of drafts are always kept.
	MaxTriples int `koanf:"max_triples"`
	// AllFacts adds all facts about the entities that the question names, up to MaxTriples, instead
	// of Added: the answer will be a text about them.
	AllFacts bool `koanf:"-"`
	// AddAll adds all evidence up to MaxTriples, also about what the question does not name.
	AddAll bool `koanf:"-"`
}

// Alignment is a fixed graph and the edits that lead to it.
type Alignment struct {
	FixedGraph *graphv1.FixedGraph
	// Edits are one for each draft, in the order of the pseudo-graph, then one
	// for each triple added.
	Edits []*graphv1.Edit
}

// evidence is a triple of the ground graph during alignment.
type evidence struct {
	*graphv1.ScoredTriple
	// mentioned is set if the question names its subject or object.
	mentioned bool
	// isUnranked is set if no ranker has read any of the evidence.
	isUnranked bool
	// isNoName is set if the object is no one's name and not in the question, and this asks who.
	isNoName bool
	// relevance is its cosine to the question, plus NameWeight if it is mentioned, plus the
	// probability of the relation path it belongs to.
	relevance float32
	// subject and object are the triple's names, folded.
	subject, object string
	used            bool
}

// Align replaces each draft by its nearest evidence if that is near enough, else keeps it as
// unverified, and adds the evidence nearest to the question.
func Align(question string, drafts *graphv1.PseudoGraph, ground *graphv1.GroundGraph, cfg Config) Alignment {
	words := kgtext.FoldWords(question)
	pool := collectEvidence(words, kgtext.AsksWho(question), ground, cfg.NameWeight)
	weighWords(question, pool)
	var out Alignment
	for i, draft := range drafts.GetTriples() {
		best := nearestEvidence(pool, i, draft, cfg)
		if best == nil {
			out.Edits = append(out.Edits, &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_KEEP,
				Before: draft, After: draft})
			continue
		}
		best.used = true
		out.Edits = append(out.Edits, EditByEvidence(draft, best.ScoredTriple))
	}
	for _, e := range selectAdditions(words, pool, cfg) {
		if !e.used {
			e.used = true
			out.Edits = append(out.Edits, &graphv1.Edit{
				Kind: graphv1.EditKind_EDIT_KIND_ADD, After: e.Triple,
				Evidence: []*graphv1.ScoredTriple{e.ScoredTriple},
			})
		}
	}
	out.FixedGraph = &graphv1.FixedGraph{Triples: append(unverifiedTriples(out.Edits), supportedTriples(pool)...)}
	return out
}

// EditByEvidence is the edit by which a draft gives way to its evidence, or is found
// to say the same.
func EditByEvidence(draft *graphv1.Triple, e *graphv1.ScoredTriple) *graphv1.Edit {
	kind := graphv1.EditKind_EDIT_KIND_REPLACE
	if SameWording(draft, e.GetTriple()) {
		kind = graphv1.EditKind_EDIT_KIND_KEEP
	}
	return &graphv1.Edit{Kind: kind, Before: draft, After: e.GetTriple(), Evidence: []*graphv1.ScoredTriple{e}}
}

// noName is taken from the nearness of evidence that cannot be what is asked for.
const noName = 1

// collectEvidence lists the evidence, each triple once, with its nearness to the question.
func collectEvidence(words kgtext.Words, asksWho bool, ground *graphv1.GroundGraph, nameWeight float32) []*evidence {
	var pool []*evidence
	seen := map[string]bool{}
	for _, s := range ground.GetSubjects() {
		for _, t := range s.GetTriples() {
			if k := Key(t.GetTriple()); !seen[k] {
				seen[k] = true
				e := &evidence{ScoredTriple: t, relevance: t.GetQuestionScore() + t.GetProbability(),
					subject: kgtext.Fold(t.GetTriple().GetSubject()), object: kgtext.Fold(t.GetTriple().GetObject())}
				e.isNoName = asksWho && leadsToNoName(t.GetTriple()) && !words.Mention(e.object)
				if isProperName(t.GetTriple().GetSubject()) && words.Mention(e.subject) ||
					isProperName(t.GetTriple().GetObject()) && words.Mention(e.object) {
					e.mentioned, e.relevance = true, e.relevance+nameWeight
				}
				if e.isNoName {
					e.relevance -= noName
				}
				pool = append(pool, e)
			}
		}
	}
	return pool
}

// saidWeight is added to the nearness of evidence whose relation is the noun that the question asks for, or that of the
// draft.
const saidWeight = 0.2

// weighWords lets evidence about what the question names count more if its relation is what is asked for of that: "what
// cuisine is A". A ranker knows better than words which relation this is.
func weighWords(question string, pool []*evidence) {
	if slices.ContainsFunc(pool, func(e *evidence) bool { return e.GetProbability() > 0 }) {
		return
	}
	kinds := kgtext.AskedKinds(question)
	for _, e := range pool {
		e.isUnranked = true
		noun := kgtext.LastWord(kgtext.Fold(kgtext.VerbaliseRelation(e.GetTriple().GetRelation())))
		isAsked := func(kind string) bool { return kgtext.SameNoun(noun, kind) }
		if e.mentioned && slices.ContainsFunc(kinds, isAsked) {
			e.relevance += saidWeight
		}
	}
}

// leadsToNoName reports whether a triple's object is a date, a number, yes or no, or a kind of things.
func leadsToNoName(t *graphv1.Triple) bool {
	return kgtext.IsType(t.GetRelation()) || kgtext.IsValue(t.GetObject()) || kgtext.IsFlag(t.GetObject())
}

// nearestEvidence is the evidence most like draft i; of triples that tell the same
// thing at different times, the last.
func nearestEvidence(pool []*evidence, i int, draft *graphv1.Triple, cfg Config) *evidence {
	var best *evidence
	score := cfg.MinSimilarity
	subject := kgtext.Fold(draft.GetSubject())
	for _, e := range pool {
		scores := e.GetPseudoTripleScores()
		if i >= len(scores) {
			continue
		}
		s := scores[i]
		if e.mentioned || subject != "" && (e.subject == subject || e.object == subject) {
			s += cfg.NameWeight
		}
		if e.isUnranked && e.subject == subject &&
			kgtext.SharedWords(draft.GetRelation(), e.GetTriple().GetRelation()) == 1 {
			s += saidWeight
		}
		if e.isNoName && !leadsToNoName(draft) {
			s -= noName
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

// latest follows a fact through time: where the evidence holds the same subject and relation for
// several spans of time, the last one counts (PG&AKV, pseudo-graph verification).
func latest(pool []*evidence, e *evidence) *evidence {
	if e.GetTriple().GetValidity() == nil {
		return e
	}
	last := e
	for _, other := range pool {
		if sameFact(e, other) &&
			other.GetTriple().GetValidity().GetStart() > last.GetTriple().GetValidity().GetStart() {
			last = other
		}
	}
	return last
}

// selectAdditions picks the evidence nearest to the question, and the rest of the
// subject and relation of each triple picked or used already, up to the bound:
// a question that asks for one of a list asks for the list.
func selectAdditions(words kgtext.Words, pool []*evidence, cfg Config) []*evidence {
	ranked := slices.Clone(pool)
	slices.SortStableFunc(ranked, func(a, b *evidence) int { return cmp.Compare(b.relevance, a.relevance) })
	room := cfg.MaxTriples
	for _, e := range pool {
		if e.used {
			room--
		}
	}
	var picked []*evidence
	have := map[*evidence]bool{}
	seeds := slices.DeleteFunc(slices.Clone(ranked), func(e *evidence) bool { return !e.used })
	switch {
	case cfg.AllFacts:
		seeds = append(aboutSubjects(words, ranked), seeds...)
	case cfg.AddAll:
		seeds = append(seeds, ranked...)
	default:
		relevant := connected(ranked)
		seeds = append(seeds, relevant[:min(max(cfg.Added, 0), len(relevant))]...)
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

// connected narrows evidence to what is about an entity that the question names, or that evidence
// used or named is about: where the knowledge graph knows the entity asked for, what it says of
// others only distracts. If the question names none, all of it may matter.
func connected(pool []*evidence) []*evidence {
	if !slices.ContainsFunc(pool, func(e *evidence) bool { return e.mentioned }) {
		return pool
	}
	entities := map[string]bool{}
	for _, e := range pool {
		if e.mentioned || e.used {
			entities[e.GetTriple().GetSubject()] = true
			entities[e.GetTriple().GetObject()] = isProperName(e.GetTriple().GetObject())
		}
	}
	return slices.DeleteFunc(slices.Clone(pool), func(e *evidence) bool {
		return !e.mentioned && !entities[e.GetTriple().GetSubject()] && !entities[e.GetTriple().GetObject()]
	})
}

// supportedTriples lists the evidence used: farthest from the question first, so that the nearest
// stands next to it in the prompt; what changes over time in chronological order.
func supportedTriples(pool []*evidence) []*graphv1.FixedTriple {
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
		if s, ok := at[k]; !ok || e.relevance > s {
			at[k] = e.relevance
		}
	}
	slices.SortStableFunc(used, func(a, b *evidence) int {
		return cmp.Or(
			cmp.Compare(at[factKey(a)], at[factKey(b)]),
			cmp.Compare(factKey(a), factKey(b)),
			cmp.Compare(a.GetTriple().GetValidity().GetStart(), b.GetTriple().GetValidity().GetStart()),
			cmp.Compare(a.relevance, b.relevance),
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

// FromEdits builds the fixed graph that edits lead to: what has evidence is
// supported and stands last, nearest to the question; the rest is unverified.
func FromEdits(edits []*graphv1.Edit) Alignment {
	var backed []*graphv1.FixedTriple
	seen := map[string]bool{}
	for _, e := range edits {
		if after := e.GetAfter(); after != nil && len(e.GetEvidence()) > 0 && !seen[Key(after)] {
			seen[Key(after)] = true
			backed = append(backed, &graphv1.FixedTriple{Triple: after,
				Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED})
		}
	}
	return Alignment{FixedGraph: &graphv1.FixedGraph{Triples: append(unverifiedTriples(edits), backed...)},
		Edits: edits}
}

// unverifiedTriples lists what edits leave and none has evidence for, each triple once.
func unverifiedTriples(edits []*graphv1.Edit) []*graphv1.FixedTriple {
	seen := map[string]bool{}
	for _, e := range edits {
		if len(e.GetEvidence()) > 0 {
			seen[Key(e.GetAfter())] = true
		}
	}
	var left []*graphv1.FixedTriple
	for _, e := range edits {
		if after := e.GetAfter(); after != nil && !seen[Key(after)] {
			seen[Key(after)] = true
			left = append(left, &graphv1.FixedTriple{Triple: after,
				Status: graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED})
		}
	}
	return left
}

// aboutSubjects returns the evidence about the subjects that the question (folded, between spaces)
// names or, if it names none, about the subject nearest to it.
func aboutSubjects(words kgtext.Words, ranked []*evidence) []*evidence {
	subjects := namedSubjects(words, ranked)
	return slices.DeleteFunc(slices.Clone(ranked), func(e *evidence) bool {
		if len(subjects) > 0 {
			return !subjects[e.subject]
		}
		return e.GetTriple().GetSubject() != ranked[0].GetTriple().GetSubject()
	})
}

// namedSubjects are the subjects that a question names, folded. Of nested names the longest counts:
// a question about Harn Bridge is not about Harn.
func namedSubjects(words kgtext.Words, pool []*evidence) map[string]bool {
	var candidates []string
	for _, e := range pool {
		if isProperName(e.GetTriple().GetSubject()) {
			candidates = append(candidates, e.subject)
		}
	}
	slices.SortFunc(candidates, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	subjects := map[string]bool{}
	for _, name := range slices.Compact(candidates) {
		if words.Mention(name) {
			subjects[name] = true
			words = kgtext.Words(strings.ReplaceAll(string(words), " "+name+" ", " \x00 "))
		}
	}
	return subjects
}
