package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// parseEnd reads when something ends: a date, which counts to its end in UTC,
// or a time from now in days or as Go writes durations. Empty is never.
func parseEnd(text string, now time.Time) (time.Time, error) {
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
			return time.Time{}, errEnd
		}
		end = now.AddDate(0, 0, n)
	} else {
		d, err := time.ParseDuration(text)
		if err != nil {
			return time.Time{}, errEnd
		}
		end = now.Add(d)
	}
	if !end.After(now) {
		return time.Time{}, errors.New("that is over already: want a time to come")
	}
	return end.UTC().Truncate(time.Second), nil
}

var errEnd = errors.New("want a date such as 2027-01-31, or a time from now such as 90d or 12h")

// ends is when a token ends, for people.
func ends(at time.Time) string {
	switch {
	case at.IsZero():
		return "for ever"
	case !at.After(time.Now()):
		return "ended " + at.Local().Format(time.DateTime)
	}
	return "until " + at.Local().Format(time.DateTime)
}
