package rdf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

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
	"unsignedInt": store.Number, "unsignedLong": store.Number, "unsignedShort": store.Number,
	"unsignedByte": store.Number,
	"date":         store.Date, "dateTime": store.Date, "dateTimeStamp": store.Date, "gYear": store.Date,
	"gYearMonth": store.Date,
}

// languageString is the datatype of a literal with a language.
const languageString = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

func (m *Interpreter) literal(t Term, to source.Sink) (source.Term, error) {
	term, err := ReadLiteral(t)
	if err == nil && term.Unit != "" {
		err = m.addLocalName(term.Unit, to)
	}
	return term, err
}

// ReadLiteral classifies a literal by its datatype. What does not look like its datatype is Text.
func ReadLiteral(t Term) (source.Term, error) {
	text, err := source.NormalizeName("object", t.Text)
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
		if date, err := source.NormalizeDate("date", text); err == nil {
			term = source.Term{Key: source.TrimMidnight(date), Kind: store.Date}
		}
	}
	return term, nil
}

// escapes are those of one character (N-Triples 1.1, ECHAR).
var escapes = map[byte]byte{'t': '\t', 'b': '\b', 'n': '\n', 'r': '\r', 'f': '\f', '"': '"', '\'': '\'', '\\': '\\'}

// Unescape resolves the escapes of N-Triples and Turtle in a text.
func Unescape(text string) (string, error) {
	var b strings.Builder
	b.Grow(len(text))
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		b.WriteString(text[:i])
		text = text[i+1:]
		if text == "" {
			return "", errors.New("a backslash at the end")
		}
		digits := 0
		switch text[0] {
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		default:
			plain, ok := escapes[text[0]]
			if !ok {
				return "", fmt.Errorf(`\%.1s is no escape`, text)
			}
			b.WriteByte(plain)
			text = text[1:]
			continue
		}
		if len(text) < 1+digits {
			return "", fmt.Errorf(`\%s is no character`, text)
		}
		code, err := strconv.ParseUint(text[1:1+digits], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return "", fmt.Errorf(`\%s is no character`, text[:1+digits])
		}
		b.WriteRune(rune(code))
		text = text[1+digits:]
	}
}

// intervalPrefix begins the names of graphs whose statements hold for some time.
const intervalPrefix = "urn:triplemesh:during:"

// IntervalGraph names the graph of the statements that hold for a time, as
// "urn:triplemesh:during:1997-07/2003": an interval of ISO 8601 with ".." for an open end. It is
// empty if the time is not known. RDF 1.1 has no other place for it within one line.
func IntervalGraph(v store.Validity) string {
	if v == (store.Validity{}) {
		return ""
	}
	open := func(date string) string {
		if date == "" {
			return ".."
		}
		return date
	}
	return intervalPrefix + open(v.Start) + "/" + open(v.End)
}

// ParseIntervalGraph reads what During wrote; ok is false for other graphs.
func ParseIntervalGraph(graph string) (v store.Validity, ok bool) {
	rest, ok := strings.CutPrefix(graph, intervalPrefix)
	if !ok {
		return v, false
	}
	start, end, ok := strings.Cut(rest, "/")
	for _, side := range []struct {
		text string
		into *string
	}{{start, &v.Start}, {end, &v.End}} {
		if side.text == ".." {
			continue
		}
		date, err := source.NormalizeDate("interval", side.text)
		if err != nil {
			return store.Validity{}, false
		}
		*side.into = date
	}
	return v, ok
}
