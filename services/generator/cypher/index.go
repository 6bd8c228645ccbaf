package cypher

import "math"

// nodeIndex finds nodes by label and by the value of a property, so that a
// MATCH or MERGE by name does not look at every node.
type nodeIndex struct {
	byLabel map[string][]*Node
	byValue map[valueKey][]*Node
}

type valueKey struct {
	key   string
	value any // string, bool, int64 or float64
}

func newNodeIndex() nodeIndex {
	return nodeIndex{byLabel: map[string][]*Node{}, byValue: map[valueKey][]*Node{}}
}

// scalarKey gives the key under which equal values meet (1 and 1.0), or false
// for values that are not indexed.
func scalarKey(v Value) (any, bool) {
	switch v := v.(type) {
	case string, bool, int64:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
		return v, v == v
	}
	return nil, false
}

func (x *nodeIndex) add(n *Node, key string, v Value) {
	if k, ok := scalarKey(v); ok {
		at := valueKey{key, k}
		x.byValue[at] = append(x.byValue[at], n)
	}
}

func (x *nodeIndex) remove(n *Node, key string) {
	if k, ok := scalarKey(n.Property(key)); ok {
		at := valueKey{key, k}
		if rest := without(x.byValue[at], n); len(rest) > 0 {
			x.byValue[at] = rest
		} else {
			delete(x.byValue, at)
		}
	}
}
