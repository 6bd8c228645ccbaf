package cypher

// Query is a statement that Parse read and checked. It does not change and
// may be run any number of times.
type Query struct {
	source *source
	parts  []*singleQuery
	// all is set where the parts are joined by UNION ALL.
	all bool
}

// singleQuery is a query without UNION.
type singleQuery struct {
	clauses []clause
	width   int // slots of the first row
	seeds   []seed
}

// seed returns a slot of the first rows its values: a variable of an earlier
// statement, where Decode carries it on. There is a row for each value.
type seed struct {
	slot  int
	nodes []*Node
}

// span is a range of tokens, by index: what an error points at and what a
// column without alias is called.
type span struct{ first, end int32 }

func (s span) location() span { return s }

type clause interface{ location() span }

type matchClause struct {
	span
	optional  bool
	paths     []*pathPattern
	condition expr
}

type createClause struct {
	span
	paths []*pathPattern
}

type mergeClause struct {
	span
	path              *pathPattern
	furtherPaths      []*pathPattern // further paths, which only Decode reads
	onCreate, onMatch []*setItem
}

type setClause struct {
	span
	items []*setItem
}

type removeClause struct {
	span
	items []*setItem
}

// setItem is one assignment of SET or one entry of REMOVE. Exactly one form:
// a property (key set), labels, or a whole map (merge tells += from =).
type setItem struct {
	span
	target expr
	key    string
	labels []string
	merge  bool
	value  expr // nil in REMOVE
}

type deleteClause struct {
	span
	detach bool
	exprs  []expr
}

type unwindClause struct {
	span
	list expr
	name string
	slot int
}

// projection is WITH or RETURN.
type projection struct {
	span
	isReturn, distinct, star bool
	items                    []*item
	order                    []*sortKey
	skip, limit              expr
	condition                expr // WHERE, of WITH

	aggregates []*call // found by the analyser, deduplicated by text
	grouped    bool
	width      int    // slots of the rows before it
	next       *scope // the scope after it
}

type item struct {
	span
	value     expr
	name      string
	aliased   bool
	out       int // slot in the old row, for ORDER BY and WHERE
	slot      int // slot in the next row
	aggregate bool
	kind      valueKind
}

type sortKey struct {
	value      expr
	descending bool
}

type callClause struct {
	span
	name string
}

// direction of a relationship pattern, as written from left to right.
type direction uint8

const (
	outgoing direction = iota
	incoming
	undirected
)

// pathPattern is nodes[0] rels[0] nodes[1] ...: one node more than rels.
type pathPattern struct {
	span
	name  string // of p = (...), or empty
	slot  int
	nodes []*nodePattern
	rels  []*relPattern
}

type nodePattern struct {
	span
	name   string
	labels []string
	props  expr // a mapExpr, a param or nil
	slot   int
	bound  bool // declared before this clause
	late   bool // the properties read variables of this clause
	label  bool // written with labels or properties
}

type relPattern struct {
	span
	name     string
	types    []string
	dir      direction
	both     bool // <-[]->
	props    expr
	variable bool // of variable length
	min, max int  // bounds of the length; max < 0 is none
	slot     int
	bound    bool
	late     bool
}

type expr interface{ location() span }

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
	target expr
	key    string
}

type index struct {
	span
	target, index expr
}

type slice struct {
	span
	list, lower, upper expr // from and to may be nil
}

// labelTest is n:Label1:Label2.
type labelTest struct {
	span
	target expr
	labels []string
}

type unary struct {
	span
	op      string // NOT, +, -
	operand expr
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
	operand expr
	not     bool
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
