package encoder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	openai "github.com/sashabaranov/go-openai"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// EndpointConfig configures an Endpoint.
type EndpointConfig struct {
	// BaseURL of the endpoint, including "/v1" if it has one.
	BaseURL string
	// APIKey for BaseURL; empty if the endpoint needs none.
	APIKey string
	// Model is the endpoint's name of the model.
	Model string
	// Dims is the length of its vectors; 0 asks the endpoint at startup.
	Dims int
	// BatchSize is the number of texts per request; 0 means 64.
	BatchSize int
	// Timeout of one request; 0 means 30 seconds.
	Timeout time.Duration
	// Retries is the number of retries after 429, 5xx or a broken connection.
	Retries int
	// RetryDelay is the backoff before the first retry, doubled for each further one; 0 means half
	// a second.
	RetryDelay time.Duration
}

// Endpoint encodes texts with an OpenAI-compatible /embeddings endpoint. It is safe for concurrent use.
type Endpoint struct {
	cfg    EndpointConfig
	client *openai.Client
	retry  retrypolicy.RetryPolicy[openai.EmbeddingResponse]
}

// OpenEndpoint checks the settings and, if Dims is 0, requests one vector to learn it.
func OpenEndpoint(ctx context.Context, cfg EndpointConfig) (*Endpoint, error) {
	if cfg.BaseURL == "" || cfg.Model == "" {
		return nil, errors.New("encoder.base_url or encoder.model is empty; an endpoint needs both")
	}
	if cfg.BatchSize <= 0 {
		cfg.BatchSize = 64
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.RetryDelay <= 0 {
		cfg.RetryDelay = 500 * time.Millisecond
	}
	client := openai.DefaultConfig(cfg.APIKey)
	client.BaseURL = cfg.BaseURL
	client.HTTPClient = &http.Client{Timeout: cfg.Timeout}
	e := &Endpoint{
		cfg:    cfg,
		client: openai.NewClientWithConfig(client),
		retry: retrypolicy.NewBuilder[openai.EmbeddingResponse]().
			HandleIf(func(_ openai.EmbeddingResponse, err error) bool { return err != nil && isTemporary(err) }).
			WithBackoff(cfg.RetryDelay, 32*cfg.RetryDelay).
			WithJitterFactor(.2).
			WithMaxRetries(cfg.Retries).
			ReturnLastFailure().
			Build(),
	}
	if cfg.Dims > 0 {
		return e, nil
	}
	vectors, err := e.Encode(ctx, []string{"dimensions"})
	if err != nil {
		return nil, fmt.Errorf("request the dimensions: %w", err)
	}
	e.cfg.Dims = len(vectors[0])
	return e, nil
}

// Name implements encoder.Encoder.
func (e *Endpoint) Name() string { return e.cfg.Model }

// Dims implements encoder.Encoder.
func (e *Endpoint) Dims() int { return e.cfg.Dims }

// Encode implements encoder.Encoder. Its errors carry gRPC codes: UNAVAILABLE if the endpoint is
// down or its response invalid, RESOURCE_EXHAUSTED if it keeps throttling, FAILED_PRECONDITION if
// it rejects the request.
func (e *Endpoint) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for from := 0; from < len(texts); from += e.cfg.BatchSize {
		some, err := e.request(ctx, texts[from:min(from+e.cfg.BatchSize, len(texts))])
		if err != nil {
			return nil, &EndpointError{URL: e.cfg.BaseURL, Err: err}
		}
		vectors = append(vectors, some...)
	}
	return vectors, nil
}

func (e *Endpoint) request(ctx context.Context, texts []string) ([][]float32, error) {
	response, err := failsafe.With(e.retry).WithContext(ctx).Get(func() (openai.EmbeddingResponse, error) {
		return e.client.CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{
			Input: texts, Model: openai.EmbeddingModel(e.cfg.Model),
			EncodingFormat: openai.EmbeddingEncodingFormatFloat,
		})
	})
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for _, d := range response.Data {
		if d.Index < 0 || d.Index >= len(texts) || vectors[d.Index] != nil {
			return nil, fmt.Errorf("%w: vector number %d of %d", errUnusableResponse, d.Index, len(texts))
		}
		vectors[d.Index] = d.Embedding
	}
	for i, v := range vectors {
		if len(v) == 0 || e.cfg.Dims > 0 && len(v) != e.cfg.Dims {
			return nil, fmt.Errorf("%w: vector %d of %d has %d dimensions, want %d", errUnusableResponse, i, len(texts),
				len(v), e.cfg.Dims)
		}
		if err := normalise(v); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// errUnusableResponse: the response does not hold the requested vectors.
var errUnusableResponse = errors.New("unusable response")

func normalise(v []float32) error {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return fmt.Errorf("%w: a vector has no finite length above 0", errUnusableResponse)
	}
	length := math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) / length) // whose inverse a float32 may not hold
	}
	return nil
}

// EndpointError names the endpoint that failed.
type EndpointError struct {
	URL string
	Err error
}

// Error implements error.
func (e *EndpointError) Error() string { return fmt.Sprintf("encode by %s: %v", e.URL, e.Err) }

// Unwrap returns the cause.
func (e *EndpointError) Unwrap() error { return e.Err }

// GRPCStatus returns the error's gRPC status.
func (e *EndpointError) GRPCStatus() *status.Status {
	code := codes.Unavailable
	switch c := httpCode(e.Err); {
	case errors.Is(e.Err, context.Canceled):
		code = codes.Canceled
	case errors.Is(e.Err, context.DeadlineExceeded):
		code = codes.DeadlineExceeded
	case c == http.StatusTooManyRequests:
		code = codes.ResourceExhausted
	case c >= 400 && c < 500:
		code = codes.FailedPrecondition
	}
	return status.New(code, e.Error())
}

func httpCode(err error) int {
	if api, ok := errors.AsType[*openai.APIError](err); ok {
		return api.HTTPStatusCode
	}
	if request, ok := errors.AsType[*openai.RequestError](err); ok {
		return request.HTTPStatusCode
	}
	return 0
}

// isTemporary reports whether a retry may help.
func isTemporary(err error) bool {
	code := httpCode(err)
	return code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500 || code == 0
}
