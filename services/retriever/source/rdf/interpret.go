package rdf

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// labelRank holds the predicates that name their subject, best first.
var labelRank = map[string]int{
	"http://www.w3.org/2000/01/rdf-schema#label":    0,
	"http://www.w3.org/2004/02/skos/core#prefLabel": 1,
	"http://schema.org/name":                        2,
	"https://schema.org/name":                       2,
}

// altLabel gives its subject a further name.
const altLabel = "http://www.w3.org/2004/02/skos/core#altLabel"

// Wikidata labels a property under entity/ and uses it under prop/. Its
// statements and values have nodes of their own.
const (
	wikidata         = "http://www.wikidata.org/"
	wikidataEntity   = wikidata + "entity/"
	wikidataProperty = wikidata + "prop/"
)

var wikidataNodes = []string{wikidataEntity + "statement/", wikidata + "value/", wikidata + "reference/",
	wikidata + ".well-known/genid/"}

// localNameRank is the rank of the name that an IRI's last part gives it: below all
// labels, in any language.
const localNameRank = (source.OtherLanguage + 1) * 4

// Interpreter turns statements of RDF into those of a knowledge graph:
//
//   - rdfs:label, skos:prefLabel and schema:name with a literal name their
//     subject, the requested language first; skos:altLabel and good names that
//     lose give it further names.
//   - A node is keyed by its IRI; without a label it is shown by the last part
//     of it. A blank node and a statement node of Wikidata is a Mediator.
//   - A literal is a Number, Date or Text by its datatype. A number of a
//     datatype that is not of XML Schema is a Quantity of that unit, as
//     DBpedia's "82350"^^dbt:squareKilometre.
//   - Validity is read from graphs named by IntervalGraph; other graphs' names are the
//     provenance of their statements.
//
// An Interpreter is used by one goroutine.
type Interpreter struct {
	languages source.Languages
	// blankPrefix is put before the labels of blank nodes.
	blankPrefix string
	// lastNamed is the last subject that got a name of the best rank.
	lastNamed string
	seed      maphash.Seed
	// rememberedHashes remembers some of the IRIs whose local name was returned.
	rememberedHashes []uint64
}

// rememberedIRIs is the number of IRIs an Interpreter remembers, a power of two.
const rememberedIRIs = 1 << 16

// NewInterpreter returns the meaning of a file's statements.
func NewInterpreter(in source.Input) *Interpreter {
	m := &Interpreter{
		languages: source.NewLanguages(in.Language), blankPrefix: "_:",
		seed: maphash.MakeSeed(), rememberedHashes: make([]uint64, rememberedIRIs),
	}
	if in.Number > 1 {
		m.blankPrefix = "_:f" + strconv.Itoa(in.Number) + "."
	}
	return m
}

// Interpret passes a statement to a sink. An error not of the sink's is a statement
// that cannot be taken.
func (m *Interpreter) Interpret(q Quad, to source.Sink) error {
	if q.Object.Kind == Literal {
		if rank, ok := labelRank[q.Predicate.Text]; ok {
			return m.addLabel(q, rank, to)
		}
		if q.Predicate.Text == altLabel {
			return m.addAlias(q, to)
		}
	}
	var s source.Statement
	var err error
	if s.Subject, err = m.node("subject", q.Subject, to); err != nil {
		return err
	}
	if s.Relation, err = m.relation(q.Predicate.Text, to); err != nil {
		return err
	}
	if q.Object.Kind == Literal {
		s.Object, err = m.literal(q.Object, to)
	} else {
		s.Object, err = m.node("object", q.Object, to)
	}
	if err != nil {
		return err
	}
	var isInterval bool
	if s.Validity, isInterval = ParseIntervalGraph(q.Graph); !isInterval {
		s.Provenance = q.Graph
	}
	return to.Statement(s)
}

func (m *Interpreter) addLabel(q Quad, predicate int, to source.Sink) error {
	key, name, err := m.keyAndName(q)
	if err != nil {
		return err
	}
	rank := m.languages.Rank(q.Object.Language)*4 + predicate
	if err := to.Label(key, name, rank); err != nil {
		return err
	}
	// What may lose against a better name is a further one.
	if rank < source.OtherLanguage*4 && (rank > 0 || key == m.lastNamed) {
		if err := to.Alias(key, name); err != nil {
			return err
		}
	}
	if rank == 0 {
		m.lastNamed = key
	}
	return nil
}

func (m *Interpreter) addAlias(q Quad, to source.Sink) error {
	if m.languages.Rank(q.Object.Language) >= source.OtherLanguage {
		return nil
	}
	key, name, err := m.keyAndName(q)
	if err != nil {
		return err
	}
	return to.Alias(key, name)
}

func (m *Interpreter) keyAndName(q Quad) (key, name string, err error) {
	if name, err = source.NormalizeName("object", q.Object.Text); err != nil {
		return "", "", err
	}
	key, err = m.key("subject", q.Subject)
	return key, name, err
}

// node returns the term of an IRI or a blank node.
func (m *Interpreter) node(what string, t Term, to source.Sink) (source.Term, error) {
	key, err := m.key(what, t)
	if err != nil {
		return source.Term{}, err
	}
	if t.Kind == Blank {
		return source.Term{Key: key, Kind: store.Mediator}, nil
	}
	if strings.HasPrefix(key, wikidata) {
		for _, prefix := range wikidataNodes {
			if strings.HasPrefix(key, prefix) {
				return source.Term{Key: key, Kind: store.Mediator}, nil
			}
		}
	}
	return source.Term{Key: key}, m.addLocalName(key, to)
}

func (m *Interpreter) key(what string, t Term) (string, error) {
	if len(t.Text) > source.MaxName {
		return "", fmt.Errorf("the %s has %d bytes, the limit is %d", what, len(t.Text), source.MaxName)
	}
	if t.Kind == Blank {
		return m.blankPrefix + t.Text, nil
	}
	if t.Text == "" { // "<>" where nothing says what it is relative to
		return "", fmt.Errorf("the IRI of the %s is empty", what)
	}
	return t.Text, nil
}

// relation keys all uses of a Wikidata property by its entity, which has the label.
func (m *Interpreter) relation(iri string, to source.Sink) (string, error) {
	iri, err := m.key("predicate", Term{Text: iri})
	if err != nil {
		return "", err
	}
	if rest, ok := strings.CutPrefix(iri, wikidataProperty); ok {
		iri = wikidataEntity + kgtext.LocalName(rest)
	}
	return iri, m.addLocalName(iri, to)
}

// addLocalName gives an IRI its last part as a name, once or a few times.
func (m *Interpreter) addLocalName(iri string, to source.Sink) error {
	hash := maphash.String(m.seed, iri)
	place := &m.rememberedHashes[hash%rememberedIRIs]
	if *place == hash {
		return nil
	}
	*place = hash
	name, ok := source.ReadableName(iri)
	if !ok || name == iri {
		return nil
	}
	return to.Label(iri, name, localNameRank)
}
