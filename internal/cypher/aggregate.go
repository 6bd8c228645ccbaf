package cypher

import (
	"math"
	"slices"
)

// group groups rows by equal keys and computes the aggregates. The first row of each group, which
// holds the group's keys, is returned.
func (x *executor) group(c *projection, rows []row) []row {
	type grouped struct {
		first row
		folds []aggregator
	}
	groups := map[string]*grouped{}
	var order []*grouped
	start := func(first row) *grouped {
		g := &grouped{first: first}
		for _, call := range c.aggregates {
			g.folds = append(g.folds, call.function.aggregate())
		}
		order = append(order, g)
		return g
	}
	keys := make([]Value, len(c.items))
	grouping := false
	for _, it := range c.items {
		grouping = grouping || !it.aggregate
	}
	for _, r := range rows {
		for i, it := range c.items {
			if !it.aggregate {
				r[it.out] = x.eval(it.value, r)
				keys[i] = r[it.out]
			}
		}
		key := x.key(keys)
		g := groups[key]
		if g == nil {
			g = start(r)
			groups[key] = g
		}
		for i, call := range c.aggregates {
			x.feed(g.folds[i], call, r)
		}
		if x.err != nil {
			return nil
		}
	}
	if len(order) == 0 && !grouping {
		start(make(row, c.width)) // no rows still count to 0
	}
	out := make([]row, 0, len(order))
	for _, g := range order {
		for i, call := range c.aggregates {
			g.first[call.slot] = g.folds[i].result(x)
		}
		for _, it := range c.items {
			if it.aggregate {
				g.first[it.out] = x.eval(it.value, g.first)
			}
		}
		out = append(out, g.first)
	}
	return out
}

// aggregator folds the values of a group. Nulls are not handed to it.
type aggregator interface {
	add(x *executor, call *call, args []Value)
	result(x *executor) Value
}

func (x *executor) feed(f aggregator, c *call, r row) {
	if !x.step(1) {
		return
	}
	if c.star {
		f.add(x, c, nil)
		return
	}
	args := make([]Value, len(c.args))
	for i, a := range c.args {
		args[i] = x.eval(a, r)
	}
	if len(args) > 0 && args[0] == nil {
		return
	}
	if c.distinct {
		d := f.(interface{ distinct() map[string]bool }).distinct()
		key := x.key(args[:1])
		if d[key] {
			return
		}
		d[key] = true
	}
	f.add(x, c, args)
}

// seenValues are the values that an aggregate with DISTINCT has counted.
type seenValues struct{ values map[string]bool }

func (s *seenValues) distinct() map[string]bool {
	if s.values == nil {
		s.values = map[string]bool{}
	}
	return s.values
}

type counting struct {
	seenValues
	n int64
}

func (c *counting) add(*executor, *call, []Value) { c.n++ }
func (c *counting) result(*executor) Value        { return c.n }

type collecting struct {
	seenValues
	list []Value
}

func (c *collecting) add(x *executor, _ *call, args []Value) {
	if len(c.list) >= x.limits.Size {
		x.exceed("elements in a list", x.limits.Size)
		return
	}
	if x.hold(perValue) {
		c.list = append(c.list, args[0])
	}
}

func (c *collecting) result(*executor) Value {
	if c.list == nil {
		return []Value{}
	}
	return c.list
}

// summing is sum, or with mean set avg.
type summing struct {
	seenValues
	mean  bool
	total Value
	n     int64
}

func (s *summing) add(x *executor, c *call, args []Value) {
	s.n++
	if s.total == nil {
		s.total = int64(0)
		if _, ok := args[0].(Duration); ok {
			s.total = Duration{}
		}
	}
	switch args[0].(type) {
	case int64, float64, Duration:
		s.total = x.arithmetic(c.span, "+", s.total, args[0])
	default:
		x.fail(c.span, typeError, "InvalidArgumentType", "%s() takes numbers", c.name)
	}
}

func (s *summing) result(x *executor) Value {
	switch {
	case s.n == 0 && s.mean:
		return nil
	case s.n == 0:
		return int64(0)
	case !s.mean:
		return s.total
	}
	switch total := s.total.(type) {
	case int64:
		return float64(total) / float64(s.n)
	case float64:
		return total / float64(s.n)
	case Duration:
		return total.scale(1 / float64(s.n))
	}
	return nil
}

// choosing is min (sign -1) or max (sign 1).
type choosing struct {
	seenValues
	sign int
	best Value
}

func (c *choosing) add(x *executor, _ *call, args []Value) {
	if c.best == nil || c.sign*x.order(args[0], c.best) > 0 {
		c.best = args[0]
	}
}

func (c *choosing) result(*executor) Value { return c.best }

// spreading is stDev (of a sample) or stDevP (of a population).
type spreading struct {
	seenValues
	population bool
	values     []float64
}

func (s *spreading) add(x *executor, c *call, args []Value) {
	v, ok := asFloat(args[0])
	if !ok {
		x.fail(c.span, typeError, "InvalidArgumentType", "%s() takes numbers", c.name)
	}
	s.values = append(s.values, v)
}

func (s *spreading) result(*executor) Value {
	n := float64(len(s.values))
	if n < 2 {
		return 0.0
	}
	mean := 0.0
	for _, v := range s.values {
		mean += v / n
	}
	square := 0.0
	for _, v := range s.values {
		square += (v - mean) * (v - mean)
	}
	if s.population {
		return math.Sqrt(square / n)
	}
	return math.Sqrt(square / (n - 1))
}

// ranking is percentileDisc, or percentileCont which interpolates.
type ranking struct {
	seenValues
	continuous bool
	share      float64
	values     []Value
}

func (p *ranking) add(x *executor, c *call, args []Value) {
	share, ok := asFloat(args[1])
	if !ok || !(share >= 0 && share <= 1) {
		x.fail(c.span, argumentError, "NumberOutOfRange", "%s() takes a share from 0 to 1", c.name)
		return
	}
	if _, ok := asFloat(args[0]); !ok {
		x.fail(c.span, typeError, "InvalidArgumentType", "%s() takes numbers", c.name)
		return
	}
	p.share = share
	p.values = append(p.values, args[0])
}

func (p *ranking) result(x *executor) Value {
	if len(p.values) == 0 {
		return nil
	}
	slices.SortStableFunc(p.values, x.order)
	last := len(p.values) - 1
	if !p.continuous {
		return p.values[max(int(math.Ceil(p.share*float64(last+1)))-1, 0)]
	}
	at := p.share * float64(last)
	low, _ := asFloat(p.values[int(at)])
	high, _ := asFloat(p.values[min(int(at)+1, last)])
	return low + (high-low)*(at-math.Floor(at))
}
