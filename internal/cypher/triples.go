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

// nameProperty returns a node's name and the key it stands under: one of nameKeys, a key such as
// fullName, one that is called as the node's label or variable is, or the only property that the
// node has. Empty if there is none.
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

// displayName returns the name of a node in a triple, and the key that holds it.
// Without a name it is the variable, if that is a word; then a date made of
// year, month and day, the first text, the label.
func (n *Node) displayName() (name, key string) {
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
		t.names[n], keys[n] = n.displayName()
		if keys[n] == "" && t.names[n] != "" && n.variable != "" && !strings.Contains(n.variable, " ") {
			d.notes.add(d.tokens[n.token].start, "the variable "+n.variable+" has no name: \""+t.names[n]+
				"\" is used")
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
	for _, q := range d.executor.loose.missing {
		if name, _ := nameProperty(q.node); name != "" {
			t.add(Triple{name, readable(q.key), readable(q.key)}, q.token)
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
		t.notes.add(t.tokens[at].start, "a text too long for a name is skipped")
		return
	}
	t.seen[one] = true
	t.list = append(t.list, one)
}

func (t *tripleList) relation(r *Relationship) {
	subject, object := t.names[r.start], t.names[r.end]
	if subject == object && subject != "" {
		t.notes.add(t.tokens[r.token].start, "the subject \""+subject+"\" is its own object")
	}
	t.add(Triple{subject, readable(r.kind), object}, r.token)
}

// facts writes the properties of a node beside its name. A number under id is no fact.
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
			t.add(Triple{t.names[n], readable(p.Key), Format(v)}, n.token)
		}
	}
}

// lone writes the label of each named node as a fact; it is used if a model wrote nodes and nothing
// about them.
func (t *tripleList) lone(nodes []*Node) {
	for _, n := range nodes {
		if name, _ := nameProperty(n); name != "" && len(n.labels) > 0 {
			t.add(Triple{name, "is a", readable(n.labels[0])}, n.token)
		}
	}
}

// walk visits an expression and everything in it, patterns included.
func walk(e expr, visit func(expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, child := range children(e) {
		walk(child, visit)
	}
}

// children are the expressions directly inside one; nil ones are omitted.
func children(e expr) []expr {
	switch e := e.(type) {
	case *property:
		return []expr{e.target}
	case *index:
		return []expr{e.target, e.index}
	case *slice:
		return present(e.list, e.lower, e.upper)
	case *labelTest:
		return []expr{e.target}
	case *unary:
		return []expr{e.operand}
	case *binary:
		return []expr{e.left, e.right}
	case *comparison:
		return e.operands
	case *isNull:
		return []expr{e.operand}
	case *listExpr:
		return e.items
	case *mapExpr:
		return e.values
	case *caseExpr:
		list := present(append(append([]expr{e.subject}, e.when...), e.then...)...)
		return append(list, present(e.otherwise)...)
	case *call:
		return e.args
	case *comprehension:
		return present(e.list, e.condition, e.result)
	case *quantifier:
		return present(e.list, e.condition)
	case *reduceExpr:
		return []expr{e.initial, e.list, e.result}
	case *patternExpr:
		return append(patternParts(e.paths), present(e.condition)...)
	case *patternComprehension:
		return append(patternParts([]*pathPattern{e.path}), present(e.condition, e.result)...)
	}
	return nil
}

func present(list ...expr) []expr {
	kept := list[:0:0]
	for _, e := range list {
		if e != nil {
			kept = append(kept, e)
		}
	}
	return kept
}

func patternParts(paths []*pathPattern) []expr {
	var list []expr
	for _, path := range paths {
		for _, n := range path.nodes {
			list = append(list, present(n.props)...)
		}
		for _, r := range path.rels {
			list = append(list, present(r.props)...)
		}
	}
	return list
}

// lexLoosely cuts the code in a model's answer into tokens: what stands in code fences if there are
// any, or else everything. Offsets are those of the whole text.
func lexLoosely(text string, n *notes) *source {
	l := lexer{text: text, tokens: make([]token, 0, len(text)/4+1)}
	l.note = func(offset int, message string) {
		n.lexed = append(n.lexed, note{int32(offset), message})
	}
	var tokens []token
	regions := fenced(text)
	if !hasClause(text, regions) {
		regions = []region{{0, len(text)}}
	}
	for _, r := range regions {
		l.text, l.offset, l.tokens = text[:r.to], r.from, tokens
		tokens = l.run()
		tokens = tokens[:len(tokens)-1]
	}
	end := int32(len(text))
	tokens = append(tokens, token{kind: tEOF, newline: true, start: end, end: end})
	s := newSource(text, tokens)
	s.loose = true
	return s
}

// region is a range of byte offsets.
type region struct{ from, to int }

// fenced finds the text between lines of three backticks or tildes. A
// fence that is not closed reaches to the end.
func fenced(text string) []region {
	var regions []region
	open := -1
	at := 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " \t>")
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			if open < 0 {
				open = at + len(line)
				if code, ok := codeAfterFence(trimmed); ok {
					open = at + strings.Index(line, code)
					if i := strings.Index(code, "```"); i >= 0 {
						regions = append(regions, region{open, open + i})
						open = -1
					}
				}
			} else {
				regions = append(regions, region{open, at})
				open = -1
			}
		} else if i := strings.Index(line, "```"); i >= 0 && open >= 0 {
			regions = append(regions, region{open, at + i}) // closed behind code
			open = -1
		}
		at += len(line)
	}
	if open >= 0 {
		regions = append(regions, region{min(open, len(text)), len(text)})
	}
	return regions
}

// codeAfterFence finds code that begins on the line of the fence.
func codeAfterFence(line string) (string, bool) {
	rest := strings.TrimSpace(strings.TrimLeft(line, "`~"))
	word, after, _ := strings.Cut(rest, " ")
	if clauseWords[strings.ToUpper(word)] {
		return rest, true
	}
	after = strings.TrimSpace(after)
	return after, after != ""
}

// hasClause reports whether one of the regions holds a clause keyword.
func hasClause(text string, regions []region) bool {
	for _, r := range regions {
		upper := strings.ToUpper(text[r.from:r.to])
		for _, word := range []string{"CREATE", "MERGE", "MATCH"} {
			if strings.Contains(upper, word) {
				return true
			}
		}
	}
	return false
}

// clauseWords start a clause.
var clauseWords = wordSet("CREATE MERGE MATCH OPTIONAL UNWIND WITH RETURN SET REMOVE DELETE DETACH")
