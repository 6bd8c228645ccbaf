package openai

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// annotation is a triple that a part of an answer rests on, as a citation of a
// page: OpenAI has no other kind, and clients that check what comes refuse
// whole answers for one of a kind that they do not know. What the page shows is
// beside it.
type annotation struct {
	Type        string   `json:"type"` // "url_citation"
	URLCitation citation `json:"url_citation"`
	Triple      cited    `json:"triple"`
}

// citation is a page that speaks for a part of the content.
type citation struct {
	// StartIndex and EndIndex are where that part stands, in characters (Unicode
	// code points), the end not included: the answer or, where it stands there in
	// other words, everything.
	StartIndex int    `json:"start_index"`
	EndIndex   int    `json:"end_index"`
	Title      string `json:"title"`
	URL        string `json:"url"`
}

// cited is a triple, and the answer that it speaks of.
type cited struct {
	Subject  string    `json:"subject"`
	Relation string    `json:"relation"`
	Object   string    `json:"object"`
	KG       string    `json:"kg,omitempty"`
	Validity *validity `json:"validity,omitempty"`
	Answer   string    `json:"answer,omitempty"`
}

// validity is the time during which a triple holds, in ISO 8601 dates; an empty
// end is unknown or open.
type validity struct {
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
}

// annotate lists what the answers of a run rest on, with the page that shows
// the run. A text has no answers: what it rests on are the facts it was written
// from of which it names both ends.
func annotate(content string, run *orchestratorv1.Run, page string) []annotation {
	all := []annotation{}
	cite := func(answer string, t *graphv1.Triple) {
		start, end := where(answer, content)
		all = append(all, annotation{
			Type:        "url_citation",
			URLCitation: citation{start, end, verbalise.Fact(t), page},
			Triple:      citedOf(answer, t, run),
		})
	}
	for _, a := range run.GetAnswers() {
		for _, t := range a.GetEvidence() {
			cite(a.GetAnswer(), t)
		}
	}
	if len(run.GetAnswers()) > 0 {
		return all
	}
	words := " " + verbalise.Fold(content) + " "
	for _, t := range facts(run) {
		subject, object := verbalise.Fold(t.GetSubject()), verbalise.Fold(t.GetObject())
		if subject != "" && object != "" && strings.Contains(words, " "+subject+" ") && strings.Contains(words, " "+object+" ") {
			cite(t.GetObject(), t)
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

func citedOf(answer string, t *graphv1.Triple, run *orchestratorv1.Run) cited {
	c := cited{
		Subject: t.GetSubject(), Relation: t.GetRelation(), Object: t.GetObject(), Answer: answer,
		KG: cmp.Or(t.GetKg(), run.GetKg().GetName()),
	}
	if v := t.GetValidity(); v.GetStart() != "" || v.GetEnd() != "" {
		c.Validity = &validity{v.GetStart(), v.GetEnd()}
	}
	return c
}

// where an answer stands in a content; everywhere, where it stands nowhere.
func where(answer, content string) (start, end int) {
	at := strings.Index(content, answer)
	if at < 0 || answer == "" {
		return 0, utf8.RuneCountInString(content)
	}
	start = utf8.RuneCountInString(content[:at])
	return start, start + utf8.RuneCountInString(answer)
}

// pageOf is where the console shows a run, at the address by which the caller
// came.
func pageOf(r *http.Request, run *orchestratorv1.Run) string {
	u := url.URL{Scheme: "http", Host: r.Host, Path: "/"}
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		u.Scheme = "https"
	}
	u.Fragment = "/runs/" + run.GetId()
	return u.String()
}
