package openai

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// annotation is a triple that a part of an answer rests on, as a citation of a page: OpenAI has no
// other kind, and clients that check what comes refuse whole answers for one of a kind that they do
// not know. What the page shows is beside it.
type annotation struct {
	Type        string   `json:"type"` // "url_citation"
	URLCitation citation `json:"url_citation"`
	Triple      cited    `json:"triple"`
}

// citation is a page that speaks for a part of the content.
type citation struct {
	// StartIndex and EndIndex are where that part stands, in characters (Unicode code points), the
	// end not included: the answer or, where it stands there in other words, everything.
	StartIndex int    `json:"start_index"`
	EndIndex   int    `json:"end_index"`
	Title      string `json:"title"`
	// URL is the run in the console, never an IRI of the knowledge graph: chat clients make links
	// of it, and the text of a knowledge graph is untrusted.
	URL string `json:"url"`
}

// cited is a triple, and the answer that it speaks of.
type cited struct {
	Subject string `json:"subject"`
	// SubjectID and ObjectID are the ids of the entities: their IRIs or keys in the source.
	SubjectID string    `json:"subject_id,omitempty"`
	Relation  string    `json:"relation"`
	Object    string    `json:"object"`
	ObjectID  string    `json:"object_id,omitempty"`
	KG        string    `json:"kg,omitempty"`
	Validity  *validity `json:"validity,omitempty"`
	// Provenance is where the triple comes from: file and line, named graph or statement.
	Provenance string `json:"provenance,omitempty"`
	Answer     string `json:"answer,omitempty"`
	// AnswerID is the id of the entity that is the answer.
	AnswerID string `json:"answer_id,omitempty"`
}

// validity is the time during which a triple holds, in ISO 8601 dates; an empty
// end is unknown or open.
type validity struct {
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
}

// annotate lists what the answers of a run rest on, with the page that shows the run. A text has no
// answers: what it rests on are the facts it was written from of which it names both ends.
func annotate(content string, run *orchestratorv1.Run, page string) []annotation {
	all := []annotation{}
	cite := func(answer, id string, t *graphv1.Triple) {
		start, end := locate(answer, content)
		all = append(all, annotation{
			Type:        "url_citation",
			URLCitation: citation{start, end, kgtext.FormatFact(t), page},
			Triple:      citedOf(answer, id, t, run),
		})
	}
	for _, a := range run.GetAnswers() {
		for _, t := range a.GetEvidence() {
			cite(a.GetAnswer(), a.GetId(), t)
		}
	}
	if len(run.GetAnswers()) > 0 {
		return all
	}
	words := kgtext.FoldWords(content)
	for _, t := range facts(run) {
		if words.Mention(kgtext.Fold(t.GetSubject())) && words.Mention(kgtext.Fold(t.GetObject())) {
			cite(t.GetObject(), t.GetObjectId(), t)
		}
	}
	return all
}

// facts are the supported triples that PG&AKV writes an answer from.
func facts(run *orchestratorv1.Run) []*graphv1.Triple {
	var triples []*graphv1.Triple
	for _, t := range run.GetPgAkv().GetFixedGraph().GetTriples() {
		if t.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
			triples = append(triples, t.GetTriple())
		}
	}
	return triples
}

func citedOf(answer, id string, t *graphv1.Triple, run *orchestratorv1.Run) cited {
	c := cited{
		Subject: t.GetSubject(), SubjectID: t.GetSubjectId(), Relation: t.GetRelation(),
		Object: t.GetObject(), ObjectID: t.GetObjectId(), Provenance: t.GetProvenance(),
		Answer: answer, AnswerID: id,
		KG: cmp.Or(t.GetKgName(), run.GetKg().GetName()),
	}
	if v := t.GetValidity(); v.GetStart() != "" || v.GetEnd() != "" {
		c.Validity = &validity{v.GetStart(), v.GetEnd()}
	}
	return c
}

// locate returns the spans of an answer in the content; the whole content if it does not occur.
func locate(answer, content string) (start, end int) {
	at := strings.Index(content, answer)
	if at < 0 || answer == "" {
		return 0, utf8.RuneCountInString(content)
	}
	start = utf8.RuneCountInString(content[:at])
	return start, start + utf8.RuneCountInString(answer)
}

// pageOf returns the console's URL of a run, on the host of the request.
func pageOf(r *http.Request, run *orchestratorv1.Run) string {
	u := url.URL{Scheme: "http", Host: r.Host, Path: "/"}
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		u.Scheme = "https"
	}
	u.Fragment = "/runs/" + run.GetId()
	return u.String()
}
