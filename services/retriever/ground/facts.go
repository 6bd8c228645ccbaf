package ground

import (
	"cmp"
	"context"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// candidate is a fact that may become evidence: a triple of the snapshot, or two or more triples
// joined. It holds ids instead of names, because few of thousands are shown.
type candidate struct {
	// owner is the entity whose evidence it may become: its subject or, for a fact read against
	// the direction of its relation, its object.
	owner, subject, object store.EntityID
	relation               store.RelationID
	// triple is the triple, or the first of the joined ones.
	triple store.TripleID
	// joined reports whether two triples were joined over a mediator; second is the relation on
	// its other side.
	joined   bool
	second   store.RelationID
	mediator store.EntityID
	// steps and validity are the path of a fact that joins several facts.
	steps    []walk.Step
	validity store.Validity
	// cosines[text][column] is the cosine to each text of the plan.
	cosines [][]float32
	column  int
	// probability is that of the ranked path it belongs to; may be nil.
	probability *float32
	// leastHop is how well the question says the path of a fact that joins several; nil of others.
	leastHop *float32
	// score is the best cosine to any query; priority decides which facts are shown.
	score, priority float32
}

func (g *grounding) newCandidate(id store.TripleID) candidate {
	t := g.snap.Triple(id)
	return candidate{owner: t.Subject, subject: t.Subject, object: t.Object, relation: t.Relation, triple: id}
}

func (g *grounding) toFact(f candidate) Fact {
	fact := Fact{
		Subject:    g.snap.EntityName(f.subject),
		SubjectKey: g.snap.EntityKey(f.subject),
		Relation:   g.relationName(f),
		Object:     g.snap.EntityName(f.object),
		ObjectKey:  g.snap.EntityKey(f.object),
		Kind:       g.snap.Kind(f.object),
		Validity:   g.validity(f),
	}
	if f.steps == nil {
		fact.Provenance = g.snap.Provenance(f.triple)
	}
	return fact
}

func (g *grounding) relationName(f candidate) string {
	if f.steps != nil {
		names := make([]string, len(f.steps))
		for i, step := range f.steps {
			if names[i] = g.snap.RelationName(step.Relation); step.Inverse {
				names[i] = kgtext.InverseOf + names[i]
			}
		}
		return strings.Join(names, kgtext.Joint)
	}
	if !f.joined {
		return g.snap.RelationName(f.relation)
	}
	return g.snap.RelationName(f.relation) + kgtext.Joint + g.snap.RelationName(f.second)
}

// validity returns the triple's validity or else that of its mediator.
func (g *grounding) validity(f candidate) store.Validity {
	if f.steps != nil {
		return f.validity
	}
	v := g.snap.Validity(f.triple)
	if f.joined && v == (store.Validity{}) {
		return g.validities[f.mediator]
	}
	return v
}

// score compares facts with the texts of the plan: triples by their stored vectors, joined facts
// by encoding their words.
func (g *grounding) score(ctx context.Context, facts []candidate) error {
	var ids []store.TripleID
	var words []string
	for i := range facts {
		if f := &facts[i]; f.joined {
			f.column = len(words)
			words = append(words, kgtext.VerbaliseTriple(g.snap.EntityName(f.subject), g.relationName(*f),
				g.snap.EntityName(f.object)))
		} else {
			f.column = len(ids)
			ids = append(ids, f.triple)
		}
	}
	var stored, encoded [][]float32
	var err error
	if len(ids) > 0 {
		if stored, err = g.triples.ScoreTriples(ctx, g.vectors, ids); err != nil {
			return err
		}
	}
	if len(words) > 0 {
		if encoded, err = g.compareTexts(ctx, words); err != nil {
			return err
		}
	}
	for i := range facts {
		f := &facts[i]
		if f.cosines = stored; f.joined {
			f.cosines = encoded
		}
		f.score = f.cosines[0][f.column]
		for _, cosines := range f.cosines[1:g.plan.queryCount] {
			f.score = max(f.score, cosines[f.column])
		}
		g.setPriority(f)
	}
	return nil
}

// compareTexts returns the cosines of each text of the plan to each of words.
func (g *grounding) compareTexts(ctx context.Context, words []string) ([][]float32, error) {
	encoded, err := g.encoder.Encode(ctx, words)
	if err != nil {
		return nil, err
	}
	cosines := make([][]float32, len(g.vectors))
	for q, query := range g.vectors {
		cosines[q] = make([]float32, len(encoded))
		for i, v := range encoded {
			cosines[q][i] = vector.Dot(query, v)
		}
	}
	return cosines, nil
}

// setPriority adds to a fact's score what its relation and names contribute.
func (g *grounding) setPriority(f *candidate) {
	f.priority = f.score
	if w := g.options.QuestionWeight; w != 0 {
		f.priority += w * f.cosines[g.plan.question][f.column]
	}
	if w := g.options.RelationWeight; w != 0 {
		relevance := g.questionRelevance(f.relation)
		if f.joined {
			relevance = max(relevance, g.questionRelevance(f.second))
		}
		f.priority += w * relevance
	}
	if g.isNamed[f.owner] {
		f.priority += g.options.NamedBonus
	}
}

func (g *grounding) toScoredFact(f candidate) ScoredFact {
	s := ScoredFact{Fact: g.toFact(f), Score: f.score, Question: f.cosines[g.plan.question][f.column],
		RelationScore: g.relationScore(f), Probability: f.probability,
		LeastHopScore: f.leastHop}
	for _, at := range g.plan.pseudo {
		s.Pseudo = append(s.Pseudo, f.cosines[at][f.column])
	}
	return s
}

// encodeUnnamed encodes the question without the names of its topic entities: what remains is about
// the relation asked for.
func (g *grounding) encodeUnnamed(ctx context.Context) (int, error) {
	g.unnamed = g.vectors[g.plan.question]
	text := g.withoutMentions()
	g.words = kgtext.NewQuestionWords(text)
	if text == "" || len(g.mentions) == 0 {
		return 0, nil
	}
	vectors, err := g.encoder.Encode(ctx, []string{text})
	if err == nil {
		g.unnamed = vectors[0]
	}
	return 1, err
}

// relationScore returns the best cosine of a fact's relations to the question without names.
func (g *grounding) relationScore(f candidate) float32 {
	relations := []store.RelationID{f.relation}
	switch {
	case f.steps != nil:
		relations = relations[:0]
		for _, step := range f.steps {
			relations = append(relations, step.Relation)
		}
	case f.joined:
		relations = append(relations, f.second)
	}
	best := float32(-1)
	for _, r := range relations {
		if v := g.snap.RelationVector(r); v != nil {
			best = max(best, vector.Dot(g.unnamed, v))
		}
	}
	if best < saidScore && len(g.rankedPaths) == 0 && len(relations) == 1 &&
		g.words.MatchAll(g.snap.RelationName(relations[0])) {
		return saidScore
	}
	return best
}

// compareByScore orders by falling score; ties go by id.
func compareByScore(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return compareByIDs(a, b)
}

func compareByPriority(a, b candidate) int {
	if a.priority != b.priority {
		return cmp.Compare(b.priority, a.priority)
	}
	return compareByScore(a, b)
}

func compareByIDs(a, b candidate) int {
	return cmp.Or(
		cmp.Compare(a.triple, b.triple), cmp.Compare(a.subject, b.subject), cmp.Compare(a.object, b.object),
		cmp.Compare(a.second, b.second),
	)
}

type tripleSet map[store.TripleID]bool

// add reports whether id is new to the set.
func (s tripleSet) add(id store.TripleID) bool {
	if s[id] {
		return false
	}
	s[id] = true
	return true
}
