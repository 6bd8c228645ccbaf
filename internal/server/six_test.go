package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

func TestSixServersInOneProcessShareNothing(t *testing.T) {
	stages := []string{"orchestrator", "generator", "retriever", "verifier", "evaluator", "reflector"}
	var all []*running
	for _, stage := range stages {
		all = append(all, start(t, stage,
			answering(func(_ context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
				return &reflectorv1.ReflectResponse{Reason: stage + " " + req.GetQuestion()}, nil
			})))
	}
	var calls sync.WaitGroup
	for i, r := range all {
		for n := range 20 {
			calls.Go(func() {
				sink := telemetry.NewSpanSink()
				ctx := telemetry.WithRequestID(telemetry.WithSpanSink(t.Context(), sink),
					fmt.Sprintf("%s-%d", stages[i], n))
				answer, err := r.reflect(ctx, fmt.Sprint(n))
				if err != nil {
					t.Error(err)
					return
				}
				if want := fmt.Sprintf("%s %d", stages[i], n); answer.GetReason() != want {
					t.Errorf("got %q, want %q", answer.GetReason(), want)
				}
				if spans := sink.Spans(); len(spans) != 2 || spans[1].GetService() != stages[i] {
					t.Errorf("got spans %v, want the client's and the %s's", spans, stages[i])
				}
			})
		}
	}
	calls.Wait()
	all[0].stop()
	<-all[0].stopped
	for i, r := range all[1:] {
		if _, err := r.reflect(t.Context(), "still there?"); err != nil {
			t.Errorf("the %s ended with the orchestrator: %v", stages[i+1], err)
		}
		r.stop()
		<-r.stopped
	}
	for i, r := range all {
		for _, other := range stages {
			if has := strings.Contains(r.log.String(), `"request_id":"`+other+"-7"); has != (other == stages[i]) {
				t.Errorf("log of the %s has a request of the %s: %v", stages[i], other, has)
			}
		}
	}
}
