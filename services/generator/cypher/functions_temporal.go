package cypher

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// temporalFunctions make instants and durations from a map of components or
// from ISO 8601 text. Calendars other than year-month-day and named time zones
// are not read.
func temporalFunctions() map[string]*function {
	make := func(k temporalKind) *function {
		return &function{max: 1, call: func(x *executor, e *call, args []Value) Value {
			if len(args) == 0 {
				return newTemporal(k, time.Now().UTC())
			}
			return x.temporal(e, k, args[0])
		}}
	}
	return map[string]*function{
		"date": make(date), "time": make(timeOfDay), "localtime": make(localTime),
		"datetime": make(dateTime), "localdatetime": make(localDateTime),
		"duration": {min: 1, max: 1, call: func(x *executor, e *call, args []Value) Value { return x.duration(e, args[0]) }},
	}
}

func (x *executor) temporal(e *call, k temporalKind, v Value) Value {
	switch v := v.(type) {
	case Temporal:
		return newTemporal(k, v.at)
	case map[string]Value:
		if t, ok := fromComponents(k, v); ok {
			return t
		}
	case string:
		if t, ok := parseTemporal(k, v); ok {
			return t
		}
	}
	return x.badArgument(e, "a map of components or ISO 8601 text")
}

// fromComponents builds an instant from {year: 1984, month: 10, …}; what is
// missing comes from the values in date, time and datetime, or is the least.
func fromComponents(k temporalKind, m map[string]Value) (Temporal, bool) {
	base := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, key := range []string{"datetime", "date", "time"} {
		t, ok := m[key].(Temporal)
		if !ok {
			continue
		}
		day, clock := base, base
		if key != "time" {
			day = t.at
		}
		if key != "date" {
			clock = t.at
		}
		base = time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), clock.Location())
	}
	location := base.Location()
	if name, ok := m["timezone"].(string); ok {
		if location, ok = offset(name); !ok {
			return Temporal{}, false
		}
	}
	ok := true
	get := func(key string, missing int) int {
		v, given := m[key]
		n, isInt := v.(int64)
		if given && (!isInt || n > math.MaxInt32 || n < math.MinInt32) {
			ok = false
		}
		if !given {
			return missing
		}
		return int(n)
	}
	nanos := get("nanosecond", 0) + get("microsecond", 0)*1e3 + get("millisecond", 0)*1e6
	if nanos == 0 {
		nanos = base.Nanosecond()
	}
	year, month, day := get("year", base.Year()), get("month", int(base.Month())), get("day", base.Day())
	at := time.Date(year, time.Month(month), day,
		get("hour", base.Hour()), get("minute", base.Minute()), get("second", base.Second()), nanos, location)
	if k <= date && (at.Year() != year || int(at.Month()) != month || at.Day() != day) {
		return Temporal{}, false // the 30th of February
	}
	return newTemporal(k, at), ok
}

// offset reads Z, +01:00, -0800 and +01.
func offset(s string) (*time.Location, bool) {
	if s == "Z" || s == "UTC" {
		return time.UTC, true
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Location(), true
		}
	}
	return nil, false
}

var (
	dateLayouts  = []string{"2006-01-02", "20060102", "2006-01", "200601", "2006"}
	clockLayouts = []string{"15:04:05", "150405", "15:04", "1504", "15"}
	zoneLayouts  = []string{"", "Z07:00", "Z0700", "Z07"}
)

func parseTemporal(k temporalKind, text string) (Temporal, bool) {
	text, _, _ = strings.Cut(text, "[") // the name of a zone, after its offset
	days, clocks := text, ""
	switch k {
	case timeOfDay, localTime:
		days, clocks = "", text
	default:
		days, clocks, _ = strings.Cut(text, "T")
	}
	day, ok1 := parseLayouts(days, dateLayouts)
	clock, ok2 := time.Time{}, clocks == ""
	for _, z := range zoneLayouts {
		if ok2 {
			break
		}
		layouts := []string{}
		for _, c := range clockLayouts {
			layouts = append(layouts, c+z)
		}
		clock, ok2 = parseLayouts(clocks, layouts)
	}
	if clocks == "" {
		clock = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), clock.Location())
	return newTemporal(k, at), (ok1 || days == "") && ok2
}

func parseLayouts(s string, layouts []string) (time.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), false
}

var isoDuration = regexp.MustCompile(`^(-?)P(?:(-?[\d.]+)Y)?(?:(-?[\d.]+)M)?(?:(-?[\d.]+)W)?(?:(-?[\d.]+)D)?(?:T(?:(-?[\d.]+)H)?(?:(-?[\d.]+)M)?(?:(-?[\d.]+)S)?)?$`)

func (x *executor) duration(e *call, v Value) Value {
	var parts [7]float64 // years, months, weeks, days, hours, minutes, seconds
	extra := 0.0         // nanoseconds
	switch v := v.(type) {
	case Duration:
		return v
	case string:
		m := isoDuration.FindStringSubmatch(v)
		if m == nil {
			return x.badArgument(e, "ISO 8601 text")
		}
		for i := range parts {
			parts[i], _ = strconv.ParseFloat(m[i+2], 64)
			if m[1] == "-" {
				parts[i] = -parts[i]
			}
		}
	case map[string]Value:
		for i, key := range []string{"years", "months", "weeks", "days", "hours", "minutes", "seconds"} {
			parts[i], _ = asFloat(v[key])
		}
		for key, size := range map[string]float64{"milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1} {
			n, _ := asFloat(v[key])
			extra += n * size
		}
	default:
		return x.badArgument(e, "a map of components or ISO 8601 text")
	}
	seconds := parts[4]*3600 + parts[5]*60 + parts[6]
	whole := math.Floor(seconds)
	return newDuration(parts[0]*12+parts[1], parts[2]*7+parts[3], int64(whole), math.Round((seconds-whole)*1e9)+extra)
}
