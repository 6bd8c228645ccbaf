package llm

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfterForms(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, header, value string
		want                time.Duration
	}{
		{"seconds", "Retry-After", "7", 7 * time.Second},
		{"a date", "Retry-After", "Fri, 02 Jan 2026 03:04:15 GMT", 10 * time.Second},
		{"a date gone by", "Retry-After", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"milliseconds", "Retry-After-Ms", "250", 250 * time.Millisecond},
		{"below nothing", "Retry-After", "-3", 0},
		{"words", "Retry-After", "soon", 0},
		{"more than any clock holds", "Retry-After", "99999999999999999999", 0},
		{"nothing", "X", "y", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := retryAfter(http.Header{c.header: {c.value}}, now); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
