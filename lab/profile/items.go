package profile

import (
	"fmt"
	"math/rand/v2"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// kind is what a question asks of its reader.
type kind string

const (
	// single asks for the one object of a fact.
	single kind = "single"
	// list asks for all of four objects.
	list kind = "list"
	// inverse asks for the subjects of facts that name the entity as their object.
	inverse kind = "inverse"
	// chain asks for what two facts lead to.
	chain kind = "chain"
)

var kinds = []kind{single, list, inverse, chain}

// item is a question with facts that answer it. All names are invented, so that no model knows the
// answer from memory.
type item struct {
	kind     kind
	question string
	facts    []*graphv1.Triple
	// answers are right; wrong is a name among the facts that is not.
	answers []string
	wrong   string
	// path leads to an answer, wrongPath to wrong.
	path, wrongPath *graphv1.ReasoningPath
}

// relations of people and towns, and how to ask for what they lead to.
var relations = []struct{ name, question, inverse string }{
	{"employer", "who does %s work for", "who works for %s"},
	{"spouse", "who is married to %s", "who is married to %s"},
	{"place of birth", "where was %s born", "who was born in %s"},
	{"author", "who wrote %s", "what did %s write"},
	{"tributary", "which rivers flow into %s", "which river does %s flow into"},
	{"member of", "which groups does %s belong to", "who belongs to %s"},
	{"twinned town", "which towns is %s twinned with", "which towns is %s twinned with"},
	{"architect", "who designed %s", "what did %s design"},
}

// chains are pairs of relations, and how to ask for what they lead to.
var chains = []struct{ first, second, question string }{
	{"place of birth", "country", "in which country was %s born"},
	{"employer", "headquarters", "where is the company based that %s works for"},
	{"author", "spouse", "who is married to the author of %s"},
	{"director", "place of birth", "where was the director of %s born"},
}

// maker invents items. Two makers with one seed make the same ones.
type maker struct {
	rng  *rand.Rand
	used map[string]bool
}

func newMaker(seed uint64) *maker {
	return &maker{rng: rand.New(rand.NewPCG(seed, seed)), used: map[string]bool{}}
}

// name invents a name of two or three syllables that it has not given before.
func (m *maker) name() string {
	syllables := []string{"vel", "mor", "tas", "sen", "har", "lin", "dru", "kef", "ona", "bri", "wex", "ulo", "pra",
		"gis", "tor", "nev"}
	for {
		var b strings.Builder
		for range 2 + m.rng.IntN(2) {
			b.WriteString(syllables[m.rng.IntN(len(syllables))])
		}
		name := strings.ToUpper(b.String()[:1]) + b.String()[1:]
		if !m.used[name] {
			m.used[name] = true
			return name
		}
	}
}

func fact(subject, relation, object string) *graphv1.Triple {
	return &graphv1.Triple{Subject: subject, Relation: relation, Object: object}
}

// make invents an item with a number of facts, of which all but the answering ones distract: other
// relations of the same entity, and the same relation of others.
func (m *maker) make(k kind, facts int) item {
	it := item{kind: k}
	topic := m.name()
	switch k {
	case chain:
		c := chains[m.rng.IntN(len(chains))]
		middle, end := m.name(), m.name()
		it.question, it.answers = fmt.Sprintf(c.question, topic), []string{end}
		it.facts = []*graphv1.Triple{fact(topic, c.first, middle), fact(middle, c.second, end)}
		it.path = walk(it.facts...)
	case inverse:
		r := relations[m.rng.IntN(len(relations))]
		for range 2 {
			it.answers = append(it.answers, m.name())
			it.facts = append(it.facts, fact(it.answers[len(it.answers)-1], r.name, topic))
		}
		it.question = fmt.Sprintf(r.inverse, topic)
		it.path = &graphv1.ReasoningPath{Entities: []string{topic, it.answers[0]},
			Steps: []*graphv1.RelationStep{{Relation: r.name, Inverse: true}}}
		if r.question != r.inverse { // what the relation leads to the other way is wrong
			it.facts = append(it.facts, fact(topic, r.name, m.name()))
		}
	default:
		r := relations[m.rng.IntN(len(relations))]
		for range map[kind]int{single: 1, list: 4}[k] {
			it.answers = append(it.answers, m.name())
			it.facts = append(it.facts, fact(topic, r.name, it.answers[len(it.answers)-1]))
		}
		it.question = fmt.Sprintf(r.question, topic)
		it.path = walk(it.facts[0])
	}
	asked := map[string]bool{}
	for _, f := range it.facts {
		asked[f.GetRelation()] = true
	}
	for n := 0; len(it.facts) < facts; n++ {
		r := relations[m.rng.IntN(len(relations))].name
		subject := topic
		if n%3 > 0 {
			subject = m.name()
		} else if asked[r] {
			continue
		}
		f := fact(subject, r, m.name())
		if it.wrong == "" && subject == topic {
			it.wrong, it.wrongPath = f.GetObject(), walk(f)
		}
		it.facts = append(it.facts, f)
	}
	m.rng.Shuffle(len(it.facts), func(i, j int) { it.facts[i], it.facts[j] = it.facts[j], it.facts[i] })
	return it
}

// walk returns the path along facts, each of which begins where the one before ends.
func walk(facts ...*graphv1.Triple) *graphv1.ReasoningPath {
	p := &graphv1.ReasoningPath{Entities: []string{facts[0].GetSubject()}}
	for _, f := range facts {
		p.Entities = append(p.Entities, f.GetObject())
		p.Steps = append(p.Steps, &graphv1.RelationStep{Relation: f.GetRelation()})
	}
	return p
}
