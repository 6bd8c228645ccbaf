package neo4j

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// What follows serves readers of the same graph, which must know by which names Read handed it on.

// Identity is how something of Neo4j is called in a knowledge graph.
type Identity struct {
	Key, Name string
	Kind      store.Kind
}

// PossibleNames lists the names that it may have there, the one that counts first: of
// several things with one name, each has its key added.
func (s Identity) PossibleNames() []string {
	if s.Name == s.Key {
		return []string{s.Name}
	}
	return []string{kgtext.Disambiguate(s.Name, s.Key), kgtext.Disambiguate(s.Name, kgtext.LocalName(s.Key)), s.Name}
}

// NodeIdentity is a node by its id and the value of the property that names it; one
// without a name is a mediator.
func NodeIdentity(id int64, name any) (Identity, error) {
	key := nodeKey + strconv.FormatInt(id, 10)
	text, ok := name.(string)
	if !ok || strings.TrimSpace(text) == "" {
		key = "_:n" + strconv.FormatInt(id, 10)
		return Identity{Key: key, Name: key, Kind: store.Mediator}, nil
	}
	clean, err := source.NormalizeName("name", text)
	if err != nil {
		return Identity{}, fmt.Errorf("node %s: %w", key, err)
	}
	return Identity{Key: key, Name: clean, Kind: store.ClassifyName(clean)}, nil
}

// TypeIdentity is the relation of relationships of a type.
func TypeIdentity(name string) (Identity, error) { return newIdentity(typeKey, name) }

// PropertyIdentity is the relation of a property's values.
func PropertyIdentity(name string) (Identity, error) { return newIdentity(propertyKey, name) }

// LabelIdentity is a label as the object of LabelRelation.
func LabelIdentity(name string) (Identity, error) { return newIdentity(labelKey, name) }

// LabelRelationIdentity leads from a node to its labels.
func LabelRelationIdentity() Identity { return Identity{Key: isA, Name: "type"} }

func newIdentity(prefix, name string) (Identity, error) {
	text, err := source.NormalizeName("name", plainWords(name))
	return Identity{Key: prefix + url.PathEscape(name), Name: text}, err
}

// Literals are the values of a property; what is not a literal is skipped.
func Literals(value any) []store.NamedEntity {
	var literals []store.NamedEntity
	for _, v := range listMembers(value) {
		if term, err := literalTerm(v); err == nil {
			literals = append(literals, store.NamedEntity{Name: term.Key, Kind: term.Kind})
		}
	}
	return literals
}

// ParseValidity reads when a relationship holds; what is not a date is an error.
func ParseValidity(start, end any) (v store.Validity, err error) {
	if v.Start, err = parseDate("start", start); err != nil {
		return store.Validity{}, err
	}
	v.End, err = parseDate("end", end)
	return v, err
}

// isNameProperty reports whether a property names a node of some labels.
func isNameProperty(byLabel map[string]string, labels []any, property string) bool {
	return slices.ContainsFunc(labels, func(l any) bool {
		label, _ := l.(string)
		naming, ok := byLabel[label]
		return ok && naming == property
	})
}
