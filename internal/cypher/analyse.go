package cypher

import (
	"errors"
	"maps"
	"slices"
)

// analyser checks a parsed query as openCypher does at compile time and gives
// every variable its slot.
type analyser struct {
	*source
	scope *scope
	err   error

	// aggregates collects the aggregating calls of a projection; nil if none may stand.
	aggregates *[]*call
	inside     bool // an aggregate's argument
	predicate  bool // a pattern is allowed here
	order      *orderScope

	// loose is set when Decode runs the query: names that are not declared
	// are then looked up among those of earlier statements.
	loose *looseNames
}

func analyse(q *Query) error {
	var columns []string
	for i, part := range q.parts {
		a := &analyser{source: q.source, scope: newScope()}
		got := a.single(part)
		if a.err != nil {
			return a.err
		}
		if i > 0 && !sameColumns(columns, got) {
			return q.source.failure(part.clauses[0].location(), CompileTime, syntaxError,
				"DifferentColumnsInUnion", "the parts of a UNION return %v and %v", columns, got)
		}
		columns = got
	}
	return nil
}

func sameColumns(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (a *analyser) fail(at span, detail, format string, args ...any) {
	a.failAs(at, syntaxError, detail, format, args...)
}

func (a *analyser) failAs(at span, kind, detail, format string, args ...any) {
	if a.err == nil {
		a.err = a.failure(at, CompileTime, kind, detail, format, args...)
	}
}

// single analyses a query without UNION and returns its columns.
func (a *analyser) single(q *singleQuery) (columns []string) {
	first := a.scope
	updated := false
	kept := q.clauses[:0:0]
	for i, c := range q.clauses {
		a.scope.clause++
		last := i == len(q.clauses)-1
		switch c := c.(type) {
		case *matchClause, *unwindClause:
			if updated && a.loose == nil {
				a.fail(c.location(), "InvalidClauseComposition",
					"WITH is required between a clause that writes and one that reads")
			}
			if last && a.loose == nil {
				a.fail(c.location(), "InvalidClauseComposition",
					"a query cannot end here: it needs RETURN or a clause that writes")
			}
		case *projection:
			updated = false
			if last && !c.isReturn && a.loose == nil {
				a.fail(c.location(), "InvalidClauseComposition", "a query cannot end with WITH")
			}
		default:
			updated = true
		}
		before := a.scope
		if !a.tolerate(func() { a.clause(c) }) {
			a.scope = before // a skipped WITH opens no scope
			continue
		}
		kept = append(kept, c)
		if r, ok := c.(*projection); ok && r.isReturn {
			for _, it := range r.items {
				columns = append(columns, it.name)
			}
		}
		if a.err != nil {
			return nil
		}
	}
	q.clauses = kept
	q.width = first.width
	return columns
}

// tolerate analyses a part that Decode may skip: if the analysis fails, the part is dropped. A
// strict query keeps the error.
func (a *analyser) tolerate(part func()) bool {
	part()
	var e *Error
	if a.loose == nil || !errors.As(a.err, &e) {
		return true
	}
	a.loose.notes.add(e.offset, "skipped: "+e.Message)
	a.err, a.aggregates, a.order, a.inside, a.predicate = nil, nil, nil, false, false
	return false
}

func (a *analyser) clause(c clause) {
	switch c := c.(type) {
	case *matchClause:
		a.match(c)
	case *createClause:
		for _, path := range c.paths {
			a.createPath(path, "CREATE")
		}
	case *mergeClause:
		a.merge(c)
	case *setClause:
		a.set(c.items)
	case *removeClause:
		a.set(c.items)
	case *deleteClause:
		a.delete(c)
	case *unwindClause:
		a.expr(c.list)
		c.slot = a.declareNew(c.span, c.name, anyKind)
	case *projection:
		a.project(c)
	case *callClause:
		a.failAs(c.span, procedureError, "ProcedureNotFound", "there is no procedure %s", c.name)
	}
}

// declareNew declares a variable that must not be declared yet and returns its slot.
func (a *analyser) declareNew(at span, name string, k valueKind) int {
	if a.scope.names[name] != nil {
		a.fail(at, "VariableAlreadyBound", "the variable %s is declared already", name)
	}
	return a.scope.declare(name, k).slot
}

func (a *analyser) set(items []*setItem) {
	for _, it := range items {
		a.expr(it.target)
		if it.value != nil {
			a.expr(it.value)
			if it.key != "" && listHoldsMap(it.value) {
				a.failAs(it.span, typeError, "InvalidPropertyType", "a property cannot hold a map")
			}
		}
	}
}

// listHoldsMap finds a map where the query itself writes one into a property.
func listHoldsMap(e expr) bool {
	l, ok := e.(*listExpr)
	if !ok {
		return false
	}
	for _, x := range l.items {
		if _, ok := x.(*mapExpr); ok {
			return true
		}
	}
	return false
}

func (a *analyser) delete(c *deleteClause) {
	for _, e := range c.exprs {
		if t, ok := e.(*labelTest); ok {
			a.fail(t.span, "InvalidDelete", "DELETE takes entities; REMOVE takes labels")
			return
		}
		if k := a.expr(e); k.isEntityFree() && k != listKind && k != mapKind && k != nodesKind {
			a.fail(e.location(), "InvalidArgumentType", "DELETE takes nodes, relationships and paths")
		}
	}
}

// valueKind is what the analyser knows of a value before the query runs.
type valueKind uint8

const (
	anyKind valueKind = iota
	nodeKind
	relKind
	relsKind // of a pattern of variable length
	pathKind
	nullKind
	boolKind
	numberKind
	textKind
	listKind
	nodesKind // a list that holds a node
	mapKind
)

// isEntityFree reports whether such a value can be neither node nor relationship.
func (k valueKind) isEntityFree() bool { return k >= boolKind }

// binding is a variable in scope.
type binding struct {
	slot   int
	kind   valueKind
	clause int // by number, that declared it; 0 for an outer one
}

// scope holds the variables between two WITHs; a row has a slot for each, and
// for each unnamed element of a pattern.
type scope struct {
	names  map[string]*binding
	width  int
	clause int // number of the clause that is being analysed, from 1
}

func newScope() *scope { return &scope{names: map[string]*binding{}} }

func (s *scope) slot() int {
	s.width++
	return s.width - 1
}

func (s *scope) declare(name string, k valueKind) *binding {
	b := &binding{slot: s.slot(), kind: k, clause: s.clause}
	if name != "" {
		s.names[name] = b
	}
	return b
}

// fresh reports whether the clause that is being analysed declared a variable.
func (s *scope) fresh(b *binding) bool { return b.clause == s.clause && b.clause > 0 }

func (s *scope) sortedNames() []string { return slices.Sorted(maps.Keys(s.names)) }
