package cypher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Triple is one fact of a pseudo-graph, in words a person reads.
type Triple struct{ Subject, Relation, Object string }

// Pseudo is the pseudo-graph that a model wrote: its triples, each once, in the order of the text.
type Pseudo struct{ Triples []Triple }

// Diagnostic is one thing that Decode forgave or could not read.
type Diagnostic struct {
	// Line and Column count from 1 in the text given to Decode.
	Line, Column int
	Message      string
}

// String writes the diagnostic as line:column: message.
func (d Diagnostic) String() string { return fmt.Sprintf("%d:%d: %s", d.Line, d.Column, d.Message) }

// maxDiagnostics bounds what is reported of one text.
const maxDiagnostics = 100

// Decode reads the Cypher in a model's answer, runs it on a scratch graph and gives the triples of
// that graph: relationships, and the properties that state facts. Prose around the code, broken
// statements and most mistakes of models are forgiven, each with a Diagnostic; a statement that is
// lost does not take others with it. The method is PG&AKV §III-A, "pseudo-graph generation".
//
// The error is the context's, or a *LimitError; what was read until then is returned with it.
func Decode(ctx context.Context, text string, limits Limits) (Pseudo, []Diagnostic, error) {
	limits = limits.orDefault()
	var tooLong error
	if len(text) > limits.Bytes {
		tooLong = &LimitError{What: "bytes of text", Limit: limits.Bytes}
		text = text[:limits.Bytes]
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	d := newDecoder(ctx, text, limits)
	for _, unit := range d.reader.units() {
		d.run(unit)
	}
	pseudo := Pseudo{Triples: d.triples()}
	err := tooLong
	if d.executor.err != nil {
		err = d.executor.err
	}
	return pseudo, d.notes.diagnostics(d.source), err
}

// decoder runs units of code one after the other on one graph. Variables are
// carried from each to the next.
type decoder struct {
	*source
	reader   *reader
	executor *executor
	notes    *notes
	names    looseNames
}

func newDecoder(ctx context.Context, text string, limits Limits) *decoder {
	n := &notes{seen: map[note]bool{}}
	d := &decoder{notes: n, names: looseNames{carried: map[string]*carriedVariable{}, notes: n}}
	d.source = lexLoosely(text, d.notes)
	d.reader = &reader{source: d.source, limits: limits, notes: d.notes}
	d.executor = &executor{
		budget: newBudget(ctx, limits), source: d.source, graph: NewGraph(limits),
		loose: &looseRun{names: &d.names, notes: d.notes},
	}
	return d
}

// run analyses and runs one unit. Its own errors become diagnostics; those
// of the whole run (time, limits) end it.
func (d *decoder) run(u unit) {
	if d.executor.err != nil || len(u.clauses) == 0 {
		return
	}
	d.names.start()
	a := &analyser{source: d.source, scope: newScope(), loose: &d.names}
	d.names.first = a.scope
	q := &singleQuery{clauses: u.clauses}
	if a.single(q); a.err != nil {
		d.executor.err = a.err
		return
	}
	q.seeds = d.names.seeds
	d.executor.loose.scope = a.scope
	d.executor.loose.unit = u
	d.executor.cut = nil
	d.executor.single(q)
	var failure *Error
	if errors.As(d.executor.err, &failure) {
		d.executor.err, d.executor.depth, d.executor.hops = nil, 0, 0
		d.notes.add(failure.offset, "skipped: "+failure.Message)
	}
}

// note is a diagnostic before its line and column are known.
type note struct {
	offset  int32
	message string
}

// notes collects what Decode forgives, each once. What the lexer forgives
// counts only where the reader then found code; prose is full of apostrophes.
type notes struct {
	list   []note
	seen   map[note]bool
	lexed  []note // ordered by offset
	placed int    // how many of lexed were looked at
}

func (n *notes) add(offset int32, message string) {
	one := note{offset, message}
	if len(n.list) < maxDiagnostics && !n.seen[one] {
		n.seen[one] = true
		n.list = append(n.list, one)
	}
}

// takeLexed takes over what the lexer forgave between two offsets.
func (n *notes) takeLexed(from, to int32) {
	for ; n.placed < len(n.lexed) && n.lexed[n.placed].offset < to; n.placed++ {
		if one := n.lexed[n.placed]; one.offset >= from {
			n.add(one.offset, one.message)
		}
	}
}

// diagnostics returns the diagnostics in the order of the text.
func (n *notes) diagnostics(s *source) []Diagnostic {
	var all []Diagnostic
	for _, one := range n.list {
		line, column := s.position(int(one.offset))
		all = append(all, Diagnostic{line, column, one.message})
	}
	slices.SortStableFunc(all, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}
