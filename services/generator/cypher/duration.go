package cypher

import (
	"fmt"
	"math"
	"strings"
)

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

// field gives a component by its openCypher name, or nil.
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

// temporalOp computes with durations and instants; ok is false for other
// operands.
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
