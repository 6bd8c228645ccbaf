package cypher

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// equal is the operator =: true, false, or nil if a null leaves it open.
func (x *executor) equal(a, b Value) Value {
	if a == nil || b == nil || !x.step(1) || !x.enter() {
		return nil
	}
	defer x.leave()
	switch a := a.(type) {
	case []Value:
		if b, ok := b.([]Value); ok {
			return x.equalLists(a, b)
		}
	case map[string]Value:
		if b, ok := b.(map[string]Value); ok {
			return x.equalMaps(a, b)
		}
	case *Path:
		b, ok := b.(*Path)
		return ok && slices.Equal(a.Nodes, b.Nodes) && slices.Equal(a.Relationships, b.Relationships)
	case int64:
		switch b := b.(type) {
		case int64:
			return a == b
		case float64:
			return compareMixed(a, b) == 0
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return compareMixed(b, a) == 0
		case float64:
			return a == b
		}
	case string:
		b, ok := b.(string)
		return ok && a == b
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case *Node:
		b, ok := b.(*Node)
		return ok && a == b
	case *Relationship:
		b, ok := b.(*Relationship)
		return ok && a == b
	case Temporal:
		b, ok := b.(Temporal)
		return ok && a.kind == b.kind && a.compare(b) == 0
	case Duration:
		b, ok := b.(Duration)
		return ok && a == b
	}
	return false
}

func (x *executor) equalLists(a, b []Value) Value {
	if len(a) != len(b) {
		return false
	}
	var all Value = true
	for i := range a {
		switch x.equal(a[i], b[i]) {
		case false:
			return false
		case nil:
			all = nil
		}
	}
	return all
}

func (x *executor) equalMaps(a, b map[string]Value) Value {
	if len(a) != len(b) {
		return false
	}
	var all Value = true
	for k, v := range a {
		other, ok := b[k]
		if !ok {
			return false
		}
		switch x.equal(v, other) {
		case false:
			return false
		case nil:
			all = nil
		}
	}
	return all
}

// compareMixed compares an integer with a float without losing digits. NaN is
// greater than every number.
func compareMixed(a int64, b float64) int {
	switch {
	case b >= 1<<63 || math.IsNaN(b):
		return -1
	case b < -1<<63:
		return 1
	}
	whole := math.Floor(b)
	if c := cmp.Compare(a, int64(whole)); c != 0 {
		return c
	}
	if b > whole {
		return -1
	}
	return 0
}

// compare is the order of <, if it is defined: ok is false for values of
// different types, nulls and what has no order.
func (x *executor) compare(a, b Value) (c int, ok bool) {
	if !x.step(1) || !x.enter() {
		return 0, false
	}
	defer x.leave()
	switch a := a.(type) {
	case int64, float64:
		return compareNumbers(a, b)
	case string:
		b, ok := b.(string)
		return strings.Compare(a, b), ok
	case bool:
		b, ok := b.(bool)
		return compareBools(a, b), ok
	case Temporal:
		b, ok := b.(Temporal)
		if !ok || a.kind != b.kind {
			return 0, false
		}
		return a.compare(b), true
	case []Value:
		b, ok := b.([]Value)
		if !ok {
			return 0, false
		}
		for i := range min(len(a), len(b)) {
			if a[i] == nil || b[i] == nil {
				return 0, false
			}
			if x.equal(a[i], b[i]) == true {
				continue
			}
			return x.compare(a[i], b[i])
		}
		return cmp.Compare(len(a), len(b)), true
	}
	return 0, false
}

func compareNumbers(a, b Value) (int, bool) {
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, b), true
		case float64:
			return compareMixed(a, b), !math.IsNaN(b)
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return -compareMixed(b, a), !math.IsNaN(a)
		case float64:
			return cmp.Compare(a, b), !math.IsNaN(a) && !math.IsNaN(b)
		}
	}
	return 0, false
}

func compareBools(a, b bool) int {
	if a == b {
		return 0
	}
	if b {
		return -1
	}
	return 1
}

// typeRank is the order between types in ORDER BY (openCypher CIP2016-06-14, orderability).
func typeRank(v Value) int {
	switch v := v.(type) {
	case map[string]Value:
		return 0
	case *Node:
		return 1
	case *Relationship:
		return 2
	case []Value:
		return 3
	case *Path:
		return 4
	case Temporal:
		return 5 + int(v.kind)
	case Duration:
		return 15
	case string:
		return 16
	case bool:
		return 17
	case int64, float64:
		return 18
	}
	return 19 // null
}

// order is the total order of ORDER BY, min and max.
func (x *executor) order(a, b Value) int {
	if c := cmp.Compare(typeRank(a), typeRank(b)); c != 0 || a == nil {
		return c
	}
	if !x.step(1) || !x.enter() {
		return 0
	}
	defer x.leave()
	switch a := a.(type) {
	case int64, float64:
		c, ok := compareNumbers(a, b)
		if !ok { // NaN after all numbers
			return compareBools(isNaN(a), isNaN(b))
		}
		return c
	case *Node:
		return cmp.Compare(a.id, b.(*Node).id)
	case *Relationship:
		return cmp.Compare(a.id, b.(*Relationship).id)
	case *Path:
		return x.orderPaths(a, b.(*Path))
	case Duration:
		return cmp.Compare(a.approximate(), b.(Duration).approximate())
	case []Value:
		return x.orderLists(a, b.([]Value))
	case map[string]Value:
		return x.orderMaps(a, b.(map[string]Value))
	}
	c, _ := x.compare(a, b)
	return c
}

func isNaN(v Value) bool {
	f, ok := v.(float64)
	return ok && math.IsNaN(f)
}

func (x *executor) orderLists(a, b []Value) int {
	for i := range min(len(a), len(b)) {
		if c := x.order(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func (x *executor) orderMaps(a, b map[string]Value) int {
	keys, others := sortedKeys(a), sortedKeys(b)
	if c := slices.Compare(keys, others); c != 0 {
		return c
	}
	for _, k := range keys {
		if c := x.order(a[k], b[k]); c != 0 {
			return c
		}
	}
	return 0
}

func (x *executor) orderPaths(a, b *Path) int {
	if c := slices.CompareFunc(a.Nodes, b.Nodes, func(n, m *Node) int { return cmp.Compare(n.id, m.id) }); c != 0 {
		return c
	}
	return slices.CompareFunc(a.Relationships, b.Relationships,
		func(r, s *Relationship) int { return cmp.Compare(r.id, s.id) })
}
