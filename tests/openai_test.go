package tests

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// chat asks by the OpenAI API, with a token as the API key.
func chat(t *testing.T, m *running, token, model string, messages ...string) (openai.ChatCompletionResponse, error) {
	t.Helper()
	cfg := openai.DefaultConfig(token)
	cfg.BaseURL = m.mesh.URL() + "/v1"
	req := openai.ChatCompletionRequest{Model: model}
	for i, text := range messages {
		role := openai.ChatMessageRoleUser
		if i%2 == 1 {
			role = openai.ChatMessageRoleAssistant
		}
		req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: role, Content: text})
	}
	return openai.NewClientWithConfig(cfg).CreateChatCompletion(timeoutContext(t, patience), req)
}

func TestProgramsThatKnowOpenAIsAPIAskTheMesh(t *testing.T) {
	model := scripted(t)
	model.On(testkit.Task("rewrite-question"), testkit.Contains("Question: Who is Robert Stam?")).Reply(
		employerQuestion).Usage(50, 8)
	m := start(t, options{model: model, http: true})
	const name = "triplemesh/pg-akv:" + wikidata + "@1"
	resp, err := chat(t, m, "none", name, "Who is Robert Stam?", "A scholar of film.",
		"And what institution employed him?")
	if err != nil || resp.Choices[0].Message.Content != "Robert Stam worked at "+employer+"." ||
		resp.Usage.PromptTokens != 50+100+60 {
		t.Fatalf("got %+v, %v", resp, err)
	}
	kept, err := m.orchestrator.GetRun(timeoutContext(t, patience),
		&orchestratorv1.GetRunRequest{Id: strings.TrimPrefix(resp.ID, "chatcmpl-")})
	if run := kept.GetRun(); err != nil || run.GetStandaloneQuestion() != employerQuestion || names(run) != employer {
		t.Errorf("the run is %v, %v", run, err)
	}
}

func TestAProgramsKeyIsItsToken(t *testing.T) {
	m := startTenanted(t, options{data: t.TempDir(), model: scripted(t), http: true})
	m.load(t, m.acme, plans, "Robert Stam\temployer\t"+employer+"\n")
	m.load(t, m.globex, mine, "Robert Stam\temployer\tGoogle\n")
	resp, err := chat(t, m.running, m.acme, "triplemesh/pg-akv", employerQuestion)
	if err != nil || !strings.Contains(resp.Choices[0].Message.Content, employer) {
		t.Errorf("acme is answered %+v, %v", resp, err)
	}
	for _, c := range []struct {
		name, token, model string
		status             int
		code               string
	}{
		{"no token", "", "triplemesh/pg-akv", http.StatusUnauthorized, "invalid_api_key"},
		{"an unknown token", auth.NewToken(), "triplemesh/pg-akv", http.StatusUnauthorized, "invalid_api_key"},
		{"another tenant's knowledge graph", m.globex, "triplemesh/pg-akv:" + plans, http.StatusNotFound, "not_found"},
		{"an unknown knowledge graph", m.globex, "triplemesh/pg-akv:nobodys", http.StatusNotFound, "not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := chat(t, m.running, c.token, c.model, employerQuestion)
			var e *openai.APIError
			if !errors.As(err, &e) || e.HTTPStatusCode != c.status || e.Code != c.code ||
				strings.Contains(e.Message, employer) {
				t.Errorf("got %v", err)
			}
		})
	}
	cfg := openai.DefaultConfig(m.globex)
	cfg.BaseURL = m.mesh.URL() + "/v1"
	list, err := openai.NewClientWithConfig(cfg).ListModels(timeoutContext(t, patience))
	if err != nil || len(list.Models) == 0 || slices.ContainsFunc(list.Models,
		func(l openai.Model) bool { return strings.Contains(l.ID, plans) }) {
		t.Errorf("globex is shown %v, %v", list.Models, err)
	}
}
