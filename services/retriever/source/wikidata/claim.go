package wikidata

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Qualifiers that say when a claim holds.
const (
	startTime   = "P580"
	endTime     = "P582"
	pointInTime = "P585"
)

// identifiers are the datatypes that name things outside the graph.
var identifiers = map[string]bool{
	"external-id": true, "commonsMedia": true, "geo-shape": true, "tabular-data": true, "musical-notation": true,
}

func (r *Reader) readClaim(subject, relation string, claim *fastjson.Value, to source.Sink) error {
	if string(claim.GetStringBytes("rank")) == "deprecated" {
		return nil
	}
	snak := claim.Get("mainsnak")
	if !r.options.Identifiers && identifiers[string(snak.GetStringBytes("datatype"))] {
		return nil
	}
	object, ok, err := parseValue(snak)
	if err != nil || !ok {
		return err
	}
	s := source.Statement{Subject: source.Term{Key: subject}, Relation: relation, Object: object}
	if qualifiers := claim.Get("qualifiers"); qualifiers != nil {
		s.Validity = parseValidity(qualifiers)
	}
	if r.provenance {
		s.Provenance = string(claim.GetStringBytes("id"))
	}
	return to.Statement(s)
}

// parseValidity reads the first date of each kind; one that is less precise than a
// year says nothing.
func parseValidity(qualifiers *fastjson.Value) store.Validity {
	date := func(property string) string {
		for _, snak := range qualifiers.GetArray(property) {
			if t, ok, err := parseValue(snak); err == nil && ok && t.Kind == store.Date {
				return t.Key
			}
		}
		return ""
	}
	v := store.Validity{Start: date(startTime), End: date(endTime)}
	if v == (store.Validity{}) {
		at := date(pointInTime)
		v = store.Validity{Start: at, End: at}
	}
	return v
}

// parseValue reads what a snak says; ok is false if it says nothing that a graph
// can hold: an unknown value or none, or a part of a lexeme.
func parseValue(snak *fastjson.Value) (t source.Term, ok bool, err error) {
	if string(snak.GetStringBytes("snaktype")) != "value" {
		return t, false, nil
	}
	data := snak.Get("datavalue")
	v := data.Get("value")
	if v == nil {
		return t, false, errors.New("a value is missing")
	}
	switch kind := string(data.GetStringBytes("type")); kind {
	case "wikibase-entityid":
		return parseEntity(v)
	case "string":
		return parseText(v.GetStringBytes())
	case "monolingualtext":
		return parseText(v.GetStringBytes("text"))
	case "time":
		return parseTime(v)
	case "quantity":
		return parseQuantity(v)
	case "globecoordinate":
		return parseCoordinate(v)
	}
	// What Wikibase may yet invent.
	return t, false, nil
}

func parseEntity(v *fastjson.Value) (t source.Term, ok bool, err error) {
	id := string(v.GetStringBytes("id"))
	if id == "" {
		// Dumps of before 2017 have the number only.
		number := v.GetUint64("numeric-id")
		switch string(v.GetStringBytes("entity-type")) {
		case "item":
			id = "Q" + strconv.FormatUint(number, 10)
		case "property":
			id = "P" + strconv.FormatUint(number, 10)
		}
		if number == 0 {
			return t, false, errors.New("an entity without an id")
		}
	}
	return source.Term{Key: id}, isID(id), nil
}

func parseText(text []byte) (t source.Term, ok bool, err error) {
	key, err := source.NormalizeName("value", string(text))
	return source.Term{Key: key, Kind: store.Text}, err == nil, err
}

func parseQuantity(v *fastjson.Value) (t source.Term, ok bool, err error) {
	amount := strings.TrimPrefix(string(v.GetStringBytes("amount")), "+")
	if !source.IsNumber(amount) {
		return t, false, fmt.Errorf("the amount %.40q is not a number", amount)
	}
	unit := string(v.GetStringBytes("unit"))
	if unit == "" || unit == "1" {
		return source.Term{Key: amount, Kind: store.Number}, true, nil
	}
	if unit = kgtext.LocalName(unit); !isID(unit) {
		return t, false, fmt.Errorf("the unit %.40q is not an item", unit)
	}
	return source.Term{Key: amount, Kind: store.Quantity, Unit: unit}, true, nil
}

// parseCoordinate shows degrees north and east, to some metres.
func parseCoordinate(v *fastjson.Value) (t source.Term, ok bool, err error) {
	var degrees [2]string
	for i, side := range []string{"latitude", "longitude"} {
		d := v.Get(side)
		if d == nil || d.Type() != fastjson.TypeNumber {
			return t, false, fmt.Errorf("a place without its %s", side)
		}
		degrees[i] = strconv.FormatFloat(math.Round(d.GetFloat64()*1e5)/1e5, 'f', -1, 64)
	}
	return source.Term{Key: degrees[0] + ", " + degrees[1], Kind: store.Text}, true, nil
}

// Precisions of a time in Wikibase's data model.
const (
	millennium = 6
	century    = 7
	decade     = 8
	year       = 9
	month      = 10
	day        = 11
)

// parseTime reads a time, "+1952-03-11T00:00:00Z" with a precision, as an ISO 8601 date of that
// precision. What is less precise than a year is a Text, such as "1950s". The calendar is ignored.
// Years before Christ are counted as Wikidata and historians do: -0044 is 44 BC.
func parseTime(v *fastjson.Value) (t source.Term, ok bool, err error) {
	written := string(v.GetStringBytes("time"))
	fail := func() (source.Term, bool, error) {
		return source.Term{}, false, fmt.Errorf("%.40q is not a time", written)
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
		return source.Term{Key: formatCoarse(number, sign != "", precision), Kind: store.Text}, true, nil
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
	if _, err := source.NormalizeDate("time", text); err != nil {
		return fail()
	}
	return source.Term{Key: text, Kind: store.Date}, true, nil
}

// formatCoarse shows a time that is known by more than a year.
func formatCoarse(number uint64, before bool, precision int) string {
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
