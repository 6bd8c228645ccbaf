package cypher

import "context"

// Result is what a query returns: no columns where it has no RETURN.
type Result struct {
	Columns []string
	Rows    [][]Value
}

// Run parses and runs one statement. Parameters are named without the dollar
// sign. Errors are *Error, *LimitError or the context's; after an error the
// graph may hold part of what the statement writes.
func (g *Graph) Run(ctx context.Context, query string, params map[string]Value) (Result, error) {
	q, err := Parse(query)
	if err != nil {
		return Result{}, err
	}
	return g.Execute(ctx, q, params)
}

// Execute runs a parsed statement.
func (g *Graph) Execute(ctx context.Context, q *Query, params map[string]Value) (Result, error) {
	x := &executor{budget: newBudget(ctx, g.limits), graph: g, source: q.source, params: params}
	var result Result
	for i, part := range q.parts {
		columns, rows := x.single(part)
		if i == 0 {
			result.Columns = columns
		}
		result.Rows = append(result.Rows, rows...)
	}
	if len(q.parts) > 1 && !q.all {
		result.Rows = distinct(x, result.Rows, func(r row) row { return r })
	}
	x.checkDeleted()
	if x.err != nil {
		return Result{}, x.err
	}
	return result, nil
}

// row is one row of the table that clauses hand on: a value per slot.
type row = []Value

// executor runs clauses one after the other. Each clause reads all rows of the
// one before, so that a clause never sees its own writes, as openCypher asks.
type executor struct {
	budget
	*source
	graph  *Graph
	params map[string]Value
	hops   int // depth of the pattern search under way
	// cut are the nodes that the query deleted; at its end none of them may
	// have a relationship left.
	cut []cutNode
	// loose is set where Decode runs the query.
	loose *looseRun
}

type cutNode struct {
	node *Node
	at   span
}

func (x *executor) fail(at span, kind, detail, format string, args ...any) {
	if x.err == nil {
		x.err = x.source.failure(at, Runtime, kind, detail, format, args...)
	}
}

func (x *executor) single(q *singleQuery) (columns []string, rows []row) {
	rows = seeded(q)
	for _, c := range q.clauses {
		if r, ok := c.(*projection); ok && r.isReturn && x.loose != nil {
			x.loose.keep(rows)
			x.loose.returns(r, rows)
		}
		rows = x.clause(c, rows)
		if x.err != nil {
			return nil, nil
		}
		if r, ok := c.(*projection); ok && r.isReturn {
			for _, it := range r.items {
				columns = append(columns, it.name)
			}
			return columns, rows
		}
	}
	if x.loose != nil {
		x.loose.keep(rows)
	}
	return nil, nil
}

// seeded gives the first rows: one, or one for each combination of seeds.
func seeded(q *singleQuery) []row {
	rows := []row{make(row, q.width)}
	for _, s := range q.seeds {
		var next []row
		for _, r := range rows {
			for _, n := range s.nodes[:min(len(s.nodes), max(1, maxSeedRows/len(rows)))] {
				r := append(row(nil), r...)
				r[s.slot] = n
				next = append(next, r)
			}
		}
		rows = next
	}
	return rows
}

// maxSeedRows bounds the combinations of earlier variables.
const maxSeedRows = 64

func (x *executor) clause(c clause, rows []row) []row {
	switch c := c.(type) {
	case *matchClause:
		return x.match(c, rows)
	case *createClause:
		for _, r := range rows {
			for _, path := range c.paths {
				x.createPath(path, r)
			}
		}
	case *mergeClause:
		return x.merge(c, rows)
	case *setClause:
		for _, r := range rows {
			x.set(c.items, r)
		}
	case *removeClause:
		for _, r := range rows {
			x.remove(c.items, r)
		}
	case *deleteClause:
		x.delete(c, rows)
	case *unwindClause:
		return x.unwind(c, rows)
	case *projection:
		return x.project(c, rows)
	}
	return rows
}

// emit adds a row to a clause's output, within the limit.
func (x *executor) emit(rows []row, r row) []row {
	if len(rows) >= x.limits.Rows {
		x.over("rows", x.limits.Rows)
		return rows
	}
	return append(rows, r)
}

// copyRow charges for the copy: rows can be wide.
func (x *executor) copyRow(r row) row {
	x.step(1)
	x.list(len(r))
	return append(make(row, 0, len(r)), r...)
}

func (x *executor) unwind(c *unwindClause, rows []row) []row {
	var out []row
	for _, r := range rows {
		v := x.eval(c.list, r)
		list, ok := v.([]Value)
		if !ok {
			if v == nil {
				continue
			}
			list = []Value{v}
		}
		for _, item := range list {
			if !x.step(1) {
				return nil
			}
			next := x.copyRow(r)
			next[c.slot] = item
			out = x.emit(out, next)
		}
	}
	return out
}
