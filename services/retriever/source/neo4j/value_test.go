package neo4j

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestLiteral(t *testing.T) {
	noon := time.Date(1997, 7, 1, 12, 30, 0, 0, time.FixedZone("", 3600))
	for name, c := range map[string]struct {
		value any
		want  source.Term
		says  string
	}{
		"a text on one line":      {"a\tb\n", source.Term{Key: "a b", Kind: store.Text}, ""},
		"a text of nothing":       {"\n", source.Term{}, "the value is empty"},
		"a text that is too long": {strings.Repeat("x", 70000), source.Term{}, "the value has 70000 bytes"},
		"yes and no":              {true, source.Term{Key: "true", Kind: store.Text}, ""},
		"a whole number":          {int64(-5), source.Term{Key: "-5", Kind: store.Number}, ""},
		"a number":                {1.5e300, source.Term{Key: "1.5e+300", Kind: store.Number}, ""},
		"a number that is none":   {math.NaN(), source.Term{}, "NaN is not a number"},
		"a date":                  {neo4j.DateOf(noon), source.Term{Key: "1997-07-01", Kind: store.Date}, ""},
		"a time with its zone":    {noon, source.Term{Key: "1997-07-01T11:30:00Z", Kind: store.Date}, ""},
		"a time without a zone": {neo4j.LocalDateTimeOf(noon), source.Term{Key: "1997-07-01T12:30:00",
			Kind: store.Date}, ""},
		"a midnight is a day": {time.Date(1997, 7, 1, 0, 0, 0, 0, time.UTC), source.Term{Key: "1997-07-01",
			Kind: store.Date}, ""},
		"a place": {neo4j.Point2D{X: 13.4, Y: 52.5}, source.Term{Key: "13.4, 52.5", Kind: store.Text},
			""},
		"a place with a height": {neo4j.Point3D{X: 1, Y: 2, Z: 3}, source.Term{Key: "1, 2, 3", Kind: store.Text}, ""},
		"a duration":            {neo4j.DurationOf(0, 2, 0, 0), source.Term{Key: "P0M2DT0S", Kind: store.Text}, ""},
		"bytes":                 {[]byte("x"), source.Term{}, "a value of type []uint8 is not a literal"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := literalTerm(c.value)
			if c.says == "" && (err != nil || got != c.want) || c.says != "" &&
				(err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %+v, error %v, want %+v, %q", got, err, c.want, c.says)
			}
		})
	}
}

func TestNormalizeDate(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, ""}, {"1997-07", "1997-07"}, {int64(1997), "1997"}, {int64(-44), "-0044"}, {int64(800), "0800"},
		{neo4j.DateOf(time.Date(1997, 7, 1, 0, 0, 0, 0, time.UTC)), "1997-07-01"},
		{"once", "error"}, {true, "error"}, {int64(19970701123), "error"},
	} {
		got, err := parseDate("start", c.value)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%v is %q, want %q", c.value, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{"ACTED_IN": "acted in", "KNOWS": "knows", "bornIn": "bornIn",
		"born_in": "born in", "Has_Part": "Has Part"} {
		if got := plainWords(in); got != want {
			t.Errorf("%s reads %q, want %q", in, got, want)
		}
	}
}

func TestServerUnreachable(t *testing.T) {
	for uri, says := range map[string]string{
		"http://ann:secret@localhost": "read Neo4j http://localhost: ",
		"bolt://127.0.0.1:1":          "read Neo4j bolt://127.0.0.1:1: ",
		"::":                          "read Neo4j ?: ",
	} {
		// The driver continues trying for a while.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := Read(ctx, Config{URI: uri, User: "ann", Password: "secret"}, &sourcetest.Sink{})
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want %q", uri, err, says)
		}
	}
}
