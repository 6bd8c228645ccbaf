package score

import (
	"math"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

// valueKey returns the form in which numbers and dates are compared: "7,071,639" and "7071639" have
// the same, and so have "1956-10-15" and "15 October 1956". A unit belongs to the value. It returns
// false for other answers.
func valueKey(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if d, ok := kgtext.ParseDate(s); ok && d.Month != 0 {
		return "date " + strconv.Itoa(d.Year) + "-" + strconv.Itoa(d.Month) + "-" + strconv.Itoa(d.Day), true
	}
	q, ok := kgtext.ParseQuantity(s)
	if !ok {
		return "", false
	}
	// Published figures are rounded: twelve digits tell values apart, and not sums in another order.
	number := strconv.FormatFloat(q.Number, 'g', 12, 64)
	if math.IsInf(q.Number, 0) {
		return "", false
	}
	return strings.TrimSpace("number " + number + " " + q.Unit), true
}

// AnswerKey returns the form in which whole answers are compared: values by value, names by NameKey.
func AnswerKey(s string) string {
	if key, ok := valueKey(s); ok {
		return key
	}
	return NameKey(s)
}

// isValue reports whether an answer is a number, a date or a verdict, which count only as a whole:
// "7" is no part of "17", nor "no" of "Norway".
func isValue(answer string) bool {
	if _, ok := valueKey(answer); ok {
		return true
	}
	key := NameKey(answer)
	return key == "yes" || key == "no"
}
