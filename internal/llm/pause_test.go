package llm

import (
	"net/http"
	"testing"
	"time"
)

func TestPauseForms(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, ms, value string
		want            time.Duration
	}{
		{"seconds", "", "7", 7 * time.Second},
		{"a fraction of them", "", "0.5", 500 * time.Millisecond},
		{"with units", "", "1m30s", 90 * time.Second},
		{"a date", "", "Fri, 02 Jan 2026 03:04:15 GMT", 10 * time.Second},
		{"a date gone by", "", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"a date in another century", "", "Fri, 02 Jan 2126 03:04:00 GMT", longestPause},
		{"milliseconds", "250", "", 250 * time.Millisecond},
		{"milliseconds go before seconds", "250", "9", 250 * time.Millisecond},
		{"below nothing", "", "-3", 0},
		{"words", "", "soon", 0},
		{"more than any clock holds", "", "99999999999999999999", longestPause},
		{"more than any number", "", "1e999", longestPause},
		{"no number", "", "NaN", 0},
		{"a year", "", "31536000", longestPause},
		{"nothing", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := time.Duration(parsePause(c.ms, c.value, now)); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestAPauseGoesByTheServersClock(t *testing.T) {
	h := http.Header{"Date": {"Fri, 02 Jan 2026 03:04:05 GMT"}, "Retry-After": {"Fri, 02 Jan 2026 03:04:08 GMT"}}
	if got := time.Duration(pauseOf(h)); got != 3*time.Second {
		t.Errorf("got %v, want 3s", got)
	}
}
