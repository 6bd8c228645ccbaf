package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is the model endpoints and how to call them.
type Config struct {
	// BaseURL of an OpenAI-compatible endpoint, "/v1" included where it has one.
	BaseURL string `koanf:"base_url"`
	// APIKey for BaseURL; empty if the endpoint needs none.
	APIKey string `koanf:"api_key"`
	// Model is the name of the model at the endpoint.
	Model string `koanf:"model"`
	// Reader is how far stages rely on what Model reads off evidence: weak, strong, or auto, which
	// goes by the size in its name.
	Reader string `koanf:"reader"`
	// ReadingShare is the probability that what a strong reader reads off its evidence is right, up to
	// MaxReadingShare; 0 takes 0.85.
	ReadingShare float32 `koanf:"reading_share"`
	// AllowedModels are the models that a request may name beside Model and those of the fallbacks.
	AllowedModels []string `koanf:"allowed_models"`
	// Capabilities of BaseURL, if known.
	Capabilities Capabilities `koanf:"capabilities"`
	// Fallbacks are called in this order when BaseURL is down or refuses. An endpoint that fails is
	// skipped while its circuit is open, and then probed by one call at a time. One that does not
	// start to answer within its share of the caller's remaining time, half of it if there is one
	// more, is abandoned for the next.
	Fallbacks []Endpoint `koanf:"fallbacks"`
	// MaxInFlight bounds the concurrent calls of each endpoint. Waiting for a slot counts against
	// the caller's deadline.
	MaxInFlight int `koanf:"max_in_flight"`
	// Timeout of one attempt, the whole answer included.
	Timeout time.Duration `koanf:"timeout"`
	// Retries is how often an attempt that ended in 429, 5xx or a broken connection is repeated at
	// the same endpoint.
	Retries int `koanf:"retries"`
	// RetryDelay before the first retry, doubled for each further one, with jitter; the endpoint's
	// Retry-After takes precedence.
	RetryDelay time.Duration `koanf:"retry_delay"`
	// MaxRetryDelay is the longest Retry-After to wait for; an endpoint that asks for more counts
	// as exhausted until then.
	MaxRetryDelay time.Duration `koanf:"max_retry_delay"`
	// MaxResponseBytes of one HTTP response; a longer one is unusable.
	MaxResponseBytes int64 `koanf:"max_response_bytes"`
	// ReasoningEffort is passed on to reasoning models; empty means their default.
	ReasoningEffort string `koanf:"reasoning_effort"`
	// ReasoningTokens is what a reasoning model may use on top of the answer's tokens: its one limit
	// counts both.
	ReasoningTokens int `koanf:"reasoning_tokens"`
	// Breaker is the circuit breaker of endpoints with fallbacks.
	Breaker BreakerConfig `koanf:"breaker"`
	// Cache of answers.
	Cache CacheConfig `koanf:"cache"`
	// Prices by model; a model without a price costs nothing.
	Prices []Price `koanf:"prices"`
	// CapturePrompts adds the texts of prompts and answers to traces. Off by default: they contain
	// users' questions.
	CapturePrompts bool `koanf:"capture_prompts"`
	// Dial opens connections; nil means the system's.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error) `koanf:"-"`
	// Started, if not nil, is closed once the server at BaseURL answers. Calls before that are
	// ErrUnavailable.
	Started <-chan struct{} `koanf:"-"`
	// Substitute answers some requests in place of the endpoints; nil answers none.
	Substitute Substitute `koanf:"-"`
}

// Endpoint is one model server.
type Endpoint struct {
	BaseURL string `koanf:"base_url"`
	APIKey  string `koanf:"api_key"`
	// Model at this endpoint; empty means the requested one.
	Model        string       `koanf:"model"`
	Capabilities Capabilities `koanf:"capabilities"`
}

// BreakerConfig says when an endpoint is skipped.
type BreakerConfig struct {
	// Failures among twice as many attempts open the circuit.
	Failures int `koanf:"failures"`
	// Cooldown is how long the circuit stays open if the endpoint does not say, doubled each time up
	// to MaxCooldown.
	Cooldown    time.Duration `koanf:"cooldown"`
	MaxCooldown time.Duration `koanf:"max_cooldown"`
}

// Capabilities of an endpoint. Each is "auto" (or empty: tried until the endpoint refuses it),
// "yes" (always used) or "no" (never used).
type Capabilities struct {
	JSONSchema string `koanf:"json_schema"`
	LogProbs   string `koanf:"logprobs"`
	Streaming  string `koanf:"streaming"`
}

// CacheConfig is the cache of answers. Without a directory and entries there is no cache, and
// identical requests are not merged.
type CacheConfig struct {
	// Dir on disk; empty means none.
	Dir string `koanf:"dir"`
	// MaxBytes on disk; the oldest answers are evicted first. 0 means no bound.
	MaxBytes int64 `koanf:"max_bytes"`
	// MemoryEntries is the number of answers in memory; 0 means none.
	MemoryEntries int `koanf:"memory_entries"`
}

// Price of a model in US dollars per million tokens.
type Price struct {
	Model  string  `koanf:"model"`
	Input  float64 `koanf:"input"`
	Output float64 `koanf:"output"`
}

// DefaultConfig returns the settings for one small server, without BaseURL and Model.
func DefaultConfig() Config {
	return Config{
		Reader:           AutoReader,
		MaxInFlight:      4,
		Timeout:          2 * time.Minute,
		Retries:          2,
		RetryDelay:       500 * time.Millisecond,
		MaxRetryDelay:    30 * time.Second,
		MaxResponseBytes: 4 << 20,
		ReasoningTokens:  2048,
		Breaker:          BreakerConfig{Failures: 3, Cooldown: 10 * time.Second, MaxCooldown: 5 * time.Minute},
		Cache:            CacheConfig{MaxBytes: 1 << 30, MemoryEntries: 1024},
	}
}

// Validate returns an error for every invalid setting.
func (c Config) Validate() error {
	var errs []error
	if c.BaseURL == "" {
		errs = append(errs, errors.New("llm.base_url is empty: set it, or OPENAI_BASE_URL, to an OpenAI-compatible "+
			"endpoint such as http://127.0.0.1:8080/v1"))
	}
	for i, e := range c.endpoints() {
		name := "llm"
		if i > 0 {
			name = fmt.Sprintf("llm.fallbacks[%d]", i-1)
		}
		errs = append(errs, e.validate(name))
	}
	errs = append(errs, c.checkReader())
	if c.MaxInFlight < 1 {
		errs = append(errs, fmt.Errorf("llm.max_in_flight is %d: it must be at least 1", c.MaxInFlight))
	}
	if c.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("llm.timeout is %v: it must be above 0", c.Timeout))
	}
	if c.Retries < 0 || c.RetryDelay < 0 || c.MaxRetryDelay < 0 {
		errs = append(errs, errors.New("llm.retries, llm.retry_delay and llm.max_retry_delay must not be negative"))
	}
	if c.MaxResponseBytes < 1 {
		errs = append(errs, fmt.Errorf("llm.max_response_bytes is %d: it must be above 0", c.MaxResponseBytes))
	}
	if c.ReasoningTokens < 0 {
		errs = append(errs, fmt.Errorf("llm.reasoning_tokens is %d: it must not be negative", c.ReasoningTokens))
	}
	if b := c.Breaker; b.Failures < 1 || b.Failures > 30 || b.Cooldown <= 0 || b.MaxCooldown < b.Cooldown {
		errs = append(errs, errors.New("llm.breaker: failures must be 1 to 30, cooldown above 0 and max_cooldown at "+
			"least cooldown"))
	}
	if c.Cache.MaxBytes < 0 {
		errs = append(errs, fmt.Errorf("llm.cache.max_bytes is %d: it must not be negative", c.Cache.MaxBytes))
	}
	if c.Cache.MemoryEntries < 0 {
		errs = append(errs, fmt.Errorf("llm.cache.memory_entries is %d: it must not be negative",
			c.Cache.MemoryEntries))
	}
	for _, p := range c.Prices {
		if p.Model == "" || p.Input < 0 || p.Output < 0 {
			errs = append(errs, fmt.Errorf("llm.prices: the entry for model %q needs a name and prices of 0 or more",
				p.Model))
		}
	}
	return errors.Join(errs...)
}

// endpoints returns all endpoints in order.
func (c Config) endpoints() []Endpoint {
	first := Endpoint{BaseURL: c.BaseURL, APIKey: c.APIKey, Model: c.Model, Capabilities: c.Capabilities}
	return append([]Endpoint{first}, c.Fallbacks...)
}

func (e Endpoint) validate(name string) error {
	var errs []error
	if e.BaseURL != "" {
		u, err := url.Parse(e.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			// The URL may contain a password: the error does not repeat it.
			errs = append(errs, fmt.Errorf("%s.base_url is not a URL of the form http://HOST:PORT/v1", name))
		}
	} else if name != "llm" {
		errs = append(errs, fmt.Errorf("%s.base_url is empty", name))
	}
	for key, v := range map[string]string{"json_schema": e.Capabilities.JSONSchema, "logprobs": e.Capabilities.LogProbs,
		"streaming": e.Capabilities.Streaming} {
		switch v {
		case "", "auto", "yes", "no":
		default:
			errs = append(errs, fmt.Errorf("%s.capabilities.%s is %q: want auto, yes or no", name, key, v))
		}
	}
	return errors.Join(errs...)
}

// Readers: how far a stage relies on what a model reads off the evidence that it is shown.
const (
	// WeakReader names a part of a list where all of it is asked for, and prefers what stands first.
	// Stages complete and weigh what it reads.
	WeakReader = "weak"
	// StrongReader means what it names. Stages leave it as it is.
	StrongReader = "strong"
	// AutoReader chooses by the size in the model's name.
	AutoReader = "auto"
)

// weakUpTo is the largest size, in billions of parameters, of a weak reader.
const weakUpTo = 4

// sizeInName matches sizes such as "1.5b" and "70B", but not the "a3b" of active parameters.
var sizeInName = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(\d+(?:\.\d+)?)b(?:[^a-z0-9]|$)`)

// ResolveReader returns WeakReader or StrongReader. In auto mode a model is weak if its name gives it
// at most 4 billion parameters, as qwen2.5-coder-1.5b-instruct does.
func (c Config) ResolveReader() string {
	if c.Reader != AutoReader && c.Reader != "" {
		return c.Reader
	}
	if m := sizeInName.FindStringSubmatch(c.Model); m != nil {
		if size, err := strconv.ParseFloat(m[1], 64); err == nil && size <= weakUpTo {
			return WeakReader
		}
	}
	return StrongReader
}

// Probabilities that what a model reads off its evidence is right (ADR 37): of a weak reader, of a strong
// one of which no more is known, and the greatest that can be known.
const (
	weakReadingShare   = 0.2
	strongReadingShare = 0.85
	MaxReadingShare    = 0.98
)

// ResolveReadingShare returns the probability that what the model reads off its evidence is right, 0 to 1.
func (c Config) ResolveReadingShare() float32 {
	if c.ResolveReader() == StrongReader {
		return cmp.Or(c.ReadingShare, strongReadingShare)
	}
	return weakReadingShare
}

// KnownReadingShare is ResolveReadingShare if the reader is set or was measured, and the caller names no
// other model; else that of a weak reader: a name is no reason to trust one.
func (c Config) KnownReadingShare(model string) float32 {
	if c.Reader == StrongReader && (model == "" || model == c.Model) {
		return c.ResolveReadingShare()
	}
	return weakReadingShare
}

func (c Config) checkReader() error {
	if c.ReadingShare < 0 || c.ReadingShare > MaxReadingShare {
		return fmt.Errorf("llm.reading_share: got %g, want 0 to %g", c.ReadingShare, MaxReadingShare)
	}
	switch c.Reader {
	case "", AutoReader, WeakReader, StrongReader:
		return nil
	}
	return fmt.Errorf("llm.reader: got %q, want %s", c.Reader,
		strings.Join([]string{AutoReader, WeakReader, StrongReader}, ", "))
}

// checkModel refuses a model named by the caller that is not configured, or whose cost a budget in
// US dollars cannot count because it has no price.
func (c *Client) checkModel(l *Ledger) error {
	name := l.Model()
	if name == "" {
		return nil
	}
	allowed := slices.Clone(c.cfg.AllowedModels)
	for _, e := range c.cfg.endpoints() {
		if e.Model != "" {
			allowed = append(allowed, e.Model)
		}
	}
	if !slices.Contains(allowed, name) {
		slices.Sort(allowed)
		return errorf(ErrModelNotAllowed, "call a model: the model %q is not allowed; name one of %s, or add it to "+
			"llm.allowed_models", name, strings.Join(slices.Compact(allowed), ", "))
	}
	priced := slices.ContainsFunc(c.cfg.Prices, func(p Price) bool { return p.Model == name })
	if l.limits.GetMaxCostUsd() > 0 && !priced {
		return errorf(ErrModelNotAllowed, "call a model: the model %q has no price, so a budget in US dollars cannot "+
			"be kept; name another model, or add its price to llm.prices", name)
	}
	return nil
}
