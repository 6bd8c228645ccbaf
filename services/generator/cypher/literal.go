package cypher

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number gives the value of a number token.
func (p *parser) number(t token, negative bool) Value {
	at := p.since(max(p.start()-1, 0))
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

// text gives the value of a string token, its escapes resolved.
func (p *parser) text(t token) string {
	raw := p.textOf(t)
	if p.loose {
		return looseText(raw)
	}
	raw = raw[1 : len(raw)-1]
	s, bad := unescape(raw)
	if bad != "" {
		p.fail(p.since(max(p.start()-1, 0)), "InvalidUnicodeLiteral", "%.40q is no escape sequence", bad)
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
