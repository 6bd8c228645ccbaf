package openai_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/openai"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// chunk holds the tested fields of a chunk.
type chunk struct {
	ID, Object, Model string
	Choices           []struct {
		Delta struct {
			Role        string
			Content     *string
			Annotations []annotation
		}
		FinishReason *string `json:"finish_reason"`
	}
	Usage      map[string]int
	Triplemesh *struct {
		StageStarted  map[string]string
		StageFinished map[string]any
		Run           *run
	}
	Error *fault
}

// spokenEvents holds the text of a stream.
type spokenEvents struct {
	chunks []chunk
	text   string
	stages []string
	done   bool
}

func hear(t *testing.T, text []byte) (s spokenEvents) {
	t.Helper()
	for _, event := range strings.Split(strings.TrimSuffix(string(text), "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok || strings.Contains(data, "\n") || s.done {
			t.Fatalf("%q is no event, or comes after the end", event)
		}
		if data == "[DONE]" {
			s.done = true
			continue
		}
		c := decode[chunk](t, []byte(data))
		s.chunks = append(s.chunks, c)
		if len(c.Choices) > 0 && c.Choices[0].Delta.Content != nil {
			s.text += *c.Choices[0].Delta.Content
		}
		if e := c.Triplemesh; e != nil && e.StageStarted != nil {
			s.stages = append(s.stages, e.StageStarted["stage"])
		}
	}
	return s
}

func stream(t *testing.T, url, body string) spokenEvents {
	t.Helper()
	resp, text := call(t, "POST", url+"/chat/completions", body)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: %s", resp.Status, text)
	}
	return hear(t, text)
}

func TestAStreamTellsOfStagesTheTextAndWhatItRestsOn(t *testing.T) {
	s := stream(t, serve(t, stagetest.New(t), openai.Config{}), film("triplemesh/pg-akv", `, "stream": true`))
	if s.text != "It was Erik Halvorsen." || !s.done {
		t.Errorf("it says %q, to its end: %v", s.text, s.done)
	}
	if want := []string{"STAGE_PSEUDO_GRAPH", "STAGE_GROUND_GRAPH", "STAGE_VERIFY",
		"STAGE_ANSWER"}; !slices.Equal(s.stages, want) {
		t.Errorf("it went through %q", s.stages)
	}
	pieces := 0
	for i, c := range s.chunks {
		if c.Object != "chat.completion.chunk" || c.ID == "" || c.ID != s.chunks[0].ID ||
			c.Model != "triplemesh/pg-akv" || len(c.Choices) != 1 || c.Usage != nil {
			t.Errorf("chunk %d is %+v", i, c)
		}
		if (c.Choices[0].Delta.Role == "assistant") != (i == 0) {
			t.Errorf("chunk %d is said by %q", i, c.Choices[0].Delta.Role)
		}
		if (c.Choices[0].FinishReason != nil) != (i == len(s.chunks)-1) {
			t.Errorf("chunk %d ends with %v", i, c.Choices[0].FinishReason)
		}
		if content := c.Choices[0].Delta.Content; content != nil && *content != "" {
			pieces++
		}
		if e := c.Triplemesh; e != nil && e.StageFinished != nil && (e.StageFinished["run"] != nil ||
			e.StageFinished["report"] == nil) {
			t.Errorf("chunk %d tells %v", i, e.StageFinished)
		}
	}
	if pieces != 2 {
		t.Errorf("the answer came in %d pieces", pieces)
	}
	last := s.chunks[len(s.chunks)-1]
	if *last.Choices[0].FinishReason != "stop" || last.Triplemesh.Run == nil ||
		last.Triplemesh.Run.Grounding != "GROUNDING_GROUNDED" || last.Triplemesh.Run.PgAkv != nil {
		t.Errorf("the last chunk is %+v", last)
	}
	a := last.Choices[0].Delta.Annotations
	if len(a) != 1 || s.text[a[0].Page.Start:a[0].Page.End] != stagetest.Director {
		t.Errorf("annotated by %+v", a)
	}
}

func TestTheCostComesWhereItIsAskedFor(t *testing.T) {
	s := stream(t, serve(t, stagetest.New(t), openai.Config{}),
		film("triplemesh/pg-akv", `, "stream": true, "stream_options": {"include_usage": true}`))
	last := s.chunks[len(s.chunks)-1]
	if len(last.Choices) != 0 || last.Usage["total_tokens"] != 45 || last.Usage["prompt_tokens"] != 30 {
		t.Errorf("the last chunk is %+v", last)
	}
	if before := s.chunks[len(s.chunks)-2]; before.Choices[0].FinishReason == nil || before.Usage != nil {
		t.Errorf("the one before it is %+v", before)
	}
}

func TestAnAnswerThatIsNotWrittenPieceByPieceComesWhole(t *testing.T) {
	body := strings.Replace(film("triplemesh/ger", `, "stream": true`), stagetest.Film, stagetest.Rivers, 1)
	if s := stream(t, serve(t, stagetest.New(t), openai.Config{}), body); !s.done ||
		!strings.HasPrefix(s.text, "Tessen, Orla\n\nNot confirmed: ") {
		t.Errorf("it says %q", s.text)
	}
}

func TestAnAnswerThatIsHeldBackIsNotSent(t *testing.T) {
	body := film("triplemesh/pg-akv", `, "stream": true, "triplemesh": {"options": {"abstainBelow": 1}}`)
	s := stream(t, serve(t, stagetest.New(t), openai.Config{}), body)
	if s.text != "This is not in the knowledge graph wikidata." ||
		s.chunks[len(s.chunks)-1].Triplemesh.Run.Grounding != "GROUNDING_ABSTAINED" {
		t.Errorf("it says %q", s.text)
	}
}

func TestTheKnowledgeGraphDoesNotSayComesBeforeTheModelsAnswerInAStream(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *retrieverv1.SearchTriplesRequest) (
		*retrieverv1.SearchTriplesResponse, error) {
		return &retrieverv1.SearchTriplesResponse{}, nil
	})
	s := stream(t, serve(t, mesh, openai.Config{}), film("triplemesh/rag", `, "stream": true`))
	want := "The knowledge graph wikidata does not say. The model's own answer: It was " + stagetest.Director + "."
	if s.text != want || s.chunks[len(s.chunks)-1].Triplemesh.Run.Grounding != "GROUNDING_UNGROUNDED" {
		t.Errorf("it says %q", s.text)
	}
}

func TestAStreamThatFailsBeforeItBeginsHasAStatus(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Fail[*retrieverv1.ListKnowledgeGraphsRequest](mesh, status.Error(codes.Unavailable, "the store is down"))
	resp, text := call(t, "POST", serve(t, mesh, openai.Config{})+"/chat/completions",
		film("triplemesh/pg-akv:wikidata", `, "stream": true`))
	if e := errorOf(t, text); resp.StatusCode != http.StatusServiceUnavailable ||
		!strings.Contains(e.Message, "store is down") {
		t.Errorf("%s: %s", resp.Status, text)
	}
}

func TestAStreamThatFailsLaterEndsInAnError(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Fail[*generatorv1.GeneratePseudoGraphRequest](mesh, status.Error(codes.Unavailable, "the model is down"))
	s := stream(t, serve(t, mesh, openai.Config{}), film("triplemesh/pg-akv", `, "stream": true`))
	last := s.chunks[len(s.chunks)-1]
	if s.done || last.Error == nil || last.Error.Type != "server_error" || !strings.Contains(last.Error.Message,
		"the model is down") {
		t.Errorf("it ended with %+v", last)
	}
}

func TestAStreamWithNothingToTellSaysThatItIsThere(t *testing.T) {
	mesh := stagetest.New(t)
	beat := make(chan struct{})
	stagetest.Script(mesh, func(ctx context.Context, _ *generatorv1.GeneratePseudoGraphRequest) (
		*generatorv1.GeneratePseudoGraphResponse, error) {
		select {
		case <-beat:
		case <-ctx.Done():
		}
		return &generatorv1.GeneratePseudoGraphResponse{Usage: stagetest.Usage()}, nil
	})
	req, err := http.NewRequestWithContext(t.Context(), "POST",
		serve(t, mesh, openai.Config{Heartbeat: time.Millisecond})+"/chat/completions",
		strings.NewReader(film("triplemesh/pg-akv", `, "stream": true`)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	piece := make([]byte, 4096)
	for !strings.Contains(text.String(), `"delta":{},"finish_reason":null}]}`) { // with no event
		n, err := resp.Body.Read(piece)
		if err != nil {
			t.Fatalf("it ended with %v after %s", err, text.String())
		}
		text.Write(piece[:n])
	}
	close(beat)
	rest, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if s := hear(t, []byte(text.String()+string(rest))); s.text != "It was Erik Halvorsen." || !s.done {
		t.Errorf("it says %q", s.text)
	}
}

func TestACallerThatGoesAwayEndsTheQuestion(t *testing.T) {
	mesh := stagetest.New(t)
	begun, ended := make(chan struct{}), make(chan struct{})
	stagetest.Script(mesh, func(ctx context.Context, _ *generatorv1.GeneratePseudoGraphRequest) (
		*generatorv1.GeneratePseudoGraphResponse, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", serve(t, mesh, openai.Config{})+"/chat/completions",
		strings.NewReader(film("triplemesh/pg-akv", `, "stream": true`)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-begun
	cancel()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the question continues")
	}
}
