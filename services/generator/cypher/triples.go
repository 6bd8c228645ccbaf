package cypher

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// nameKeys are the properties that name a node, the best first.
var nameKeys = []string{"name", "title", "label", "value", "id"}

// maxName bounds a part of a triple in bytes; longer ones are no names.
const maxName = 4096

// nameProperty gives a node's name and the key it stands under: one of
// nameKeys, a key such as fullName, one that is called as the node's label or
// variable is, or the only property that the node has. Empty where there is
// none.
func nameProperty(n *Node) (name, key string) {
	for _, k := range nameKeys {
		v := n.Property(k)
		if _, isText := v.(string); v != nil && (isText || k != "id") && Format(v) != "" {
			return Format(v), k
		}
	}
	for _, p := range n.props {
		if text, ok := p.Value.(string); ok && text != "" && n.namedBy(p.Key) {
			return text, p.Key
		}
	}
	if len(n.props) == 1 && n.props[0].Key != "id" {
		return Format(n.props[0].Value), n.props[0].Key
	}
	return "", ""
}

func (n *Node) namedBy(key string) bool {
	lower := strings.ToLower(key)
	if strings.HasSuffix(lower, "name") || strings.HasSuffix(lower, "title") || strings.EqualFold(key, n.variable) {
		return true
	}
	return slices.ContainsFunc(n.labels, func(l string) bool { return strings.EqualFold(l, key) })
}

// called gives the name of a node in a triple, and the key that holds it.
// Without a name it is the variable, if that is a word; then a date made of
// year, month and day, the first text, the label.
func (n *Node) called() (name, key string) {
	if name, key = nameProperty(n); name != "" {
		return name, key
	}
	if year, ok := n.Property("year").(int64); ok && n.Property("month") != nil {
		month, _ := n.Property("month").(int64)
		day, _ := n.Property("day").(int64)
		if day == 0 {
			return fmt.Sprintf("%04d-%02d", year, month), "year month"
		}
		return fmt.Sprintf("%04d-%02d-%02d", year, month, day), "year month day"
	}
	if utf8.RuneCountInString(n.variable) > 2 {
		return readableVariable(n.variable), ""
	}
	for _, p := range n.props {
		if text, ok := p.Value.(string); ok && text != "" {
			return text, p.Key
		}
	}
	if len(n.labels) > 0 {
		return readable(n.labels[0]), ""
	}
	return readableVariable(n.variable), ""
}

// triples writes the graph as triples, in the order in which it was written.
func (d *decoder) triples() []Triple {
	t := tripleList{notes: d.notes, source: d.source, seen: map[Triple]bool{}, names: map[*Node]string{}}
	nodes, rels := d.executor.graph.Nodes(), d.executor.graph.Relationships()
	keys := make(map[*Node]string, len(nodes))
	for _, n := range nodes {
		t.names[n], keys[n] = n.called()
		if keys[n] == "" && t.names[n] != "" && n.variable != "" && !strings.Contains(n.variable, " ") {
			d.notes.add(d.tokens[n.at].from, "the variable "+n.variable+" has no name: \""+t.names[n]+"\" stands for it")
		}
	}
	for len(nodes)+len(rels) > 0 {
		if len(rels) == 0 || len(nodes) > 0 && cmp.Less(nodes[0].order, rels[0].order) {
			t.facts(nodes[0], keys[nodes[0]])
			nodes = nodes[1:]
		} else {
			t.relation(rels[0])
			rels = rels[1:]
		}
	}
	for _, q := range d.executor.loose.asked {
		if name, _ := nameProperty(q.node); name != "" {
			t.add(Triple{name, readable(q.key), readable(q.key)}, q.at)
		}
	}
	if len(t.list) == 0 {
		t.lone(d.executor.graph.Nodes())
	}
	return t.list
}

// tripleList collects triples, each once.
type tripleList struct {
	*source
	notes *notes
	seen  map[Triple]bool
	names map[*Node]string
	list  []Triple
}

func (t *tripleList) add(one Triple, at int32) {
	one = Triple{strings.TrimSpace(one.Subject), strings.TrimSpace(one.Relation), strings.TrimSpace(one.Object)}
	if one.Subject == "" || one.Relation == "" || one.Object == "" || t.seen[one] {
		return
	}
	if max(len(one.Subject), len(one.Relation), len(one.Object)) > maxName {
		t.notes.add(t.tokens[at].from, "a text too long for a name is left out")
		return
	}
	t.seen[one] = true
	t.list = append(t.list, one)
}

func (t *tripleList) relation(r *Relationship) {
	subject, object := t.names[r.start], t.names[r.end]
	if subject == object && subject != "" {
		t.notes.add(t.tokens[r.at].from, "the subject \""+subject+"\" is its own object")
	}
	t.add(Triple{subject, readable(r.kind), object}, r.at)
}

// facts writes the properties of a node beside its name. A number under id is
// no fact.
func (t *tripleList) facts(n *Node, nameKey string) {
	for _, p := range n.props {
		if _, isText := p.Value.(string); strings.Contains(" "+nameKey+" ", " "+p.Key+" ") || p.Key == "id" && !isText {
			continue
		}
		values, ok := p.Value.([]Value)
		if !ok {
			values = []Value{p.Value}
		}
		for _, v := range values {
			t.add(Triple{t.names[n], readable(p.Key), Format(v)}, n.at)
		}
	}
}

// lone writes what kind of thing each named node is; it stands in where a
// model wrote nodes and nothing about them.
func (t *tripleList) lone(nodes []*Node) {
	for _, n := range nodes {
		if name, _ := nameProperty(n); name != "" && len(n.labels) > 0 {
			t.add(Triple{name, "is a", readable(n.labels[0])}, n.at)
		}
	}
}
