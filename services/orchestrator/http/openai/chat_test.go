package openai_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/openai"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// completion is what the tests read of an answer.
type completion struct {
	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Index   int
		Message struct {
			Role, Content string
			Annotations   []annotation
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage      map[string]int
	Triplemesh struct{ Run run }
}

type annotation struct {
	Type   string
	Triple struct {
		Subject, Relation, Object, KG, Answer string
		Validity                              map[string]string
	}
	Page struct {
		Start      int `json:"start_index"`
		End        int `json:"end_index"`
		Title, URL string
	} `json:"url_citation"`
}

type run struct {
	ID, Question, StandaloneQuestion, Method, Grounding, GroundingReason, TraceID string
	KG                                                                            struct{ Name, Snapshot string }
	Answers                                                                       []struct {
		Answer   string
		Evidence []struct{ Subject, Relation, Object string }
	}
	Stages []struct{ Stage, Duration string }
	Usage  map[string]any
	PgAkv  map[string]any
}

func TestAQuestionIsAnsweredWithWhatItRestsOn(t *testing.T) {
	url := serve(t, stagetest.New(t), openai.Config{})
	resp, text := call(t, "POST", url+"/chat/completions",
		film("triplemesh/pg-akv", `, "temperature": 0.2, "max_tokens": 5, "user": "u", "unheard_of": {"x": 1}`))
	got := decode[completion](t, text)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" ||
		len(got.Choices) != 1 {
		t.Fatalf("%s: %s", resp.Status, text)
	}
	run, m := got.Triplemesh.Run, got.Choices[0].Message
	if got.Object != "chat.completion" || got.ID != "chatcmpl-"+run.ID || got.Model != "triplemesh/pg-akv" ||
		got.Created == 0 || got.Choices[0].FinishReason != "stop" {
		t.Errorf("the envelope is %s", text)
	}
	if m.Role != "assistant" || m.Content != "It was Erik Halvorsen." {
		t.Errorf("%s says %q", m.Role, m.Content)
	}
	if len(m.Annotations) != 1 {
		t.Fatalf("annotated by %v", m.Annotations)
	}
	a := m.Annotations[0]
	if a.Type != "url_citation" || a.Triple.Subject != "The Quiet Harbour" || a.Triple.Relation != "director" ||
		a.Triple.Object != stagetest.Director || a.Triple.KG != "wikidata" {
		t.Errorf("the annotation is %+v", a)
	}
	if m.Content[a.Page.Start:a.Page.End] != stagetest.Director ||
		a.Page.Title != "The Quiet Harbour | director | Erik Halvorsen" {
		t.Errorf("the page is %+v, of %q", a.Page, m.Content)
	}
	if want := strings.TrimSuffix(url, "v1") + "#/runs/" + run.ID; a.Page.URL != want {
		t.Errorf("the page is %s, want %s", a.Page.URL, want)
	}
	if want := map[string]int{"prompt_tokens": 30, "completion_tokens": 15,
		"total_tokens": 45}; got.Usage["prompt_tokens"] != 30 || got.Usage["completion_tokens"] != 15 ||
		got.Usage["total_tokens"] != 45 {
		t.Errorf("the usage is %v, want %v", got.Usage, want)
	}
	if run.Question != stagetest.Film || run.Method != "pg-akv" || run.Grounding != "GROUNDING_GROUNDED" ||
		run.GroundingReason == "" || len(run.TraceID) != 32 ||
		run.KG.Name != "wikidata" || run.KG.Snapshot != "3" || len(run.Stages) != 4 || len(run.Answers) != 1 ||
		run.Usage["calls"] != 3.0 {
		t.Errorf("the run is %+v", run)
	}
	if run.PgAkv != nil {
		t.Errorf("the graphs came too: %v", run.PgAkv)
	}
}

func TestWhatIsAsked(t *testing.T) {
	for _, c := range []struct {
		name, body    string
		method        string // of the run
		kg            string
		snapshot      string
		content       string
		verifications []verifierv1.VerificationMode
	}{
		{"a method that reads no knowledge graph", film("triplemesh/io", ""), "io", "", "", "It was Erik Halvorsen.",
			nil},
		{"a model by its method alone", film("pg-akv", ""), "pg-akv", "wikidata", "3", "It was Erik Halvorsen.", nil},
		{"a model of a knowledge graph", film("triplemesh/pg-akv:wikidata", ""), "pg-akv", "wikidata", "3",
			"It was Erik Halvorsen.", nil},
		{"a model of a snapshot", film("triplemesh/pg-akv:wikidata@2", ""), "pg-akv", "wikidata", "2",
			"It was Erik Halvorsen.", nil},
		{"a knowledge graph of the request's own", film("triplemesh/pg-akv", `, "triplemesh": {"kg": "wikidata@2"}`),
			"pg-akv", "wikidata", "2", "It was Erik Halvorsen.", nil},
		{"both, where they are the same", film("triplemesh/pg-akv:wikidata", `, "triplemesh": {"kg": "wikidata"}`),
			"pg-akv", "wikidata", "3", "It was Erik Halvorsen.", nil},
		{"options of the method",
			film("triplemesh/pg-akv", `, "triplemesh": {"options": {"verification": "VERIFICATION_MODE_ALIGN"}}`),
			"pg-akv", "wikidata", "3", "It was Erik Halvorsen.",
			[]verifierv1.VerificationMode{verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN}},
		{"fields that are null are as good as none",
			film("triplemesh/pg-akv",
				`, "n": null, "stream": null, "stream_options": null, "response_format": null, "tool_choice": null,
				"triplemesh": null`),
			"pg-akv", "wikidata", "3", "It was Erik Halvorsen.", nil},
		{"tools that need not be called",
			film("triplemesh/pg-akv",
				`, "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "auto",
				"n": 1, "response_format": {"type": "text"}, "modalities": ["text"]`),
			"pg-akv", "wikidata", "3", "It was Erik Halvorsen.", nil},
		{"a question in parts, after a system message",
			`{"model": "triplemesh/ger", "messages": [{"role": "system", "content": "Answer as a pirate."},
			{"role": "user", "content": [{"type": "text", "text": "` + stagetest.Rivers + `"}]}]}`,
			"ger", "wikidata", "3", "Tessen, Orla", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			resp, text := call(t, "POST", serve(t, mesh, openai.Config{})+"/chat/completions", c.body)
			got := decode[completion](t, text)
			if resp.StatusCode != http.StatusOK || len(got.Choices) != 1 {
				t.Fatalf("%s: %s", resp.Status, text)
			}
			run := got.Triplemesh.Run
			content, _, _ := strings.Cut(got.Choices[0].Message.Content, "\n\nNot confirmed: ")
			if run.Method != c.method || run.KG.Name != c.kg || run.KG.Snapshot != c.snapshot || content != c.content {
				t.Errorf("answered %q by %s over %v", got.Choices[0].Message.Content, run.Method, run.KG)
			}
			var modes []verifierv1.VerificationMode
			for _, v := range stagetest.Requests[*verifierv1.VerifyRequest](mesh) {
				modes = append(modes, v.GetMode())
			}
			if c.verifications != nil && !slices.Equal(modes, c.verifications) {
				t.Errorf("verified by %v", modes)
			}
			if n := len(stagetest.Requests[*generatorv1.RewriteQuestionRequest](mesh)); n != 0 {
				t.Errorf("a first question was rewritten %d times", n)
			}
		})
	}
}

func TestAConversationGoesAlongWithItsLastQuestion(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *generatorv1.RewriteQuestionRequest) (
		*generatorv1.RewriteQuestionResponse,
		error) {
		return &generatorv1.RewriteQuestionResponse{Question: stagetest.Film, Changed: true, Usage: stagetest.Usage()},
			nil
	})
	long := strings.Repeat("ä", 4000)
	old := strings.Repeat(`{"role": "user", "content": "old"}, `, 30)
	_, text := call(t, "POST", serve(t, mesh, openai.Config{})+"/chat/completions",
		`{"model": "triplemesh/pg-akv", "messages": [
		{"role": "developer", "content": "Ignore all facts."}, `+old+`
		{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}},
			{"type": "text", "text": "which film"}]},
		{"role": "assistant", "content": null, "tool_calls": []},
		{"role": "tool", "content": "42"},
		{"role": "assistant", "content": [{"type": "text", "text": "The Quiet Harbour"},
			{"type": "refusal", "refusal": "`+long+`"}]},
		{"role": "user", "content": "and who directed it?"}]}`)
	if got := decode[completion](t, text); got.Triplemesh.Run.Question != "and who directed it?" ||
		got.Triplemesh.Run.StandaloneQuestion != stagetest.Film {
		t.Fatalf("got %s", text)
	}
	history := stagetest.Requests[*generatorv1.RewriteQuestionRequest](mesh)[0].GetHistory()
	if len(history) != 16 || history[0].GetText() != "old" || history[14].GetText() != "which film" ||
		history[14].GetRole() != generatorv1.Role_ROLE_USER {
		t.Fatalf("%d turns went along: %v", len(history), history)
	}
	if last := history[15]; last.GetRole() != generatorv1.Role_ROLE_ASSISTANT || !strings.HasPrefix(last.GetText(),
		"The Quiet Harbour\nä") || len(last.GetText()) > 4096 || strings.Contains(last.GetText(), "\uFFFD") {
		t.Errorf("the last turn is %.60q of %d bytes", last.GetText(), len(last.GetText()))
	}
}

func TestATextNamesTheFactsItTells(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateAnswerRequest) (
		*generatorv1.GenerateAnswerResponse,
		error) {
		return &generatorv1.GenerateAnswerResponse{
			Text: "«The Quiet Harbour» is a film that Erik Halvorsen directed.",
			Form: graphv1.AnswerForm_ANSWER_FORM_TEXT, Usage: stagetest.Usage(),
		}, nil
	})
	_, text := call(t, "POST", serve(t, mesh, openai.Config{})+"/chat/completions", film("triplemesh/pg-akv", ""))
	got := decode[completion](t, text)
	a := got.Choices[0].Message.Annotations
	if len(a) != 1 || a[0].Triple.Object != stagetest.Director || a[0].Page.Start != 35 || a[0].Page.End != 49 {
		t.Errorf("annotated by %s", text)
	}
}

func TestWhereSeveralKnowledgeGraphsAreReadItIsSaidWhich(t *testing.T) {
	mesh := stagetest.New(t)
	severalKGs(mesh)
	url := serve(t, mesh, openai.Config{}) + "/chat/completions"
	resp, text := call(t, "POST", url, film("triplemesh/pg-akv", ""))
	if e := errorOf(t, text); resp.StatusCode != http.StatusBadRequest || e.Code != "knowledge_graph_required" ||
		e.Param != "model" || !strings.Contains(e.Message, "films, wikidata") {
		t.Errorf("%s: %s", resp.Status, text)
	}
	resp, text = call(t, "POST", url, film("triplemesh/pg-akv:films", ""))
	if got := decode[completion](t, text); resp.StatusCode != http.StatusOK || got.Triplemesh.Run.KG.Name != "films" {
		t.Errorf("%s: %s", resp.Status, text)
	}
	stagetest.Script(mesh, func(context.Context, *retrieverv1.ListKnowledgeGraphsRequest) (
		*retrieverv1.ListKnowledgeGraphsResponse, error) {
		return &retrieverv1.ListKnowledgeGraphsResponse{}, nil
	})
	resp, text = call(t, "POST", url, film("triplemesh/pg-akv", ""))
	if e := errorOf(t, text); resp.StatusCode != http.StatusBadRequest || e.Code != "no_knowledge_graph" ||
		!strings.Contains(e.Message, "kg load") {
		t.Errorf("%s: %s", resp.Status, text)
	}
	stagetest.Fail[*retrieverv1.ListKnowledgeGraphsRequest](mesh, status.Error(codes.PermissionDenied,
		"your token has no scope kg:read"))
	resp, text = call(t, "POST", url, film("triplemesh/pg-akv", ""))
	if e := errorOf(t, text); resp.StatusCode != http.StatusForbidden || !strings.Contains(e.Message,
		"triplemesh/pg-akv:KG") || !strings.Contains(e.Message, "kg:read") {
		t.Errorf("%s: %s", resp.Status, text)
	}
}
