package execute

import (
	"fmt"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// sort is how the values of a variable are compared.
type sort uint8

const (
	byText sort = iota
	byNumber
	byDate
)

// value is a literal, read in every way in which it can be compared.
type value struct {
	number   float64
	unit     string
	isNumber bool
	// from and to are the first and the last day of a date of any precision, ISO 8601.
	from, to string
	// year, month and day count from year 0; day is that of from.
	year   int
	month  int
	day    int64
	isDate bool
	isDay  bool // has a month
	// bareYear is a number that may be a year.
	bareYear bool
}

// parseValue reads a literal.
func parseValue(text string) value {
	var v value
	if d, ok := kgtext.ParseDate(text); ok && d.Year >= 0 && d.Year <= 9999 {
		v.isDate, v.isDay, v.year = true, d.Month != 0, d.Year
		v.bareYear = !v.isDay
		v.from, v.to = fmt.Sprintf("%04d-%02d-%02d", d.Year, max(d.Month, 1), max(d.Day, 1)), lastDay(d)
		v.month = d.Year*12 + max(d.Month, 1) - 1
		v.day = time.Date(d.Year, time.Month(max(d.Month, 1)), max(d.Day, 1), 0, 0, 0, 0, time.UTC).Unix() / 86400
		if v.isDay {
			return v
		}
	}
	if q, ok := kgtext.ParseQuantity(text); ok {
		v.isNumber, v.number, v.unit = true, q.Number, q.Unit
	}
	return v
}

// convert gives a number the unit of most values. Numbers of another measure cannot be compared with these.
func (v *value) convert(unit string) {
	if !v.isNumber || v.unit == "" || unit == "" {
		return
	}
	q, ok := kgtext.Quantity{Number: v.number, Unit: v.unit}.Convert(unit)
	v.number, v.unit, v.isNumber = q.Number, q.Unit, ok
}

func lastDay(d kgtext.Date) string {
	month, day := d.Month, d.Day
	if month == 0 {
		month = 12
	}
	if day == 0 {
		day = time.Date(d.Year, time.Month(month+1), 0, 0, 0, 0, 0, time.UTC).Day()
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, month, day)
}

// Comparable reports whether a literal can be compared by value: it is a number or a date.
func Comparable(text string, kind store.Kind) bool {
	return kind == store.Number || kind == store.Quantity || kind == store.Date || kgtext.IsComparable(text)
}

// chooseSort returns how most values of a variable are compared; day is whether a value that they
// are compared with has a month.
func chooseSort(values []value, day bool) sort {
	var numbers, days, years int
	for _, v := range values {
		switch {
		case v.isDay:
			days++
		case v.bareYear:
			years++
		case v.isNumber:
			numbers++
		}
	}
	switch total := len(values); {
	case (numbers+days+years)*2 < total || total == 0:
		return byText
	case days > numbers && days > 0, day && numbers == 0:
		return byDate
	default:
		return byNumber
	}
}

// foldKey is the form in which texts are compared.
func foldKey(text string) string { return strings.TrimSpace(store.Fold(text)) }
