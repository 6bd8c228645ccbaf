package wikidata

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/valyala/fastjson"
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

func (r *Reader) claim(subject, relation string, claim *fastjson.Value, to source.Sink) error {
	if string(claim.GetStringBytes("rank")) == "deprecated" {
		return nil
	}
	snak := claim.Get("mainsnak")
	if !r.options.Identifiers && identifiers[string(snak.GetStringBytes("datatype"))] {
		return nil
	}
	object, ok, err := value(snak)
	if err != nil || !ok {
		return err
	}
	s := source.Statement{Subject: source.Term{Key: subject}, Relation: relation, Object: object}
	if qualifiers := claim.Get("qualifiers"); qualifiers != nil {
		s.Validity = validity(qualifiers)
	}
	return to.Statement(s)
}

// validity reads the first date of each kind; one that is less precise than a
// year says nothing.
func validity(qualifiers *fastjson.Value) store.Validity {
	date := func(property string) string {
		for _, snak := range qualifiers.GetArray(property) {
			if t, ok, err := value(snak); err == nil && ok && t.Kind == store.Date {
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

// value reads what a snak says; ok is false where it says nothing that a graph
// can hold: an unknown value or none, or a part of a lexeme.
func value(snak *fastjson.Value) (t source.Term, ok bool, err error) {
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
		return entity(v)
	case "string":
		return text(v.GetStringBytes())
	case "monolingualtext":
		return text(v.GetStringBytes("text"))
	case "time":
		return moment(v)
	case "quantity":
		return quantity(v)
	case "globecoordinate":
		return place(v)
	}
	// What Wikibase may yet invent.
	return t, false, nil
}

func entity(v *fastjson.Value) (t source.Term, ok bool, err error) {
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

func text(text []byte) (t source.Term, ok bool, err error) {
	key, err := source.Name("value", string(text))
	return source.Term{Key: key, Kind: store.Text}, err == nil, err
}

func quantity(v *fastjson.Value) (t source.Term, ok bool, err error) {
	amount := strings.TrimPrefix(string(v.GetStringBytes("amount")), "+")
	if !source.IsNumber(amount) {
		return t, false, fmt.Errorf("the amount %.40q is no number", amount)
	}
	unit := string(v.GetStringBytes("unit"))
	if unit == "" || unit == "1" {
		return source.Term{Key: amount, Kind: store.Number}, true, nil
	}
	if unit = source.LocalName(unit); !isID(unit) {
		return t, false, fmt.Errorf("the unit %.40q is no item", unit)
	}
	return source.Term{Key: amount, Kind: store.Quantity, Unit: unit}, true, nil
}

// place shows degrees north and east, to some metres.
func place(v *fastjson.Value) (t source.Term, ok bool, err error) {
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
