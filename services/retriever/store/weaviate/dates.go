package weaviate

import (
	"math"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// A validity is stored as two days, yyyymmdd, so that the server can leave out
// what does not hold at a date. Where a date cannot be read as a day its side is
// open: the server may let too much through, never too little, and
// store.Validity.Holds has the last word.

const (
	always = int64(-1) << 50
	never  = int64(1) << 50
)

func daysOf(v store.Validity) (from, to int64) {
	from, to = always, never
	if first, _, ok := days(v.Start); ok {
		from = first
	}
	if _, last, ok := days(v.End); ok {
		to = last
	}
	return from, to
}

// days is the first and the last day that an ISO 8601 date may mean.
func days(date string) (first, last int64, ok bool) {
	text, sign := strings.TrimPrefix(date, "+"), int64(1)
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		text, sign = rest, -1
	}
	year, rest, _ := strings.Cut(text, "-")
	y, err := strconv.ParseInt(year, 10, 64)
	if err != nil || y < 0 || y > math.MaxInt32 || len(year) > 9 {
		return 0, 0, false
	}
	first, last = sign*y*10_000, sign*y*10_000+9_999
	if rest == "" {
		return first, last, !strings.HasSuffix(text, "-")
	}
	month, rest, _ := strings.Cut(rest, "-")
	m, ok := twoDigits(month)
	if !ok {
		// Such as a quarter or a week: no more than the year is told.
		return first, last, true
	}
	first, last = first+100*m, first+100*m+99
	if len(rest) < 2 {
		return first, last, true
	}
	if d, ok := twoDigits(rest[:2]); ok {
		first, last = first+d, first+d
	}
	return first, last, true
}

func twoDigits(text string) (int64, bool) {
	if len(text) != 2 || text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9' {
		return 0, false
	}
	return int64(text[0]-'0')*10 + int64(text[1]-'0'), true
}
