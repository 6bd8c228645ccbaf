package neo4j

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

// record is one as the queries return them.
func record(values map[string]any) *neo4j.Record {
	r := &neo4j.Record{}
	for key, v := range values {
		r.Keys, r.Values = append(r.Keys, key), append(r.Values, v)
	}
	return r
}

func TestNodes(t *testing.T) {
	for name, c := range map[string]struct {
		record                 map[string]any
		facts, labels, aliases []string
		says                   string
	}{
		"a node is known by its name": {record: map[string]any{"id": int64(7), "name": "Ann\tLee"},
			labels: []string{"urn:neo4j:node/7 = Ann Lee"}},
		"further names may be texts or lists of them": {
			record: map[string]any{"id": int64(7), "name": "Ann", "aliases": []any{"A.", nil, []any{"B.", int64(1)}}},
			labels: []string{"urn:neo4j:node/7 = Ann"}, aliases: []string{"urn:neo4j:node/7 ~ A.",
				"urn:neo4j:node/7 ~ B."}},
		"one without a name is a mediator": {record: map[string]any{"id": int64(7), "name": " ",
			"aliases": []any{"A."}}},
		"a name that is no text is none": {record: map[string]any{"id": int64(7), "name": int64(5)}},
		"a name that is too long is an error": {record: map[string]any{"id": int64(7),
			"name": strings.Repeat("x", 70000)}, says: "node urn:neo4j:node/7: the name has 70000 bytes"},
		"a node without an id is an error": {record: map[string]any{"name": "Ann"}, says: "an id is a <nil>"},
		"properties and labels are statements": {
			record: map[string]any{"id": int64(7), "name": "Ann", "labels": []any{"A B"},
				"properties": map[string]any{"name": "Ann", "SHOE_SIZE": int64(38),
					"seen": []any{neo4j.DateOf(time.Date(1997, 7, 1, 0, 0, 0, 0, time.UTC))}}},
			facts: []string{
				"urn:neo4j:node/7 | " + isA + " | urn:neo4j:label/A%20B",
				"urn:neo4j:node/7 | urn:neo4j:property/SHOE_SIZE | 38 (number)",
				"urn:neo4j:node/7 | urn:neo4j:property/seen | 1997-07-01 (date)"},
			labels: []string{"urn:neo4j:node/7 = Ann", isA + " = type", "urn:neo4j:label/A%20B = a b",
				"urn:neo4j:property/SHOE_SIZE = shoe size", "urn:neo4j:property/seen = seen"}},
		"a property that is no literal is an error, and the others are taken": {
			record: map[string]any{"id": int64(7), "properties": map[string]any{"a": []byte("x"), "b": "y"}},
			facts:  []string{"_:n7 (mediator) | urn:neo4j:property/b | y (text)"},
			labels: []string{"urn:neo4j:property/b = b"},
			says:   `node _:n7: property "a": a value of type []uint8 is not a literal`},
	} {
		t.Run(name, func(t *testing.T) {
			var sink sourcetest.Sink
			r := reader{Config: Config{}.withDefaults(), to: source.NewSinkGuard(&sink)}
			err := r.readNode(record(c.record))
			if (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
				t.Errorf("error %v, want %q", err, c.says)
			}
			sink.Check(t)
			sourcetest.Equal(t, "facts", sink.Facts, c.facts)
			sourcetest.Equal(t, "labels", sink.Labels, c.labels)
			sourcetest.Equal(t, "aliases", sink.Aliases, c.aliases)
		})
	}
}

func TestRelationships(t *testing.T) {
	var sink sourcetest.Sink
	r := reader{Config: Config{}.withDefaults(), to: source.NewSinkGuard(&sink)}
	married := map[string]any{"id": int64(1), "subject": int64(7), "subjectName": "Ann", "type": "MARRIED_TO",
		"object": int64(8), "start": int64(1997), "end": "2003-05"}
	if err := errors.Join(r.readRelationship(record(married)), r.readRelationship(record(married))); err != nil {
		t.Fatal(err)
	}
	fact := "urn:neo4j:node/7 | urn:neo4j:type/MARRIED_TO | _:n8 (mediator) [1997/2003-05]"
	sourcetest.Equal(t, "facts", sink.Facts, []string{fact, fact})
	sourcetest.Equal(t, "labels", sink.Labels, []string{"urn:neo4j:type/MARRIED_TO = married to"})
	for key, says := range map[string]string{
		"start":   "relationship 1: the start \"once\" is not an ISO 8601 date",
		"end":     "relationship 1: the end \"once\" is not an ISO 8601 date",
		"subject": "relationship 1: an id is a string", "object": "relationship 1: an id is a string",
	} {
		was := married[key]
		married[key] = "once"
		if err := r.readRelationship(record(married)); err == nil || err.Error() != says {
			t.Errorf("%s: error %v, want %q", key, err, says)
		}
		married[key] = was
	}
}
