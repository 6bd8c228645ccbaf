package neo4j

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// What follows is for who reads the same graph later, and must know by which
// names Read handed it on.

// Shown is how something of Neo4j is called in a knowledge graph.
type Shown struct {
	Key, Name string
	Kind      store.Kind
}

// Among lists the names that it may have there, the one that counts first: of
// several things with one name, each has its key added.
func (s Shown) Among() []string {
	if s.Name == s.Key {
		return []string{s.Name}
	}
	return []string{s.Name + " (" + s.Key + ")", s.Name + " (" + source.LocalName(s.Key) + ")", s.Name}
}

// Node is a node by its id and the value of the property that names it; one
// without a name is a mediator.
func Node(id int64, name any) (Shown, error) {
	key := nodeKey + strconv.FormatInt(id, 10)
	text, ok := name.(string)
	if !ok || strings.TrimSpace(text) == "" {
		key = "_:n" + strconv.FormatInt(id, 10)
		return Shown{Key: key, Name: key, Kind: store.Mediator}, nil
	}
	clean, err := source.Name("name", text)
	if err != nil {
		return Shown{}, fmt.Errorf("node %s: %w", key, err)
	}
	return Shown{Key: key, Name: clean, Kind: store.KindOf(clean)}, nil
}

// Type is the relation of relationships of a type.
func Type(name string) (Shown, error) { return worded(typeKey, name) }

// Property is the relation of a property's values.
func Property(name string) (Shown, error) { return worded(propertyKey, name) }

// Label is a label as the object of LabelRelation.
func Label(name string) (Shown, error) { return worded(labelKey, name) }

// LabelRelation leads from a node to its labels.
func LabelRelation() Shown { return Shown{Key: isA, Name: "type"} }

func worded(prefix, name string) (Shown, error) {
	text, err := source.Name("name", words(name))
	return Shown{Key: prefix + url.PathEscape(name), Name: text}, err
}

// Literals are the values of a property; what is no literal is left out.
func Literals(value any) []store.Named {
	var literals []store.Named
	for _, v := range each(value) {
		if term, err := literal(v); err == nil {
			literals = append(literals, store.Named{Name: term.Key, Kind: term.Kind})
		}
	}
	return literals
}

// Validity reads when a relationship holds; what is no date is an error.
func Validity(start, end any) (v store.Validity, err error) {
	if v.Start, err = date("start", start); err != nil {
		return store.Validity{}, err
	}
	v.End, err = date("end", end)
	return v, err
}

// names says whether a property names a node of some labels.
func names(byLabel map[string]string, labels []any, property string) bool {
	for _, l := range labels {
		label, _ := l.(string)
		if naming, ok := byLabel[label]; ok && naming == property {
			return true
		}
	}
	return false
}
