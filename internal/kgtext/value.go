package kgtext

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Date is a day, a month or a year; unknown parts are 0.
type Date struct{ Year, Month, Day int }

var (
	isoDate  = regexp.MustCompile(`^\+?(-?\d{3,4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:T.*)?$`)
	dayFirst = regexp.MustCompile(`^(?:(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?)?([A-Za-z]{3,9})\.?,?\s+(\d{3,4})$`)
	dayLast  = regexp.MustCompile(`^([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{3,4})$`)
)

var months = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september",
	"october", "november", "december"}

// ParseDate parses a date in ISO 8601, of any precision, or as written in English.
func ParseDate(s string) (Date, bool) {
	s = strings.TrimSpace(s)
	if m := isoDate.FindStringSubmatch(s); m != nil {
		return parseDateParts(m[1], m[2], m[3])
	}
	if m := dayFirst.FindStringSubmatch(s); m != nil {
		return parseDateParts(m[3], parseMonth(m[2]), m[1])
	}
	if m := dayLast.FindStringSubmatch(s); m != nil {
		return parseDateParts(m[3], parseMonth(m[1]), m[2])
	}
	return Date{}, false
}

// parseMonth returns the number of a month given by three or more letters, 13 for other words.
func parseMonth(word string) string {
	word = strings.ToLower(word)
	n := slices.IndexFunc(months[:], func(name string) bool { return strings.HasPrefix(name, word) })
	if n < 0 {
		n = 12
	}
	return strconv.Itoa(n + 1)
}

func parseDateParts(year, month, day string) (d Date, ok bool) {
	d.Year, _ = strconv.Atoi(year)
	d.Month, _ = strconv.Atoi(month)
	d.Day, _ = strconv.Atoi(day)
	return d, d.Month <= 12 && d.Day <= 31
}

// Agrees reports whether two dates are equal in the parts that both have.
func (d Date) Agrees(e Date) bool {
	same := func(a, b int) bool { return a == 0 || b == 0 || a == b }
	return d.Year == e.Year && same(d.Month, e.Month) && (d.Month == 0 || e.Month == 0 || same(d.Day, e.Day))
}

// MorePreciseThan reports whether d has a month or a day that e lacks.
func (d Date) MorePreciseThan(e Date) bool {
	return d.Month != 0 && e.Month == 0 || d.Day != 0 && e.Day == 0
}

// Quantity is a number and its unit, which is empty if unknown.
type Quantity struct {
	Number float64
	Unit   string
}

var quantityPattern = regexp.MustCompile(
	`^(?:about |around |some |over |nearly |approximately )?[$€£¥]?([-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)` +
		`(?:e[-+]?\d+)?)\s*(million|billion|thousand)?\s*([^\d]*)$`)

// ordinalSuffix marks a number that is part of a name: "20th Century Fox".
var ordinalSuffix = regexp.MustCompile(`^(?:st|nd|rd|th)\b`)

// maxUnitWords is the maximum number of words of a unit: "cubic metre per second".
const maxUnitWords = 4

// ParseQuantity parses a number with or without a unit.
func ParseQuantity(s string) (Quantity, bool) {
	m := quantityPattern.FindStringSubmatch(strings.ToLower(strings.TrimSpace(s)))
	if m == nil {
		return Quantity{}, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if err != nil || ordinalSuffix.MatchString(m[3]) || len(strings.Fields(m[3])) > maxUnitWords {
		return Quantity{}, false
	}
	n *= map[string]float64{"": 1, "thousand": 1e3, "million": 1e6, "billion": 1e9}[m[2]]
	return Quantity{n, normaliseUnit(m[3])}, true
}

// unitAbbreviations maps abbreviations and variants of units to their names.
var unitAbbreviations = map[string]string{
	"km": "kilometre", "kilometer": "kilometre", "m": "metre", "meter": "metre", "cm": "centimetre", "kg": "kilogram",
	"g":   "gram",
	"km²": "square kilometre", "sq km": "square kilometre", "square kilometer": "square kilometre", "%": "percent",
	"ft": "foot", "feet": "foot", "mi": "mile",
}

func normaliseUnit(s string) string {
	s = strings.Trim(s, ` .()"`)
	if full, ok := unitAbbreviations[s]; ok {
		return full
	}
	s = strings.TrimSuffix(s, "s")
	return cmp.Or(unitAbbreviations[s], s)
}

// isUnit reports whether a word behind a number is a unit, and no name: not that of "2003 draft".
func isUnit(word string) bool {
	return slices.Contains(slices.Collect(maps.Values(unitAbbreviations)), word)
}

// Comparable reports whether two quantities have the same unit, or one has none.
func (q Quantity) Comparable(r Quantity) bool {
	return q.Unit == r.Unit || q.Unit == "" || r.Unit == ""
}

// RelativeDifference returns |q-r| as a share of |r|.
func (q Quantity) RelativeDifference(r Quantity) float64 {
	if q.Number == r.Number {
		return 0
	}
	return math.Abs(q.Number-r.Number) / math.Abs(r.Number)
}

// sameNumber is the greatest difference, as a share, of a number from itself written in another way.
const sameNumber = 1e-6

// StandsFor reports whether a name, as a model writes it, stands for an object: it has the same words, is the same date
// or number, or lacks only what qualifies the object, in parentheses or behind a comma.
func StandsFor(name, object string) bool {
	if Fold(name) == "" {
		return false
	}
	if q, isNumber := ParseQuantity(name); isNumber {
		if o, ok := ParseQuantity(object); ok {
			isSame := q.Comparable(o) && q.RelativeDifference(o) <= sameNumber
			return isSame && (o.Unit == q.Unit || strings.HasSuffix(object, ")") || isUnit(o.Unit))
		}
	}
	if d, isDate := ParseDate(name); isDate {
		o, ok := ParseDate(object)
		return ok && d == o
	}
	head, _, _ := strings.Cut(object, "(")
	head, _, _ = strings.Cut(head, ",")
	return Fold(name) == Fold(object) || Fold(name) == Fold(head)
}
