package cypher

type expr interface{ where() span }

type literal struct {
	span
	value Value
}

type param struct {
	span
	name string
}

type variable struct {
	span
	name string
	slot int
}

type property struct {
	span
	of  expr
	key string
}

type index struct {
	span
	of, at expr
}

type slice struct {
	span
	of, from, to expr // from and to may be nil
}

// labelTest is n:Label1:Label2.
type labelTest struct {
	span
	of     expr
	labels []string
}

type unary struct {
	span
	op string // NOT, +, -
	of expr
}

type binary struct {
	span
	op          string
	left, right expr
}

// comparison is a chain: a < b <= c.
type comparison struct {
	span
	operands []expr
	ops      []string
}

type isNull struct {
	span
	of  expr
	not bool
}

type listExpr struct {
	span
	items []expr
}

type mapExpr struct {
	span
	keys   []string
	values []expr
}

// caseExpr is CASE, with a subject or without.
type caseExpr struct {
	span
	subject    expr
	when, then []expr
	otherwise  expr
}

type call struct {
	span
	name     string // lower case
	distinct bool
	star     bool // count(*)
	args     []expr
	function *function
	slot     int // of an aggregate's result
}

// comprehension is [x IN list WHERE condition | result].
type comprehension struct {
	span
	name              string
	slot              int
	list              expr
	condition, result expr
}

// quantifier is all/any/none/single(x IN list WHERE condition).
type quantifier struct {
	span
	kind      string
	name      string
	slot      int
	list      expr
	condition expr
}

type reduceExpr struct {
	span
	accumulator, name     string
	accumulatorSlot, slot int
	initial, list, result expr
}

// patternExpr is a pattern as a predicate: (a)-->(b), exists((a)-->(b)) or
// EXISTS { MATCH ... WHERE ... }.
type patternExpr struct {
	span
	paths     []*pathPattern
	condition expr
	exists    bool // within exists: may stand anywhere
	query     bool // EXISTS { }: may declare variables
}

// patternComprehension is [p = (a)-->(b) WHERE condition | result].
type patternComprehension struct {
	span
	path      *pathPattern
	condition expr
	result    expr
}
