package cypher_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/cypher"
)

// node and relationship are entities as the kit writes them; a path is a list
// of steps, each an entity or an arrow.
type (
	node struct {
		labels []string
		props  map[string]cypher.Value
	}
	relationship struct {
		kind  string
		props map[string]cypher.Value
	}
	path  []cypher.Value
	arrow string
)

// canonical writes a value, the kit's or a result's, so that equal values are
// written alike. With loose set the order within lists does not count.
func canonical(v cypher.Value, loose bool) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case cypher.Temporal, cypher.Duration:
		return strconv.Quote(cypher.Format(v))
	case []cypher.Value:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = canonical(item, loose)
		}
		if loose {
			slices.Sort(items)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]cypher.Value:
		items := []string{}
		for k, item := range v {
			items = append(items, k+": "+canonical(item, loose))
		}
		slices.Sort(items)
		return "{" + strings.Join(items, ", ") + "}"
	case *cypher.Node:
		return canonical(node{v.Labels(), propertyMap(v.Properties())}, loose)
	case *cypher.Relationship:
		return canonical(relationship{v.Type(), propertyMap(v.Properties())}, loose)
	case node:
		labels := slices.Sorted(slices.Values(v.labels))
		return fmt.Sprintf("(%s %s)", strings.Join(labels, ":"), canonical(v.props, loose))
	case relationship:
		return fmt.Sprintf("[:%s %s]", v.kind, canonical(v.props, loose))
	case *cypher.Path:
		return canonical(pathSteps(v), loose)
	case path:
		text := "<"
		for _, step := range v {
			if a, ok := step.(arrow); ok {
				text += string(a)
			} else {
				text += canonical(step, loose)
			}
		}
		return text + ">"
	case float64:
		return "float " + cypher.Format(v)
	}
	return cypher.Format(v)
}

func propertyMap(list []cypher.Property) map[string]cypher.Value {
	m := map[string]cypher.Value{}
	for _, p := range list {
		m[p.Key] = p.Value
	}
	return m
}

func pathSteps(p *cypher.Path) path {
	steps := path{p.Nodes[0]}
	for i, r := range p.Relationships {
		if r.Start() == p.Nodes[i] {
			steps = append(steps, arrow("-"), r, arrow("->"))
		} else {
			steps = append(steps, arrow("<-"), r, arrow("-"))
		}
		steps = append(steps, p.Nodes[i+1])
	}
	return steps
}

// reader reads the kit's notation of values.
type reader struct {
	text string
	err  error
}

func parseValue(text string) (cypher.Value, error) {
	r := &reader{text: strings.TrimSpace(text)}
	v := r.value()
	r.space()
	if r.err == nil && r.text != "" {
		r.fail("the end of the value")
	}
	return v, r.err
}

func (r *reader) fail(want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%q stands where %s should", r.text, want)
	}
	r.text = ""
}

func (r *reader) space() { r.text = strings.TrimLeft(r.text, " ") }

func (r *reader) accept(prefix string) bool {
	r.space()
	rest, ok := strings.CutPrefix(r.text, prefix)
	if ok {
		r.text = rest
	}
	return ok
}

func (r *reader) expect(prefix string) {
	if !r.accept(prefix) {
		r.fail(prefix)
	}
}

func (r *reader) value() cypher.Value {
	switch {
	case r.accept("<"):
		return r.path()
	case r.accept("("):
		return r.node()
	case r.accept("[:"):
		return r.relationship()
	case r.accept("["):
		list := []cypher.Value{}
		for !r.accept("]") && r.err == nil {
			list = append(list, r.value())
			r.accept(",")
		}
		return list
	case strings.HasPrefix(r.text, "{"):
		return r.props()
	case r.accept("'"):
		return r.quotedText()
	}
	end := strings.IndexAny(r.text, ",]}) ")
	if end < 0 {
		end = len(r.text)
	}
	word := r.text[:end]
	r.text = r.text[end:]
	switch word {
	case "null":
		return nil
	case "true", "false":
		return word == "true"
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		r.text = word + r.text
		r.fail("a value")
	}
	return f
}

func (r *reader) quotedText() string {
	var s strings.Builder
	for i := 0; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '\\' && i+1 < len(r.text):
			i++
			s.WriteByte(r.text[i])
		case c == '\'':
			r.text = r.text[i+1:]
			return s.String()
		default:
			s.WriteByte(c)
		}
	}
	r.fail("the end of a string")
	return ""
}

func (r *reader) name() string {
	r.space()
	end := strings.IndexAny(r.text, ":{}()[] |")
	if end < 0 {
		end = len(r.text)
	}
	name := r.text[:end]
	r.text = r.text[end:]
	return strings.Trim(name, "`")
}

func (r *reader) props() map[string]cypher.Value {
	m := map[string]cypher.Value{}
	if !r.accept("{") {
		return m
	}
	for !r.accept("}") && r.err == nil {
		key := r.name()
		r.expect(":")
		m[key] = r.value()
		r.accept(",")
	}
	return m
}

func (r *reader) node() cypher.Value {
	n := node{}
	for r.accept(":") {
		n.labels = append(n.labels, r.name())
	}
	n.props = r.props()
	r.expect(")")
	return n
}

func (r *reader) relationship() cypher.Value {
	rel := relationship{kind: r.name()}
	rel.props = r.props()
	r.expect("]")
	return rel
}

func (r *reader) path() cypher.Value {
	r.expect("(")
	p := path{r.node()}
	for !r.accept(">") && r.err == nil {
		left, right := "-", "->"
		if r.accept("<-") {
			left, right = "<-", "-"
		} else {
			r.expect("-")
		}
		r.expect("[:")
		rel := r.relationship()
		r.expect(right)
		r.expect("(")
		p = append(p, arrow(left), rel, arrow(right), r.node())
	}
	return p
}
