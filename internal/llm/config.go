package llm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"
)

// Config says which models to ask and how.
type Config struct {
	// BaseURL of an OpenAI-compatible endpoint, "/v1" included where it has one.
	BaseURL string `koanf:"base_url"`
	// APIKey for BaseURL; empty where the endpoint wants none.
	APIKey string `koanf:"api_key"`
	// Model as the endpoint knows it.
	Model string `koanf:"model"`
	// Capabilities of BaseURL where they are known beforehand.
	Capabilities Capabilities `koanf:"capabilities"`
	// Fallbacks are asked in this order when BaseURL is down or refuses. Whichever
	// fails is left alone for a while, and then tried by one call at a time. One
	// that has not begun to answer in its share of the time that the caller has
	// left, half of it where there is one more, is left for the next.
	Fallbacks []Endpoint `koanf:"fallbacks"`
	// MaxInFlight bounds the calls under way at once at each endpoint. Waiting for
	// a place counts against the caller's deadline.
	MaxInFlight int `koanf:"max_in_flight"`
	// Timeout of one attempt, the whole answer included.
	Timeout time.Duration `koanf:"timeout"`
	// Retries is how often an attempt that met 429, 5xx or a broken connection is
	// repeated at the same endpoint.
	Retries int `koanf:"retries"`
	// RetryDelay before the first retry, doubled for each further one, with
	// jitter; the endpoint's Retry-After goes before it.
	RetryDelay time.Duration `koanf:"retry_delay"`
	// MaxRetryDelay is the longest Retry-After that is waited for; an endpoint
	// that asks for more counts as exhausted until then.
	MaxRetryDelay time.Duration `koanf:"max_retry_delay"`
	// MaxResponseBytes of one HTTP answer; what is longer is unusable.
	MaxResponseBytes int64 `koanf:"max_response_bytes"`
	// ReasoningEffort is passed on to models that think first; empty leaves it.
	ReasoningEffort string `koanf:"reasoning_effort"`
	// Cache of answers.
	Cache CacheConfig `koanf:"cache"`
	// Prices by model; a model without one costs nothing.
	Prices []Price `koanf:"prices"`
	// CapturePrompts puts prompt and answer texts into traces. Off by default:
	// they hold what users ask.
	CapturePrompts bool `koanf:"capture_prompts"`
	// Dial makes connections in the place of the system; nil leaves them to it.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error) `koanf:"-"`
}

// Endpoint is one place to ask.
type Endpoint struct {
	BaseURL string `koanf:"base_url"`
	APIKey  string `koanf:"api_key"`
	// Model at this endpoint; empty takes the one that the first was asked for.
	Model        string       `koanf:"model"`
	Capabilities Capabilities `koanf:"capabilities"`
}

// Capabilities of an endpoint. Each is "auto" (or empty: tried, and remembered
// where the endpoint refuses), "yes" (never given up) or "no" (never tried).
type Capabilities struct {
	JSONSchema string `koanf:"json_schema"`
	LogProbs   string `koanf:"logprobs"`
	Streaming  string `koanf:"streaming"`
}

// CacheConfig says where answers are kept. With no directory and no entries
// there is no cache, and identical requests are not merged either.
type CacheConfig struct {
	// Dir keeps answers on disk; empty keeps none.
	Dir string `koanf:"dir"`
	// MaxBytes is how much there may be on disk; the oldest answers go first. 0
	// sets no bound.
	MaxBytes int64 `koanf:"max_bytes"`
	// MemoryEntries is how many answers are kept in memory; 0 keeps none.
	MemoryEntries int `koanf:"memory_entries"`
}

// Price of a model in US dollars per million tokens.
type Price struct {
	Model  string  `koanf:"model"`
	Input  float64 `koanf:"input"`
	Output float64 `koanf:"output"`
}

// DefaultConfig returns what suits one small server; BaseURL and Model are left
// to be set.
func DefaultConfig() Config {
	return Config{
		MaxInFlight:      4,
		Timeout:          2 * time.Minute,
		Retries:          2,
		RetryDelay:       500 * time.Millisecond,
		MaxRetryDelay:    30 * time.Second,
		MaxResponseBytes: 4 << 20,
		Cache:            CacheConfig{MaxBytes: 1 << 30, MemoryEntries: 1024},
	}
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.BaseURL == "" {
		errs = append(errs, errors.New("llm.base_url is empty: set it, or OPENAI_BASE_URL, to an OpenAI-compatible endpoint such as http://127.0.0.1:8080/v1"))
	}
	for i, e := range c.endpoints() {
		name := "llm"
		if i > 0 {
			name = fmt.Sprintf("llm.fallbacks[%d]", i-1)
		}
		errs = append(errs, e.validate(name))
	}
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
	if c.Cache.MaxBytes < 0 {
		errs = append(errs, fmt.Errorf("llm.cache.max_bytes is %d: it must not be negative", c.Cache.MaxBytes))
	}
	if c.Cache.MemoryEntries < 0 {
		errs = append(errs, fmt.Errorf("llm.cache.memory_entries is %d: it must not be negative", c.Cache.MemoryEntries))
	}
	for _, p := range c.Prices {
		if p.Model == "" || p.Input < 0 || p.Output < 0 {
			errs = append(errs, fmt.Errorf("llm.prices: the entry for model %q needs a name and prices of 0 or more", p.Model))
		}
	}
	return errors.Join(errs...)
}

// endpoints lists the places to ask, the first one first.
func (c Config) endpoints() []Endpoint {
	first := Endpoint{BaseURL: c.BaseURL, APIKey: c.APIKey, Model: c.Model, Capabilities: c.Capabilities}
	return append([]Endpoint{first}, c.Fallbacks...)
}

func (e Endpoint) validate(name string) error {
	var errs []error
	if e.BaseURL != "" {
		u, err := url.Parse(e.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			// The URL itself may hold a password: it is not repeated.
			errs = append(errs, fmt.Errorf("%s.base_url is not a URL of the form http://HOST:PORT/v1", name))
		}
	} else if name != "llm" {
		errs = append(errs, fmt.Errorf("%s.base_url is empty", name))
	}
	for key, v := range map[string]string{"json_schema": e.Capabilities.JSONSchema, "logprobs": e.Capabilities.LogProbs, "streaming": e.Capabilities.Streaming} {
		switch v {
		case "", "auto", "yes", "no":
		default:
			errs = append(errs, fmt.Errorf("%s.capabilities.%s is %q: want auto, yes or no", name, key, v))
		}
	}
	return errors.Join(errs...)
}
