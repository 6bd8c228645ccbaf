package mcp

import (
	"fmt"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// triple is a fact as tools take and return it.
type triple struct {
	Subject  string   `json:"subject" jsonschema:"name of the subject"`
	Relation string   `json:"relation" jsonschema:"name of the relation"`
	Object   string   `json:"object" jsonschema:"name of the object, or a value"`
	From     string   `json:"from,omitempty" jsonschema:"ISO 8601 date since which it holds"`
	Until    string   `json:"until,omitempty" jsonschema:"ISO 8601 date until which it holds"`
	KG       string   `json:"kg,omitempty" jsonschema:"the knowledge graph that holds it, where several were read"`
	Score    *float64 `json:"score,omitempty" jsonschema:"closeness to what was asked, -1 to 1"`
}

func tripleOf(t *graphv1.Triple) triple {
	return triple{
		Subject: t.GetSubject(), Relation: t.GetRelation(), Object: t.GetObject(),
		From: t.GetValidity().GetStart(), Until: t.GetValidity().GetEnd(), KG: t.GetKg(),
	}
}

func triplesOf(all []*graphv1.Triple) []triple {
	out := make([]triple, len(all))
	for i, t := range all {
		out[i] = tripleOf(t)
	}
	return out
}

func scoredOf(all []*graphv1.ScoredTriple) []triple {
	out := make([]triple, len(all))
	for i, t := range all {
		score := round(t.GetScore())
		out[i] = tripleOf(t.GetTriple())
		out[i].Score = &score
	}
	return out
}

// String is the triple on one line: "Robert Stam | employer | New York
// University (since 1993)".
func (t triple) String() string {
	s := name(t.Subject) + " | " + name(t.Relation) + " | " + name(t.Object)
	switch {
	case t.From != "" && t.Until != "":
		s += fmt.Sprintf(" (%s to %s)", name(t.From), name(t.Until))
	case t.From != "":
		s += fmt.Sprintf(" (since %s)", name(t.From))
	case t.Until != "":
		s += fmt.Sprintf(" (until %s)", name(t.Until))
	}
	if t.KG != "" {
		s += " [" + name(t.KG) + "]"
	}
	return s
}

// step is one hop of a path.
type step struct {
	Relation string `json:"relation" jsonschema:"name of the relation"`
	Inverse  bool   `json:"inverse,omitempty" jsonschema:"true goes from the object to the subject"`
}

func stepsOf(all []*graphv1.RelationStep) []step {
	out := make([]step, len(all))
	for i, s := range all {
		out[i] = step{s.GetRelation(), s.GetInverse()}
	}
	return out
}

// String is the hop in a line; one that goes backwards has a small mark.
func (s step) String() string {
	if s.Inverse {
		return "^" + name(s.Relation)
	}
	return name(s.Relation)
}

func stepsText(all []step) string {
	parts := make([]string, len(all))
	for i, s := range all {
		parts[i] = s.String()
	}
	return strings.Join(parts, " -> ")
}
