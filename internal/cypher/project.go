package cypher

import (
	"slices"
)

// project executes WITH or RETURN: compute the items (in groups, where
// there are aggregates), drop duplicates, sort, cut, filter.
func (x *executor) project(c *projection, rows []row) []row {
	if c.grouped {
		rows = x.group(c, rows)
	} else {
		for _, r := range rows {
			if !x.step(1) {
				return nil
			}
			for _, it := range c.items {
				r[it.out] = x.eval(it.value, r)
			}
		}
	}
	if c.distinct {
		rows = distinct(x, rows, func(r row) row { return outputs(c, r) })
	}
	x.sort(c.order, rows)
	rows = x.skipLimit(c, rows)
	var out []row
	for _, r := range rows {
		if x.err != nil {
			return nil
		}
		if c.condition == nil || x.eval(c.condition, r) == true {
			next := make(row, c.next.width)
			for _, it := range c.items {
				next[it.slot] = r[it.out]
			}
			x.step(1)
			x.list(len(next))
			out = x.emit(out, next)
		}
	}
	return out
}

func outputs(c *projection, r row) row {
	values := make(row, len(c.items))
	for i, it := range c.items {
		values[i] = r[it.out]
	}
	return values
}

// distinct keeps the first of the rows whose values are equivalent.
func distinct(x *executor, rows []row, values func(row) row) []row {
	seen := map[string]bool{}
	kept := rows[:0]
	for _, r := range rows {
		key := x.key(values(r))
		if x.err != nil {
			return nil
		}
		if !seen[key] {
			seen[key] = true
			kept = append(kept, r)
		}
	}
	return kept
}

func (x *executor) sort(keys []*sortKey, rows []row) {
	if len(keys) == 0 || x.err != nil {
		return
	}
	type sorted struct {
		row  row
		keys []Value
	}
	list := make([]sorted, len(rows))
	for i, r := range rows {
		list[i] = sorted{r, make([]Value, len(keys))}
		for j, k := range keys {
			list[i].keys[j] = x.eval(k.value, r)
		}
	}
	slices.SortStableFunc(list, func(a, b sorted) int {
		for j, k := range keys {
			if c := x.order(a.keys[j], b.keys[j]); c != 0 {
				if k.descending {
					return -c
				}
				return c
			}
		}
		return 0
	})
	for i := range list {
		rows[i] = list[i].row
	}
}

// skipLimit applies SKIP and LIMIT. Both are constants of the query.
func (x *executor) skipLimit(c *projection, rows []row) []row {
	if c.skip != nil {
		rows = rows[min(x.count(c, c.skip, "SKIP"), len(rows)):]
	}
	if c.limit != nil {
		rows = rows[:min(x.count(c, c.limit, "LIMIT"), len(rows))]
	}
	return rows
}

func (x *executor) count(c *projection, e expr, word string) int {
	n, ok := x.eval(e, make(row, c.width)).(int64)
	switch {
	case x.err != nil:
	case !ok:
		x.fail(e.location(), syntaxError, "InvalidArgumentType", "%s needs an integer", word)
	case n < 0:
		x.fail(e.location(), syntaxError, "NegativeIntegerArgument", "%s cannot be negative", word)
	default:
		return int(min(n, 1<<31))
	}
	return 0
}
