package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// entities returns what a name means, or nothing if the knowledge graph does not hold it. Several
// entities of the same name are all meant until a relation tells them apart.
func (x *alignment) entities(name string) []*graphv1.EntityLink {
	links := x.terms[name].GetLinks()
	if len(links) == 0 {
		return nil
	}
	var same []*graphv1.EntityLink
	for _, l := range links {
		if l.GetMatch() != graphv1.LinkMatch_LINK_MATCH_FUZZY {
			same = append(same, l)
		}
	}
	if len(same) > 0 {
		return same
	}
	best := links[0]
	if float64(best.GetScore()) < x.MinFuzzy || !spellsAlike(name, best.GetEntity()) {
		return nil
	}
	return links[:1]
}

// spellsAlike reports whether two names differ in a few letters or in the words around them only.
func spellsAlike(a, b string) bool {
	a, b = kgtext.Fold(a), kgtext.Fold(b)
	if a == "" || b == "" {
		return false
	}
	if strings.HasPrefix(b, a+" ") || strings.HasSuffix(b, " "+a) || strings.TrimSuffix(a,
		"s") == strings.TrimSuffix(b, "s") {
		return true
	}
	return editDistance(a, b) <= max(1, len([]rune(a))/7)
}

// editDistance counts the letters that differ (Levenshtein).
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 256 || len(y) > 256 {
		return max(len(x), len(y))
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, before+cost)
		}
	}
	return row[len(y)]
}

func (x *alignment) values(v *graphv1.QueryValues) string {
	out := &graphv1.QueryValues{Variable: v.GetVariable()}
	for _, name := range v.GetEntities() {
		links := x.entities(name)
		if len(links) == 0 {
			return fmt.Sprintf("the knowledge graph has no entity %q", name)
		}
		for _, l := range links {
			if !slices.Contains(out.Entities, l.GetEntity()) && len(out.Entities) < 256 {
				out.Entities = append(out.Entities, l.GetEntity())
			}
		}
		x.certainLink(links[0])
	}
	after := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: out}}
	before := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: v}}
	x.replaced(before, after, "what the names mean in the knowledge graph", nil)
	x.plan.Clauses = append(x.plan.Clauses, after)
	return ""
}

func (x *alignment) certainLink(l *graphv1.EntityLink) {
	switch l.GetMatch() {
	case graphv1.LinkMatch_LINK_MATCH_FUZZY:
		x.certain(0.7)
	case graphv1.LinkMatch_LINK_MATCH_ALIAS:
		x.certain(0.9)
	}
}

// anchored returns the links of a name that have the relation, or all if that is not known.
func anchored(links []*graphv1.EntityLink, best *graphv1.RelationCandidate) []*graphv1.EntityLink {
	var have []*graphv1.EntityLink
	for _, l := range links {
		if slices.Contains(best.GetAnchors(), l.GetEntity()) {
			have = append(have, l)
		}
	}
	if len(have) > 0 {
		return have
	}
	return links
}
