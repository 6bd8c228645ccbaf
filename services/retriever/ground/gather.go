package ground

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// gather chooses the evidence of the kept subjects.
func (g *grounding) gather(ctx context.Context) (int, error) {
	candidates := map[store.EntityID][]candidate{}
	isKept := map[store.EntityID]bool{}
	for _, s := range g.kept {
		isKept[s.Entity] = true
	}
	type list struct {
		relation store.RelationID
		object   store.EntityID
	}
	isList := map[list]bool{}
	for _, h := range g.hits {
		if isKept[h.owner] && isKept[h.object] {
			isList[list{h.relation, h.object}] = true
		}
	}
	for _, h := range g.hits {
		if !isKept[h.owner] && isKept[h.object] &&
			(g.snap.Degree(h.object, store.Out) == 0 || isList[list{h.relation, h.object}]) {
			h.owner = h.object // a topic that is the subject of nothing, or of which a kept subject says the same
		}
		candidates[h.owner] = append(candidates[h.owner], h)
	}
	if g.options.beyondHits {
		if err := g.addFactsAround(ctx, candidates); err != nil {
			return 0, err
		}
	}
	g.evidence = map[store.EntityID][]candidate{}
	lists := g.groupCandidates(candidates)
	n := 0
	for i, take := range g.allot(lists) {
		subject := lists[i][0].owner
		g.evidence[subject] = append(g.evidence[subject], lists[i][:take]...)
		n += take
	}
	for _, facts := range g.evidence {
		slices.SortFunc(facts, compareByScore)
	}
	return n, nil
}

// allot returns how many facts of each list are shown. Every kept subject shows its best fact. The
// rest of the room goes to the lists of highest priority, each in full: a question about one item
// of a list needs the list.
func (g *grounding) allot(lists [][]candidate) []int {
	taken := make([]int, len(lists))
	if len(lists) == 0 {
		return taken
	}
	room := g.options.MaxFacts
	hasFact := map[store.EntityID]bool{}
	for i, list := range lists {
		if !hasFact[list[0].owner] {
			hasFact[list[0].owner] = true
			taken[i] = 1
			room--
		}
	}
	for i, list := range lists {
		if list[0].priority < lists[0][0].priority-g.options.MaxGap {
			break
		}
		more := max(min(len(list), g.options.MaxList)-taken[i], 0)
		more = max(min(more, room), 0)
		taken[i] += more
		room -= more
	}
	return taken
}

// groupCandidates groups the candidates of the kept subjects by subject and relation. Lists and
// the facts in each are ordered by falling priority.
func (g *grounding) groupCandidates(candidates map[store.EntityID][]candidate) [][]candidate {
	type key struct {
		owner            store.EntityID
		relation, second store.RelationID
		inverse, joined  bool
	}
	places := map[key]int{}
	var lists [][]candidate
	for _, s := range g.kept {
		for _, f := range candidates[s.Entity] {
			k := key{f.owner, f.relation, f.second, f.owner != f.subject, f.joined}
			at, ok := places[k]
			if !ok {
				at = len(lists)
				places[k] = at
				lists = append(lists, nil)
			}
			lists[at] = append(lists[at], f)
		}
	}
	for _, list := range lists {
		slices.SortFunc(list, compareByPriority)
	}
	slices.SortFunc(lists, func(a, b []candidate) int { return compareByPriority(a[0], b[0]) })
	return lists
}

// addFactsAround adds the facts around the kept subjects that are not hits.
func (g *grounding) addFactsAround(ctx context.Context, candidates map[store.EntityID][]candidate) error {
	subjects := make([]store.EntityID, len(g.kept))
	for i, s := range g.kept {
		subjects[i] = s.Entity
	}
	if len(subjects) == 0 {
		return nil
	}
	seen := tripleSet{}
	for _, h := range g.hits {
		seen.add(h.triple)
	}
	var toMediators []candidate
	for _, dir := range []store.Direction{store.Out, store.In} {
		around, err := g.readFacts(ctx, subjects, dir)
		if err != nil {
			return err
		}
		for _, s := range subjects {
			for _, f := range around[s] {
				switch {
				case dir == store.In && g.isMediator(f.subject), !seen.add(f.triple):
				case g.isMediator(f.object):
					toMediators = append(toMediators, f)
				default:
					candidates[s] = append(candidates[s], f)
				}
			}
		}
	}
	var best float32
	for _, facts := range candidates {
		for _, f := range facts {
			best = max(best, f.priority)
		}
	}
	joined, err := g.joinFactsAround(ctx, toMediators, best)
	for _, f := range joined {
		candidates[f.owner] = append(candidates[f.owner], f)
	}
	return err
}

// queries are the texts that a grounding encodes.
type queries struct {
	// texts are distinct. The first queryCount of them are searched, the others only compared.
	texts      []string
	queryCount int
	// question and pseudo are indexes into texts.
	question int
	pseudo   []int
	// names and objects are the folded names of the pseudo-graph's subjects and objects.
	names, objects []string
	// subjects is the number of distinct subjects of the pseudo-graph, at least 1.
	subjects int
	// chained reports whether one of the objects is another triple's subject.
	chained bool
}

// plan returns the queries of a question and a pseudo-graph.
func plan(question string, pseudo []Fact, options Options) queries {
	var q queries
	add := func(text string) int {
		if at := slices.Index(q.texts, text); at >= 0 {
			return at
		}
		q.texts = append(q.texts, text)
		return len(q.texts) - 1
	}
	for _, p := range pseudo {
		q.pseudo = append(q.pseudo, add(kgtext.VerbaliseTriple(p.Subject, p.Relation, p.Object)))
		if key := store.Fold(p.Subject); !slices.Contains(q.names, key) {
			q.names = append(q.names, key)
		}
		q.objects = append(q.objects, store.Fold(p.Object))
		q.chained = q.chained || slices.ContainsFunc(pseudo, func(o Fact) bool {
			return o.Subject != p.Subject && store.Fold(o.Subject) == store.Fold(p.Object)
		})
	}
	q.subjects = max(len(q.names), 1)
	if options.broadQueries {
		for _, p := range pseudo {
			add(p.Subject + " " + kgtext.VerbaliseRelation(p.Relation))
		}
	}
	if options.broadQueries || len(pseudo) == 0 {
		add(question)
	}
	q.queryCount = len(q.texts)
	q.question = add(question)
	return q
}
