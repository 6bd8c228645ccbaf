package wikidata

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/valyala/fastjson"
)

// Precisions of a time in Wikibase's data model.
const (
	millennium = 6
	century    = 7
	decade     = 8
	year       = 9
	month      = 10
	day        = 11
)

// moment reads a time, "+1952-03-11T00:00:00Z" with a precision, as an ISO 8601
// date of that precision. What is less precise than a year is a Text, such as
// "1950s". The calendar is left aside. Years before Christ are counted as
// Wikidata and historians do: -0044 is 44 BC.
func moment(v *fastjson.Value) (t source.Term, ok bool, err error) {
	written := string(v.GetStringBytes("time"))
	fail := func() (source.Term, bool, error) {
		return source.Term{}, false, fmt.Errorf("%.40q is no time", written)
	}
	if len(written) < 2 || (written[0] != '+' && written[0] != '-') {
		return fail()
	}
	sign := strings.TrimPrefix(written[:1], "+")
	date, clock, _ := strings.Cut(written[1:], "T")
	parts := strings.Split(date, "-")
	if len(parts) != 3 || len(parts[1]) != 2 || len(parts[2]) != 2 {
		return fail()
	}
	number, err := strconv.ParseUint(parts[0], 10, 63)
	if err != nil {
		return fail()
	}
	text := fmt.Sprintf("%s%04d", sign, number)
	precision := v.GetInt("precision")
	switch {
	case precision < year:
		return source.Term{Key: coarse(number, sign != "", precision), Kind: store.Text}, true, nil
	case precision == month || parts[2] == "00":
		if parts[1] != "00" && precision > year {
			text += "-" + parts[1]
		}
	case precision >= day:
		text += "-" + parts[1] + "-" + parts[2]
		if precision > day {
			text += "T" + clock
		}
	}
	if _, err := source.Date("time", text); err != nil {
		return fail()
	}
	return source.Term{Key: text, Kind: store.Date}, true, nil
}

// coarse shows a time that is known by more than a year.
func coarse(number uint64, before bool, precision int) string {
	era := ""
	if before {
		era = " BC"
	}
	switch precision {
	case decade:
		return strconv.FormatUint(number/10*10, 10) + "s" + era
	case century:
		return ordinal((number+99)/100) + " century" + era
	case millennium:
		return ordinal((number+999)/1000) + " millennium" + era
	}
	return strconv.FormatUint(number, 10) + era
}

func ordinal(n uint64) string {
	ending := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return strconv.FormatUint(n, 10) + ending
}
