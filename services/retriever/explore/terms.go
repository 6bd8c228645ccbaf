package explore

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// link links the names. A topic entity that a name is part of, or that is part of it, is what it
// means.
func (e *explorer) link(topics []store.EntityID) error {
	inQuestion, err := link.Entities(e.ctx, e.snap, e.encoder, e.question, 32)
	if err != nil {
		return err
	}
	for _, name := range kgtext.PlanNames(e.plan) {
		term := Term{Name: name}
		key := store.Fold(name)
		for _, t := range topics {
			known := store.Fold(e.snap.EntityName(t))
			if known == key || strings.HasPrefix(known, key+" ") || strings.HasPrefix(key, known+" ") {
				term.Links = append(term.Links, link.Link{Entity: t, Mention: name, Match: link.Exact, Score: 1})
			}
		}
		if len(term.Links) == 0 {
			text, limit := name, linked
			if e.isType(name) {
				first, size := utf8.DecodeRuneInString(name)
				text = string(unicode.ToTitle(first)) + name[size:] // a kind may be a common word: a play, a place
				limit *= linked                                     // of "order 1" to "order 9" the kind is less likely
			}
			found, err := link.Entities(e.ctx, e.snap, e.encoder, text, limit)
			if err != nil {
				return err
			}
			for _, l := range found {
				// The mention is the whole name, not a word of it.
				if len(store.Fold(l.Mention))*5 < len(key)*4 {
					continue
				}
				for _, q := range inQuestion {
					if q.Entity == l.Entity && store.Fold(q.Mention) == store.Fold(l.Mention) {
						l.Score = max(l.Score, q.Score)
					}
				}
				term.Links = append(term.Links, l)
			}
			slices.SortStableFunc(term.Links, func(a, b link.Link) int {
				return cmp.Or(cmp.Compare(matchRank(a.Match), matchRank(b.Match)), cmp.Compare(b.Score, a.Score))
			})
			term.Links = term.Links[:min(len(term.Links), linked)]
		}
		if err := e.addNamed(&term); err != nil {
			return err
		}
		named := func(l link.Link) bool { return l.Match != link.Fuzzy }
		e.preferSpelling(&term)
		if e.isType(name) {
			if err := e.preferClasses(&term); err != nil {
				return err
			}
			if err := e.preferLonger(&term, inQuestion); err != nil {
				return err
			}
		} else if e.preferWhole(&term, inQuestion); !slices.ContainsFunc(term.Links, named) {
			if err := e.linkQualified(&term); err != nil {
				return err
			}
		}
		if !slices.ContainsFunc(term.Links, named) {
			if err := e.linkObject(&term); err != nil {
				return err
			}
		}
		if e.isType(name) && !slices.ContainsFunc(term.Links, named) {
			if err := e.linkSubclasses(&term); err != nil {
				return err
			}
		}
		if e.isType(name) && !slices.ContainsFunc(term.Links, named) {
			if err := e.linkAdjective(&term); err != nil {
				return err
			}
		}
		e.addParts(&term)
		fuzzyOnly := !slices.ContainsFunc(term.Links, named)
		if !fuzzyOnly && e.isType(name) && e.isSmall() && e.isDefinite(name) {
			isNone, err := e.lacksClass(term)
			if err != nil {
				return err
			}
			if isNone {
				e.ofName[name], term.OfKind = []store.EntityID{term.Links[0].Entity}, true
			}
		}
		if fuzzyOnly && kgtext.IsParticiple(name) && (e.isType(name) || e.isExcludedType(name)) {
			term.Links = nil // what was climbed is no climber
		}
		if fuzzyOnly && e.isType(name) {
			ofName, err := e.findOfName(term)
			if err != nil {
				return err
			}
			if len(ofName) > 0 {
				e.ofName[name], fuzzyOnly, term.OfKind, term.Links = ofName, false, true, nil
				for _, id := range ofName {
					term.Links = append(term.Links, link.Link{Entity: id, Mention: name, Match: link.Fuzzy})
				}
			}
		}
		for i, l := range term.Links {
			if l.Match != link.Fuzzy || fuzzyOnly && i < 2 {
				e.links[name] = append(e.links[name], l.Entity)
			}
		}
		e.terms = append(e.terms, term)
	}
	e.addUnplanned(inQuestion)
	return nil
}

// addUnplanned adds what the question names and the plan does not. Where a question has capitals, names have them.
func (e *explorer) addUnplanned(inQuestion []link.Link) {
	_, behindFirst, _ := strings.Cut(e.question, " ")
	hasCapitals := behindFirst != strings.ToLower(behindFirst)
	scores := map[string]float32{} // of mentions
	for _, q := range inQuestion {
		mention := kgtext.Fold(q.Mention)
		isLower := q.Mention == strings.ToLower(q.Mention)
		if q.Match == link.Fuzzy || hasCapitals && isLower || e.snap.Kind(q.Entity) != store.Entity ||
			slices.ContainsFunc(e.terms, func(t Term) bool {
				return kgtext.Mentions(t.Name, mention) || kgtext.Mentions(mention, t.Name)
			}) {
			continue
		}
		isSpelled := !isLower && strings.Contains(behindFirst, q.Mention)
		if scores[mention] += q.Score; scores[mention] >= surelyNamed || isSpelled {
			e.terms = append(e.terms, Term{Name: q.Mention, Links: []link.Link{q}})
		}
	}
}

// surelyNamed is the probability from which on a mention is a name.
const surelyNamed = 0.5

// addNamed adds what has the linked entity as its name: "springfield" names several cities.
func (e *explorer) addNamed(term *Term) error {
	relations := append(e.lookUp("name", "label", "alias", "also known as", "short name"), e.codes()...)
	if len(relations) == 0 || len(term.Links) == 0 {
		return nil
	}
	ids := make([]store.EntityID, len(term.Links))
	for i, l := range term.Links {
		ids[i] = l.Entity
	}
	lists, err := e.snap.Edges(e.ctx, ids, store.In, relations)
	if err != nil {
		return err
	}
	for i, edges := range lists {
		if term.Links[i].Match == link.Fuzzy {
			continue
		}
		for _, edge := range sample(edges, linked) {
			at := slices.IndexFunc(term.Links, func(l link.Link) bool { return l.Entity == edge.Entity })
			if at >= 0 && term.Links[at].Match == link.Fuzzy {
				term.Links[at].Match = link.Alias
			} else if at < 0 {
				term.Links = append(term.Links, link.Link{Entity: edge.Entity, Mention: term.Name, Match: link.Alias,
					Score: term.Links[i].Score})
			}
		}
	}
	return nil
}

// codes returns the relations of a table to what its rows are called by beside their names: ticket code.
func (e *explorer) codes() (relations []store.RelationID) {
	if !e.isSmall() {
		return nil
	}
	for r := range e.snap.Info().Relations {
		if id := store.RelationID(r); strings.HasSuffix(e.snap.RelationName(id), " code") {
			relations = append(relations, id)
		}
	}
	return relations
}

// preferClasses leaves out what is an instance of something and no kind, if the name may mean one: of an agency the
// kind "space agency" and not one of that name.
func (e *explorer) preferClasses(term *Term) error {
	ids := make([]store.EntityID, len(term.Links))
	for i, l := range term.Links {
		ids[i] = l.Entity
	}
	classes, err := e.findClasses(ids)
	if len(classes) > 0 {
		isInstance := func(l link.Link) bool { return !slices.Contains(classes, l.Entity) }
		term.Links = slices.DeleteFunc(term.Links, isInstance)
	}
	return err
}

// linkSubclasses links a kind that nothing is of with the kinds that end in its word: of an event MusicEvent and sports
// event.
func (e *explorer) linkSubclasses(term *Term) error {
	var found []link.Link
	for _, r := range e.types {
		things, err := e.subjects(walk.Step{Relation: r})
		if err != nil {
			return err
		}
		classes, err := e.follow(things, []walk.Step{{Relation: r}})
		if err != nil {
			return err
		}
		for _, id := range classes {
			if kgtext.IsSubclass(e.snap.EntityName(id), term.Name) && len(found) < maxSubclasses {
				found = append(found, link.Link{Entity: id, Mention: term.Name, Match: link.Alias, Score: 1})
			}
		}
	}
	if len(found) > 0 {
		term.Links = found
	}
	return nil
}

// maxSubclasses bounds the kinds that one is.
const maxSubclasses = 64

// preferLonger puts a kind first that the question says more precisely: "major city" for city. In a small graph without
// kinds that is no thing of that name.
func (e *explorer) preferLonger(term *Term, inQuestion []link.Link) error {
	key := store.Fold(term.Name)
	qualified, err := e.findQualified(key)
	if err != nil {
		return err
	}
	for _, q := range append(qualified, inQuestion...) {
		name := store.Fold(e.snap.EntityName(q.Entity))
		if !strings.HasSuffix(name, " "+key) {
			continue
		}
		isSaid := kgtext.SharedWords(name, e.question) == 1 && q.Match != link.Exact &&
			len(strings.Fields(name)) == len(strings.Fields(store.Fold(q.Mention)))
		if !isSaid && q.Match != link.Exact {
			continue
		}
		isInstance, err := e.isInstance(q.Entity)
		if err != nil {
			return err
		}
		if isInstance {
			continue
		}
		q.Match = link.Exact
		term.Links = append([]link.Link{q}, slices.DeleteFunc(term.Links,
			func(l link.Link) bool { return isSaid && l.Entity == q.Entity })...)
		return nil
	}
	return nil
}

// qualify returns a kind of one word with the words that the question has before it: the main course of "vegan main
// courses".
func (e *explorer) qualify(kind string) (names []string) {
	words := strings.Fields(store.Fold(e.question))
	for i := 1; i < len(words); i++ {
		if kgtext.SameNoun(words[i], kind) {
			names = append(names, words[i-1]+" "+kind)
		}
	}
	return names
}

// findQualified returns what has a kind as the question qualifies it for its name.
func (e *explorer) findQualified(kind string) (links []link.Link, err error) {
	for _, name := range e.qualify(kind) {
		ids, err := e.snap.Match(e.ctx, name)
		if err != nil {
			return nil, err
		}
		for _, id := range sample(ids, linked) {
			links = append(links, link.Link{Entity: id, Mention: name, Match: link.Exact, Score: 1})
		}
	}
	return links, nil
}

// isDefinite reports whether the question has a kind as the name of one thing: "who is in the choir".
func (e *explorer) isDefinite(kind string) bool {
	return kgtext.FoldWords(e.question).Mention("the " + store.Fold(kind))
}

// lacksClass reports whether a name is that of a thing that the graph says something of, and of nothing that it is one.
func (e *explorer) lacksClass(term Term) (bool, error) {
	l := term.Links[0]
	if l.Match == link.Fuzzy || store.Fold(e.snap.EntityName(l.Entity)) != store.Fold(term.Name) ||
		e.areCells([]store.EntityID{l.Entity}) {
		return false, nil
	}
	classes, err := e.findClasses([]store.EntityID{l.Entity})
	return len(classes) == 0, err
}

// maxOfName is the number of things that a plan may list in place of their kind.
const maxOfName = 64

// findOfName returns what has a kind in its name, if its name links to such things alone: the Red Line is a line, and
// nothing is a Red Line. It returns none where the graph is too large to tell, says what things are, or has more of
// them than a plan may list.
func (e *explorer) findOfName(term Term) (ids []store.EntityID, err error) {
	kind := " " + store.Fold(term.Name)
	isOne := func(id store.EntityID) bool { return strings.HasSuffix(store.Fold(e.snap.EntityName(id)), kind) }
	if len(term.Links) == 0 || !isOne(term.Links[0].Entity) {
		return nil, nil
	}
	if isInstance, err := e.isInstance(term.Links[0].Entity); !isInstance || err != nil {
		return nil, err
	}
	for id := range e.snap.Entities() {
		if isOne(id) {
			ids = append(ids, id)
		}
	}
	if len(ids) > maxOfName {
		return nil, nil
	}
	return ids, nil
}

// isInstance reports whether an entity of a small graph without kinds is a thing: the graph says something of it, and
// of nothing that it is one of that.
func (e *explorer) isInstance(id store.EntityID) (bool, error) {
	if !e.isTable() || len(e.types) > 0 || e.areCells([]store.EntityID{id}) {
		return false, nil
	}
	sorts := slices.Concat(e.sorts...)
	if len(sorts) == 0 {
		return true, nil
	}
	lists, err := e.snap.Edges(e.ctx, []store.EntityID{id}, store.In, sorts)
	return err == nil && len(lists[0]) == 0, err
}

// matchRank puts fuzzy matches behind all others.
func matchRank(m link.Match) int {
	if m == link.Fuzzy {
		return 1
	}
	return 0
}

// encode encodes the phrases and the question without names.
func (e *explorer) encode() error {
	e.residue = " " + e.question + " "
	for _, t := range e.terms {
		lower := strings.ToLower(e.residue)
		if i := strings.Index(lower, strings.ToLower(t.Name)); i >= 0 && len(lower) == len(e.residue) &&
			len(t.Name) > 2 &&
			strings.ToLower(t.Name) != "state" {
			if e.isType(t.Name) {
				continue
			}
			e.residue = e.residue[:i] + e.residue[i+len(t.Name):]
		}
	}
	e.residue = strings.Join(strings.Fields(e.residue), " ")
	texts := []string{cmp.Or(e.residue, e.question), "type", "occupation"}
	for _, c := range e.plan.GetClauses() {
		for _, p := range []*graphv1.QueryPattern{c.GetMatch(), c.GetExclude()} {
			phrase := kgtext.DescribeRelation(p)
			if phrase == "type" {
				phrase = p.GetEnd().GetEntity()
			}
			if phrase != "" && !slices.Contains(texts, phrase) {
				texts = append(texts, phrase)
			}
		}
	}
	if e.snap.Info().Dims == 0 {
		return nil
	}
	vectors, err := e.encoder.Encode(e.ctx, texts)
	if err != nil {
		return err
	}
	for i, text := range texts {
		e.vectors[text] = vectors[i]
	}
	e.vectors[""] = vectors[0]
	return nil
}

// isType reports whether a name of the plan is only what a variable is.
func (e *explorer) isType(name string) bool {
	for _, c := range e.plan.GetClauses() {
		if p := c.GetMatch(); p.GetEnd().GetEntity() == name && kgtext.DescribeRelation(p) != "type" {
			return false
		}
		if c.GetExclude().GetEnd().GetEntity() == name || slices.Contains(c.GetValues().GetEntities(), name) {
			return false
		}
	}
	return true
}

// isExcludedType reports whether a name of the plan is what a variable is not.
func (e *explorer) isExcludedType(name string) bool {
	return slices.ContainsFunc(e.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetExclude().GetEnd().GetEntity() == name && kgtext.DescribeRelation(c.GetExclude()) == "type"
	})
}

// cosine is that of a relation to a phrase; "" is the question.
func (e *explorer) cosine(r store.RelationID, phrase string) float32 {
	if c, ok := e.cosines[r][phrase]; ok {
		return c
	}
	v := e.vectors[phrase]
	own := e.snap.RelationVector(r)
	var c float32
	if len(v) > 0 && len(v) == len(own) {
		c = vector.Dot(v, own)
	}
	if e.cosines[r] == nil {
		e.cosines[r] = map[string]float32{}
	}
	e.cosines[r][phrase] = c
	return c
}

// genres, occupations and sexes are names of relations to sorts of works and of people.
var (
	sexes       = kgtext.Spell("sex", "gender", "sex or gender")
	genres      = kgtext.Spell("genre", "has genre")
	occupations = kgtext.Spell("occupation", "profession", "job title", "job", "role", "position", "office")
)

// findTypes finds the relations that say what a thing is, what a work is, or what somebody does.
func (e *explorer) findTypes() {
	e.types = e.lookUp(kgtext.TypeRelations()...)
	e.sorts = [][]store.RelationID{e.lookUp(genres...), e.lookUp(occupations...), e.lookUp(sexes...)}
}

// lookUp returns the relations of the knowledge graph that have one of some names.
func (e *explorer) lookUp(names ...string) (relations []store.RelationID) {
	for _, name := range names {
		if id, ok, err := e.snap.Relation(e.ctx, name); err == nil && ok {
			relations = append(relations, id)
		}
	}
	return relations
}

// domainOf returns what a term can be; nil if it can be anything.
func (e *explorer) domainOf(t *graphv1.QueryTerm) []store.EntityID {
	if v := t.GetVariable(); v != "" {
		return e.domains[v]
	}
	return e.links[t.GetEntity()]
}
