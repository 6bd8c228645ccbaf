// Package value reads the dates and quantities among the objects of triples, as
// knowledge graphs and people write them, so that the same one is known again.
package value

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Date is a day, a month or a year; what is not said is 0.
type Date struct{ Year, Month, Day int }

var (
	isoDate  = regexp.MustCompile(`^\+?(-?\d{3,4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:T.*)?$`)
	dayFirst = regexp.MustCompile(`^(?:(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?)?([A-Za-z]{3,9})\.?,?\s+(\d{3,4})$`)
	dayLast  = regexp.MustCompile(`^([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{3,4})$`)
)

var months = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// ParseDate reads a date in ISO 8601, of any precision, or as English writes it.
func ParseDate(s string) (Date, bool) {
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
	return Date{}, false
}

// month is the number of a month, of which three letters suffice; 13, which is
// none, where the word is none.
func month(word string) string {
	word = strings.ToLower(word)
	n := slices.IndexFunc(months[:], func(name string) bool { return strings.HasPrefix(name, word) })
	if n < 0 {
		n = 12
	}
	return strconv.Itoa(n + 1)
}

func checked(year, month, day string) (d Date, ok bool) {
	d.Year, _ = strconv.Atoi(year)
	d.Month, _ = strconv.Atoi(month)
	d.Day, _ = strconv.Atoi(day)
	return d, d.Month <= 12 && d.Day <= 31
}

// Agrees compares two dates as far as both are said.
func (d Date) Agrees(e Date) bool {
	same := func(a, b int) bool { return a == 0 || b == 0 || a == b }
	return d.Year == e.Year && same(d.Month, e.Month) && (d.Month == 0 || e.Month == 0 || same(d.Day, e.Day))
}

// Says tells whether a date says more than another: a month where that one has
// none, or a day.
func (d Date) Says(e Date) bool { return d.Month != 0 && e.Month == 0 || d.Day != 0 && e.Day == 0 }
