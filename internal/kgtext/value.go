package kgtext

import (
	"cmp"
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
	slashed  = regexp.MustCompile(`^(\d{1,2})([/.])(\d{1,2})([/.])(\d{4})$`)
)

var months = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september",
	"october", "november", "december"}

// ParseDate parses a date in ISO 8601, of any precision, or as written in English. Of 3/4/1999, which is in March or in
// April, it returns the year alone.
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
	if m := slashed.FindStringSubmatch(s); m != nil && m[2] == m[4] {
		return parseSlashed(m[1], m[3], m[5])
	}
	return Date{}, false
}

// parseSlashed parses a date of which either the first part is the month or the second.
func parseSlashed(first, second, year string) (Date, bool) {
	a, isMonth := parseDateParts(year, first, second)
	b, isOther := parseDateParts(year, second, first)
	switch {
	case isMonth && isOther && a != b:
		return Date{Year: a.Year}, true
	case isMonth:
		return a, true
	}
	return b, isOther
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
	`^(?:about |around |some |over |nearly |approximately |roughly |~ ?|≈ ?)?[$€£¥]?` +
		`([-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?)\s*(million|billion|thousand)?\s*` +
		`([^\d]*|(?:\pL{1,3}/)?[kcm]?m[23])$`)

// roughly are the words by which the value behind them is an approximate one.
const roughly = `(?:about|around|approximately|roughly|nearly|almost|circa|ca?\.)`

var (
	roughValue = regexp.MustCompile(`^(?i:` + roughly + ` |[~≈] ?)(\W*\d.*)$`)
	roughEnd   = regexp.MustCompile(`(?i)\b` + roughly + ` $`)
)

// CutApproximation returns a value without the word by which it is approximate, and whether it is.
func CutApproximation(value string) (exact string, isRough bool) {
	if m := roughValue.FindStringSubmatch(value); m != nil {
		return m[1], true
	}
	return value, false
}

// FindApproximation returns the word, with its space, at the end of a text by which a value behind it is approximate.
func FindApproximation(text string) string { return roughEnd.FindString(text) }

// ordinalSuffix marks a number that is part of a name: "20th Century Fox".
var ordinalSuffix = regexp.MustCompile(`^(?:st|nd|rd|th)\b`)

// maxUnitWords is the maximum number of words of a unit: "cubic metre per second".
const maxUnitWords = 4

// clockPattern is a time of day: "07:15".
var clockPattern = regexp.MustCompile(`^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$`)

// clockUnit is the unit of times of day, which are minutes since midnight.
const clockUnit = "clock"

// parseClock parses a time of day.
func parseClock(s string) (Quantity, bool) {
	if !strings.Contains(s, ":") {
		return Quantity{}, false // as most values, without a search for the pattern
	}
	m := clockPattern.FindStringSubmatch(s)
	if m == nil {
		return Quantity{}, false
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	second, _ := strconv.Atoi(m[3])
	return Quantity{float64(60*hour+minute) + float64(second)/60, clockUnit}, true
}

// durationPattern is a duration as schema.org and XML Schema write it: "PT1H10M".
var durationPattern = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)

// parseDuration parses such a duration into minutes.
func parseDuration(s string) (q Quantity, isDuration bool) {
	if !strings.HasPrefix(s, "P") {
		return Quantity{}, false // as most values, without a search for the pattern
	}
	m := durationPattern.FindStringSubmatch(s)
	for i, minutes := range []float64{24 * 60, 60, 1, 1.0 / 60} {
		if m == nil || m[i+1] == "" {
			continue
		}
		n, err := strconv.ParseFloat(m[i+1], 64)
		if err != nil {
			return Quantity{}, false
		}
		q.Number, q.Unit, isDuration = q.Number+n*minutes, "minute", true
	}
	return q, isDuration
}

// ParseQuantity parses a number with or without a unit, a duration, or a time of day.
func ParseQuantity(s string) (Quantity, bool) {
	if q, isDuration := parseDuration(s); isDuration {
		return q, true
	}
	if q, isClock := parseClock(s); isClock {
		return q, true
	}
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
	"km": "kilometre", "kilometer": "kilometre", "m": "metre", "meter": "metre", "cm": "centimetre",
	"centimeter": "centimetre", "mm": "millimetre", "millimeter": "millimetre",
	"ft": "foot", "feet": "foot", "mi": "mile", "inches": "inch",
	"min": "minute", "sec": "second", "hr": "hour", "h": "hour",
	"mg": "milligram", "kg": "kilogram", "g": "gram", "lb": "pound", "lbs": "pound", "ton": "tonne",
	"km²": "square kilometre", "sq km": "square kilometre", "square kilometer": "square kilometre",
	"squarekilometre": "square kilometre", "m²": "square metre", "square meter": "square metre",
	"squaremetre": "square metre", "ha": "hectare", "%": "percent", "m2": "square metre", "km2": "square kilometre",
	"eur": "euro", "usd": "dollar",
	"people": "inhabitant", "person": "inhabitant", "resident": "inhabitant",
}

// dimension is what a value measures, said behind its unit.
var dimension = regexp.MustCompile(`(?:,? (?:long|tall|high|wide|deep|` +
	`in (?:length|height|width|depth|area|size|total)|above (?:the )?sea level))+$`)

// units are the measures of known units, and their scales within these.
var units = map[string]struct {
	measure string
	scale   float64
}{
	"millimetre": {"length", 0.001}, "centimetre": {"length", 0.01}, "metre": {"length", 1},
	"kilometre": {"length", 1000},
	"inch":      {"length", 0.0254}, "foot": {"length", 0.3048}, "mile": {"length", 1609.344},
	"square metre": {"area", 1}, "hectare": {"area", 1e4}, "square kilometre": {"area", 1e6},
	"acre": {"area", 4046.8564224}, "square mile": {"area", 2589988.110336},
	"milligram": {"mass", 1e-6},
	"gram":      {"mass", 0.001}, "kilogram": {"mass", 1}, "pound": {"mass", 0.45359237}, "tonne": {"mass", 1000},
	"second": {"time", 1}, "minute": {"time", 60}, "hour": {"time", 3600}, "day": {"time", 86400},
	"percent": {"share", 1},
}

func normaliseUnit(s string) string {
	s = dimension.ReplaceAllString(strings.Trim(s, ` .()"`), "")
	for _, per := range []string{" per ", "/"} { // "people per km²"
		if of, unit, found := strings.Cut(s, per); found && of != "" {
			return normaliseUnit(of) + " per " + normaliseUnit(unit)
		}
	}
	if of, unit, found := strings.Cut(s, "per"); found && IsUnit(of) && IsUnit(strings.TrimSuffix(unit, "s")) {
		return normaliseUnit(of) + " per " + normaliseUnit(unit) // "kilometrePerSeconds"
	}
	if full, ok := unitAbbreviations[s]; ok {
		return full
	}
	s = strings.TrimSuffix(s, "s")
	return cmp.Or(unitAbbreviations[s], s)
}

// IsUnit reports whether a word is a known unit.
func IsUnit(word string) bool { return units[word].measure != "" }

// Convert returns a quantity in another unit; false if that measures something else, or one is unknown.
func (q Quantity) Convert(unit string) (Quantity, bool) {
	from, to := units[q.Unit], units[unit]
	if q.Unit == unit {
		return q, true
	}
	return Quantity{q.Number * from.scale / to.scale, unit}, from.measure == to.measure && to.measure != ""
}

// Comparable reports whether two quantities have units of the same measure, or one has none.
func (q Quantity) Comparable(r Quantity) bool {
	_, converts := r.Convert(q.Unit)
	return converts || q.Unit == "" || r.Unit == ""
}

// HasOtherUnit reports whether two quantities have different units, so that people may have rounded one of them.
func (q Quantity) HasOtherUnit(r Quantity) bool {
	return q.Unit != r.Unit && q.Unit != "" && r.Unit != ""
}

// RelativeDifference returns |q-r| as a share of |r|, in the unit of q.
func (q Quantity) RelativeDifference(r Quantity) float64 {
	if in, converts := r.Convert(q.Unit); converts {
		r = in
	}
	if q.Number == r.Number {
		return 0
	}
	return math.Abs(q.Number-r.Number) / math.Abs(r.Number)
}

// IsComparable reports whether a text is a date or a number, and no name that begins with one: "12 Elm Road".
func IsComparable(text string) bool {
	if d, isDate := ParseDate(text); isDate && d.Year >= 0 && d.Year <= 9999 {
		return true
	}
	q, isNumber := ParseQuantity(text)
	return isNumber && (!strings.Contains(q.Unit, " ") || strings.Contains(q.Unit, " per "))
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
			isValue := o.Unit == q.Unit || strings.HasSuffix(object, ")") || IsUnit(o.Unit)
			return isSame && isValue // and no name, such as that of the 2003 draft
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
