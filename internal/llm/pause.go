package llm

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestPause bounds what a server may ask for: after it, a look costs nothing.
const longestPause = 10 * time.Minute

// pause is how long a server wants to be left alone; 0 where it does not say.
type pause time.Duration

// pauseOf reads OpenAI's retry-after-ms, or Retry-After in seconds or as a date
// (RFC 9110, 10.2.3), by the server's own clock where it tells the time. Some
// write fractions, or units. What is absurdly long is the longest there is.
func pauseOf(h http.Header) pause {
	now := time.Now()
	if t, err := http.ParseTime(h.Get("Date")); err == nil {
		now = t
	}
	return parsePause(h.Get("Retry-After-Ms"), h.Get("Retry-After"), now)
}

func parsePause(ms, v string, now time.Time) pause {
	if n, ok := number(ms); ok {
		return bounded(n / 1000)
	}
	v = strings.TrimSpace(v)
	if n, ok := number(v); ok {
		return bounded(n)
	}
	if d, err := time.ParseDuration(v); err == nil {
		return bounded(d.Seconds())
	}
	if t, err := http.ParseTime(v); err == nil {
		return bounded(t.Sub(now).Seconds())
	}
	return 0
}

// number reads one, even where it is too large for any clock.
func number(v string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if math.IsNaN(n) || err != nil && !math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

func bounded(seconds float64) pause {
	return pause(min(max(seconds, 0), longestPause.Seconds()) * float64(time.Second))
}
