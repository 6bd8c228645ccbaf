package claims

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
)

const (
	// kin is how many of the likest entities one is chosen from, peers how many are compared.
	kin, peers = 5, 200
	// maxNameBytes bounds the name that is put into a question.
	maxNameBytes = 50
)

// MakeLacking makes questions that a knowledge graph does not answer out of ones that it does: people's
// own words, asked about another entity of the same kind that has nothing in the relation asked for. One is
// preferred of which a neighbour has it, as somebody's spouse has a birthplace: what leads astray is there.
// Questions serve that spell their only topic entity and have an answer one triple from it; at most n are
// taken, in their order. What other relations say of the entity may answer some of them after
// all.
func MakeLacking(questions []dataset.Question, facts string, n int, seed int64) ([]dataset.Question, error) {
	known, err := readFacts(facts)
	if err != nil {
		return nil, err
	}
	return makeLacking(questions, known, n, seed, facts)
}

// perRelation bounds the questions that are asked for a relation.
const perRelation = 50

// MakeLackingByWordings is MakeLacking of questions in the words that this package has for relations, of a part,
// one relation after the other.
func MakeLackingByWordings(facts string, part dataset.Part, n int, seed int64) ([]dataset.Question, error) {
	known, err := readFacts(facts)
	if err != nil {
		return nil, err
	}
	wordings, err := readWordings()
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(uint64(seed), 17))
	var questions []dataset.Question
	for i := range perRelation {
		for _, relation := range slices.Sorted(maps.Keys(wordings)) {
			asks, all := wordings[relation].Ask, known.byRelation[relation]
			if len(asks) == 0 || len(all) == 0 {
				continue
			}
			subject := pick(random, all).subject
			questions = append(questions, dataset.Question{TopicEntities: []string{subject},
				ID:       fmt.Sprintf("%s-%d", strings.ReplaceAll(relation, " ", "-"), i),
				Question: strings.ReplaceAll(pick(random, asks), "{s}", subject),
				Answers:  known.objects[[2]string{subject, relation}]})
		}
	}
	return makeLacking(dataset.Select(questions, part), known, n, seed, facts)
}

func makeLacking(questions []dataset.Question, known *facts, n int, seed int64, path string) ([]dataset.Question,
	error) {
	m := newKindred(known, seed)
	var made []dataset.Question
	for _, q := range questions {
		if len(made) == n {
			break
		}
		if len(q.TopicEntities) != 1 {
			continue
		}
		topic, spell := q.TopicEntities[0], func(name string) string { return name }
		if q.Question == strings.ToLower(q.Question) {
			spell = strings.ToLower
		}
		if findName(q.Question, spell(topic)) < 0 {
			continue
		}
		other, ok := m.choose(topic, m.relationsTo(topic, q.Answers))
		if !ok {
			continue
		}
		asked := replaceName(q.Question, spell(topic), spell(other))
		if slices.ContainsFunc(made, func(q dataset.Question) bool { return q.Question == asked }) {
			continue
		}
		made = append(made, dataset.Question{ID: "lacking-" + q.ID, TopicEntities: []string{other}, Kind: dataset.Set,
			Question: asked, Unanswerable: true})
	}
	if len(made) == 0 {
		return nil, fmt.Errorf("make questions that %s does not answer: no question spells its topic entity and has "+
			"its answer one triple from it", path)
	}
	return made, nil
}

// kindred are entities with their relations, which tell what kind of thing they are; those to subjects have a
// "^" in front.
type kindred struct {
	*facts
	random *rand.Rand
	// around are the relations of an entity, subjects those that a relation has.
	around   map[string][]string
	subjects map[string][]string
}

func newKindred(f *facts, seed int64) *kindred {
	k := &kindred{facts: f, random: rand.New(rand.NewPCG(uint64(seed), 13)), around: map[string][]string{},
		subjects: map[string][]string{}}
	seen := map[[2]string]bool{}
	add := func(entity, relation string) {
		if key := [2]string{entity, relation}; !seen[key] {
			seen[key] = true
			k.around[entity] = append(k.around[entity], relation)
			k.subjects[relation] = append(k.subjects[relation], entity)
		}
	}
	for _, t := range f.all {
		add(t.subject, t.relation)
		add(t.object, "^"+t.relation)
	}
	return k
}

// relationsTo returns the relations that join an entity and any of others.
func (k *kindred) relationsTo(topic string, others []string) (relations []string) {
	for _, r := range k.relations[topic] {
		objects := k.objects[[2]string{topic, r}]
		if slices.ContainsFunc(objects, func(o string) bool { return slices.Contains(others, o) }) {
			relations = append(relations, r)
		}
	}
	for _, o := range others {
		for _, r := range k.relations[o] {
			if slices.Contains(k.objects[[2]string{o, r}], topic) {
				relations = append(relations, "^"+r)
			}
		}
	}
	return relations
}

// choose returns an entity like another one that lacks some of its relations.
func (k *kindred) choose(like string, lacking []string) (string, bool) {
	own := slices.DeleteFunc(slices.Clone(k.around[like]), func(r string) bool { return slices.Contains(lacking, r) })
	var pool []string
	for _, r := range own {
		pool = append(pool, k.subjects[r]...)
	}
	slices.Sort(pool)
	pool = slices.DeleteFunc(slices.Compact(pool), func(e string) bool {
		return len(lacking) == 0 || e == like || len(e) > maxNameBytes || !sayable(e) || len(k.relations[e]) == 0 ||
			slices.ContainsFunc(k.around[e], func(r string) bool { return slices.Contains(lacking, r) })
	})
	if len(pool) == 0 {
		return "", false
	}
	if tempting := slices.DeleteFunc(slices.Clone(pool), func(e string) bool { return !k.leadsTo(e, lacking) }); len(
		tempting) > 0 {
		pool = tempting
	}
	k.random.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	pool = pool[:min(len(pool), peers)]
	slices.SortStableFunc(pool, func(a, b string) int {
		return cmp.Compare(jaccard(k.around[b], own), jaccard(k.around[a], own))
	})
	return pick(k.random, pool[:min(len(pool), kin)]), true
}

// leadsTo reports whether a neighbour of an entity has any of some relations.
func (k *kindred) leadsTo(entity string, relations []string) bool {
	for _, r := range k.relations[entity] {
		for _, neighbour := range k.objects[[2]string{entity, r}] {
			if slices.ContainsFunc(relations, func(r string) bool { return slices.Contains(k.around[neighbour], r) }) {
				return true
			}
		}
	}
	return false
}

// jaccard is the share of what two lists have together that both have.
func jaccard(a, b []string) float64 {
	both := 0
	for _, x := range a {
		if slices.Contains(b, x) {
			both++
		}
	}
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}
