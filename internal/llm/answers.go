package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// keyed is everything that determines an answer. A change of its fields makes
// other keys, so old entries are never taken for new ones.
type keyed struct {
	// Place stands in where no model is named: two servers then hold two models.
	Place       string    `json:",omitempty"`
	Model       string    `json:",omitempty"`
	Messages    []Message `json:",omitempty"`
	Schema      *Schema   `json:",omitempty"`
	Format      format    `json:",omitempty"`
	MaxTokens   int       `json:",omitempty"`
	Temperature float32   `json:",omitempty"`
	Seed        int64     `json:",omitempty"`
	Stop        []string  `json:",omitempty"`
	TopLogProbs int       `json:",omitempty"`
	Effort      string    `json:",omitempty"`
	// Tenant is for whom it was asked, the default one left out: how fast an
	// answer comes must not tell what another tenant asked.
	Tenant string `json:",omitempty"`
}

// key of a request as this endpoint would be asked now.
func (e *endpoint) key(ctx context.Context, req Request, model string) string {
	return cacheKey(ctx, e, req, model, e.traits.get(model))
}

// cacheKey is empty where it is not known for whom a request is made: its answer
// is not kept.
func cacheKey(ctx context.Context, e *endpoint, req Request, model string, t traits) string {
	id, err := tenant.From(ctx)
	if err != nil {
		return ""
	}
	k := keyed{
		Model: model, Messages: req.Messages, Schema: req.Schema, MaxTokens: req.MaxTokens,
		Temperature: req.Temperature, Seed: req.Seed, Stop: req.Stop, TopLogProbs: req.TopLogProbs, Effort: e.cfg.ReasoningEffort,
	}
	if !id.IsDefault() {
		k.Tenant = id.String()
	}
	if model == "" {
		k.Place = e.name
	}
	if req.Schema != nil {
		k.Format = t.format
	}
	if t.noLogProbs {
		k.TopLogProbs = 0
	}
	data, err := json.Marshal(k)
	if err != nil { // a schema that is no JSON, which no server takes either
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// answer is what the cache keeps.
type answer struct {
	Text         string  `json:"text"`
	Tokens       []Token `json:"tokens,omitempty"`
	FinishReason string  `json:"finish_reason,omitempty"`
	Model        string  `json:"model,omitempty"`
	Usage        Usage   `json:"usage"`
}

// cached looks an answer up.
func (c *Client) cached(key string) (Response, bool) {
	data, ok := c.cache.Get(key)
	if !ok {
		return Response{}, false
	}
	var a answer
	if json.Unmarshal(data, &a) != nil || a.Text == "" {
		return Response{}, false
	}
	return Response{Text: a.Text, Tokens: a.Tokens, FinishReason: a.FinishReason, Model: a.Model, Usage: a.Usage, Cached: true}, true
}

// store keeps an answer. A disk that is full costs speed, not answers.
func (c *Client) store(key string, r Response) {
	if c.cache == nil || key == "" {
		return
	}
	data, err := json.Marshal(answer{Text: r.Text, Tokens: r.Tokens, FinishReason: r.FinishReason, Model: r.Model, Usage: r.Usage})
	if err == nil {
		err = c.cache.Put(key, data)
	}
	if err != nil {
		c.log.Warn("keep a model's answer in the cache", "error", err)
	}
}
