package cypher

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyStatementsMeanWhatTheReferenceDoes runs random statements one after
// the other, on the executor and on a reference of plain loops; after each the
// graphs are the same. Every MERGE runs twice: the second time changes nothing.
func TestAnyStatementsMeanWhatTheReferenceDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := &statements{graph: NewGraph(Limits{}), want: &reference{nodes: map[int]*thing{}}}
		r.Repeat(rapid.StateMachineActions(s))
	})
}

type statements struct {
	graph *Graph
	want  *reference
	run   []string
}

func (s *statements) Create(r *rapid.T) {
	n := drawThing(r)
	s.do(r, "CREATE "+n.text(""))
	s.want.create(n)
}

func (s *statements) CreatePath(r *rapid.T) {
	a, b, e := drawThing(r), drawThing(r), drawEdge(r)
	s.do(r, "CREATE "+a.text("")+"-"+e.text("")+"->"+b.text(""))
	s.want.connect(s.want.create(a), s.want.create(b), e)
}

func (s *statements) Connect(r *rapid.T) {
	a, b, e := drawThing(r), drawThing(r), drawEdge(r)
	s.do(r, "MATCH "+a.text("a")+", "+b.text("b")+" CREATE (a)-"+e.text("")+"->(b)")
	for _, start := range s.want.match(a) {
		for _, end := range s.want.match(b) {
			s.want.connect(start, end, e)
		}
	}
}

func (s *statements) Merge(r *rapid.T) {
	n := drawThing(r)
	set := rapid.IntRange(0, 2).Draw(r, "set")
	query := "MERGE " + n.text("n")
	s.do(r, fmt.Sprintf("%s ON CREATE SET n.made = %d ON MATCH SET n.met = %d", query, set, set))
	if found := s.want.match(n); len(found) == 0 {
		s.want.nodes[s.want.create(n)].props["made"] = set
	} else {
		for _, id := range found {
			s.want.nodes[id].props["met"] = set
		}
	}
	s.do(r, query)
}

func (s *statements) MergeBetween(r *rapid.T) {
	a, b, e := drawThing(r), drawThing(r), drawEdge(r)
	query := "MATCH " + a.text("a") + ", " + b.text("b") + " MERGE (a)-" + e.text("") + "->(b)"
	s.do(r, query)
	for _, start := range s.want.match(a) {
		for _, end := range s.want.match(b) {
			s.want.mergeBetween(start, end, e)
		}
	}
	s.do(r, query)
}

func (s *statements) MergeBeside(r *rapid.T) {
	// The first is one node at most: of several, the order in which they are
	// found would tell which new node has which number. Nor is it a node like the
	// new one, from which the second time would continue.
	a, b, e := drawThing(r), drawThing(r), drawEdge(r)
	starts := s.want.match(a)
	if len(starts) > 1 || b.fits(a) {
		return
	}
	query := "MATCH " + a.text("a") + " MERGE (a)-" + e.text("") + "->" + b.text("")
	s.do(r, query)
	for _, start := range starts {
		s.want.mergeBeside(start, b, e)
	}
	s.do(r, query)
}

func (s *statements) Set(r *rapid.T) {
	n, v := drawThing(r), rapid.IntRange(0, 2).Draw(r, "value")
	found := s.want.match(n)
	change := rapid.SampledFrom([]struct {
		text string
		do   func(*thing)
	}{
		{fmt.Sprintf("SET n.p = %d", v), func(t *thing) { t.props["p"] = v }},
		{fmt.Sprintf("SET n += {p: null, q: %d}", v), func(t *thing) { delete(t.props, "p"); t.props["q"] = v }},
		{fmt.Sprintf("SET n = {q: %d}", v), func(t *thing) { t.props = map[string]int{"q": v} }},
		{"SET n:B", func(t *thing) { t.labels["B"] = true }},
		{"REMOVE n.q", func(t *thing) { delete(t.props, "q") }},
		{"REMOVE n:A", func(t *thing) { delete(t.labels, "A") }},
	}).Draw(r, "change")
	s.do(r, "MATCH "+n.text("n")+" "+change.text)
	for _, id := range found {
		change.do(s.want.nodes[id])
	}
}

func (s *statements) SetBetween(r *rapid.T) {
	a, b, e, v := drawThing(r), drawThing(r), drawEdge(r), rapid.IntRange(0, 2).Draw(r, "value")
	found := s.want.between(a, b, e)
	s.do(r, fmt.Sprintf("MATCH %s-%s->%s SET e.p = %d", a.text(""), e.text("e"), b.text(""), v))
	for _, one := range found {
		one.props["p"] = v
	}
}

func (s *statements) Delete(r *rapid.T) {
	n := drawThing(r)
	found := s.want.match(n)
	if slices.ContainsFunc(found, s.want.connected) {
		s.expectConnectedNodeError(r, "MATCH "+n.text("n")+" DELETE n")
		s.do(r, "MATCH "+n.text("n")+" DETACH DELETE n")
	} else {
		s.do(r, "MATCH "+n.text("n")+" DELETE n")
	}
	s.want.remove(found)
}

func (s *statements) DeleteBetween(r *rapid.T) {
	a, b, e := drawThing(r), drawThing(r), drawEdge(r)
	found := s.want.between(a, b, e)
	s.do(r, "MATCH "+a.text("")+"-"+e.text("e")+"->"+b.text("")+" DELETE e")
	s.want.rels = slices.DeleteFunc(s.want.rels, func(one *edge) bool { return slices.Contains(found, one) })
}

func (s *statements) Count(r *rapid.T) {
	a, b, e := drawThing(r), drawThing(r), drawEdge(r)
	most, both := rapid.IntRange(1, 3).Draw(r, "hops"), rapid.Bool().Draw(r, "both ways")
	if len(s.want.rels) > 12 {
		return // there may be too many ways to count
	}
	arrow := "->"
	if both {
		arrow = "-"
	}
	result := s.do(r, fmt.Sprintf("MATCH %s-[:%s*1..%d]%s%s RETURN count(*)", a.text(""), e.kind, most,
		arrow, b.text("")))
	if got, want := result.Rows[0][0], int64(s.want.walks(a, b, e.kind, most, both)); got != want {
		r.Fatalf("after\n%s\n%v paths are counted, want %d", strings.Join(s.run, "\n"), got, want)
	}
}

// Check compares the graphs.
func (s *statements) Check(r *rapid.T) {
	got, want := linesOf(s.graph), s.want.lines()
	if !slices.Equal(got, want) {
		r.Fatalf("after\n%s\nthe graph is\n%s\nwant\n%s", strings.Join(s.run, "\n"), strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

func (s *statements) do(r *rapid.T, query string) Result {
	s.run = append(s.run, query)
	result, err := s.graph.Run(r.Context(), query, nil)
	if err != nil {
		r.Fatalf("%s: %v", query, err)
	}
	return result
}

// expectConnectedNodeError runs what must fail on a copy: after an error a graph may hold part of
// what a statement does.
func (s *statements) expectConnectedNodeError(r *rapid.T, query string) {
	copied := NewGraph(Limits{})
	for _, earlier := range s.run {
		if _, err := copied.Run(r.Context(), earlier, nil); err != nil {
			r.Fatal(err)
		}
	}
	_, err := copied.Run(r.Context(), query, nil)
	var failure *Error
	if !errors.As(err, &failure) || failure.Detail != "DeleteConnectedNode" {
		r.Fatalf("%s: error is %v", query, err)
	}
}

func drawThing(r *rapid.T) thing {
	t := thing{map[string]bool{}, map[string]int{}}
	for _, l := range []string{"A", "B"} {
		if rapid.IntRange(0, 2).Draw(r, "label "+l) == 0 {
			t.labels[l] = true
		}
	}
	t.props = drawProps(r)
	return t
}

func drawProps(r *rapid.T) map[string]int {
	props := map[string]int{}
	for _, k := range []string{"p", "q"} {
		if rapid.IntRange(0, 2).Draw(r, "property "+k) == 0 {
			props[k] = rapid.IntRange(0, 2).Draw(r, "value")
		}
	}
	return props
}

func drawEdge(r *rapid.T) edge {
	return edge{kind: rapid.SampledFrom([]string{"R", "S"}).Draw(r, "type"), props: drawProps(r)}
}
