package explore

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// preferWhole puts what the question names in more words in the place of a name that is a part of it:
// the Mississippi River for "Mississippi".
func (e *explorer) preferWhole(term *Term, inQuestion []link.Link) {
	key, question := store.Fold(term.Name), " "+store.Fold(e.question)+" "
	for _, q := range inQuestion {
		mention := store.Fold(q.Mention)
		if q.Match == link.Fuzzy || !strings.HasPrefix(mention, key+" ") && !strings.HasSuffix(mention, " "+key) ||
			strings.Count(question, " "+key+" ") > strings.Count(question, " "+mention+" ") {
			continue
		}
		term.Links = []link.Link{q}
		return
	}
}

// preferSpelling drops what has a name without capitals, where something else has it with those of the question: the
// skill "finance" of the department Finance. The other way round both are kept, as graphs write trumpet and Trumpet.
func (e *explorer) preferSpelling(term *Term) {
	key := store.Fold(term.Name)
	isCommon := func(l link.Link) bool {
		name := e.snap.EntityName(l.Entity)
		return name == strings.ToLower(name) && store.Fold(name) == key
	}
	isProper := func(l link.Link) bool {
		name := e.snap.EntityName(l.Entity)
		return name != strings.ToLower(name) && store.Fold(name) == key && strings.Contains(e.question, name)
	}
	if slices.ContainsFunc(term.Links, isProper) {
		term.Links = slices.DeleteFunc(term.Links, isCommon)
	}
}

// linkQualified links a name with the place that it is in: "Springfield Illinois" is what is called
// Springfield and has a triple with Illinois.
func (e *explorer) linkQualified(term *Term) error {
	words := strings.Fields(store.Fold(term.Name))
	if len(words) > maxQualifiedWords {
		return nil
	}
	for at := 1; at < len(words); at++ {
		places, err := e.snap.Match(e.ctx, strings.Join(words[at:], " "))
		if err != nil || len(places) == 0 {
			continue
		}
		head := strings.Join(words[:at], " ")
		things, err := e.snap.Match(e.ctx, head)
		if err != nil {
			return err
		}
		named := Term{Name: head}
		for _, id := range things {
			named.Links = append(named.Links, link.Link{Entity: id, Mention: term.Name, Match: link.Alias, Score: 1})
		}
		if err := e.addNamed(&named); err != nil {
			return err
		}
		for _, l := range named.Links {
			lists, err := e.snap.Edges(e.ctx, []store.EntityID{l.Entity}, store.Out, nil)
			if err != nil {
				return err
			}
			isIn := func(edge store.Edge) bool { return slices.Contains(places, edge.Entity) }
			if slices.ContainsFunc(lists[0], isIn) {
				term.Links = append(term.Links, l)
			}
		}
		if len(term.Links) > 0 {
			return nil
		}
	}
	return nil
}

// linkObject links a name that ends in the relation that leads to it: the "sales department" is the Sales that things
// have as their department.
func (e *explorer) linkObject(term *Term) error {
	words := strings.Fields(store.Fold(term.Name))
	for at := 1; at < len(words) && len(words) <= maxQualifiedWords; at++ {
		relations := e.lookUp(strings.Join(words[at:], " "))
		if len(relations) == 0 {
			continue
		}
		objects, err := e.snap.Match(e.ctx, strings.Join(words[:at], " "))
		if err != nil {
			return err
		}
		if len(objects) == 0 {
			continue
		}
		term.Links = nil
		for _, id := range sample(objects, linked) {
			around, err := e.snap.Relations(e.ctx, id, store.In)
			if err != nil {
				return err
			}
			isAmong := func(r store.RelationEdges) bool { return slices.Contains(relations, r.Relation) }
			if slices.ContainsFunc(around, isAmong) {
				term.Links = append(term.Links, link.Link{Entity: id, Mention: term.Name, Match: link.Alias, Score: 1})
				e.named[term.Name] = relations
			}
		}
		return nil
	}
	return nil
}

// linkAdjective links what tells a kind apart by the words before its noun, the genre Horror of a horror film, and
// women with their sex.
func (e *explorer) linkAdjective(term *Term) error {
	noun := strings.LastIndex(term.Name, " ")
	word := store.Fold(term.Name[:max(0, noun)])
	if noun < 0 {
		word = string(kgtext.SexOf(term.Name))
	}
	if word == "" {
		return nil
	}
	found, err := e.snap.Match(e.ctx, word)
	for _, id := range sample(found, linked) {
		term.Links = append(term.Links, link.Link{Entity: id, Mention: term.Name, Match: link.Alias, Score: 1})
	}
	return err
}

// maxQualifiedWords bounds the search for a name and its place.
const maxQualifiedWords = 8

// narrowByType keeps of several things of one name those that are what the plan says of them: the
// river of River("colorado") and of State(river="colorado").
func (e *explorer) narrowByType() error {
	if len(e.types) == 0 {
		return nil
	}
	for i := range e.terms {
		t := &e.terms[i]
		ids := e.links[t.Name]
		if len(ids) < 2 {
			continue
		}
		kinds := e.kindsOf(t.Name)
		lists, err := e.snap.Edges(e.ctx, ids, store.Out, e.types)
		if err != nil {
			return err
		}
		var kept, others []store.EntityID
		for j, edges := range lists {
			if slices.ContainsFunc(edges, func(edge store.Edge) bool {
				return slices.Contains(kinds, store.Fold(e.snap.EntityName(edge.Entity)))
			}) {
				kept = append(kept, ids[j])
			} else {
				others = append(others, ids[j])
			}
		}
		if len(kept) == 0 || len(others) == 0 {
			continue
		}
		if hides, err := e.hides(t.Name, kept, others); err != nil {
			return err
		} else if hides {
			continue
		}
		e.links[t.Name] = kept
		t.Links = slices.DeleteFunc(t.Links, func(l link.Link) bool { return !slices.Contains(kept, l.Entity) })
	}
	return nil
}

// hides reports whether of things of one name those that are kept have no relation that the plan follows from it, and
// others do, by its words: a draft says City for the state whose capital is asked for.
func (e *explorer) hides(name string, kept, others []store.EntityID) (bool, error) {
	isListed, has := map[string]bool{}, [2]bool{}
	for _, c := range e.plan.GetClauses() {
		v, p := c.GetValues(), c.GetMatch()
		isListed[v.GetVariable()] = isListed[v.GetVariable()] || slices.Contains(v.GetEntities(), name)
		if p.GetStart().GetEntity() != name && !isListed[p.GetStart().GetVariable()] {
			continue
		}
		for i, ids := range [][]store.EntityID{kept, others} {
			relations, err := e.findNamed(ids, kgtext.DescribeRelation(p))
			if err != nil {
				return false, err
			}
			has[i] = has[i] || len(relations) > 0
		}
	}
	return !has[0] && has[1], nil
}

// kindsOf returns the words, folded, by which the plan says what a name is: the variable it is listed
// for, and the relation that leads to it.
func (e *explorer) kindsOf(name string) []string {
	var kinds []string
	for _, c := range e.plan.GetClauses() {
		if v := c.GetValues(); slices.Contains(v.GetEntities(), name) {
			kinds = append(kinds, store.Fold(strings.TrimRight(v.GetVariable(), "0123456789")))
		}
		for _, p := range []*graphv1.QueryPattern{c.GetMatch(), c.GetExclude()} {
			if p.GetEnd().GetEntity() == name {
				kinds = append(kinds, store.Fold(kgtext.DescribeRelation(p)))
			}
		}
	}
	return kinds
}
