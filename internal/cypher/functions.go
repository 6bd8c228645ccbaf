package cypher

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// function is one of the functions that an expression may call.
type function struct {
	min, max int // arguments; max < 0 is any number
	// nulls: the function sees null arguments. Otherwise one null makes its result null.
	nulls  bool
	result valueKind
	// takes are the allowed kinds of a first argument whose kind is known; empty is all.
	takes []valueKind
	call  func(x *executor, e *call, args []Value) Value
	// aggregate starts a fold; it is set in aggregates only.
	aggregate func() aggregator
}

// refuses reports whether a first argument of this kind is an error before the query runs.
func (f *function) refuses(k valueKind) bool {
	return len(f.takes) > 0 && k != anyKind && k != nullKind && !slices.Contains(f.takes, k)
}

// functions are the functions of openCypher 9, by lower-case name.
var functions = mergeFunctions(aggregateFunctions(), entityFunctions(), listFunctions(), textFunctions(),
	mathFunctions(),
	temporalFunctions())

func mergeFunctions(groups ...map[string]*function) map[string]*function {
	all := map[string]*function{}
	for _, g := range groups {
		maps.Copy(all, g)
	}
	return all
}

func aggregateFunctions() map[string]*function {
	fold := func(args int, start func() aggregator) *function {
		return &function{min: args, max: args, aggregate: start}
	}
	return map[string]*function{
		"count":          fold(1, func() aggregator { return &counting{} }),
		"collect":        fold(1, func() aggregator { return &collecting{} }),
		"sum":            fold(1, func() aggregator { return &summing{} }),
		"avg":            fold(1, func() aggregator { return &summing{mean: true} }),
		"min":            fold(1, func() aggregator { return &choosing{sign: -1} }),
		"max":            fold(1, func() aggregator { return &choosing{sign: 1} }),
		"stdev":          fold(1, func() aggregator { return &spreading{} }),
		"stdevp":         fold(1, func() aggregator { return &spreading{population: true} }),
		"percentiledisc": fold(2, func() aggregator { return &ranking{} }),
		"percentilecont": fold(2, func() aggregator { return &ranking{continuous: true} }),
	}
}

func (x *executor) badArgument(e *call, what string) Value {
	x.fail(e.span, typeError, "InvalidArgumentValue", "%s() takes %s", e.name, what)
	return nil
}

func (x *executor) badType(e *call, what string) Value {
	x.fail(e.span, typeError, "InvalidArgumentType", "%s() takes %s", e.name, what)
	return nil
}

func entityFunctions() map[string]*function {
	one := func(result valueKind, takes []valueKind, f func(x *executor, e *call, v Value) Value) *function {
		return &function{min: 1, max: 1, result: result, takes: takes, call: func(x *executor, e *call,
			args []Value) Value {
			return f(x, e, args[0])
		}}
	}
	paths := []valueKind{pathKind}
	return map[string]*function{
		"id":         one(numberKind, nil, idOf),
		"labels":     one(listKind, []valueKind{nodeKind}, labelsOf),
		"type":       one(textKind, []valueKind{relKind}, typeOf),
		"keys":       one(listKind, nil, keysOf),
		"properties": one(anyKind, []valueKind{nodeKind, relKind, mapKind}, propertiesOf),
		"startnode":  one(nodeKind, nil, endOf(func(r *Relationship) *Node { return r.start })),
		"endnode":    one(nodeKind, nil, endOf(func(r *Relationship) *Node { return r.end })),
		"nodes": one(listKind, paths, func(x *executor, e *call, v Value) Value {
			return pathParts(x, e, v, true)
		}),
		"relationships": one(listKind, paths, func(x *executor, e *call, v Value) Value {
			return pathParts(x, e, v, false)
		}),
		"length": one(numberKind, paths, lengthOf),
		"exists": {min: 1, max: 1, nulls: true, result: boolKind, call: func(_ *executor, _ *call, args []Value) Value {
			return args[0] != nil
		}},
		"coalesce": {min: 1, max: -1, nulls: true, call: func(_ *executor, _ *call, args []Value) Value {
			for _, a := range args {
				if a != nil {
					return a
				}
			}
			return nil
		}},
	}
}

func idOf(x *executor, e *call, v Value) Value {
	switch v := v.(type) {
	case *Node:
		return v.id
	case *Relationship:
		return v.id
	}
	return x.badType(e, "a node or a relationship")
}

func labelsOf(x *executor, e *call, v Value) Value {
	n, ok := v.(*Node)
	if !ok {
		return x.badType(e, "a node")
	}
	if n.deleted {
		x.deletedAccess(e.span)
	}
	list := make([]Value, len(n.labels))
	for i, l := range n.labels {
		list[i] = l
	}
	return list
}

func typeOf(x *executor, e *call, v Value) Value {
	r, ok := v.(*Relationship)
	if !ok {
		return x.badType(e, "a relationship")
	}
	return r.kind
}

func keysOf(x *executor, e *call, v Value) Value {
	list := []Value{}
	if m, ok := v.(map[string]Value); ok {
		for _, k := range sortedKeys(m) {
			list = append(list, k)
		}
		return list
	}
	props, ok := x.propsOf(e, v)
	if !ok {
		return x.badType(e, "a node, a relationship or a map")
	}
	for _, p := range props {
		list = append(list, p.Key)
	}
	return list
}

func propertiesOf(x *executor, e *call, v Value) Value {
	if m, ok := v.(map[string]Value); ok {
		return m
	}
	props, ok := x.propsOf(e, v)
	if !ok {
		return x.badType(e, "a node, a relationship or a map")
	}
	m := make(map[string]Value, len(props))
	for _, p := range props {
		m[p.Key] = p.Value
	}
	return m
}

func (x *executor) propsOf(e *call, v Value) ([]Property, bool) {
	var of *entity
	switch v := v.(type) {
	case *Node:
		of = &v.entity
	case *Relationship:
		of = &v.entity
	default:
		return nil, false
	}
	if of.deleted {
		x.deletedAccess(e.span)
	}
	return of.props, true
}

func endOf(end func(*Relationship) *Node) func(x *executor, e *call, v Value) Value {
	return func(x *executor, e *call, v Value) Value {
		r, ok := v.(*Relationship)
		if !ok {
			return x.badType(e, "a relationship")
		}
		return end(r)
	}
}

func pathParts(x *executor, e *call, v Value, nodes bool) Value {
	p, ok := v.(*Path)
	if !ok {
		return x.badType(e, "a path")
	}
	list := []Value{}
	if nodes {
		for _, n := range p.Nodes {
			list = append(list, n)
		}
		return list
	}
	for _, r := range p.Relationships {
		list = append(list, r)
	}
	return list
}

func lengthOf(x *executor, e *call, v Value) Value {
	p, ok := v.(*Path)
	if !ok {
		return x.badType(e, "a path")
	}
	return int64(len(p.Relationships))
}

// temporalFunctions make instants and durations from a map of components or from ISO 8601 text.
// Calendars other than year-month-day and named time zones are not read.
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
		"duration": {min: 1, max: 1, call: func(x *executor, e *call,
			args []Value) Value {
			return x.duration(e, args[0])
		}},
	}
}

func (x *executor) temporal(e *call, k temporalKind, v Value) Value {
	switch v := v.(type) {
	case Temporal:
		return newTemporal(k, v.instant)
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
			day = t.instant
		}
		if key != "date" {
			clock = t.instant
		}
		base = time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(),
			clock.Nanosecond(), clock.Location())
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
	at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(),
		clock.Nanosecond(), clock.Location())
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

var isoDuration = regexp.MustCompile(
	`^(-?)P(?:(-?[\d.]+)Y)?(?:(-?[\d.]+)M)?(?:(-?[\d.]+)W)?(?:(-?[\d.]+)D)?(?:T(?:(-?[\d.]+)H)?(?:(-?[\d.]+)M)?` +
		`(?:(-?[\d.]+)S)?)?$`)

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
