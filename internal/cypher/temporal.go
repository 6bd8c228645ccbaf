package cypher

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// temporalKind is one of the instant types. Their order is that of ORDER BY.
type temporalKind uint8

const (
	dateTime temporalKind = iota
	localDateTime
	date
	timeOfDay
	localTime
)

// Temporal is a date, a time or both, with an offset from UTC or without.
type Temporal struct {
	kind temporalKind
	// instant is the instant; times of day are on 1970-01-01, local values in UTC.
	instant time.Time
}

// compare orders two values of one kind by the instant, then by the offset.
func (t Temporal) compare(u Temporal) int {
	if c := t.instant.Compare(u.instant); c != 0 {
		return c
	}
	_, a := t.instant.Zone()
	_, b := u.instant.Zone()
	return cmp.Compare(b, a)
}

// String writes the value in ISO 8601, as toString() does.
func (t Temporal) String() string {
	switch t.kind {
	case date:
		return t.instant.Format("2006-01-02")
	case localTime:
		return clock(t.instant)
	case timeOfDay:
		return clock(t.instant) + zone(t.instant)
	case localDateTime:
		return t.instant.Format("2006-01-02T") + clock(t.instant)
	}
	return t.instant.Format("2006-01-02T") + clock(t.instant) + zone(t.instant)
}

func clock(at time.Time) string {
	s := at.Format("15:04")
	if at.Second() != 0 || at.Nanosecond() != 0 {
		s += at.Format(":05")
	}
	if at.Nanosecond() != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%09d", at.Nanosecond()), "0")
	}
	return s
}

func zone(at time.Time) string {
	if _, offset := at.Zone(); offset == 0 {
		return "Z"
	}
	return at.Format("-07:00")
}

// field returns a component by its openCypher name, or nil.
func (t Temporal) field(key string) Value {
	isDate := t.kind <= date
	isTime := t.kind != date
	week, weekYear := 0, 0
	weekYear, week = t.instant.ISOWeek()
	number := func(ok bool, n int) Value {
		if ok {
			return int64(n)
		}
		return nil
	}
	switch key {
	case "year":
		return number(isDate, t.instant.Year())
	case "quarter":
		return number(isDate, (int(t.instant.Month())+2)/3)
	case "month":
		return number(isDate, int(t.instant.Month()))
	case "week":
		return number(isDate, week)
	case "weekYear":
		return number(isDate, weekYear)
	case "day":
		return number(isDate, t.instant.Day())
	case "ordinalDay":
		return number(isDate, t.instant.YearDay())
	case "dayOfWeek", "weekDay":
		return number(isDate, (int(t.instant.Weekday())+6)%7+1)
	case "hour":
		return number(isTime, t.instant.Hour())
	case "minute":
		return number(isTime, t.instant.Minute())
	case "second":
		return number(isTime, t.instant.Second())
	case "millisecond":
		return number(isTime, t.instant.Nanosecond()/1e6)
	case "microsecond":
		return number(isTime, t.instant.Nanosecond()/1e3)
	case "nanosecond":
		return number(isTime, t.instant.Nanosecond())
	case "epochSeconds":
		return number(t.kind == dateTime, int(t.instant.Unix()))
	case "epochMillis":
		return number(t.kind == dateTime, int(t.instant.UnixMilli()))
	case "offset", "timezone":
		if t.kind == dateTime || t.kind == timeOfDay {
			return zone(t.instant)
		}
	}
	return nil
}

// add moves a value by a duration: months first, then days, then seconds. A
// day that its month does not have becomes the month's last.
func (t Temporal) add(d Duration) Temporal {
	at := t.instant
	if t.kind <= date && d.Months != 0 {
		first := time.Date(at.Year(), at.Month(), 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(),
			at.Location()).AddDate(0, int(d.Months), 0)
		day := min(at.Day(), first.AddDate(0, 1, -1).Day())
		at = first.AddDate(0, 0, day-1)
	}
	if t.kind <= date {
		at = at.AddDate(0, 0, int(d.Days))
	}
	if t.kind != date {
		at = at.Add(time.Duration(d.Seconds)*time.Second + time.Duration(d.Nanoseconds))
	} else {
		at = at.AddDate(0, 0, int(d.Seconds/86400))
	}
	return newTemporal(t.kind, at)
}

// newTemporal keeps of an instant what its kind has.
func newTemporal(k temporalKind, at time.Time) Temporal {
	switch k {
	case date:
		at = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	case localTime:
		at = time.Date(1970, 1, 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
	case timeOfDay:
		at = time.Date(1970, 1, 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), at.Location())
	case localDateTime:
		at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
	}
	return Temporal{k, at}
}

// Duration is a span of time. Months, days and seconds are kept apart, for a
// month has no fixed number of days and a day none of seconds.
type Duration struct {
	Months, Days, Seconds, Nanoseconds int64
}

// String writes the duration in ISO 8601: P1Y2M10DT2H30M.
func (d Duration) String() string {
	var s strings.Builder
	s.WriteByte('P')
	part := func(n int64, unit string) {
		if n != 0 {
			fmt.Fprintf(&s, "%d%s", n, unit)
		}
	}
	part(d.Months/12, "Y")
	part(d.Months%12, "M")
	part(d.Days, "D")
	if d.Seconds != 0 || d.Nanoseconds != 0 {
		s.WriteByte('T')
		part(d.Seconds/3600, "H")
		part(d.Seconds/60%60, "M")
		d.writeSeconds(&s)
	}
	if s.Len() == 1 {
		return "PT0S"
	}
	return s.String()
}

func (d Duration) writeSeconds(s *strings.Builder) {
	seconds, nanos := d.Seconds%60, d.Nanoseconds
	if seconds == 0 && nanos == 0 {
		return
	}
	sign := ""
	if seconds < 0 && nanos > 0 { // -1s + 0.4s is -0.6s
		seconds, nanos = seconds+1, 1e9-nanos
		if seconds == 0 {
			sign = "-"
		}
	}
	fmt.Fprintf(s, "%s%d", sign, seconds)
	if nanos != 0 {
		s.WriteString(strings.TrimRight(fmt.Sprintf(".%09d", nanos), "0"))
	}
	s.WriteByte('S')
}

// field returns a component by its openCypher name, or nil.
func (d Duration) field(key string) Value {
	switch key {
	case "years":
		return d.Months / 12
	case "quarters":
		return d.Months / 3
	case "months":
		return d.Months
	case "weeks":
		return d.Days / 7
	case "days":
		return d.Days
	case "hours":
		return d.Seconds / 3600
	case "minutes":
		return d.Seconds / 60
	case "seconds":
		return d.Seconds
	case "milliseconds":
		return d.Seconds*1e3 + d.Nanoseconds/1e6
	case "microseconds":
		return d.Seconds*1e6 + d.Nanoseconds/1e3
	case "nanoseconds":
		return d.Seconds*1e9 + d.Nanoseconds
	}
	return nil
}

const daysPerMonth = 30.436875 // of the Gregorian calendar, on average

// approximate is the length in seconds, by which durations are ordered.
func (d Duration) approximate() float64 {
	return (float64(d.Months)*daysPerMonth+float64(d.Days))*86400 + float64(d.Seconds) + float64(d.Nanoseconds)/1e9
}

func (d Duration) plus(e Duration, sign int64) Duration {
	return newDuration(float64(d.Months+sign*e.Months), float64(d.Days+sign*e.Days),
		d.Seconds+sign*e.Seconds, float64(d.Nanoseconds+sign*e.Nanoseconds))
}

func (d Duration) scale(f float64) Duration {
	seconds := float64(d.Seconds) * f
	whole := math.Floor(seconds)
	return newDuration(float64(d.Months)*f, float64(d.Days)*f, int64(whole),
		float64(d.Nanoseconds)*f+(seconds-whole)*1e9)
}

// newDuration carries what is left of months to days and of days to seconds,
// and keeps the nanoseconds between 0 and a second.
func newDuration(months, days float64, seconds int64, nanos float64) Duration {
	m := math.Trunc(months)
	days += (months - m) * daysPerMonth
	day := math.Trunc(days)
	rest := (days - day) * 86400
	whole := math.Floor(rest)
	nanos += math.Round((rest - whole) * 1e9)
	carry := math.Floor(nanos / 1e9)
	return Duration{
		Months: int64(m), Days: int64(day),
		Seconds: seconds + int64(whole) + int64(carry), Nanoseconds: int64(nanos - carry*1e9),
	}
}

// temporalOp computes with durations and instants; ok is false for other operands.
func temporalOp(op string, a, b Value) (v Value, ok bool) {
	sign := int64(1)
	if op == "-" {
		sign = -1
	}
	switch b := b.(type) {
	case Duration:
		if op != "+" && op != "-" {
			if f, ok := asFloat(a); ok && op == "*" {
				return b.scale(f), true
			}
			return nil, false
		}
		switch a := a.(type) {
		case Duration:
			return a.plus(b, sign), true
		case Temporal:
			return a.add(Duration{sign * b.Months, sign * b.Days, sign * b.Seconds, sign * b.Nanoseconds}), true
		}
	case Temporal:
		if d, ok := a.(Duration); ok && op == "+" {
			return b.add(d), true
		}
	case int64, float64:
		f, _ := asFloat(b)
		if d, ok := a.(Duration); ok && op == "*" {
			return d.scale(f), true
		} else if ok && op == "/" && f != 0 {
			return d.scale(1 / f), true
		}
	}
	return nil, false
}
