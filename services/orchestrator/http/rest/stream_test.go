package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
)

type answers = grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]

func delta(text string) *orchestratorv1.AskStreamResponse {
	return &orchestratorv1.AskStreamResponse{Event: &orchestratorv1.AskStreamResponse_AnswerDelta{AnswerDelta: text}}
}

const why = `{"question":"why"}`

func TestAnAnswerIsAStreamOfEvents(t *testing.T) {
	a := start(t)
	a.asking.stream = func(req *orchestratorv1.AskRequest, stream answers) error {
		for _, event := range []*orchestratorv1.AskStreamResponse{
			{Event: &orchestratorv1.AskStreamResponse_StageStarted{StageStarted: &orchestratorv1.StageStarted{
				Stage: orchestratorv1.Stage_STAGE_ANSWER}}},
			delta("two\nlines\n\nand </script> \u2028"),
			{Event: &orchestratorv1.AskStreamResponse_StageFinished{StageFinished: &orchestratorv1.StageFinished{}}},
			{Event: &orchestratorv1.AskStreamResponse_Run{Run: &orchestratorv1.Run{Id: "1",
				Question: req.GetQuestion()}}},
		} {
			if err := stream.Send(event); err != nil {
				return err
			}
		}
		return nil
	}
	resp := a.send(t, t.Context(), http.MethodPost, "/api/v1/ask:stream", why)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" ||
		resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %v", resp.StatusCode, resp.Header)
	}
	got := readEvents(resp.Body).collect()
	if len(got) != 4 || got[0].name != "stageStarted" || got[1].name != "answerDelta" ||
		got[2].name != "stageFinished" || got[3].name != "run" {
		t.Fatalf("got %q", got)
	}
	said := &orchestratorv1.AskStreamResponse{}
	if err := protojson.Unmarshal([]byte(got[1].data), said); err != nil ||
		said.GetAnswerDelta() != "two\nlines\n\nand </script> \u2028" {
		t.Errorf("got %q, %v", got[1].data, err)
	}
	run := &orchestratorv1.AskStreamResponse{}
	if err := protojson.Unmarshal([]byte(got[3].data), run); err != nil || run.GetRun().GetQuestion() != "why" {
		t.Errorf("got %q, %v", got[3].data, err)
	}
}

func TestAStreamThatFails(t *testing.T) {
	a := start(t)
	t.Run("before it begins has a status", func(t *testing.T) {
		a.asking.stream = func(*orchestratorv1.AskRequest, answers) error {
			return status.Error(codes.NotFound, "no such graph")
		}
		resp, body := a.do(t, http.MethodPost, "/api/v1/ask:stream", why)
		if p := problemIn(t, resp, body); p.Status != 404 || p.Detail != "no such graph" {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("later says so by an event", func(t *testing.T) {
		a.asking.stream = func(_ *orchestratorv1.AskRequest, stream answers) error {
			if err := stream.Send(delta("half")); err != nil {
				return err
			}
			return status.Error(codes.Unavailable, "the model is gone")
		}
		resp := a.send(t, t.Context(), http.MethodPost, "/api/v1/ask:stream", why)
		got := readEvents(resp.Body).collect()
		var p problem.Problem
		if len(got) != 2 || got[1].name != "error" || json.Unmarshal([]byte(got[1].data), &p) != nil {
			t.Fatalf("got %q", got)
		}
		if p.Status != 503 || p.Code != "UNAVAILABLE" || p.Detail != "the model is gone" ||
			p.RequestID != resp.Header.Get("X-Request-Id") {
			t.Errorf("got %+v", p)
		}
	})
}

func TestAQuietStreamSaysThatItIsThere(t *testing.T) {
	a := start(t, func(c *web.Config) { c.Heartbeat = 5 * time.Millisecond })
	let := make(chan struct{})
	a.asking.stream = func(_ *orchestratorv1.AskRequest, stream answers) error {
		<-let
		return stream.Send(delta("at last"))
	}
	stream := readEvents(a.send(t, t.Context(), http.MethodPost, "/api/v1/ask:stream", why).Body)
	for range 3 {
		if event, ok := stream.next(); !ok || event.name != ":" {
			t.Fatalf("got %q", event)
		}
	}
	close(let)
	for _, event := range stream.collect() {
		if event.name != ":" && event.name != "answerDelta" {
			t.Errorf("got %q", event)
		}
	}
}

// TestDisconnectCancelsTheQuestion drops streams before and after their first event.
func TestDisconnectCancelsTheQuestion(t *testing.T) {
	a := start(t)
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	for _, test := range []struct {
		name  string
		first bool // there is an event before they go
	}{{"in the midst of it", true}, {"before anything is said", false}} {
		t.Run(test.name, func(t *testing.T) {
			a.asking.stream = func(_ *orchestratorv1.AskRequest, stream answers) error {
				if test.first {
					if err := stream.Send(delta("a")); err != nil {
						return err
					}
				}
				begun <- struct{}{}
				<-stream.Context().Done()
				ended <- stream.Context().Err()
				return stream.Context().Err()
			}
			before := runtime.NumGoroutine()
			const streams = 20
			for range streams {
				ctx, cancel := context.WithCancel(t.Context())
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/api/v1/ask:stream",
						strings.NewReader(why))
					if err != nil {
						t.Error(err)
						return
					}
					req.Header.Set("Content-Type", "application/json")
					if resp, err := http.DefaultClient.Do(req); err == nil {
						readEvents(resp.Body).collect()
						resp.Body.Close()
					}
				}()
				once(t, begun)
				cancel()
				if err := once(t, ended); err == nil {
					t.Error("the question continues")
				}
				<-gone
			}
			// A leak would multiply by twenty.
			for deadline := time.Now().Add(patience); runtime.NumGoroutine() >= before+streams; {
				if time.Now().After(deadline) {
					t.Fatalf("%d goroutines became %d", before, runtime.NumGoroutine())
				}
				runtime.Gosched()
			}
		})
	}
	t.Run("and so does one who waits for the whole", func(t *testing.T) {
		a.asking.ask = func(ctx context.Context, _ *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
			begun <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-begun
			cancel()
		}()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/api/v1/ask", strings.NewReader(why))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			t.Error("it was answered")
		}
		if err := once(t, ended); err == nil {
			t.Error("the question continues")
		}
	})
}
