package neo4j

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// each lists the members of a list, and what is none as itself; nothing for
// null.
func each(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// literal turns a property's value into a term.
func literal(v any) (source.Term, error) {
	switch v := v.(type) {
	case string:
		text, err := source.Name("value", v)
		return source.Term{Key: text, Kind: store.Text}, err
	case bool:
		return source.Term{Key: strconv.FormatBool(v), Kind: store.Text}, nil
	case int64:
		return source.Term{Key: strconv.FormatInt(v, 10), Kind: store.Number}, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return source.Term{}, fmt.Errorf("%v is no number", v)
		}
		return source.Term{Key: strconv.FormatFloat(v, 'g', -1, 64), Kind: store.Number}, nil
	case neo4j.Point2D:
		return source.Term{Key: fmt.Sprintf("%v, %v", v.X, v.Y), Kind: store.Text}, nil
	case neo4j.Point3D:
		return source.Term{Key: fmt.Sprintf("%v, %v, %v", v.X, v.Y, v.Z), Kind: store.Text}, nil
	}
	if text, ok := moment(v); ok {
		return source.Term{Key: text, Kind: store.Date}, nil
	}
	if shown, ok := v.(fmt.Stringer); ok {
		// A duration, or a time of day.
		return source.Term{Key: shown.String(), Kind: store.Text}, nil
	}
	return source.Term{}, fmt.Errorf("a value of type %T is no literal", v)
}

// moment shows a date or a time with a date as ISO 8601.
func moment(v any) (string, bool) {
	switch v := v.(type) {
	case neo4j.Date:
		return v.Time().Format(time.DateOnly), true
	case neo4j.LocalDateTime:
		return withoutMidnight(v.Time().Format("2006-01-02T15:04:05")), true
	case time.Time:
		return withoutMidnight(v.UTC().Format("2006-01-02T15:04:05Z")), true
	}
	return "", false
}

func withoutMidnight(date string) string {
	for _, midnight := range []string{"T00:00:00Z", "T00:00:00"} {
		if day, ok := strings.CutSuffix(date, midnight); ok {
			return day
		}
	}
	return date
}

// date reads when a relationship holds: a date, a text that is one, or a year.
func date(what string, v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return source.Date(what, v)
	case int64:
		return source.Date(what, fmt.Sprintf("%0*d", 4+signs(v), v))
	}
	if text, ok := moment(v); ok {
		return source.Date(what, text)
	}
	return "", fmt.Errorf("the %s of validity is a %T", what, v)
}

// signs counts the minus of a year before Christ.
func signs(year int64) int {
	if year < 0 {
		return 1
	}
	return 0
}
