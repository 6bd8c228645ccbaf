package neo4j

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// statements are the texts of what a graph is asked. Names of its labels, types
// and properties, and all values, are parameters; see quoted for the few that
// are not. Nodes are found by id(), which is a seek in every plan.
type statements struct {
	// fixed are the parameters that every statement may use.
	fixed  map[string]any
	labels bool
	types  bool
	names  bool
}

func newStatements(g Graph) statements {
	names := []any{}
	for _, label := range slices.Sorted(maps.Keys(g.NameProperties)) {
		names = append(names, []any{label, g.NameProperties[label]})
	}
	return statements{
		fixed: map[string]any{
			"name": g.NameProperty, "names": names, "labels": g.Labels, "types": g.Types, "start": g.StartProperty,
			"end": g.EndProperty,
		},
		labels: len(g.Labels) > 0, types: len(g.Types) > 0, names: len(names) > 0,
	}
}

// parameters returns the parameters of one statement.
func (s statements) parameters(own map[string]any) map[string]any {
	all := maps.Clone(s.fixed)
	maps.Copy(all, own)
	return all
}

// nameExpression is what names a node.
func (s statements) nameExpression(node string) string {
	if !s.names {
		return node + "[$name]"
	}
	return strings.ReplaceAll("coalesce(head([x IN $names WHERE x[0] IN labels(§) | §[x[1]]]), §[$name])", "§", node)
}

// labelCondition limits a node to those of the graph's labels.
func (s statements) labelCondition(node string) string {
	if !s.labels {
		return "true"
	}
	return "any(l IN labels(" + node + ") WHERE l IN $labels)"
}

// pattern is a relationship between n and o. of limits it to some types, which go as the parameter
// of that name unless they can be quoted; nil means all that the graph has.
func (s statements) pattern(dir store.Direction, of []string) (match, where string) {
	types, filter := "", ""
	if of != nil {
		var ok bool
		if types, ok = quoteTypes(of); !ok {
			types, filter = "", " AND type(r) IN $of"
		}
	} else if s.types {
		filter = " AND type(r) IN $types"
	}
	left, right := "-", "->"
	if dir == store.In {
		left, right = "<-", "-"
	}
	return "(n)" + left + "[r" + types + "]" + right + "(o)", s.labelCondition("o") + filter
}

// edges asks for the edges of some nodes; first comes a row for each node that
// is there, with its name and, where literals are wanted, its labels and
// properties, then one for each node and type. A row for each edge took three to
// five times as long. limit bounds the edges of all; 0 means all there are.
func (s statements) edges(dir store.Direction, of []string, literals bool, limit int) string {
	match, where := s.pattern(dir, of)
	more, last := "null", ""
	if literals {
		more = "[labels(n), properties(n)]"
	}
	if limit > 0 {
		last = " LIMIT $limit"
	}
	return fmt.Sprintf(`MATCH (n) WHERE id(n) IN $ids AND %s
RETURN id(n) AS n, %s AS name, %s AS more, null AS t, null AS ends
UNION ALL MATCH %s WHERE id(n) IN $ids AND %s
WITH n, r, o%s
RETURN id(n) AS n, null AS name, null AS more, type(r) AS t, collect([id(o), %s, r[$start], r[$end]]) AS ends`,
		s.labelCondition("n"), s.nameExpression("n"), more, match, where, last, s.nameExpression("o"))
}

// countEdges asks how many edges of each type some nodes have, out and in.
func (s statements) countEdges() string {
	out, where := s.pattern(store.Out, nil)
	in, _ := s.pattern(store.In, nil)
	return fmt.Sprintf(`MATCH (n) WHERE id(n) IN $ids AND %[1]s MATCH %[2]s WHERE %[4]s
RETURN id(n) AS n, %[5]s AS name, %[6]d AS dir, type(r) AS t, count(r) AS edges
UNION ALL MATCH (n) WHERE id(n) IN $ids AND %[1]s MATCH %[3]s WHERE %[4]s
RETURN id(n) AS n, %[5]s AS name, %[7]d AS dir, type(r) AS t, count(r) AS edges`,
		s.labelCondition("n"), out, in, where, s.nameExpression("n"), store.Out, store.In)
}

// degrees asks how many edges some nodes have, out and in. If all count, the
// server knows without looking at them.
func (s statements) degrees() string {
	if !s.labels && !s.types {
		return `MATCH (n) WHERE id(n) IN $ids RETURN id(n), COUNT { (n)-->() }, COUNT { (n)<--() }`
	}
	out, where := s.pattern(store.Out, nil)
	in, _ := s.pattern(store.In, nil)
	return fmt.Sprintf(`MATCH (n) WHERE id(n) IN $ids AND %s
RETURN id(n), COUNT { %s WHERE %s }, COUNT { %s WHERE %s }`, s.labelCondition("n"), out, where, in, where)
}

// confirm asks which of some relationships are there. Each fact has a number i,
// the ids of its ends s and o, and its types.
func (s statements) confirm() string {
	return fmt.Sprintf(`UNWIND $facts AS f
MATCH (n) WHERE id(n) = f.s AND %s
MATCH (o) WHERE id(o) = f.o AND %s
MATCH (n)-[r]->(o) WHERE type(r) IN f.types
RETURN f.i, %s, %s, r[$start], r[$end]`,
		s.labelCondition("n"), s.labelCondition("o"), s.nameExpression("n"), s.nameExpression("o"))
}

// confirmLiterals asks for a property p, or for a label l, of some nodes s.
func (s statements) confirmLiterals() string {
	return fmt.Sprintf(`UNWIND $facts AS f
MATCH (n) WHERE id(n) = f.s AND %s
RETURN f.i, %s, n[f.p], f.l IN labels(n)`, s.labelCondition("n"), s.nameExpression("n"))
}

// readNodes asks for the names of the nodes in a range of ids.
func (s statements) readNodes() string {
	return fmt.Sprintf(`MATCH (n) WHERE id(n) IN range($from, $to) AND %s RETURN id(n), %s`,
		s.labelCondition("n"), s.nameExpression("n"))
}

// findByName finds nodes by the exact name, by an index on a label and a property. Both are plain.
func findByName(label, property string) string {
	return fmt.Sprintf(`MATCH (n:%s) WHERE n.%s = $is RETURN id(n) ORDER BY id(n) LIMIT 10`, label, property)
}

// nameCheck reports whether any node has a name, and whether there is any at all.
func (s statements) nameCheck() string {
	return fmt.Sprintf(`OPTIONAL MATCH (n) WHERE %[1]s WITH n LIMIT 1
OPTIONAL MATCH (o) WHERE %[2]s AND %[3]s IS NOT NULL WITH n, o LIMIT 1
RETURN n IS NOT NULL, o IS NOT NULL`, s.labelCondition("n"), s.labelCondition("o"), s.nameExpression("o"))
}

const (
	lastNode = `MATCH (n) RETURN coalesce(max(id(n)), -1)`
	allTypes = `CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType`
	allKeys  = `CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey`
	allLabel = `CALL db.labels() YIELD label RETURN label`
	// nameIndexes are those that find one property's values on one label.
	nameIndexes = `SHOW INDEXES YIELD entityType, labelsOrTypes, properties, type, state
WHERE entityType = 'NODE' AND state = 'ONLINE' AND type IN ['RANGE', 'TEXT'] AND size(properties) = 1
RETURN labelsOrTypes[0], properties[0]`
)

// plainName matches the names that need no escaping within backticks.
var plainName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_ .-]*$`)

// quote returns a name in backticks; ok is false if it is not plain. Other names are sent as
// parameters, though Cypher has a way to quote them: some versions read \u0060
// as a backtick before they look at quotes.
func quote(name string) (text string, ok bool) {
	if !plainName.MatchString(name) {
		return "", false
	}
	return "`" + name + "`", true
}

// quoteTypes returns the types in the form of [r:…]; ok is false if one of them is not plain
// or there are more than maxQuoted.
func quoteTypes(types []string) (text string, ok bool) {
	if len(types) == 0 || len(types) > maxQuoted {
		return "", false
	}
	parts := make([]string, len(types))
	for i, t := range types {
		if parts[i], ok = quote(t); !ok {
			return "", false
		}
	}
	return ":" + strings.Join(parts, "|"), true
}

// maxQuoted is the number of types named in one statement. The server caches the plans of some
// thousand statements, and planning takes longer than walking.
const maxQuoted = 2
