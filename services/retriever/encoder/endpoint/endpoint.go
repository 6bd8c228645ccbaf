// Package endpoint encodes texts by an OpenAI-compatible /embeddings endpoint.
package endpoint

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

// Config says which endpoint to ask.
type Config struct {
	// BaseURL of the endpoint, "/v1" included where it has one.
	BaseURL string
	// APIKey for BaseURL; empty where the endpoint wants none.
	APIKey string
	// Model as the endpoint knows it.
	Model string
	// Dims is the length of its vectors; 0 asks the endpoint once.
	Dims int
	// BatchSize is how many texts go into one request; 0 takes 64.
	BatchSize int
	// Timeout of one request; 0 takes 30 seconds.
	Timeout time.Duration
	// Retries is how often a request that met 429, 5xx or a broken connection
	// is repeated.
	Retries int
	// RetryDelay before the first retry, doubled for each further one; 0 takes
	// half a second.
	RetryDelay time.Duration
}

// Encoder asks the endpoint. It is safe for concurrent use.
type Encoder struct {
	cfg    Config
	client *openai.Client
	retry  retrypolicy.RetryPolicy[openai.EmbeddingResponse]
}

// New checks the settings and, where Dims is 0, asks the endpoint for one
// vector to learn it.
func New(ctx context.Context, cfg Config) (*Encoder, error) {
	if cfg.BaseURL == "" || cfg.Model == "" {
		return nil, errors.New("an endpoint needs encoder.base_url and encoder.model")
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
	e := &Encoder{
		cfg:    cfg,
		client: openai.NewClientWithConfig(client),
		retry: retrypolicy.NewBuilder[openai.EmbeddingResponse]().
			HandleIf(func(_ openai.EmbeddingResponse, err error) bool { return err != nil && temporary(err) }).
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
		return nil, fmt.Errorf("ask for the dimensions: %w", err)
	}
	e.cfg.Dims = len(vectors[0])
	return e, nil
}

// Name implements encoder.Encoder.
func (e *Encoder) Name() string { return e.cfg.Model }

// Dims implements encoder.Encoder.
func (e *Encoder) Dims() int { return e.cfg.Dims }

// Encode implements encoder.Encoder. Its errors carry gRPC codes: UNAVAILABLE
// where the endpoint is down or answers nonsense, RESOURCE_EXHAUSTED where it
// goes on refusing, FAILED_PRECONDITION where it refuses the request.
func (e *Encoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for from := 0; from < len(texts); from += e.cfg.BatchSize {
		some, err := e.request(ctx, texts[from:min(from+e.cfg.BatchSize, len(texts))])
		if err != nil {
			return nil, &Error{URL: e.cfg.BaseURL, Err: err}
		}
		vectors = append(vectors, some...)
	}
	return vectors, nil
}

func (e *Encoder) request(ctx context.Context, texts []string) ([][]float32, error) {
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
			return nil, fmt.Errorf("%w: vector number %d of %d", errAnswer, d.Index, len(texts))
		}
		vectors[d.Index] = d.Embedding
	}
	for i, v := range vectors {
		if len(v) == 0 || e.cfg.Dims > 0 && len(v) != e.cfg.Dims {
			return nil, fmt.Errorf("%w: vector %d of %d has %d dimensions, want %d", errAnswer, i, len(texts), len(v), e.cfg.Dims)
		}
		if err := normalise(v); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// errAnswer: the endpoint answered with something that is no set of vectors.
var errAnswer = errors.New("the answer cannot be used")

func normalise(v []float32) error {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return fmt.Errorf("%w: a vector has no direction", errAnswer)
	}
	length := math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) / length) // whose inverse a float32 may not hold
	}
	return nil
}

// Error says which endpoint failed.
type Error struct {
	URL string
	Err error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("encode by %s: %v", e.URL, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// GRPCStatus gives the error its code.
func (e *Error) GRPCStatus() *status.Status {
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
	var api *openai.APIError
	if errors.As(err, &api) {
		return api.HTTPStatusCode
	}
	var request *openai.RequestError
	if errors.As(err, &request) {
		return request.HTTPStatusCode
	}
	return 0
}

// temporary says whether another try may help.
func temporary(err error) bool {
	code := httpCode(err)
	return code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500 || code == 0
}
