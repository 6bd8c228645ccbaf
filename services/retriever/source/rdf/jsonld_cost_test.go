package rdf

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

// chain is a context of n terms, each defined by the one before it.
func chain(n int, step string) string {
	terms := []string{`"t0": "http://x.org/"`}
	for i := range n {
		terms = append(terms, fmt.Sprintf(`"t%d": "t%d:%s/"`, i+1, i, step))
	}
	return "{" + strings.Join(terms, ", ") + "}"
}

func TestContextBombsAreRefused(t *testing.T) {
	step := strings.Repeat("x", 100)
	for name, c := range map[string]struct{ text, says string }{
		"names that grow from term to term": {`{"@context": ` + chain(20_000, step) + `, "@id": "t20000:a", "x:p": [` +
			strings.Repeat(`"t1:a", `, 1000) + `1]}`, "which would not fit in memory"},
		"terms without end": {`{"@context": ` + chain(200_000, "") + `, "x:p": ["a", "b"]}`,
			"which would not fit in memory"},
		"a long name, used often": {`{"@context": {"p": "http://x.org/` + strings.Repeat("x", 60_000) +
			`/"}, "x:p": [` + strings.Repeat(`{"@id": "p:a"}, `, 20_000) + `1]}`, "which would not fit in memory"},
		"a long vocabulary": {`{"@context": {"@vocab": "http://x.org/` + strings.Repeat("x", 60_000) +
			`/"}, "a": [` + strings.Repeat(`{"b": 1}, `, 20_000) + `1]}`, "which would not fit in memory"},
		"large contexts, again and again": {`{"@context": ` + chain(2000, "y") + `, "x:p": [` +
			strings.Repeat(`{"@context": {}}, `, 20_000) + `1]}`, "more than 5000000 terms"},
		"large contexts that a term brings": {`{"@context": {"big": {"@id": "http://x.org/b", "@context": ` +
			chain(2000, "y") + `}}, "x:p": [` + strings.Repeat(`{"big": 1}, `, 20_000) + `1]}`,
			"more than 5000000 terms"},
	} {
		t.Run(name, func(t *testing.T) {
			var bad []string
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			count, err := ReadJSONLD(t.Context(), input(strings.NewReader(c.text), &bad), &sourcetest.Sink{})
			runtime.ReadMemStats(&after)
			if err != nil || count != 1 || len(bad) != 1 || !strings.Contains(bad[0], c.says) {
				t.Errorf("%d documents, %.300q, %v; want %q", count, bad, err, c.says)
			}
			if made := after.TotalAlloc - before.TotalAlloc; made > 512<<20 {
				t.Errorf("%d bytes were allocated for a document of %d", made, len(c.text))
			}
		})
	}
}

func TestCheckCost(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		longest int
	}{
		"no context":     {`{"x:p": 1}`, 0},
		"a term":         {`{"@context": {"a": "http://x.org/a"}}`, 14},
		"one by another": {`{"@context": {"b": "a:bc", "a": "http://x.org/"}}`, 15},
		"one by another of the context around it": {
			`{"@context": {"a": "http://x.org/"}, "x:p": {"@context": {"b": {"@id": "a:bcd"}}}}`, 16},
		"one of the vocabulary": {`{"@context": {"@vocab": "http://x.org/", "a": {"@type": "@id"}}}`,
			14},
		"terms in a circle":  {`{"@context": {"a": "b:x", "b": "a:y"}}`, 4},
		"contexts in a list": {`{"@context": [{"a": "http://x.org/"}, null, {"b": "a:b"}]}`, 14},
	} {
		t.Run(name, func(t *testing.T) {
			var document any
			if err := json.Unmarshal([]byte(c.text), &document); err != nil {
				t.Fatal(err)
			}
			var got cost
			if got.visit(document, scope{}); got.longest != c.longest || checkCost(document) != nil {
				t.Errorf("the longest name has %d bytes, want %d (%v)", got.longest, c.longest, checkCost(document))
			}
		})
	}
}
