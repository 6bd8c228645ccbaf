package openai

import (
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// annotation is a triple that a part of an answer rests on. OpenAI has
// annotations of a type "url_citation" alone, which has its data in a field of
// that name; clients pass types over that they do not know.
type annotation struct {
	Type   string `json:"type"` // "triple"
	Triple cited  `json:"triple"`
}

// cited is a triple, and the answer in the content that it speaks of.
type cited struct {
	Subject  string    `json:"subject"`
	Relation string    `json:"relation"`
	Object   string    `json:"object"`
	KG       string    `json:"kg,omitempty"`
	Validity *validity `json:"validity,omitempty"`
	Answer   string    `json:"answer,omitempty"`
	// StartIndex and EndIndex are where the answer stands in the content, in
	// characters (Unicode code points), the end not included; both are left out
	// where it stands nowhere in so many words.
	StartIndex *int `json:"start_index,omitempty"`
	EndIndex   *int `json:"end_index,omitempty"`
}

// validity is the time during which a triple holds, in ISO 8601 dates; an empty
// end is unknown or open.
type validity struct {
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
}

// annotate lists what the answers of a run rest on. A text has no answers:
// what it rests on are the facts it was written from of which it names both
// ends.
func annotate(content string, run *orchestratorv1.Run) []annotation {
	all := []annotation{}
	for _, a := range run.GetAnswers() {
		for _, t := range a.GetEvidence() {
			all = append(all, cite(content, a.GetAnswer(), t, run))
		}
	}
	if len(run.GetAnswers()) > 0 {
		return all
	}
	words := " " + verbalise.Fold(content) + " "
	for _, t := range facts(run) {
		subject, object := verbalise.Fold(t.GetSubject()), verbalise.Fold(t.GetObject())
		if subject != "" && object != "" && strings.Contains(words, " "+subject+" ") && strings.Contains(words, " "+object+" ") {
			all = append(all, cite(content, t.GetObject(), t, run))
		}
	}
	return all
}

// facts are the supported triples that PG&AKV writes an answer from.
func facts(run *orchestratorv1.Run) []*graphv1.Triple {
	graph := run.GetPgAkv().GetFixedGraph()
	if graph == nil {
		graph = run.GetAuto().GetPgAkv().GetFixedGraph()
	}
	var triples []*graphv1.Triple
	for _, t := range graph.GetTriples() {
		if t.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
			triples = append(triples, t.GetTriple())
		}
	}
	return triples
}

func cite(content, answer string, t *graphv1.Triple, run *orchestratorv1.Run) annotation {
	c := cited{Subject: t.GetSubject(), Relation: t.GetRelation(), Object: t.GetObject(), KG: t.GetKg(), Answer: answer}
	if c.KG == "" {
		c.KG = run.GetKg().GetName()
	}
	if v := t.GetValidity(); v.GetStart() != "" || v.GetEnd() != "" {
		c.Validity = &validity{v.GetStart(), v.GetEnd()}
	}
	if at := strings.Index(content, answer); at >= 0 && answer != "" {
		start := utf8.RuneCountInString(content[:at])
		end := start + utf8.RuneCountInString(answer)
		c.StartIndex, c.EndIndex = &start, &end
	}
	return annotation{Type: "triple", Triple: c}
}
