// Package freebase reads Freebase's RDF dump: N-Triples whose IRIs begin with
// http://rdf.freebase.com/ns/.
//
// Keys are as Freebase abbreviates them: "m.0abc" for a topic,
// "people.person.place_of_birth" for a relation, which is its name too. A topic
// without a name is a mediator, or one that nobody named, and is shown by its
// key, by which store.KindOf knows it.
//
// Read are type.object.name and rdfs:label as labels, common.topic.alias as
// further names, and all other relations but these, which say nothing of the
// world: type.*, rdf:type, keys and what stands for them, freebase.*,
// dataworld.*, user.*, topics' web pages, articles and images, and whatever
// leads to an IRI outside of Freebase. Texts in other languages than the one
// asked for are left out, except names where there is no better one.
package freebase

import (
	"context"
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/lines"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

const (
	ns        = "http://rdf.freebase.com/ns/"
	rdfsLabel = "http://www.w3.org/2000/01/rdf-schema#label"
	name      = "type.object.name"
	alias     = "common.topic.alias"
)

// noise begins the relations that are left out.
var noise = []string{
	"type.", "freebase.", "dataworld.", "user.", "base.rosetta.", "kg.",
	"common.topic.article", "common.topic.image", "common.topic.webpage", "common.topic.topical_webpage",
	"common.topic.topic_equivalent_webpage", "common.topic.official_website", "common.image", "common.webpage",
	"common.document", "common.licensed_object", "common.resource",
}

// Read reads the dump and returns the number of lines.
func Read(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
	return lines.Read(ctx, in, to, lines.Options{}, func() lines.Take {
		meaning := NewMeaning(in)
		return func(line []byte, to source.Sink) error {
			q, ok, err := rdf.ParseLine(string(line))
			if err != nil || !ok {
				return err
			}
			return meaning.Take(q, to)
		}
	})
}

// Meaning turns the dump's statements into those of a knowledge graph.
type Meaning struct{ languages source.Languages }

// NewMeaning returns the meaning of a file's statements.
func NewMeaning(in source.Input) Meaning {
	return Meaning{source.NewLanguages(in.Language)}
}

// Take hands a statement to a sink.
func (m Meaning) Take(q rdf.Quad, to source.Sink) error {
	subject, ok := key(q.Subject)
	if !ok {
		return nil
	}
	if len(subject) > source.MaxName {
		return fmt.Errorf("the subject has %d bytes, at most %d are taken", len(subject), source.MaxName)
	}
	relation := strings.TrimPrefix(q.Predicate.Text, ns)
	if q.Object.Kind == rdf.Literal {
		rank := m.languages.Rank(q.Object.Language)
		switch relation {
		case name, rdfsLabel:
			return m.named(subject, q.Object.Text, rank, to)
		case alias:
			if rank >= source.OtherLanguage {
				return nil
			}
			text, err := source.Name("object", q.Object.Text)
			if err != nil {
				return err
			}
			return to.Alias(subject, text)
		}
		if rank >= source.OtherLanguage {
			return nil
		}
	}
	if len(relation) == len(q.Predicate.Text) || isNoise(relation) {
		return nil
	}
	if len(relation) > source.MaxName {
		return fmt.Errorf("the predicate has %d bytes, at most %d are taken", len(relation), source.MaxName)
	}
	object, ok, err := m.object(q.Object)
	if err != nil || !ok {
		return err
	}
	return to.Statement(source.Statement{Subject: source.Term{Key: subject}, Relation: relation, Object: object})
}

// named hands on a label. What may lose against a better one is another name.
func (m Meaning) named(subject, text string, rank int, to source.Sink) error {
	text, err := source.Name("object", text)
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

// key is a topic's within Freebase; ok is false for what is outside of it.
func key(t rdf.Term) (key string, ok bool) {
	if t.Kind != rdf.IRI {
		return "", false
	}
	key, ok = strings.CutPrefix(t.Text, ns)
	return key, ok && key != ""
}

func isNoise(relation string) bool {
	for _, prefix := range noise {
		if strings.HasPrefix(relation, prefix) {
			return true
		}
	}
	return relation == ""
}

// object reads the end of a statement. Freebase writes numbers without their
// datatype.
func (m Meaning) object(t rdf.Term) (term source.Term, ok bool, err error) {
	if t.Kind != rdf.Literal {
		key, ok := key(t)
		if len(key) > source.MaxName {
			return term, false, fmt.Errorf("the object has %d bytes, at most %d are taken", len(key), source.MaxName)
		}
		return source.Term{Key: key}, ok, nil
	}
	if term, err = rdf.ReadLiteral(t); err != nil {
		return term, false, err
	}
	if t.Datatype == "" && t.Language == "" && source.IsNumber(term.Key) {
		term = source.Term{Key: strings.TrimPrefix(term.Key, "+"), Kind: store.Number}
	}
	return term, true, nil
}
