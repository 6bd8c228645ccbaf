package method

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// branch is a relation that may extend a reasoning path.
type branch struct {
	from *graphv1.ReasoningPath
	// words are the relation as the model sees it.
	words string
	// steps are the relations with these words. The paper crosses a mediator in two hops; here the
	// fact that it stands for is one hop of two steps.
	steps [][]*graphv1.RelationStep
	// triples is the number of triples of the relation.
	triples uint64
	// score is the model's, 0 to 1.
	score float32
	// ends are from, extended by the relation.
	ends []*graphv1.ReasoningPath
}

// extend adds one walk for each new end. Walks that return over the last triple, or end in an
// entity of the path, are dropped.
func (b *branch) extend(walks []*graphv1.ReasoningPath) {
	for _, w := range walks {
		end := kgtext.PathEnd(w)
		visited := slices.Contains(b.from.GetEntities(), end)
		reached := slices.ContainsFunc(b.ends, func(p *graphv1.ReasoningPath) bool { return kgtext.PathEnd(p) == end })
		if visited || reached || retraces(w, b.from) {
			continue
		}
		b.ends = append(b.ends, joinPaths(b.from, w))
	}
}

// sample returns at most togEntities random ends, in their order.
func (b *branch) sample(q *question.Question) []*graphv1.ReasoningPath {
	if len(b.ends) <= togEntities {
		return b.ends
	}
	sample := b.shuffle(q)[:togEntities]
	return slices.DeleteFunc(b.ends, func(p *graphv1.ReasoningPath) bool { return !slices.Contains(sample, p) })
}

// shuffle returns the ends in a random order, seeded by the question and the path so that a run is
// reproducible.
func (b *branch) shuffle(q *question.Question) []*graphv1.ReasoningPath {
	text, path := fnv.New64a(), fnv.New64a()
	text.Write([]byte(q.Text()))
	path.Write([]byte(kgtext.FormatPath(b.from) + " -> " + b.words))
	ends := slices.Clone(b.ends)
	rand.New(rand.NewPCG(text.Sum64(), path.Sum64())).Shuffle(len(ends),
		func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
	return ends
}

// relationPaths returns branches as the run records them.
func relationPaths(branches []*branch) []*graphv1.RelationPath {
	var paths []*graphv1.RelationPath
	for _, b := range branches {
		for _, steps := range b.steps {
			paths = append(paths, &graphv1.RelationPath{Steps: steps, Score: proto.Float32(b.score),
				TopicEntities: []string{kgtext.PathEnd(b.from)}})
		}
	}
	return paths
}

// allEnds returns the paths of all branches, best relation first.
func allEnds(branches []*branch) []*graphv1.ReasoningPath {
	var all []*graphv1.ReasoningPath
	for _, b := range branches {
		all = append(all, b.ends...)
	}
	return all
}

func countEnds(branches []*branch) uint32 {
	ends := map[string]bool{}
	for _, p := range allEnds(branches) {
		ends[kgtext.PathEnd(p)] = true
	}
	return uint32(len(ends))
}

// preselect keeps as many relations as the prompt has room for: those that share a word with the
// question first, then those with most triples. They are sorted by their words, as in the authors'
// code.
func preselect(found []*branch, text string) []*branch {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(kgtext.Fold(text)) {
		words[word] = len(word) > 3
	}
	rank := func(b *branch) int {
		if slices.ContainsFunc(strings.Fields(kgtext.Fold(b.words)), func(w string) bool { return words[w] }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b *branch) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.triples, a.triples))
	})
	found = found[:min(len(found), togRelations)]
	slices.SortFunc(found, func(a, b *branch) int { return cmp.Compare(a.words, b.words) })
	return found
}

// isMetadata reports whether a relation of Freebase describes the record, not the entity. The
// authors' code drops the same ones.
func isMetadata(relation string) bool {
	return strings.HasPrefix(relation, "common.") || strings.HasPrefix(relation, "freebase.") ||
		relation == "type.object.type" || relation == "type.object.name" || strings.Contains(relation, "sameAs")
}

func isLiteral(kind graphv1.TermKind) bool {
	switch kind {
	case graphv1.TermKind_TERM_KIND_TEXT, graphv1.TermKind_TERM_KIND_NUMBER, graphv1.TermKind_TERM_KIND_QUANTITY,
		graphv1.TermKind_TERM_KIND_DATE:
		return true
	}
	return false
}

// distinctPaths keeps the best of the paths to each entity.
func distinctPaths(beam []*graphv1.ReasoningPath) []*graphv1.ReasoningPath {
	var distinct []*graphv1.ReasoningPath
	for _, p := range beam {
		if !slices.ContainsFunc(distinct,
			func(f *graphv1.ReasoningPath) bool { return kgtext.PathEnd(f) == kgtext.PathEnd(p) }) {
			distinct = append(distinct, p)
		}
	}
	return distinct
}

// withoutPrefixes returns the earlier paths that no later path extends.
func withoutPrefixes(earlier, later []*graphv1.ReasoningPath) []*graphv1.ReasoningPath {
	return slices.DeleteFunc(slices.Clone(earlier), func(p *graphv1.ReasoningPath) bool {
		return slices.ContainsFunc(later, func(l *graphv1.ReasoningPath) bool {
			n := len(p.GetSteps())
			return n < len(l.GetSteps()) && slices.Equal(p.GetEntities(), l.GetEntities()[:n+1]) &&
				kgtext.StepsKey(p.GetSteps()) == kgtext.StepsKey(l.GetSteps()[:n])
		})
	})
}

// reverses reports whether a step is the inverse of the last step of a path.
func reverses(step *graphv1.RelationStep, from *graphv1.ReasoningPath) bool {
	steps := from.GetSteps()
	if len(steps) == 0 {
		return false
	}
	last := steps[len(steps)-1]
	return step.GetRelation() == last.GetRelation() && step.GetInverse() != last.GetInverse()
}

// retraces reports whether a walk begins with the last triple of a path.
func retraces(walk, from *graphv1.ReasoningPath) bool {
	entities := from.GetEntities()
	return reverses(walk.GetSteps()[0], from) && walk.GetEntities()[1] == entities[len(entities)-2]
}

// joinPaths appends a walk to the path at whose end it begins.
func joinPaths(from, walk *graphv1.ReasoningPath) *graphv1.ReasoningPath {
	p := &graphv1.ReasoningPath{
		Entities:  slices.Concat(from.GetEntities(), walk.GetEntities()[1:]),
		EntityIds: slices.Concat(from.GetEntityIds(), kgtext.EntityIDs(walk)[1:]),
		Steps:     slices.Concat(from.GetSteps(), walk.GetSteps()),
		Validity:  walk.GetValidity(),
	}
	if len(from.GetSteps()) == 0 || from.GetKgName() == walk.GetKgName() {
		p.KgName = walk.GetKgName() // else the path spans several knowledge graphs
	}
	return p
}
