package cypher

import (
	"math"
	"strconv"
	"strings"
)

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
