package rdf

import (
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// xsd is where the datatypes of XML Schema are.
const xsd = "http://www.w3.org/2001/XMLSchema#"

// xsdKinds are the datatypes that are no plain text.
var xsdKinds = map[string]store.Kind{
	"integer": store.Number, "decimal": store.Number, "double": store.Number, "float": store.Number,
	"int": store.Number, "long": store.Number, "short": store.Number, "byte": store.Number,
	"nonNegativeInteger": store.Number, "positiveInteger": store.Number,
	"nonPositiveInteger": store.Number, "negativeInteger": store.Number,
	"unsignedInt": store.Number, "unsignedLong": store.Number, "unsignedShort": store.Number, "unsignedByte": store.Number,
	"date": store.Date, "dateTime": store.Date, "dateTimeStamp": store.Date, "gYear": store.Date, "gYearMonth": store.Date,
}

// languageString is the datatype of a literal with a language.
const languageString = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

func (m *Meaning) literal(t Term, to source.Sink) (source.Term, error) {
	term, err := ReadLiteral(t)
	if err == nil && term.Unit != "" {
		err = m.show(term.Unit, to)
	}
	return term, err
}

// ReadLiteral tells the kind of a literal by its datatype. What does not look
// like its datatype is Text.
func ReadLiteral(t Term) (source.Term, error) {
	text, err := source.Name("object", t.Text)
	if err != nil {
		return source.Term{}, err
	}
	term := source.Term{Key: text, Kind: store.Text}
	name, isXSD := strings.CutPrefix(t.Datatype, xsd)
	switch {
	case t.Datatype == "" || t.Datatype == languageString:
	case !isXSD:
		if source.IsNumber(text) && len(t.Datatype) <= source.MaxName {
			term = source.Term{Key: strings.TrimPrefix(text, "+"), Kind: store.Quantity, Unit: t.Datatype}
		}
	case xsdKinds[name] == store.Number:
		if source.IsNumber(text) {
			term = source.Term{Key: strings.TrimPrefix(text, "+"), Kind: store.Number}
		}
	case xsdKinds[name] == store.Date:
		if date, err := source.Date("date", text); err == nil {
			term = source.Term{Key: withoutMidnight(date), Kind: store.Date}
		}
	}
	return term, nil
}

// withoutMidnight shows a day that is written as its first instant as a day.
func withoutMidnight(date string) string {
	for _, midnight := range []string{"T00:00:00Z", "T00:00:00"} {
		if day, ok := strings.CutSuffix(date, midnight); ok {
			return day
		}
	}
	return date
}
