package neo4j

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// IRIs of what has no other name in a graph.
const (
	nodeKey     = "urn:neo4j:node/"
	typeKey     = "urn:neo4j:type/"
	propertyKey = "urn:neo4j:property/"
	labelKey    = "urn:neo4j:label/"
	isA         = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
)

// term is a node's. One without a name is a mediator, which N-Quads write as a
// blank node.
func term(id, name any) (source.Term, error) {
	number, ok := id.(int64)
	if !ok {
		return source.Term{}, fmt.Errorf("an id is a %T", id)
	}
	if text, ok := name.(string); !ok || strings.TrimSpace(text) == "" {
		return source.Term{Key: "_:n" + strconv.FormatInt(number, 10), Kind: store.Mediator}, nil
	}
	return source.Term{Key: nodeKey + strconv.FormatInt(number, 10)}, nil
}

func (r *reader) node(record *neo4j.Record) error {
	name := get(record, "name")
	node, err := term(get(record, "id"), name)
	if err != nil {
		return err
	}
	if node.Kind == store.Entity {
		text, err := source.Name("name", name.(string))
		if err == nil {
			err = r.to.Label(node.Key, text, 0)
		}
		if err != nil {
			return fmt.Errorf("node %s: %w", node.Key, err)
		}
	}
	var errs []error
	aliases, _ := get(record, "aliases").([]any)
	for _, a := range aliases {
		for _, v := range each(a) {
			if text, err := literal(v); err == nil && text.Kind == store.Text && node.Kind == store.Entity {
				errs = append(errs, r.to.Alias(node.Key, text.Key))
			}
		}
	}
	labels, _ := get(record, "labels").([]any)
	for _, l := range labels {
		if label, ok := l.(string); ok {
			errs = append(errs, r.labelled(node, label))
		}
	}
	properties, _ := get(record, "properties").(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if name != r.Name && !names(r.Names, labels, name) {
			errs = append(errs, r.property(node, name, properties[name]))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("node %s: %w", node.Key, err)
	}
	return nil
}

// labelled makes a statement of a node's label.
func (r *reader) labelled(node source.Term, label string) error {
	kind := source.Term{Key: labelKey + url.PathEscape(label)}
	return errors.Join(r.named(kind.Key, label), r.named(isA, "type"), r.to.Statement(source.Statement{Subject: node, Relation: isA, Object: kind}))
}

func (r *reader) property(node source.Term, name string, value any) error {
	relation := propertyKey + url.PathEscape(name)
	var errs []error
	for _, v := range each(value) {
		object, err := literal(v)
		if err != nil {
			errs = append(errs, fmt.Errorf("property %.80q: %w", name, err))
			continue
		}
		errs = append(errs, r.named(relation, name), r.to.Statement(source.Statement{Subject: node, Relation: relation, Object: object}))
	}
	return errors.Join(errs...)
}

func (r *reader) relationship(record *neo4j.Record) error {
	var s source.Statement
	var errs [4]error
	s.Subject, errs[0] = term(get(record, "subject"), get(record, "subjectName"))
	s.Object, errs[1] = term(get(record, "object"), get(record, "objectName"))
	s.Validity.Start, errs[2] = date("start", get(record, "start"))
	s.Validity.End, errs[3] = date("end", get(record, "end"))
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("relationship %v: %w", get(record, "id"), err)
	}
	name, _ := get(record, "type").(string)
	s.Relation = typeKey + url.PathEscape(name)
	if err := r.named(s.Relation, name); err != nil {
		return err
	}
	return r.to.Statement(s)
}

// named gives a key its name in plain words, once.
func (r *reader) named(key, name string) error {
	if r.typed[key] {
		return nil
	}
	if r.typed == nil || len(r.typed) > 1<<16 {
		r.typed = map[string]bool{}
	}
	r.typed[key] = true
	text, err := source.Name("name", words(name))
	if err != nil {
		return err
	}
	return r.to.Label(key, text, 0)
}

// words writes ACTED_IN as "acted in"; names in mixed case stay.
func words(name string) string {
	plain := strings.ReplaceAll(name, "_", " ")
	if plain == strings.ToUpper(plain) {
		plain = strings.ToLower(plain)
	}
	return plain
}
