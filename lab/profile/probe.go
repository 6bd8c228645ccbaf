package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// Endpoint is a model endpoint.
type Endpoint struct {
	// BaseURL and Model are as they would be configured.
	BaseURL, Model string
	// APIKey is a secret; empty sends none.
	APIKey string
}

// Capabilities is what an endpoint can do.
type Capabilities struct {
	// Took is the time of a short answer.
	Took time.Duration
	// Schema says that answers can be held to a JSON schema, LogProbs that tokens come with their
	// probabilities. triplemesh does without either, less well.
	Schema, LogProbs bool
}

// Probe has an endpoint answer a few words, and tries what triplemesh makes use of.
func Probe(ctx context.Context, e Endpoint) (Capabilities, error) {
	models, listed := fetchModels(ctx, e, e.BaseURL)
	var m Capabilities
	began := time.Now()
	resp, err := completeOnce(ctx, e, llm.Capabilities{}, llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Content: "Say yes."}}, MaxTokens: 16, TopLogProbs: 1,
	})
	m.Took, m.LogProbs = time.Since(began), len(resp.Tokens) > 0
	switch {
	case errors.Is(err, llm.ErrUnusable): // it answered, if only by thinking
	case err != nil:
		return m, e.explain(ctx, err, models, listed)
	}
	resp, err = completeOnce(ctx, e, llm.Capabilities{JSONSchema: "yes"}, llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Content: "Is water wet?"}}, MaxTokens: 64,
		Schema: &llm.Schema{Name: "verdict", JSON: json.RawMessage(probeSchema)},
	})
	var said struct {
		Wet *bool `json:"wet"`
	}
	m.Schema = err == nil && json.Unmarshal([]byte(resp.Text), &said) == nil && said.Wet != nil
	return m, ctx.Err()
}

const probeSchema = `{"type": "object", "properties": {"wet": {"type": "boolean"}}, ` +
	`"required": ["wet"], "additionalProperties": false}`

// ListModels names the models of an endpoint. It costs nothing there. The error is
// that of an endpoint that cannot be asked; one that lists none has none.
func ListModels(ctx context.Context, e Endpoint) ([]string, error) {
	models, err := fetchModels(ctx, e, e.BaseURL)
	if err == nil && len(models) > 0 && !slices.Contains(models, e.Model) {
		return models, e.unknown(models)
	}
	if err != nil {
		return nil, e.explain(ctx, err, models, err)
	}
	return models, nil
}

// unknown says that an endpoint lists other models. Some take any name all the same.
func (e Endpoint) unknown(models []string) error {
	near := ""
	if n := config.NearestWord(e.Model, models); n != "" {
		near = "; did you mean " + n + "?"
	}
	const most = 12
	shown := strings.Join(models[:min(most, len(models))], ", ")
	if len(models) > most {
		shown += fmt.Sprintf(" and %d more", len(models)-most)
	}
	return &UnknownModelError{fmt.Sprintf("%s has no model %s%s It has %s: set llm.model", e.BaseURL, e.Model,
		sentence(near), shown)}
}

func sentence(question string) string {
	if question == "" {
		return "."
	}
	return question
}

// UnknownModelError is the error of a model that an endpoint does not list.
type UnknownModelError struct{ what string }

// Error implements error.
func (e *UnknownModelError) Error() string { return e.what }

// explain says what is wrong with an endpoint, as far as its list of models tells.
func (e Endpoint) explain(ctx context.Context, err error, models []string, listed error) error {
	base := strings.TrimRight(e.BaseURL, "/")
	if listed != nil && !strings.HasSuffix(base, "/v1") {
		if _, err := fetchModels(ctx, e, base+"/v1"); err == nil {
			return fmt.Errorf("%s is no endpoint, but %s/v1 is: set llm.base_url (OPENAI_BASE_URL) to that",
				e.BaseURL, base)
		}
	}
	var said *llm.Error
	refused := errors.As(err, &said) && (said.Status() == http.StatusUnauthorized ||
		said.Status() == http.StatusForbidden)
	if len(models) > 0 && !slices.Contains(models, e.Model) && !refused {
		return e.unknown(models)
	}
	return err
}

// completeOnce asks once.
func completeOnce(ctx context.Context, e Endpoint, can llm.Capabilities, req llm.Request) (llm.Response, error) {
	cfg := llm.DefaultConfig()
	cfg.BaseURL, cfg.APIKey, cfg.Model, cfg.Capabilities = e.BaseURL, e.APIKey, e.Model, can
	cfg.Retries, cfg.Cache = 0, llm.CacheConfig{}
	client, err := llm.New(cfg, telemetry.Discard())
	if err != nil {
		return llm.Response{}, err
	}
	req.Task, req.Ledger = "probe", llm.NewLedger(nil)
	return client.Complete(ctx, req)
}

// mostModels is how long a list is read, in bytes.
const mostModels = 4 << 20

// fetchModels asks for the models at a base URL.
func fetchModels(ctx context.Context, e Endpoint, base string) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/models", nil)
	if err != nil {
		return nil, errors.New("the model endpoint is not a URL of the form http://HOST:PORT/v1")
	}
	if e.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.APIKey)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no model server answers at %s (%w): is it running? Else set llm.base_url "+
			"(OPENAI_BASE_URL) to where it is", req.URL.Redacted(), errors.Unwrap(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostModels))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the models at %s: %w", req.URL.Redacted(), err)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%s refuses the key (%s): set OPENAI_API_KEY to one that it knows", base, resp.Status)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s: is it an OpenAI-compatible endpoint? Most want /v1 at the end of "+
			"llm.base_url (OPENAI_BASE_URL)", req.URL.Redacted(), resp.Status)
	}
	var all struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &all) != nil {
		return nil, fmt.Errorf("%s answers with something else than a list of models: is it an OpenAI-compatible "+
			"endpoint? Most want /v1 at the end of llm.base_url (OPENAI_BASE_URL)", req.URL.Redacted())
	}
	var names []string
	for _, m := range all.Data {
		names = append(names, m.ID)
	}
	return names, nil
}
