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

// seed gives a slot of the first rows its values: a variable of an earlier
// statement, where Decode carries it on. There is a row for each value.
type seed struct {
	slot  int
	nodes []*Node
}

// span is a range of tokens, by index: what an error points at and what a
// column without alias is called.
type span struct{ from, to int32 }

func (s span) where() span { return s }

type clause interface{ where() span }

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
	more              []*pathPattern // further paths, which only Decode reads
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
