package load_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/bench/load"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// answerAfter answers each question after some time.
func answerAfter(took time.Duration, run *orchestratorv1.Run) load.Ask {
	return func(ctx context.Context, _ *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
		select {
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		case <-time.After(took):
			return &orchestratorv1.AskResponse{Run: run}, nil
		}
	}
}

// failing fails each question at once.
func failing(err error) load.Ask {
	return func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
		return nil, err
	}
}

func options(ask load.Ask) load.Options {
	return load.Options{
		Tenants:  []load.Tenant{{Name: "all", Weight: 1, Ask: ask}},
		Question: func(int) *orchestratorv1.AskRequest { return &orchestratorv1.AskRequest{} },
		Timeout:  5 * time.Second, MaxInFlight: 1000, Even: true,
	}
}

// run goes through one step of ten seconds, ten questions each.
func run(t *testing.T, o load.Options) load.Result {
	t.Helper()
	report, err := load.Run(t.Context(), o, []load.Step{{Rate: 10, Length: 10 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	return report.Steps[0]
}

func refusal(t *testing.T, code codes.Code, hint bool) error {
	t.Helper()
	s := status.New(code, "no")
	if hint {
		var err error
		if s, err = s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	return s.Err()
}

func TestWhatBecomesOfQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		ask  load.Ask
		want load.Counts
	}{
		"answered in time": {answerAfter(time.Second, &orchestratorv1.Run{}),
			load.Counts{Sent: 99, Whole: 99}},
		"answered with what was found": {answerAfter(time.Second, &orchestratorv1.Run{Partial: true}),
			load.Counts{Sent: 99, Partial: 99}},
		"not answered in time": {answerAfter(time.Minute, nil), load.Counts{Sent: 99, Late: 99}},
		"turned away": {failing(refusal(t, codes.ResourceExhausted, true)),
			load.Counts{Sent: 99, Refused: 99}},
		"turned away without a time": {failing(refusal(t, codes.ResourceExhausted, false)),
			load.Counts{Sent: 99, Refused: 99}},
		"a stage that is away for a while": {failing(refusal(t, codes.Unavailable, true)),
			load.Counts{Sent: 99, Refused: 99}},
		"a stage that is away": {failing(refusal(t, codes.Unavailable, false)),
			load.Counts{Sent: 99, Failed: 99}},
		"an error that is none of gRPC's": {failing(errors.New("no")), load.Counts{Sent: 99, Failed: 99}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := run(t, options(c.ask))
				if got.Counts != c.want {
					t.Errorf("got %+v, want %+v", got.Counts, c.want)
				}
				for _, r := range got.Refusals {
					if want := !strings.Contains(name, "without"); r.RetryInfo != want || r.Count != 99 {
						t.Errorf("got the refusals %+v", got.Refusals)
					}
				}
			})
		})
	}
}

func TestAMeshThatStallsIsChargedForAllWhoWouldHaveCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		o := options(func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
			time.Sleep(time.Until(began.Add(4 * time.Second))) // all stands still for four seconds
			return &orchestratorv1.AskResponse{Run: &orchestratorv1.Run{}}, nil
		})
		got := run(t, o)
		if got.Whole != 99 || got.Latency.Count != 99 {
			t.Fatalf("got %+v", got.Counts)
		}
		// Forty of a hundred came in that time, and waited two seconds on average.
		if math.Abs(got.Latency.Max-3900) > 10 || math.Abs(got.Latency.P90-3000) > 200 {
			t.Errorf("got %+v", got.Latency)
		}
	})
}

func TestThoseBeyondTheCapAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(answerAfter(2*time.Second, nil))
		o.MaxInFlight = 5
		if got := run(t, o).Counts; got.Unsent == 0 || got.Sent+got.Unsent != 99 || got.Whole != got.Sent {
			t.Errorf("got %+v", got)
		}
	})
}

func TestTenantsComeByTheirWeights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(answerAfter(time.Second, nil))
		o.Even, o.Seed = false, 7
		o.Tenants = []load.Tenant{{Name: "many", Weight: 9, Ask: answerAfter(time.Second, nil)},
			{Name: "few", Weight: 1, Ask: failing(errors.New("no"))}}
		report, err := load.Run(t.Context(), o, []load.Step{{Rate: 100, Length: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		s := report.Steps[0]
		many, few := s.Tenants[0], s.Tenants[1]
		if many.Sent+few.Sent != s.Sent || many.Whole != many.Sent || few.Failed != few.Sent || s.Failed != few.Failed {
			t.Errorf("got %+v, of which %+v and %+v", s.Counts, many.Counts, few.Counts)
		}
		if share := float64(many.Sent) / float64(s.Sent); math.Abs(share-0.9) > 0.02 ||
			math.Abs(float64(s.Sent)-6000) > 300 {
			t.Errorf("of %d questions %.3f were of the tenant with nine tenths", s.Sent, share)
		}
	})
}

func TestAnInterruptedRunTellsWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		report, err := load.Run(ctx, options(answerAfter(time.Second, nil)),
			[]load.Step{{Rate: 10, Length: 10 * time.Second},
				{Rate: 10, Length: time.Second}})
		if !errors.Is(err, context.DeadlineExceeded) || len(report.Steps) != 1 {
			t.Fatalf("got %+v, %v", report, err)
		}
		s := report.Steps[0]
		if s.Whole < 28 || s.Cut < 9 || s.Whole+s.Cut != s.Sent || math.Abs(s.Length-4) > 0.01 ||
			math.Abs(s.Goodput-float64(s.Whole)/4) > 0.5 {
			t.Errorf("got %+v in %g s, goodput %g", s.Counts, s.Length, s.Goodput)
		}
	})
}

func TestTheSameSeedIsTheSameSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := map[int]bool{}
		for _, seed := range []uint64{1, 1, 2} {
			o := options(answerAfter(time.Millisecond, nil))
			o.Even, o.Seed = false, seed
			counts[run(t, o).Sent] = true
		}
		if len(counts) != 2 {
			t.Errorf("two seeds made %d schedules", len(counts))
		}
	})
}

func TestOptionsThatCannotBeAreNamed(t *testing.T) {
	for says, change := range map[string]func(*load.Options, *load.Step){
		"no tenants":      func(o *load.Options, _ *load.Step) { o.Tenants = nil },
		"weight":          func(o *load.Options, _ *load.Step) { o.Tenants[0].Weight = 0 },
		"time of a":       func(o *load.Options, _ *load.Step) { o.Timeout = 0 },
		"under way":       func(o *load.Options, _ *load.Step) { o.MaxInFlight = 0 },
		"both must be ab": func(_ *load.Options, s *load.Step) { s.Rate = 0 },
	} {
		o, s := options(answerAfter(0, nil)), load.Step{Rate: 1, Length: time.Second}
		change(&o, &s)
		if _, err := load.Run(t.Context(), o, []load.Step{s}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want it to say %q", err, says)
		}
	}
}
