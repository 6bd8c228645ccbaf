package explore

import (
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// maxColumns is the number of relations up to which a graph without types is taken for a table.
const maxColumns = 64

// isTable reports whether the graph may be a table: each row is an entity, each column a relation. It tells
// no kinds of things apart.
func (e *explorer) isTable() bool { return e.isUniform && e.isSmall() }

// isSmall reports whether the graph is no larger than a table.
func (e *explorer) isSmall() bool {
	info := e.snap.Info()
	return info.Relations > 0 && info.Relations <= maxColumns && info.Entities <= domainSize*10
}

// findUniform finds out whether all things are of one kind, as far as the graph says: none, or that of the rows of a
// table, which may have a column "type" beside it.
func (e *explorer) findUniform() error {
	if e.isUniform = len(e.types) == 0; e.isUniform || !e.isSmall() {
		return nil
	}
	s := walk.Step{Relation: e.types[0]}
	rows, err := e.subjects(s)
	if err != nil {
		return err
	}
	rows = sample(rows, sampled)
	kinds, err := e.follow(rows, []walk.Step{s})
	if err != nil {
		return err
	}
	if e.isUniform = len(e.types) == 1 && len(kinds) == 1; e.isUniform || e.snap.Info().Relations < minColumns {
		return nil
	}
	e.isUniform, err = e.haveAlike(rows)
	return err
}

// minColumns is the number of relations from which on a graph that tells several kinds apart may be a table.
const minColumns = 5

// alikeFrom is the mean share of all relations from which on things that have them are rows of a table.
const alikeFrom = 0.6

// haveAlike reports whether things have most relations of the graph, as rows do.
func (e *explorer) haveAlike(rows []store.EntityID) (bool, error) {
	cells := 0
	for _, id := range rows {
		relations, err := e.snap.Relations(e.ctx, id, store.Out)
		if err != nil {
			return false, err
		}
		cells += len(relations)
	}
	return float64(cells) >= alikeFrom*float64(len(rows))*float64(e.snap.Info().Relations), nil
}

// findRows returns the relation of a table that most of its rows have: they are what a kind means there, whatever it
// is, unless the plan says of what kind they are before.
func (e *explorer) findRows(o open) []Candidate {
	if !e.isTable() {
		return nil
	}
	for _, r := range e.lookUp(o.pattern.GetEnd().GetEntity()) { // parties are what somebody has as a party
		s := walk.Step{Relation: r, Inverse: true}
		if ends, err := e.subjects(s); err == nil && len(ends) > 0 && !e.areCells(ends[:1]) {
			return []Candidate{{Steps: []walk.Step{s}, Implied: 1, Coverage: 1, Triples: e.snap.RelationTriples(r)}}
		}
	}
	best, most := store.RelationID(0), 0
	for r := range e.snap.Info().Relations {
		id := store.RelationID(r)
		n := e.snap.RelationTriples(id)
		if e.isPlanned(id, o.pattern.GetStart().GetVariable()) {
			n += int(e.snap.Info().Triples) // drugs are what has a dose, if the question asks for that
		}
		if n > most {
			best, most = id, n
		}
	}
	c := Candidate{Steps: []walk.Step{{Relation: best}}, Coverage: 1, Triples: e.snap.RelationTriples(best)}
	if !e.isPredicate(o) {
		c.Implied = 1
	}
	return []Candidate{c}
}

// isPlanned reports whether the plan says of a variable what a relation does, in all of its words.
func (e *explorer) isPlanned(r store.RelationID, variable string) bool {
	return slices.ContainsFunc(e.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		return p.GetStart().GetVariable() == variable && variable != "" && kgtext.DescribeRelation(p) != "type" &&
			e.matchWords(r, kgtext.DescribeRelation(p)) == 1
	})
}

// column returns the column of a table that has the name of a kind, if its cells are no rows. One of yes and no may
// have a word of the kind: those who "work remotely" are so by "remote". A graph with several kinds of rows has no
// other.
func (e *explorer) column(kind string) (Candidate, bool) {
	if kind == "" || !e.isSmall() {
		return Candidate{}, false
	}
	isNoFlag := func(id store.EntityID) bool { return !kgtext.IsFlag(e.snap.EntityName(id)) }
	for r := range e.snap.Info().Relations {
		s := walk.Step{Relation: store.RelationID(r)}
		name := e.snap.RelationName(s.Relation)
		if kgtext.SharedWords(name, kind) < 1 {
			continue
		}
		rows, err := e.subjects(s)
		if err != nil || len(rows) == 0 {
			continue
		}
		c := Candidate{Steps: []walk.Step{s}, Phrase: e.cosine(s.Relation, kind), Question: e.cosine(s.Relation, ""),
			Words: 1, Coverage: 1, Triples: e.snap.RelationTriples(s.Relation)}
		if _, err := e.probe(&c, sample(rows, sampled), nil, kind); err == nil && e.areCells(c.ends) &&
			(e.isTable() && kgtext.SharedWords(kind, name) == 1 || !slices.ContainsFunc(c.ends, isNoFlag)) {
			return c, true
		}
	}
	return Candidate{}, false
}

// isModified reports whether a clause says what its start is by the word before a noun: the fuel of an electric car.
func (e *explorer) isModified(o open) bool {
	kind := store.Fold(o.pattern.GetEnd().GetEntity())
	return slices.ContainsFunc(o.end, func(id store.EntityID) bool {
		return strings.HasPrefix(kind, store.Fold(e.snap.EntityName(id))+" ")
	})
}

// isCell reports whether a clause says what its start is by what a cell of a table says and the name of no column: the
// alliums are the plants of that family.
func (e *explorer) isCell(o open) bool {
	kind := store.Fold(o.pattern.GetEnd().GetEntity())
	if !e.isTable() || !e.areCells(o.end) || !slices.ContainsFunc(o.end, func(id store.EntityID) bool {
		name := store.Fold(e.snap.EntityName(id))
		return kgtext.SameNoun(name, kind) || slices.Contains(e.qualify(kind), name)
	}) {
		return false
	}
	_, isColumn := e.column(o.pattern.GetEnd().GetEntity())
	return !isColumn
}

// areCells reports whether no triple says anything of some entities, which are then only ends.
func (e *explorer) areCells(ids []store.EntityID) bool {
	for _, id := range ids {
		relations, err := e.snap.Relations(e.ctx, id, store.Out)
		if err != nil || len(relations) > 0 {
			return false
		}
	}
	return len(ids) > 0
}

// addParts links the cells of a table that list a name among others, such as "Mara Vell & Per Holm".
func (e *explorer) addParts(term *Term) {
	if !e.isTable() {
		return
	}
	key := store.Fold(term.Name)
	for id := range e.snap.Entities() {
		cell := e.snap.EntityName(id)
		if len(term.Links) >= maxParts || len(cell) <= len(key) || !listForm.MatchString(cell) ||
			slices.ContainsFunc(term.Links, func(l link.Link) bool { return l.Entity == id && l.Match != link.Fuzzy }) {
			continue
		}
		parts := listForm.Split(cell, -1)
		if slices.ContainsFunc(parts, func(part string) bool { return store.Fold(part) == key }) &&
			e.areCells([]store.EntityID{id}) {
			term.Links = slices.DeleteFunc(term.Links, func(l link.Link) bool { return l.Entity == id })
			term.Links = append(term.Links, link.Link{Entity: id, Mention: term.Name, Match: link.Exact, Score: 1})
		}
	}
}

// maxParts bounds the cells that a name is found in.
const maxParts = 64

// listForm is what stands between the names of a cell.
var listForm = regexp.MustCompile(`\s*(?:[,;&/]|\band\b)\s*`)

// acrossRows returns the candidates that lead from cells of a table over their rows to other columns:
// the capacity of the stadium whose town is named.
func (e *explorer) acrossRows(cells []store.EntityID, target map[store.EntityID]bool,
	phrase string) ([]Candidate, error) {
	if !e.isTable() || !e.areCells(cells) {
		return nil, nil
	}
	var found []Candidate
	for r := range e.snap.Info().Relations {
		s := walk.Step{Relation: store.RelationID(r), Inverse: true}
		rows, err := e.follow(cells, []walk.Step{s})
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			continue
		}
		further, err := e.onward(Candidate{Steps: []walk.Step{s}, Coverage: 1}, sample(rows, sampled), target, phrase)
		if err != nil {
			return nil, err
		}
		found = append(found, further...)
	}
	return found, nil
}

// boundsYear reports whether the plan compares a variable with a year that the question sets a bound by:
// "after 2010".
func (e *explorer) boundsYear(variable string) bool {
	if variable == "" {
		return false
	}
	for _, c := range e.plan.GetClauses() {
		if cond := c.GetCondition(); cond.GetVariable() == variable && boundedYear.MatchString(e.question) &&
			strings.Contains(boundedYear.FindString(e.question), cond.GetValue()) && cond.GetValue() != "" {
			return true
		}
	}
	return false
}

var boundedYear = regexp.MustCompile(`(?i)\b(?:after|before|since|until|by|during|in) ` +
	`(?:the year |(?:\d\d? )?\p{Lu}\p{Ll}+ (?:\d\d?, )?)?(?:1\d|20)\d{2}\b`)

// findNumbers returns the relation to numbers that has the name of a kind of which nothing is: the beds of a graph that
// says how many beds each ward has.
func (e *explorer) findNumbers(kind string) ([]Candidate, error) {
	for _, r := range e.lookUp(kind, kind+"s") {
		s := walk.Step{Relation: r}
		things, err := e.subjects(s)
		if err != nil {
			return nil, err
		}
		c := Candidate{Steps: []walk.Step{s}, Words: 1, Coverage: 1, Triples: e.snap.RelationTriples(r)}
		if _, err := e.probe(&c, sample(things, sampled), nil, kind); err != nil || c.Comparable >= mostlyNumbers {
			return []Candidate{c}, err
		}
	}
	return nil, nil
}

// mostlyNumbers is the share of numbers from which on a relation leads to numbers.
const mostlyNumbers = 0.8
