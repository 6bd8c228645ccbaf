package quota

import "time"

// clock tells the time in a way that grants nothing twice. Seconds follow the
// time that passes, whatever is done to the clock on the wall. Days follow the
// wall, but never go back: after a jump ahead and back, what is left of the
// wrong day is bounded as one day with it.
type clock struct {
	now   func() time.Time
	start time.Time
	last  time.Duration // since start
	date  time.Time     // midnight of the latest day seen
}

func newClock(now func() time.Time) clock {
	c := clock{now: now, start: now()}
	c.read()
	return c
}

// read is the second, of the Unix epoch, and the day it is.
func (c *clock) read() (second int64, day time.Time) {
	now := c.now()
	// Sub reads the monotonic clock where there is one.
	c.last = max(c.last, now.Sub(c.start))
	if today := now.UTC().Truncate(24 * time.Hour); today.After(c.date) {
		c.date = today
	}
	return c.start.Add(c.last).Unix(), c.date
}

// untilTomorrow is how long the day lasts, by the clock on the wall.
func (c *clock) untilTomorrow() time.Duration {
	return c.date.Add(24 * time.Hour).Sub(c.now().Round(0))
}
