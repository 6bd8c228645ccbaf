package auth

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// ParseExpiry parses an expiry: a date, valid to its end in UTC, or a duration from now in days or in
// Go's notation. Empty text means never.
func ParseExpiry(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	end, err := time.Parse(time.DateOnly, text)
	if err == nil {
		end = end.AddDate(0, 0, 1)
	} else if days, ok := strings.CutSuffix(text, "d"); ok {
		const most = 100 * 366
		n, err := strconv.Atoi(days)
		if err != nil || n > most {
			return time.Time{}, errExpiry
		}
		end = now.AddDate(0, 0, n)
	} else {
		d, err := time.ParseDuration(text)
		if err != nil {
			return time.Time{}, errExpiry
		}
		end = now.Add(d)
	}
	if !end.After(now) {
		return time.Time{}, errors.New("expiry is in the past")
	}
	return end.UTC().Truncate(time.Second), nil
}

var errExpiry = errors.New("want a date such as 2027-01-31 or a duration such as 90d or 12h")
