package rdf

import (
	"context"
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

const (
	freebaseNamespace = "http://rdf.freebase.com/ns/"
	rdfsLabel         = "http://www.w3.org/2000/01/rdf-schema#label"
	freebaseName      = "type.object.name"
	freebaseAlias     = "common.topic.alias"
)

// excludedPrefixes begins the relations that are skipped.
var excludedPrefixes = []string{
	"type.", "freebase.", "dataworld.", "user.", "base.rosetta.", "kg.",
	"common.topic.article", "common.topic.image", "common.topic.webpage", "common.topic.topical_webpage",
	"common.topic.topic_equivalent_webpage", "common.topic.official_website", "common.image", "common.webpage",
	"common.document", "common.licensed_object", "common.resource",
}

// ReadFreebase reads Freebase's RDF dump, N-Triples whose IRIs begin with http://rdf.freebase.com/ns/,
// and returns the number of lines.
//
// Keys are as Freebase abbreviates them: "m.0abc" for a topic, "people.person.place_of_birth" for a
// relation, which is its name too. A topic without a name is a mediator, or one that nobody named,
// and is shown by its key, by which store.ClassifyName knows it.
//
// Read are type.object.name and rdfs:label as labels, common.topic.alias as further names, and all
// other relations but these, which say nothing of the world: type.*, rdf:type, keys and what stands
// for them, freebase.*, dataworld.*, user.*, topics' web pages, articles and images, and whatever
// leads to an IRI outside of Freebase. Texts in other languages than the one asked for are skipped,
// except names if there is no better one.
func ReadFreebase(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
	return source.ReadLines(ctx, in, to, source.LineOptions{}, func() source.LineFunc {
		meaning := NewFreebaseInterpreter(in)
		return func(line []byte, to source.Sink) error {
			q, ok, err := ParseLine(string(line))
			if err != nil || !ok {
				return err
			}
			return meaning.Interpret(q, to)
		}
	})
}

// FreebaseInterpreter turns the dump's statements into those of a knowledge graph.
type FreebaseInterpreter struct{ languages source.Languages }

// NewFreebaseInterpreter returns the meaning of a file's statements.
func NewFreebaseInterpreter(in source.Input) FreebaseInterpreter {
	return FreebaseInterpreter{source.NewLanguages(in.Language)}
}

// Interpret passes a statement to a sink.
func (m FreebaseInterpreter) Interpret(q Quad, to source.Sink) error {
	subject, ok := topicKey(q.Subject)
	if !ok {
		return nil
	}
	if len(subject) > source.MaxName {
		return fmt.Errorf("the subject has %d bytes, the limit is %d", len(subject), source.MaxName)
	}
	relation := strings.TrimPrefix(q.Predicate.Text, freebaseNamespace)
	if q.Object.Kind == Literal {
		rank := m.languages.Rank(q.Object.Language)
		switch relation {
		case freebaseName, rdfsLabel:
			return m.addLabel(subject, q.Object.Text, rank, to)
		case freebaseAlias:
			if rank >= source.OtherLanguage {
				return nil
			}
			text, err := source.NormalizeName("object", q.Object.Text)
			if err != nil {
				return err
			}
			return to.Alias(subject, text)
		}
		if rank >= source.OtherLanguage {
			return nil
		}
	}
	if len(relation) == len(q.Predicate.Text) || isExcluded(relation) {
		return nil
	}
	if len(relation) > source.MaxName {
		return fmt.Errorf("the predicate has %d bytes, the limit is %d", len(relation), source.MaxName)
	}
	object, ok, err := m.object(q.Object)
	if err != nil || !ok {
		return err
	}
	return to.Statement(source.Statement{Subject: source.Term{Key: subject}, Relation: relation, Object: object})
}

// addLabel passes on a label. What may lose against a better one is another name.
func (m FreebaseInterpreter) addLabel(subject, text string, rank int, to source.Sink) error {
	text, err := source.NormalizeName("object", text)
	if err != nil {
		return err
	}
	if err := to.Label(subject, text, rank); err != nil {
		return err
	}
	if rank > 0 && rank < source.OtherLanguage {
		return to.Alias(subject, text)
	}
	return nil
}

// topicKey is a topic's within Freebase; ok is false for what is outside of it.
func topicKey(t Term) (key string, ok bool) {
	if t.Kind != IRI {
		return "", false
	}
	key, ok = strings.CutPrefix(t.Text, freebaseNamespace)
	return key, ok && key != ""
}

func isExcluded(relation string) bool {
	for _, prefix := range excludedPrefixes {
		if strings.HasPrefix(relation, prefix) {
			return true
		}
	}
	return relation == ""
}

// object reads the end of a statement. Freebase writes numbers without their datatype.
func (m FreebaseInterpreter) object(t Term) (term source.Term, ok bool, err error) {
	if t.Kind != Literal {
		key, ok := topicKey(t)
		if len(key) > source.MaxName {
			return term, false, fmt.Errorf("the object has %d bytes, the limit is %d", len(key), source.MaxName)
		}
		return source.Term{Key: key}, ok, nil
	}
	if term, err = ReadLiteral(t); err != nil {
		return term, false, err
	}
	if t.Datatype == "" && t.Language == "" && source.IsNumber(term.Key) {
		term = source.Term{Key: strings.TrimPrefix(term.Key, "+"), Kind: store.Number}
	}
	return term, true, nil
}
