package quota

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/llm"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

var (
	acme   = tenantNamed("acme")
	globex = tenantNamed("globex")
)

func tenantNamed(name string) auth.Tenant {
	id, err := auth.ParseTenant(name)
	if err != nil {
		panic(err)
	}
	return id
}

// wall is a manual clock without a monotonic reading.
type wall struct{ at time.Time }

func newWall() *wall                    { return &wall{time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)} }
func (w *wall) now() time.Time          { return w.at }
func (w *wall) pass(d time.Duration)    { w.at = w.at.Add(d) }
func (w *wall) quotas(c Config) *Quotas { return newQuotas(c, w.now) }

func tokens(n uint64) *llmv1.Usage {
	return &llmv1.Usage{PromptTokens: n / 2, CompletionTokens: n - n/2}
}

// begin admits a question.
func begin(t *testing.T, q *Quotas, id auth.Tenant) *Run {
	t.Helper()
	run, err := q.Begin(id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// ask runs a question with a usage.
func ask(t *testing.T, q *Quotas, id auth.Tenant, u *llmv1.Usage) {
	t.Helper()
	run := begin(t, q, id)
	run.Charge(u)
	run.End()
}

func TestQuestionsOverAQuotaAreRejected(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits Limits
		use    func(t *testing.T, q *Quotas)
		quota  string
		says   string
		retry  time.Duration
	}{
		{"questions of a minute", Limits{QuestionsPerMinute: 2}, func(t *testing.T, q *Quotas) {
			ask(t, q, acme, nil)
			ask(t, q, acme, nil)
		}, QuestionsPerMinute, "2 of 2 questions in the last minute", 61 * time.Second},
		{"questions of a day", Limits{QuestionsPerDay: 1}, func(t *testing.T, q *Quotas) { ask(t, q, acme, nil) },
			QuestionsPerDay, "1 of 1 questions today", 14 * time.Hour},
		{"tokens", Limits{TokensPerDay: 100}, func(t *testing.T, q *Quotas) { ask(t, q, acme, tokens(130)) },
			TokensPerDay, "130 of 100 tokens today", 14 * time.Hour},
		{"money", Limits{CostUSDPerDay: 0.5},
			func(t *testing.T, q *Quotas) { ask(t, q, acme, &llmv1.Usage{CostUsd: .75}) },
			CostUSDPerDay, "0.7500 of 0.5000 US dollars today", 14 * time.Hour},
		{"questions under way", Limits{ConcurrentRuns: 1}, func(t *testing.T, q *Quotas) { begin(t, q, acme) },
			ConcurrentRuns, "1 of 1 questions under way", time.Second},
		{"of several the one that takes longest", Limits{QuestionsPerMinute: 1, QuestionsPerDay: 1, ConcurrentRuns: 1},
			func(t *testing.T, q *Quotas) { begin(t, q, acme) },
			QuestionsPerDay, "today", 14 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := newWall().quotas(Config{"acme": c.limits, Everyone: {QuestionsPerDay: 1000}})
			c.use(t, q)
			run, err := q.Begin(acme)
			var exceeded *Exceeded
			if run != nil || !errors.As(err, &exceeded) || exceeded.Quota != c.quota || exceeded.Retry != c.retry ||
				!errors.Is(err, llm.ErrBudget) {
				t.Fatalf("got %v, %#v", run, err)
			}
			st := status.Convert(err)
			if st.Code() != codes.ResourceExhausted || !strings.Contains(st.Message(), c.says) ||
				!strings.Contains(st.Message(), "tenant acme") || !strings.Contains(st.Message(), "triplemesh quota") {
				t.Errorf("the status is %v", st)
			}
			var info *errdetails.ErrorInfo
			var retry *errdetails.RetryInfo
			var failure *errdetails.QuotaFailure
			for _, d := range st.Details() {
				switch d := d.(type) {
				case *errdetails.ErrorInfo:
					info = d
				case *errdetails.RetryInfo:
					retry = d
				case *errdetails.QuotaFailure:
					failure = d
				}
			}
			if info.GetReason() != "QUOTA_EXCEEDED" || info.GetMetadata()["quota"] != c.quota ||
				retry.GetRetryDelay().AsDuration() != c.retry ||
				failure.GetViolations()[0].GetSubject() != "tenant:acme" {
				t.Errorf("its details are %v", st.Details())
			}
			ask(t, q, globex, nil) // another tenant asks on
		})
	}
}

func TestRetryDelayIsSufficient(t *testing.T) {
	w := newWall()
	q := w.quotas(Config{"acme": {QuestionsPerMinute: 3, ConcurrentRuns: 4}})
	ask(t, q, acme, nil)
	w.pass(20 * time.Second)
	ask(t, q, acme, nil)
	ask(t, q, acme, nil)
	for range 2 {
		_, err := q.Begin(acme)
		var exceeded *Exceeded
		if !errors.As(err, &exceeded) {
			t.Fatalf("got %v", err)
		}
		w.pass(exceeded.Retry - time.Second)
		if _, err := q.Begin(acme); err == nil {
			t.Fatal("there was room a second early")
		}
		w.pass(time.Second)
		ask(t, q, acme, nil)
	}
}

func TestDaysAreUTC(t *testing.T) {
	w := newWall()
	q := w.quotas(Config{Everyone: {QuestionsPerDay: 1, TokensPerDay: 10, CostUSDPerDay: 1}})
	run := begin(t, q, acme)
	w.pass(14*time.Hour - time.Second)
	if _, err := q.Begin(acme); err == nil {
		t.Error("one more on the same day")
	}
	w.pass(time.Second)
	run.Charge(tokens(4)) // a run that continues past midnight spends from the new day
	run.End()
	run = begin(t, q, acme)
	if left, err := run.Remaining(); err != nil || left.GetMaxTokens() != 6 || left.GetMaxCostUsd() != 1 {
		t.Errorf("the next day there is %v, %v", left, err)
	}
}

func TestRunningQuestionGetsTheRemainingBudget(t *testing.T) {
	q := newWall().quotas(Config{"acme": {TokensPerDay: 100}})
	one, other := begin(t, q, acme), begin(t, q, acme)
	one.Charge(tokens(60))
	if left, err := other.Remaining(); err != nil || left.GetMaxTokens() != 40 || left.GetMaxCostUsd() != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	other.Charge(tokens(40))
	if left, err := one.Remaining(); left != nil || !errors.Is(err, llm.ErrBudget) {
		t.Errorf("of nothing left are %v, %v", left, err)
	}
	free := begin(t, q, globex)
	free.Charge(tokens(1e9))
	if left, err := free.Remaining(); err != nil || left.GetMaxTokens() != 0 || left.GetMaxCalls() != 0 {
		t.Errorf("without a quota left are %v, %v", left, err)
	}
}

func TestEndIsIdempotent(t *testing.T) {
	q := newWall().quotas(Config{Everyone: {ConcurrentRuns: 2}})
	one := begin(t, q, acme)
	begin(t, q, acme)
	one.End()
	one.End()
	begin(t, q, acme)
	if _, err := q.Begin(acme); err == nil {
		t.Error("ending twice made room twice")
	}
}

func TestQuestionWithoutTenantIsRejected(t *testing.T) {
	if run, err := newWall().quotas(nil).Begin(auth.Tenant{}); run != nil || !errors.Is(err, auth.ErrNoTenant) {
		t.Errorf("got %v, %v", run, err)
	}
}

func TestStates(t *testing.T) {
	w := newWall()
	q := w.quotas(Config{"acme": {QuestionsPerMinute: 5, CostUSDPerDay: 2}})
	for _, s := range q.States(acme) {
		if s.Used != 0 || !s.Resets.IsZero() {
			t.Errorf("of nothing used: %+v", s)
		}
	}
	ask(t, q, acme, nil)
	w.pass(10 * time.Second)
	begin(t, q, acme).Charge(&llmv1.Usage{PromptTokens: 5, CompletionTokens: 2, CostUsd: .5, CachedPromptTokens: 99})
	midnight := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for i, want := range []State{
		{QuestionsPerMinute, 5, 2, w.at.Add(51 * time.Second)},
		{QuestionsPerDay, 0, 2, midnight},
		{TokensPerDay, 0, 7, midnight},
		{CostUSDPerDay, 2, .5, midnight},
		{ConcurrentRuns, 0, 1, time.Time{}},
	} {
		if got := q.States(acme)[i]; got.Name != want.Name || got.Limit != want.Limit || got.Used != want.Used ||
			!got.Resets.Equal(want.Resets) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	for _, s := range q.States(globex) {
		if s.Used != 0 || s.Limit != 0 {
			t.Errorf("another tenant sees %+v", s)
		}
	}
}

// No 60 seconds hold more questions than the quota, even if the clock is set back.
func TestNoMinuteExceedsItsQuota(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		w := newWall()
		limit := 1 + random.Uint32N(6)
		q := w.quotas(Config{Everyone: {QuestionsPerMinute: limit}})
		var passed, back time.Duration // since the start, and by how much the clock is behind that
		var admitted []time.Duration
		for range 300 {
			switch random.IntN(20) {
			case 0:
				jump := time.Duration(random.IntN(90)) * time.Second
				back += jump
				w.pass(-jump)
			default:
				step := time.Duration(random.IntN(9000)) * time.Millisecond
				passed += step
				w.pass(step)
			}
			run, err := q.Begin(acme)
			if err != nil {
				continue
			}
			run.End()
			admitted = append(admitted, passed)
			within := 0
			for _, at := range admitted {
				if passed-at < time.Minute {
					within++
				}
			}
			if within > int(limit) {
				t.Fatalf("%d questions within a minute, limit %d, clock %v behind", within, limit, back)
			}
		}
		if len(admitted) == 0 {
			t.Fatal("nothing was admitted")
		}
	}
}

// A day's tokens are overrun by less than the stages in flight cost, even if the clock jumps.
func TestDayIsOverrunByStagesInFlightOnly(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		w := newWall()
		const parallel, perStage, limit = 4, 50, 1000
		q := w.quotas(Config{Everyone: {TokensPerDay: limit, ConcurrentRuns: parallel}})
		var under []*Run
		stages := map[*Run]uint64{} // what the stage under way may spend
		var spent uint64
		for range 500 {
			switch random.IntN(6) {
			case 0:
				if run, err := q.Begin(acme); err == nil {
					under = append(under, run)
				}
			case 1: // the clock, by less than what is left of the day
				w.pass(time.Duration(random.IntN(3)-1) * time.Minute)
			default:
				if len(under) == 0 {
					continue
				}
				i := random.IntN(len(under))
				run := under[i]
				if budget, working := stages[run]; working {
					cost := min(budget, uint64(random.IntN(perStage)))
					run.Charge(tokens(cost))
					spent += cost
					delete(stages, run)
				} else if left, err := run.Remaining(); err == nil {
					stages[run] = left.GetMaxTokens()
				} else {
					run.End()
					under = append(under[:i], under[i+1:]...)
				}
			}
			if len(under) > parallel {
				t.Fatalf("%d runs under way, limit %d", len(under), parallel)
			}
		}
		if spent > limit+(parallel-1)*perStage {
			t.Fatalf("spent %d of %d", spent, limit)
		}
		if got := q.States(acme)[2].Used; got != float64(spent) {
			t.Fatalf("counted %v of %d", got, spent)
		}
	}
}

func TestClockJumpGrantsNoDayTwice(t *testing.T) {
	w := newWall()
	q := w.quotas(Config{Everyone: {QuestionsPerDay: 1}})
	admitted := 0
	for _, jump := range []time.Duration{0, -48 * time.Hour, 24 * time.Hour, 24 * time.Hour,
		24 * time.Hour /* a day ahead */, -24 * time.Hour, 24 * time.Hour} {
		w.pass(jump)
		if run, err := q.Begin(acme); err == nil {
			run.End()
			admitted++
		}
	}
	if admitted != 2 { // one for the day it is, one for the day ahead
		t.Errorf("%d questions, want 2", admitted)
	}
	w.pass(24 * time.Hour)
	if _, err := q.Begin(acme); err != nil {
		t.Errorf("on a day that has come at last: %v", err)
	}
}

// Run with -race.
func TestConcurrentQuestions(t *testing.T) {
	q := newQuotas(Config{Everyone: {ConcurrentRuns: 3, QuestionsPerDay: 50}}, time.Now)
	var group sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 8 {
		group.Go(func() {
			for range 50 {
				run, err := q.Begin(acme)
				if err != nil {
					continue
				}
				_, _ = run.Remaining()
				run.Charge(tokens(1))
				q.States(acme)
				run.End()
				mu.Lock()
				admitted++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if admitted > 50 || q.States(acme)[2].Used != float64(admitted) || q.States(acme)[4].Used != 0 {
		t.Errorf("%d admitted, %+v", admitted, q.States(acme))
	}
}
