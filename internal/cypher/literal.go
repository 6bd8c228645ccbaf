package cypher

import (
	bigendian "encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (p *parser) number(t token, negative bool) Value {
	at := p.spanFrom(max(p.start()-1, 0))
	text := p.textOf(t)
	if t.kind == tInt {
		return p.integer(text, negative, at)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.fail(at, "FloatingPointOverflow", "%.40s is too large for a float", text)
	}
	if negative {
		f = -f
	}
	return f
}

// integer reads a decimal, 0x or 0o literal of 64 bits.
func (p *parser) integer(text string, negative bool, at span) int64 {
	digits, base := text, 10
	if len(text) > 1 && text[0] == '0' {
		switch text[1] {
		case 'x':
			digits, base = text[2:], 16
		case 'o':
			digits, base = text[2:], 8
		}
	}
	u, err := strconv.ParseUint(digits, base, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		p.fail(at, "InvalidNumberLiteral", "%.40q is no number", text)
	case err != nil, u > math.MaxInt64 && !(negative && u == 1<<63):
		p.fail(at, "IntegerOverflow", "%.40s is too large for an integer", text)
	}
	if negative {
		return -int64(u)
	}
	return int64(u)
}

// text returns the value of a string token, its escapes resolved.
func (p *parser) text(t token) string {
	raw := p.textOf(t)
	if p.loose {
		return looseText(raw)
	}
	raw = raw[1 : len(raw)-1]
	s, bad := unescape(raw)
	if bad != "" {
		p.fail(p.spanFrom(max(p.start()-1, 0)), "InvalidUnicodeLiteral", "%.40q is no escape sequence", bad)
	}
	return s
}

var escapes = map[byte]byte{
	'\\': '\\', '\'': '\'', '"': '"', '`': '`', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unescape resolves the escapes of a string; bad is the first that is none.
func unescape(raw string) (s, bad string) {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw, ""
	}
	var out strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			out.WriteByte(raw[i])
			continue
		}
		i++
		if c, ok := escapes[raw[i]]; ok {
			out.WriteByte(c)
			continue
		}
		digits := map[byte]int{'u': 4, 'U': 8}[raw[i]]
		if digits == 0 || i+digits >= len(raw) {
			bad = raw[i-1 : min(i+9, len(raw))]
			out.WriteByte(raw[i])
			continue
		}
		r, err := strconv.ParseUint(raw[i+1:i+1+digits], 16, 32)
		if err != nil || !utf8.ValidRune(rune(r)) {
			bad = raw[i-1 : i+1+digits]
			continue
		}
		out.WriteRune(rune(r))
		i += digits
	}
	return out.String(), bad
}

// Format writes a scalar as toString() does: 1.0, true, 1984-10-11. Lists are
// joined by commas; what has no text of its own gives "".
func Format(v Value) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return formatFloat(v)
	case Temporal:
		return v.String()
	case Duration:
		return v.String()
	case []Value:
		texts := make([]string, 0, len(v))
		for _, item := range v {
			if _, nested := item.([]Value); !nested {
				texts = append(texts, Format(item))
			}
		}
		return strings.Join(texts, ", ")
	}
	return ""
}

func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e7) {
		format = 'E'
	}
	s := strconv.FormatFloat(f, format, -1, 64)
	if format == 'E' {
		mantissa, exponent, _ := strings.Cut(s, "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent)
		return mantissa + "E" + strconv.Itoa(n)
	}
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func sortedKeys(m map[string]Value) []string { return slices.Sorted(maps.Keys(m)) }

// key returns a text that is the same for equivalent values (openCypher's equivalence, in which
// null is null and NaN is NaN), for DISTINCT and grouping.
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
		x.exceed("bytes of values compared", x.limits.Size*8)
	}
	return k
}
