package cypher

import "context"

// Result is what a query returns: no columns if it has no RETURN.
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
	// loose is set when Decode runs the query.
	loose *looseRun
}

type cutNode struct {
	node *Node
	span span
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
			x.loose.noteReturned(r, rows)
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

// seeded returns the first rows: one, or one for each combination of seeds.
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
		x.exceed("rows", x.limits.Rows)
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

// matchStep is one step of matching a pattern: look for a node, or follow a
// relationship from a node that is known to its other end.
type matchStep struct {
	rel     *relPattern // nil: a node alone
	source  *nodePattern
	target  *nodePattern
	reverse bool // followed against the reading direction
	known   bool // the node (to) has its value already
}

// plan orders the steps of a clause: paths that touch known nodes first, each
// path from its best known node outwards, so that a search never starts at
// all nodes where it could follow a relationship.
func plan(paths []*pathPattern) []matchStep {
	known := map[int]bool{}
	for _, path := range paths {
		for _, n := range path.nodes {
			if n.bound {
				known[n.slot] = true
			}
		}
	}
	var steps []matchStep
	left := append([]*pathPattern(nil), paths...)
	for len(left) > 0 {
		best, start, score := 0, 0, -1
		for i, path := range left {
			for j, n := range path.nodes {
				if s := nodeScore(n, known); s > score {
					best, start, score = i, j, s
				}
			}
		}
		steps = appendPath(steps, left[best], start, known)
		left = append(left[:best], left[best+1:]...)
	}
	return steps
}

// nodeScore ranks nodes to start a search from, the best highest.
func nodeScore(n *nodePattern, known map[int]bool) int {
	switch {
	case known[n.slot]:
		return 3
	case n.props != nil && !n.late:
		return 2
	case len(n.labels) > 0:
		return 1
	}
	return 0
}

func appendPath(steps []matchStep, path *pathPattern, start int, known map[int]bool) []matchStep {
	add := func(s matchStep) {
		s.known = known[s.target.slot]
		known[s.target.slot] = true
		steps = append(steps, s)
	}
	add(matchStep{target: path.nodes[start]})
	for i := start; i < len(path.rels); i++ {
		add(matchStep{rel: path.rels[i], source: path.nodes[i], target: path.nodes[i+1]})
	}
	for i := start - 1; i >= 0; i-- {
		add(matchStep{rel: path.rels[i], source: path.nodes[i+1], target: path.nodes[i], reverse: true})
	}
	return steps
}

// Limits bound what one run may use. A zero field takes its default.
type Limits struct {
	// Bytes of query text (default 4 MiB).
	Bytes int
	// Nodes and Relationships that the graph may hold (default 200,000 each).
	Nodes, Relationships int
	// Rows that one clause may put out (default 100,000).
	Rows int
	// Steps of work: an expression, a candidate, a copied value (default 20
	// million). Time is bounded by the context.
	Steps int
	// Memory that values made on the way take, in bytes, whether or not they are
	// kept (default 64 MiB). Nodes and relationships are counted by themselves.
	Memory int
	// Depth of nesting in query text and values, and length of a path (default 200 levels).
	Depth int
	// Size of one string in bytes and of one list in elements (default 1 Mi).
	Size int
}

// DefaultLimits are wide enough for every query a person or a model writes.
func DefaultLimits() Limits { return Limits{}.orDefault() }

func (l Limits) orDefault() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Bytes, 4 << 20}, {&l.Nodes, 200_000}, {&l.Relationships, 200_000},
		{&l.Rows, 100_000}, {&l.Steps, 20_000_000}, {&l.Memory, 64 << 20}, {&l.Depth, 200}, {&l.Size, 1 << 20},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return l
}

// budget counts the work of one run. It keeps the first failure; from then on
// step answers false, and every loop stops at its next turn.
type budget struct {
	ctx    context.Context
	limits Limits
	steps  int
	memory int
	next   int // the step count at which the context is looked at again
	depth  int
	err    error
}

func newBudget(ctx context.Context, limits Limits) budget {
	return budget{ctx: ctx, limits: limits}
}

// step charges n units of work and reports whether the run may continue.
func (b *budget) step(n int) bool {
	if b.err != nil {
		return false
	}
	b.steps += n
	if b.steps < b.next {
		return true
	}
	if b.steps > b.limits.Steps {
		b.err = &LimitError{What: "steps", Limit: b.limits.Steps}
		return false
	}
	b.next = b.steps + 1024
	b.err = b.ctx.Err()
	return b.err == nil
}

// Bytes that a value takes in a list or a row, and a list or a row itself.
const (
	perValue = 16
	perList  = 24
)

// hold charges for n bytes of memory and reports whether the run may continue.
func (b *budget) hold(n int) bool {
	if b.memory += n; b.memory > b.limits.Memory {
		b.exceed("bytes of memory", b.limits.Memory)
	}
	return b.err == nil
}

// list charges for a list of n values or a row.
func (b *budget) list(n int) bool { return b.step(n/8) && b.hold(perList+perValue*n) }

// enter goes one level deeper; every enter needs a leave.
func (b *budget) enter() bool {
	b.depth++
	if b.depth > b.limits.Depth {
		b.exceed("levels of nesting", b.limits.Depth)
	}
	return b.err == nil
}

func (b *budget) leave() { b.depth-- }

func (b *budget) exceed(what string, limit int) {
	if b.err == nil {
		b.err = &LimitError{What: what, Limit: limit}
	}
}
