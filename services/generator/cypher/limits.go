package cypher

import "context"

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
	// Depth of nesting in query text and values, and length of a path (default
	// 200 levels).
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
	held   int
	next   int // the step count at which the context is looked at again
	depth  int
	err    error
}

func newBudget(ctx context.Context, limits Limits) budget {
	return budget{ctx: ctx, limits: limits}
}

// step charges n units of work and reports whether the run may go on.
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

// hold charges for n bytes of memory and reports whether the run may go on.
func (b *budget) hold(n int) bool {
	if b.held += n; b.held > b.limits.Memory {
		b.over("bytes of memory", b.limits.Memory)
	}
	return b.err == nil
}

// list charges for a list of n values or a row.
func (b *budget) list(n int) bool { return b.step(n/8) && b.hold(perList+perValue*n) }

// enter goes one level deeper; every enter needs a leave.
func (b *budget) enter() bool {
	b.depth++
	if b.depth > b.limits.Depth {
		b.over("levels of nesting", b.limits.Depth)
	}
	return b.err == nil
}

func (b *budget) leave() { b.depth-- }

func (b *budget) over(what string, limit int) {
	if b.err == nil {
		b.err = &LimitError{What: what, Limit: limit}
	}
}
