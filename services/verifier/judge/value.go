package judge

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// date is a day, a month or a year: what is not known is 0.
type date struct{ year, month, day int }

var (
	isoDate  = regexp.MustCompile(`^(-?\d{3,4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:T.*)?$`)
	dayFirst = regexp.MustCompile(`^(?:(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?)?([A-Za-z]{3,9})\.?,?\s+(\d{3,4})$`)
	dayLast  = regexp.MustCompile(`^([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{3,4})$`)
)

var months = map[string]int{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12}

// parseDate reads a date in ISO 8601 or as English writes it.
func parseDate(s string) (date, bool) {
	s = strings.TrimSpace(s)
	if m := isoDate.FindStringSubmatch(s); m != nil {
		return checked(m[1], m[2], m[3])
	}
	if m := dayFirst.FindStringSubmatch(s); m != nil {
		return checked(m[3], month(m[2]), m[1])
	}
	if m := dayLast.FindStringSubmatch(s); m != nil {
		return checked(m[3], month(m[1]), m[2])
	}
	return date{}, false
}

// month is a month's number; 13, which is none, where the word is none.
func month(word string) string {
	n, ok := months[strings.ToLower(word[:3])]
	if !ok {
		n = 13
	}
	return strconv.Itoa(n)
}

func checked(year, month, day string) (d date, ok bool) {
	d.year, _ = strconv.Atoi(year)
	d.month, _ = strconv.Atoi(month)
	d.day, _ = strconv.Atoi(day)
	return d, d.month <= 12 && d.day <= 31
}

// like is how likely a date that was said is one that is held: less so where it
// says more than is held.
func (d date) like(held date) float32 {
	sure := float32(1)
	for _, p := range [][2]int{{d.year, held.year}, {d.month, held.month}, {d.day, held.day}} {
		switch {
		case p[0] == p[1] || p[0] == 0:
		case p[1] == 0:
			sure = 0.8
		default:
			return 0
		}
	}
	return sure
}

// quantity is a number and what follows it.
type quantity struct {
	number float64
	unit   string
}

var quantityShape = regexp.MustCompile(`^(?:about |around |some |over |nearly |approximately )?([-+]?\d[\d,]*(?:\.\d+)?)\s*(million|billion|thousand)?\s*([^\d]*)$`)

// ordinal is what makes a number part of a name: "20th Century Fox".
var ordinal = regexp.MustCompile(`^(?:st|nd|rd|th)\b`)

// longestUnit is the most words of a unit: "cubic metre per second".
const longestUnit = 4

// parseQuantity reads a number with or without a unit.
func parseQuantity(s string) (quantity, bool) {
	m := quantityShape.FindStringSubmatch(strings.ToLower(strings.TrimSpace(s)))
	if m == nil {
		return quantity{}, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if err != nil || ordinal.MatchString(m[3]) || len(strings.Fields(m[3])) > longestUnit {
		return quantity{}, false
	}
	n *= map[string]float64{"": 1, "thousand": 1e3, "million": 1e6, "billion": 1e9}[m[2]]
	return quantity{n, unit(m[3])}, true
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

// like is how likely a quantity that was said is one that is held: as near as
// people round, in the same unit or in none.
func (q quantity) like(held quantity) float32 {
	if q.unit != held.unit && q.unit != "" && held.unit != "" {
		return 0
	}
	switch off := math.Abs(q.number - held.number); {
	case off == 0:
		return 1
	case off <= 0.01*math.Abs(held.number):
		return 0.8
	}
	return 0
}

// differs tells whether a triple's value is of the kind that the claim's is,
// and different for sure: a day is none of a person's names, "New York" may be "New
// York City", and a country holds its cities.
func (c *caseOf) differs(v *view) bool {
	said := c.claim.GetTriple().GetObject()
	if v.role == reversed {
		said = c.claim.GetTriple().GetSubject()
	}
	if !overlap(c.claim.GetTriple().GetValidity(), v.GetTriple().GetValidity()) {
		return false
	}
	if v.GetTriple().GetObjectKind() == graphv1.TermKind_TERM_KIND_MEDIATOR && v.role != inverse {
		return false
	}
	_, a := parseDate(said)
	_, b := parseDate(v.value)
	if a || b {
		return a && b
	}
	q, a := parseQuantity(said)
	r, b := parseQuantity(v.value)
	if a != b && (a && q.unit == "" || b && r.unit == "") {
		return false // a bare number is none of the other's names
	}
	return !within(said, v.value) && !c.nests(said, v)
}

// nests tells whether what a claim says lies in what a triple says, or the other
// way about: who was born in a city was born in its country too.
func (c *caseOf) nests(said string, v *view) bool {
	links := c.claim.GetObjects()
	if v.role == reversed {
		links = c.claim.GetSubjects()
	}
	return slices.ContainsFunc(c.nested, func(t *graphv1.Triple) bool {
		return t.GetSubject() == v.value && alike(said, t.GetObject(), links) > 0 || t.GetObject() == v.value && alike(said, t.GetSubject(), links) > 0
	})
}

// overlap tells whether two spans of time have a moment in common, as far as
// they are known.
func overlap(a, b *graphv1.ValidityInterval) bool {
	if a == nil || b == nil {
		return true
	}
	return before(a.GetStart(), b.GetEnd()) && before(b.GetStart(), a.GetEnd())
}

// before tells whether a start is not after an end, by the precision of both.
func before(start, end string) bool {
	if start == "" || end == "" {
		return true
	}
	n := min(len(start), len(end))
	return start[:n] <= end[:n]
}
