package cypher

import (
	"cmp"
	"fmt"
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
	// at is the instant; times of day are on 1970-01-01, local values in UTC.
	at time.Time
}

// compare orders two values of one kind by the instant, then by the offset.
func (t Temporal) compare(u Temporal) int {
	if c := t.at.Compare(u.at); c != 0 {
		return c
	}
	_, a := t.at.Zone()
	_, b := u.at.Zone()
	return cmp.Compare(b, a)
}

// String writes the value in ISO 8601, as toString() does.
func (t Temporal) String() string {
	switch t.kind {
	case date:
		return t.at.Format("2006-01-02")
	case localTime:
		return clock(t.at)
	case timeOfDay:
		return clock(t.at) + zone(t.at)
	case localDateTime:
		return t.at.Format("2006-01-02T") + clock(t.at)
	}
	return t.at.Format("2006-01-02T") + clock(t.at) + zone(t.at)
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

// field gives a component by its openCypher name, or nil.
func (t Temporal) field(key string) Value {
	isDate := t.kind <= date
	isTime := t.kind != date
	week, weekYear := 0, 0
	weekYear, week = t.at.ISOWeek()
	number := func(ok bool, n int) Value {
		if ok {
			return int64(n)
		}
		return nil
	}
	switch key {
	case "year":
		return number(isDate, t.at.Year())
	case "quarter":
		return number(isDate, (int(t.at.Month())+2)/3)
	case "month":
		return number(isDate, int(t.at.Month()))
	case "week":
		return number(isDate, week)
	case "weekYear":
		return number(isDate, weekYear)
	case "day":
		return number(isDate, t.at.Day())
	case "ordinalDay":
		return number(isDate, t.at.YearDay())
	case "dayOfWeek", "weekDay":
		return number(isDate, (int(t.at.Weekday())+6)%7+1)
	case "hour":
		return number(isTime, t.at.Hour())
	case "minute":
		return number(isTime, t.at.Minute())
	case "second":
		return number(isTime, t.at.Second())
	case "millisecond":
		return number(isTime, t.at.Nanosecond()/1e6)
	case "microsecond":
		return number(isTime, t.at.Nanosecond()/1e3)
	case "nanosecond":
		return number(isTime, t.at.Nanosecond())
	case "epochSeconds":
		return number(t.kind == dateTime, int(t.at.Unix()))
	case "epochMillis":
		return number(t.kind == dateTime, int(t.at.UnixMilli()))
	case "offset", "timezone":
		if t.kind == dateTime || t.kind == timeOfDay {
			return zone(t.at)
		}
	}
	return nil
}

// add moves a value by a duration: months first, then days, then seconds. A
// day that its month does not have becomes the month's last.
func (t Temporal) add(d Duration) Temporal {
	at := t.at
	if t.kind <= date && d.Months != 0 {
		first := time.Date(at.Year(), at.Month(), 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), at.Location()).AddDate(0, int(d.Months), 0)
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
