package sources

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Conflicts returns the conflicts in the evidence of a run; none if it read one knowledge graph.
func Conflicts(run *orchestratorv1.Run) []*orchestratorv1.Conflict {
	if len(run.GetOtherKgs()) == 0 {
		return nil
	}
	kgs := []string{run.GetKg().GetName()}
	for _, kg := range run.GetOtherKgs() {
		kgs = append(kgs, kg.GetName())
	}
	return FindConflicts(Evidence(run), kgs)
}

// FindConflicts returns the subjects and relations for which two knowledge graphs hold exactly one
// object each, and the objects differ. Subjects are compared folded, relations in folded words, so
// that "people.person.place_of_birth" meets "place of birth". Several objects in one knowledge graph
// are a list, and lists differ without conflict.
//
// evidence is labelled by knowledge graph; kgs are their names in the order of the request. Conflicts
// are in the order of the evidence.
func FindConflicts(evidence []*graphv1.Triple, kgs []string) []*orchestratorv1.Conflict {
	if len(kgs) < 2 {
		return nil
	}
	var conflicts []*orchestratorv1.Conflict
	for _, objects := range groupFacts(evidence) {
		var single []*graphv1.Triple
		for _, kg := range kgs {
			if triples := objects[kg]; len(triples) == 1 {
				single = append(single, triples[0])
			}
		}
		if contradict(single) {
			conflicts = append(conflicts, &orchestratorv1.Conflict{
				Subject: single[0].GetSubject(), Relation: kgtext.VerbaliseRelation(single[0].GetRelation()),
				Triples: single,
			})
		}
	}
	return conflicts
}

// groupFacts returns, for each subject and relation, the triples of each knowledge graph with
// distinct objects.
func groupFacts(evidence []*graphv1.Triple) []map[string][]*graphv1.Triple {
	var groups []map[string][]*graphv1.Triple
	byKey := map[[2]string]map[string][]*graphv1.Triple{}
	for _, t := range evidence {
		key := [2]string{kgtext.Fold(t.GetSubject()), kgtext.Fold(kgtext.VerbaliseRelation(t.GetRelation()))}
		if t.GetKgName() == "" || key[0] == "" || key[1] == "" || isOpaque(t) {
			continue
		}
		group := byKey[key]
		if group == nil {
			group = map[string][]*graphv1.Triple{}
			byKey[key] = group
			groups = append(groups, group)
		}
		if !slices.ContainsFunc(group[t.GetKgName()], func(o *graphv1.Triple) bool {
			return kgtext.Fold(o.GetObject()) == kgtext.Fold(t.GetObject())
		}) {
			group[t.GetKgName()] = append(group[t.GetKgName()], t)
		}
	}
	return groups
}

// contradict reports whether any two of the triples have different objects at the same time.
func contradict(triples []*graphv1.Triple) bool {
	for i, a := range triples {
		for _, b := range triples[i+1:] {
			if !disjoint(a.GetValidity(), b.GetValidity()) && !agree(a.GetObject(), b.GetObject()) {
				return true
			}
		}
	}
	return false
}

// disjoint reports whether two facts hold at different times: then both may be right. Dates are
// compared up to the lower precision.
func disjoint(a, b *graphv1.ValidityInterval) bool {
	before := func(end, start string) bool {
		n := min(len(end), len(start))
		return end[:n] < start[:n]
	}
	return before(a.GetEnd(), b.GetStart()) || before(b.GetEnd(), a.GetStart())
}

// isOpaque reports whether an object has no name to compare: a mediator, such as "m.0hpz8tq".
func isOpaque(t *graphv1.Triple) bool {
	if t.GetObjectKind() == graphv1.TermKind_TERM_KIND_MEDIATOR || kgtext.Fold(t.GetObject()) == "" {
		return true
	}
	o := t.GetObject()
	return len(o) > 2 && o[1] == '.' && (o[0] == 'm' || o[0] == 'g') &&
		strings.Trim(o[2:], "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// agree reports whether two objects may mean the same: the words of one are among those of the other
// ("New York", "New York City"), or they are dates of different precision, or one number written in
// two ways.
func agree(a, b string) bool {
	if containsWords(a, b) || containsWords(b, a) {
		return true
	}
	if da, ok := kgtext.ParseDate(a); ok {
		if db, ok := kgtext.ParseDate(b); ok {
			return da.Agrees(db)
		}
	}
	if qa, ok := kgtext.ParseQuantity(a); ok {
		if qb, ok := kgtext.ParseQuantity(b); ok {
			// Quantities of different units may be equal.
			return qa.HasOtherUnit(qb) || qa.RelativeDifference(qb) <= rounding
		}
	}
	return false
}

// rounding is the maximum relative difference of two spellings of one number.
const rounding = 1e-9

// containsWords reports whether text has all words.
func containsWords(words, text string) bool {
	has := map[string]bool{}
	for _, w := range strings.Fields(kgtext.Fold(text)) {
		has[w] = true
	}
	return !slices.ContainsFunc(strings.Fields(kgtext.Fold(words)), func(w string) bool { return !has[w] })
}

// Evidence returns the triples that a method followed or showed to the model; not those that were
// pruned.
func Evidence(run *orchestratorv1.Run) []*graphv1.Triple {
	switch g := run.GetGraphs().(type) {
	case *orchestratorv1.Run_PgAkv:
		return groundTriples(g.PgAkv.GetGroundGraph())
	case *orchestratorv1.Run_Ger:
		return pathTriples(g.Ger.GetReasoningPaths())
	case *orchestratorv1.Run_Rag:
		return scoredTriples(g.Rag.GetHits())
	case *orchestratorv1.Run_Tog:
		var paths []*graphv1.ReasoningPath
		for _, d := range g.Tog.GetDepths() {
			paths = append(paths, d.GetReasoningPaths()...)
		}
		return pathTriples(append(paths, g.Tog.GetReasoningPaths()...))
	case *orchestratorv1.Run_Rog:
		return pathTriples(g.Rog.GetReasoningPaths())
	}
	return nil
}

// Triples returns every triple of a run that somebody may be shown: the evidence of its answers, what
// its method followed or showed to the model, what verification made of it, and the model's draft.
func Triples(run *orchestratorv1.Run) []*graphv1.Triple {
	var all []*graphv1.Triple
	for _, answers := range [][]*orchestratorv1.Answer{run.GetAnswers(), run.GetWithheld()} {
		for _, a := range answers {
			all = append(all, a.GetEvidence()...)
		}
	}
	for _, c := range run.GetConflicts() {
		all = append(all, c.GetTriples()...)
	}
	all = append(all, Evidence(run)...)
	g := run.GetPgAkv()
	all = append(all, scoredTriples(g.GetHits())...)
	for _, t := range g.GetFixedGraph().GetTriples() {
		all = append(all, t.GetTriple())
	}
	for _, e := range g.GetEdits() {
		all = append(all, scoredTriples(e.GetEvidence())...)
	}
	all = append(all, g.GetPseudoGraph().GetTriples()...)
	for _, row := range run.GetQuery().GetTable().GetRows() {
		all = append(all, row.GetTriples()...)
	}
	return all
}

func groundTriples(ground *graphv1.GroundGraph) (all []*graphv1.Triple) {
	for _, s := range ground.GetSubjects() {
		all = append(all, scoredTriples(s.GetTriples())...)
	}
	return all
}

func scoredTriples(scored []*graphv1.ScoredTriple) (all []*graphv1.Triple) {
	for _, t := range scored {
		all = append(all, t.GetTriple())
	}
	return all
}

func pathTriples(paths []*graphv1.ReasoningPath) (all []*graphv1.Triple) {
	for _, p := range paths {
		all = append(all, PathTriples(p)...)
	}
	return all
}

// PathTriples returns the triples of a reasoning path, in its order.
func PathTriples(p *graphv1.ReasoningPath) []*graphv1.Triple {
	var triples []*graphv1.Triple
	ids := kgtext.EntityIDs(p)
	for i, step := range p.GetSteps() {
		if i+1 >= len(p.GetEntities()) {
			break
		}
		subject, object := i, i+1
		if step.GetInverse() {
			subject, object = object, subject
		}
		triples = append(triples, &graphv1.Triple{Subject: p.GetEntities()[subject], Relation: step.GetRelation(),
			Object: p.GetEntities()[object], SubjectId: ids[subject], ObjectId: ids[object], KgName: p.GetKgName()})
	}
	return triples
}
