package auth

import (
	"testing"
	"time"
)

func TestWhenTokensEnd(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":           {},
		"90d":        now.AddDate(0, 0, 90),
		"12h":        now.Add(12 * time.Hour),
		"2026-11-21": time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := ParseExpiry(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q ends at %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"soon", "0d", "-1h", "d", "1.5d", "99999999d", "2026-11-20", "90"} {
		if got, err := ParseExpiry(text, now); err == nil {
			t.Errorf("%q ends at %v, want an error", text, got)
		}
	}
}

func FuzzParseExpiry(f *testing.F) {
	for _, seed := range []string{"", "90d", "12h", "2027-01-31", "-1d", "9999999999d", "1e9h"} {
		f.Add(seed)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if end, err := ParseExpiry(text, now); err == nil && !end.IsZero() && end.Before(now) {
			t.Errorf("%q ends at %v, before now", text, end)
		}
	})
}
