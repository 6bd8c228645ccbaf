package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// cacheKeyFields is everything that determines an answer. A change of its fields changes the keys,
// so that existing caches miss.
type cacheKeyFields struct {
	// Place is the endpoint if no model is named: two servers may then run two models.
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
	// Tenant of the caller, empty for the default one: response times must not reveal what another
	// tenant asked.
	Tenant string `json:",omitempty"`
}

// key returns the cache key of a request to this endpoint by its current traits.
func (e *endpoint) key(ctx context.Context, req Request, model string) string {
	return cacheKey(ctx, e, req, model, e.traits.get(model))
}

// cacheKey returns "" if the request has no tenant: its answer is not cached.
func cacheKey(ctx context.Context, e *endpoint, req Request, model string, t traits) string {
	id, err := auth.TenantFrom(ctx)
	if err != nil {
		return ""
	}
	k := cacheKeyFields{
		Model: model, Messages: req.Messages, Schema: req.Schema, MaxTokens: req.MaxTokens,
		Temperature: req.Temperature, Seed: req.Seed, Stop: req.Stop, TopLogProbs: req.TopLogProbs,
		Effort: e.cfg.ReasoningEffort,
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
	if err != nil { // a schema that is not JSON, which servers refuse too
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// cachedAnswer is the value of a cache entry.
type cachedAnswer struct {
	Text         string  `json:"text"`
	Tokens       []Token `json:"tokens,omitempty"`
	FinishReason string  `json:"finish_reason,omitempty"`
	Model        string  `json:"model,omitempty"`
	Usage        Usage   `json:"usage"`
}

// lookup returns a cached answer.
func (c *Client) lookup(key string) (Response, bool) {
	data, ok := c.cache.Get(key)
	if !ok {
		return Response{}, false
	}
	var a cachedAnswer
	if json.Unmarshal(data, &a) != nil || a.Text == "" {
		return Response{}, false
	}
	return Response{Text: a.Text, Tokens: a.Tokens, FinishReason: a.FinishReason, Model: a.Model, Usage: a.Usage,
		Cached: true}, true
}

// store caches an answer. A full disk costs speed, not answers.
func (c *Client) store(key string, r Response) {
	if c.cache == nil || key == "" {
		return
	}
	data, err := json.Marshal(cachedAnswer{Text: r.Text, Tokens: r.Tokens, FinishReason: r.FinishReason, Model: r.Model,
		Usage: r.Usage})
	if err == nil {
		err = c.cache.Set(key, data)
	}
	if err != nil {
		c.log.Warn(logCacheWriteFailed, "error", err)
	}
}
