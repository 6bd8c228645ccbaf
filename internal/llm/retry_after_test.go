package llm

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfterForms(t *testing.T) {
	for _, c := range []struct {
		name, ms, value string
		want            time.Duration
	}{
		{"seconds", "", "7", 7 * time.Second},
		{"a fraction of them", "", "0.5", 500 * time.Millisecond},
		{"with units", "", "1m30s", 90 * time.Second},
		{"a date", "", "Fri, 02 Jan 2026 03:04:15 GMT", 10 * time.Second},
		{"a date in the past", "", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"a date in another century", "", "Fri, 02 Jan 2126 03:04:00 GMT", maxRetryAfter},
		{"milliseconds", "250", "", 250 * time.Millisecond},
		{"milliseconds take precedence over seconds", "250", "9", 250 * time.Millisecond},
		{"a negative number", "", "-3", 0},
		{"words", "", "soon", 0},
		{"more than any clock holds", "", "99999999999999999999", maxRetryAfter},
		{"more than any number", "", "1e999", maxRetryAfter},
		{"no number", "", "NaN", 0},
		{"a year", "", "31536000", maxRetryAfter},
		{"nothing", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{"Date": {"Fri, 02 Jan 2026 03:04:05 GMT"}, "Retry-After": {c.value},
				"Retry-After-Ms": {c.ms}}
			if got := parseRetryAfter(h); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
