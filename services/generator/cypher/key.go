package cypher

import (
	bigendian "encoding/binary"
	"maps"
	"math"
	"slices"
)

func sortedKeys(m map[string]Value) []string { return slices.Sorted(maps.Keys(m)) }

// key gives a text that is the same for equivalent values (openCypher's
// equivalence, in which null is null and NaN is NaN), for DISTINCT and
// grouping.
func (x *executor) key(values []Value) string {
	var k []byte
	for _, v := range values {
		k = x.appendKey(k, v)
	}
	x.hold(len(k))
	return string(k)
}

func (x *executor) appendKey(k []byte, v Value) []byte {
	if !x.step(1) || !x.enter() {
		return k
	}
	defer x.leave()
	number := func(tag byte, n uint64) []byte { return bigendian.BigEndian.AppendUint64(append(k, tag), n) }
	switch v := v.(type) {
	case nil:
		return append(k, 'z')
	case bool:
		if v {
			return append(k, 't')
		}
		return append(k, 'f')
	case int64:
		return number('i', uint64(v))
	case float64:
		if n, ok := scalarKey(v); ok {
			if n, ok := n.(int64); ok {
				return number('i', uint64(n))
			}
		}
		if math.IsNaN(v) {
			v = math.NaN()
		}
		return number('d', math.Float64bits(v))
	case string:
		x.step(len(v) / 64)
		return append(number('s', uint64(len(v))), v...)
	case *Node:
		return number('n', uint64(v.id))
	case *Relationship:
		return number('r', uint64(v.id))
	case Temporal, Duration:
		text := Format(v)
		return append(number('T', uint64(len(text))), text...)
	case []Value:
		k = number('l', uint64(len(v)))
		for _, item := range v {
			k = x.appendKey(k, item)
		}
	case map[string]Value:
		k = number('m', uint64(len(v)))
		for _, name := range sortedKeys(v) {
			k = x.appendKey(x.appendKey(k, name), v[name])
		}
	case *Path:
		k = number('p', uint64(len(v.Nodes)))
		for _, n := range v.Nodes {
			k = x.appendKey(k, n)
		}
		for _, r := range v.Relationships {
			k = x.appendKey(k, r)
		}
	}
	if len(k) > x.limits.Size*8 {
		x.over("bytes of values compared", x.limits.Size*8)
	}
	return k
}
