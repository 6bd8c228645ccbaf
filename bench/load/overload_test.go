package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/bench/load"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// mesh does four questions at once in half a second each and lets some wait.
func mesh(waiting int) load.Ask {
	line, places := make(chan struct{}, 4+waiting), make(chan struct{}, 4)
	return func(ctx context.Context, _ *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
		select {
		case line <- struct{}{}:
			defer func() { <-line }()
		default:
			return nil, status.Error(codes.ResourceExhausted, "full")
		}
		places <- struct{}{}
		defer func() { <-places }()
		time.Sleep(500 * time.Millisecond)
		return &orchestratorv1.AskResponse{Run: &orchestratorv1.Run{Stages: []*orchestratorv1.StageReport{
			{Stage: orchestratorv1.Stage_STAGE_ANSWER, Duration: durationpb.New(500 * time.Millisecond)},
		}}}, nil
	}
}

// overload returns a report on a mesh with a capacity of eight questions per second.
func overload(t *testing.T, waiting int) *load.Report {
	t.Helper()
	o := options(mesh(waiting))
	o.Even = false
	report, err := load.Overload(t.Context(), o, load.Plan{From: 1, Find: 20 * time.Second, Times: []float64{2, 5},
		Hold: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestTheCapacityIsFoundAndOverloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		report := overload(t, 4)
		o := report.Overload
		if math.Abs(o.Capacity-8) > 0.5 || len(o.Kept) != 2 {
			t.Fatalf("got %+v, want a capacity of 8", o)
		}
		for _, k := range o.Kept {
			if k.Share < 1 || k.Share > 1.5 {
				t.Errorf("at %gx %.2f of the goodput was left, want all: what is refused costs nothing",
					k.Times, k.Share)
			}
		}
		if o.Recovery < 0 || o.Recovery > 3 {
			t.Errorf("it recovered after %g s", o.Recovery)
		}
		if got := report.Steps[3]; got.Refused < got.Sent/2 || got.Stages[0].P50 < 499 || got.Stages[0].P50 > 501 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestABacklogIsSeenAfterTheBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A hundred in line take more than the time of a question: nobody who comes
		// into the burst is answered in time, nor is anybody for long after it.
		if got := overload(t, 100).Overload; got.Recovery < 5 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAMeshThatAnswersNothingHasNoCapacity(t *testing.T) {
	_, err := load.Overload(t.Context(), options(failing(errors.New("no"))),
		load.Plan{From: 100, Find: 50 * time.Millisecond, Hold: time.Second})
	if err == nil || !strings.Contains(err.Error(), "triplemesh ask") {
		t.Errorf("got %v", err)
	}
}

func TestAReportIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		report := overload(t, 4)
		for name, show := range map[string]struct {
			write func(io.Writer) error
			says  []string
			check func([]byte) error
		}{
			"a table": {report.WriteTable, []string{"goodput/s", "before", "5x", "answer", "without saying when",
				"capacity: ", "of the goodput at 1x", "after the burst"}, nil},
			"JSON": {report.WriteJSON, []string{`"p99_ms"`, `"refused"`, `"recovery_s"`}, func(text []byte) error {
				return json.Unmarshal(text, new(load.Report))
			}},
			"a plot": {report.WriteSVG, []string{"polyline", "whole answers", "99th percentile"},
				func(text []byte) error { return xml.Unmarshal(text, new(any)) }},
			"a page": {report.WriteHTML, []string{"<svg", "goodput/s"}, nil},
		} {
			var out bytes.Buffer
			if err := show.write(&out); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, want := range show.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s lacks %q:\n%s", name, want, &out)
				}
			}
			if show.check != nil {
				if err := show.check(out.Bytes()); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if text := new(bytes.Buffer); report.WriteSVG(text) == nil && strings.Contains(text.String(), "NaN") {
			t.Errorf("the plot has no numbers: %s", text)
		}
	})
}
