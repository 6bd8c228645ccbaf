package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	goopenai "github.com/sashabaranov/go-openai"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/openai"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// dial is go-openai, as programs that use it set it up.
func dial(url string) *goopenai.Client {
	cfg := goopenai.DefaultConfig("token")
	cfg.BaseURL = url
	return goopenai.NewClientWithConfig(cfg)
}

func newRequest(model string) goopenai.ChatCompletionRequest {
	return goopenai.ChatCompletionRequest{
		Model: model, Temperature: .5, MaxCompletionTokens: 100,
		Messages: []goopenai.ChatCompletionMessage{{Role: goopenai.ChatMessageRoleSystem, Content: "Be brief."},
			{Role: goopenai.ChatMessageRoleUser, Content: stagetest.Film}},
	}
}

func TestGoOpenAI(t *testing.T) {
	mesh := stagetest.New(t)
	c := dial(serve(t, mesh, openai.Config{}))
	t.Run("lists models", func(t *testing.T) {
		list, err := c.ListModels(t.Context())
		if err != nil || len(list.Models) < 4 || !strings.HasPrefix(list.Models[0].ID, "triplemesh/") {
			t.Errorf("got %v, %v", list, err)
		}
		one, err := c.GetModel(t.Context(), "triplemesh/pg-akv")
		if err != nil || one.ID != "triplemesh/pg-akv" || one.OwnedBy != "triplemesh" {
			t.Errorf("got %v, %v", one, err)
		}
	})
	t.Run("asks", func(t *testing.T) {
		resp, err := c.CreateChatCompletion(t.Context(), newRequest("triplemesh/pg-akv"))
		if err != nil || resp.Choices[0].Message.Content != "It was Erik Halvorsen." ||
			resp.Choices[0].FinishReason != goopenai.FinishReasonStop || resp.Usage.TotalTokens != 45 {
			t.Errorf("got %+v, %v", resp, err)
		}
	})
	t.Run("streams", func(t *testing.T) {
		req := newRequest("triplemesh/pg-akv")
		req.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
		text, usage, err := readStream(t, c, req)
		if err != nil || text != "It was Erik Halvorsen." || usage == nil || usage.TotalTokens != 45 {
			t.Errorf("got %q, %v, %v", text, usage, err)
		}
	})
	t.Run("reads errors", func(t *testing.T) {
		_, err := c.CreateChatCompletion(t.Context(), newRequest("gpt-4o"))
		var e *goopenai.APIError
		if !errors.As(err, &e) || e.HTTPStatusCode != http.StatusNotFound || e.Code != "model_not_found" ||
			e.Param == nil || *e.Param != "model" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("reads errors in a stream", func(t *testing.T) {
		stagetest.Fail[*generatorv1.GeneratePseudoGraphRequest](mesh, status.Error(codes.Unavailable,
			"the model is down"))
		_, _, err := readStream(t, c, newRequest("triplemesh/pg-akv"))
		var e *goopenai.APIError
		if !errors.As(err, &e) || !strings.Contains(e.Message, "the model is down") {
			t.Errorf("got %v", err)
		}
	})
}

// readStream reads a stream to its end.
func readStream(t *testing.T, c *goopenai.Client,
	req goopenai.ChatCompletionRequest) (text string, usage *goopenai.Usage, err error) {
	t.Helper()
	stream, err := c.CreateChatCompletionStream(t.Context(), req)
	if err != nil {
		return "", nil, err
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return text, usage, nil
		}
		if err != nil {
			return text, usage, err
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
		for _, choice := range chunk.Choices {
			text += choice.Delta.Content
		}
	}
}
