package rdf

import (
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// during begins the names of graphs whose statements hold for some time.
const during = "urn:triplemesh:during:"

// During names the graph of the statements that hold for a time, as
// "urn:triplemesh:during:1997-07/2003": an interval of ISO 8601 with ".." for
// an open end. It is empty where the time is not known. RDF 1.1 has no other
// place for it within one line.
func During(v store.Validity) string {
	if v == (store.Validity{}) {
		return ""
	}
	open := func(date string) string {
		if date == "" {
			return ".."
		}
		return date
	}
	return during + open(v.Start) + "/" + open(v.End)
}

// Interval reads what During wrote; ok is false for other graphs.
func Interval(graph string) (v store.Validity, ok bool) {
	rest, ok := strings.CutPrefix(graph, during)
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
		date, err := source.Date("interval", side.text)
		if err != nil {
			return store.Validity{}, false
		}
		*side.into = date
	}
	return v, ok
}
