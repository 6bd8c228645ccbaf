package neo4j

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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

// nodeTerm is a node's. One without a name is a mediator, which N-Quads write as a blank node.
func nodeTerm(id, name any) (source.Term, error) {
	number, ok := id.(int64)
	if !ok {
		return source.Term{}, fmt.Errorf("an id is a %T", id)
	}
	if text, ok := name.(string); !ok || strings.TrimSpace(text) == "" {
		return source.Term{Key: "_:n" + strconv.FormatInt(number, 10), Kind: store.Mediator}, nil
	}
	return source.Term{Key: nodeKey + strconv.FormatInt(number, 10)}, nil
}

func (r *reader) readNode(record *neo4j.Record) error {
	name := get(record, "name")
	node, err := nodeTerm(get(record, "id"), name)
	if err != nil {
		return err
	}
	if node.Kind == store.Entity {
		text, err := source.NormalizeName("name", name.(string))
		if err == nil {
			err = r.to.Label(node.Key, text, 0)
		}
		if err != nil {
			return fmt.Errorf("node %s: %w", node.Key, err)
		}
	}
	var keys []string
	for _, key := range listMembers(get(record, "keys")) {
		keys = append(keys, fmt.Sprint(key))
	}
	if label, ok := get(record, "unnamed").(string); ok && len(keys) > 0 {
		r.unnamed[label] = unnamedNodes{r.unnamed[label].nodes + 1, keys}
	}
	var errs []error
	aliases, _ := get(record, "aliases").([]any)
	for _, a := range aliases {
		for _, v := range listMembers(a) {
			if text, err := literalTerm(v); err == nil && text.Kind == store.Text && node.Kind == store.Entity {
				errs = append(errs, r.to.Alias(node.Key, text.Key))
			}
		}
	}
	labels, _ := get(record, "labels").([]any)
	for _, l := range labels {
		if label, ok := l.(string); ok {
			errs = append(errs, r.addLabelStatement(node, label))
		}
	}
	properties, _ := get(record, "properties").(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if name != r.Name && !isNameProperty(r.Names, labels, name) {
			errs = append(errs, r.addPropertyStatements(node, name, properties[name]))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("node %s: %w", node.Key, err)
	}
	return nil
}

// addLabelStatement makes a statement of a node's label.
func (r *reader) addLabelStatement(node source.Term, label string) error {
	kind := source.Term{Key: labelKey + url.PathEscape(label)}
	return errors.Join(r.nameKey(kind.Key, label), r.nameKey(isA, "type"),
		r.to.Statement(source.Statement{Subject: node, Relation: isA, Object: kind}))
}

func (r *reader) addPropertyStatements(node source.Term, name string, value any) error {
	relation := propertyKey + url.PathEscape(name)
	var errs []error
	for _, v := range listMembers(value) {
		object, err := literalTerm(v)
		if err != nil {
			errs = append(errs, fmt.Errorf("property %.80q: %w", name, err))
			continue
		}
		errs = append(errs, r.nameKey(relation, name),
			r.to.Statement(source.Statement{Subject: node, Relation: relation, Object: object}))
	}
	return errors.Join(errs...)
}

func (r *reader) readRelationship(record *neo4j.Record) error {
	var s source.Statement
	var errs [4]error
	s.Subject, errs[0] = nodeTerm(get(record, "subject"), get(record, "subjectName"))
	s.Object, errs[1] = nodeTerm(get(record, "object"), get(record, "objectName"))
	s.Validity.Start, errs[2] = parseDate("start", get(record, "start"))
	s.Validity.End, errs[3] = parseDate("end", get(record, "end"))
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("relationship %v: %w", get(record, "id"), err)
	}
	name, _ := get(record, "type").(string)
	s.Relation = typeKey + url.PathEscape(name)
	if err := r.nameKey(s.Relation, name); err != nil {
		return err
	}
	return r.to.Statement(s)
}

// nameKey gives a key its name in plain words, once.
func (r *reader) nameKey(key, name string) error {
	if r.namedKeys[key] {
		return nil
	}
	if r.namedKeys == nil || len(r.namedKeys) > 1<<16 {
		r.namedKeys = map[string]bool{}
	}
	r.namedKeys[key] = true
	text, err := source.NormalizeName("name", plainWords(name))
	if err != nil {
		return err
	}
	return r.to.Label(key, text, 0)
}

// plainWords writes ACTED_IN as "acted in"; names in mixed case stay.
func plainWords(name string) string {
	plain := strings.ReplaceAll(name, "_", " ")
	if plain == strings.ToUpper(plain) {
		plain = strings.ToLower(plain)
	}
	return plain
}

// listMembers lists the members of a list, and what is none as itself; nothing for null.
func listMembers(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// literalTerm turns a property's value into a term.
func literalTerm(v any) (source.Term, error) {
	switch v := v.(type) {
	case string:
		text, err := source.NormalizeName("value", v)
		return source.Term{Key: text, Kind: store.Text}, err
	case bool:
		return source.Term{Key: strconv.FormatBool(v), Kind: store.Text}, nil
	case int64:
		return source.Term{Key: strconv.FormatInt(v, 10), Kind: store.Number}, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return source.Term{}, fmt.Errorf("%v is not a number", v)
		}
		return source.Term{Key: strconv.FormatFloat(v, 'g', -1, 64), Kind: store.Number}, nil
	case neo4j.Point2D:
		return source.Term{Key: fmt.Sprintf("%v, %v", v.X, v.Y), Kind: store.Text}, nil
	case neo4j.Point3D:
		return source.Term{Key: fmt.Sprintf("%v, %v, %v", v.X, v.Y, v.Z), Kind: store.Text}, nil
	}
	if text, ok := formatTime(v); ok {
		return source.Term{Key: text, Kind: store.Date}, nil
	}
	if shown, ok := v.(fmt.Stringer); ok {
		// A duration, or a time of day.
		return source.Term{Key: shown.String(), Kind: store.Text}, nil
	}
	return source.Term{}, fmt.Errorf("a value of type %T is not a literal", v)
}

// formatTime shows a date or a time with a date as ISO 8601.
func formatTime(v any) (string, bool) {
	switch v := v.(type) {
	case neo4j.Date:
		return v.Time().Format(time.DateOnly), true
	case neo4j.LocalDateTime:
		return source.TrimMidnight(v.Time().Format("2006-01-02T15:04:05")), true
	case time.Time:
		return source.TrimMidnight(v.UTC().Format("2006-01-02T15:04:05Z")), true
	}
	return "", false
}

// parseDate reads when a relationship holds: a date, a text that is one, or a year.
func parseDate(what string, v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return source.NormalizeDate(what, v)
	case int64:
		return source.NormalizeDate(what, fmt.Sprintf("%0*d", 4+signWidth(v), v))
	}
	if text, ok := formatTime(v); ok {
		return source.NormalizeDate(what, text)
	}
	return "", fmt.Errorf("the %s of validity is a %T", what, v)
}

// signWidth counts the minus of a year before Christ.
func signWidth(year int64) int {
	if year < 0 {
		return 1
	}
	return 0
}
