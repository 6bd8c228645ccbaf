package value

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Quantity is a number and its unit, which is empty where it is not said.
type Quantity struct {
	Number float64
	Unit   string
}

var shape = regexp.MustCompile(`^(?:about |around |some |over |nearly |approximately )?([-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)\s*(million|billion|thousand)?\s*([^\d]*)$`)

// ordinal is what makes a number part of a name: "20th Century Fox".
var ordinal = regexp.MustCompile(`^(?:st|nd|rd|th)\b`)

// longestUnit is the most words of a unit: "cubic metre per second".
const longestUnit = 4

// ParseQuantity reads a number with or without a unit.
func ParseQuantity(s string) (Quantity, bool) {
	m := shape.FindStringSubmatch(strings.ToLower(strings.TrimSpace(s)))
	if m == nil {
		return Quantity{}, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if err != nil || ordinal.MatchString(m[3]) || len(strings.Fields(m[3])) > longestUnit {
		return Quantity{}, false
	}
	n *= map[string]float64{"": 1, "thousand": 1e3, "million": 1e6, "billion": 1e9}[m[2]]
	return Quantity{n, unit(m[3])}, true
}

// units are short forms of units.
var units = map[string]string{
	"km": "kilometre", "kilometer": "kilometre", "m": "metre", "meter": "metre", "cm": "centimetre", "kg": "kilogram", "g": "gram",
	"km²": "square kilometre", "sq km": "square kilometre", "square kilometer": "square kilometre", "%": "percent", "ft": "foot", "feet": "foot", "mi": "mile",
}

func unit(s string) string {
	s = strings.Trim(s, " .")
	if full, ok := units[s]; ok {
		return full
	}
	s = strings.TrimSuffix(s, "s")
	return cmp.Or(units[s], s)
}

// Comparable tells whether two quantities are in the same unit, or one in none.
func (q Quantity) Comparable(r Quantity) bool {
	return q.Unit == r.Unit || q.Unit == "" || r.Unit == ""
}

// Off is how far a quantity is from another, as a share of that.
func (q Quantity) Off(r Quantity) float64 {
	if q.Number == r.Number {
		return 0
	}
	return math.Abs(q.Number-r.Number) / math.Abs(r.Number)
}
