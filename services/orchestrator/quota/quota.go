// Package quota limits what each tenant uses of the mesh: questions, tokens and money. It counts in
// memory, persists the counts in a file, and adds up those of orchestrators that share a directory.
package quota

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/llm"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// Quotas counts usage per tenant and rejects what exceeds a limit. Safe for concurrent use.
//
// A question is admitted by the usage before it, and each stage gets the budget that remains. So
// tokens and money are overrun at most by the stages in flight at that moment. Orchestrators that
// share a directory see each other's usage some seconds late (see Every): a quota may be overrun by
// what the others admit in that time.
type Quotas struct {
	cfg    Config
	shared *share // nil if nothing is kept

	mu     sync.Mutex
	clock  clock
	day    time.Time
	own    map[auth.Tenant]*count
	others map[auth.Tenant]count // added up
	dirty  bool
}

func newQuotas(cfg Config, now func() time.Time) *Quotas {
	q := &Quotas{cfg: cfg, clock: newClock(now), own: map[auth.Tenant]*count{}, others: map[auth.Tenant]count{}}
	q.tick()
	return q
}

// tick advances the clock and resets the counts on a new day. q.mu is held.
func (q *Quotas) tick() (now int64) {
	now, day := q.clock.tick()
	if day.Equal(q.day) {
		return now
	}
	q.day, q.dirty = day, true
	for id, c := range q.own {
		c.newDay()
		if c.forget(now); c.Running == 0 && len(c.Recent) == 0 {
			delete(q.own, id)
		}
	}
	for id, c := range q.others {
		c.newDay()
		q.others[id] = c
	}
	return now
}

// usage sums a tenant's usage over all orchestrators. q.mu is held.
func (q *Quotas) usage(id auth.Tenant) count {
	all := q.others[id]
	all.Recent = append([]second(nil), all.Recent...)
	if own := q.own[id]; own != nil {
		all.add(*own)
	}
	return all
}

// Begin admits a question of a tenant, or returns *Exceeded; auth.ErrNoTenant for no tenant. The
// caller must End the run.
func (q *Quotas) Begin(id auth.Tenant) (*Run, error) {
	if id.IsZero() {
		return nil, auth.ErrNoTenant
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.tick()
	if limits := q.cfg.LimitsFor(id); limits != (Limits{}) {
		if err := q.check(id, limits, now); err != nil {
			return nil, err
		}
	}
	own := q.ownCount(id)
	own.ask(now)
	q.dirty = true
	return &Run{quotas: q, tenant: id, own: own}, nil
}

// ownCount returns the usage of a tenant through this orchestrator. q.mu is held.
func (q *Quotas) ownCount(id auth.Tenant) *count {
	own := q.own[id]
	if own == nil {
		own = &count{}
		q.own[id] = own
	}
	return own
}

// AddFeedback admits and counts feedback marks of a tenant, all or none: it returns *Exceeded if they
// do not fit, and auth.ErrNoTenant for no tenant.
func (q *Quotas) AddFeedback(id auth.Tenant, marks int) error {
	if id.IsZero() {
		return auth.ErrNoTenant
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tick()
	used := q.usage(id).Feedback
	if limit := q.cfg.LimitsFor(id).FeedbackPerDay; limit > 0 && used+uint64(marks) > limit {
		return q.tomorrow(id, FeedbackPerDay, float64(used), float64(limit))
	}
	q.ownCount(id).Feedback += uint64(marks)
	q.dirty = true
	return nil
}

// busyRetry is the retry delay of a tenant with too many running questions.
const busyRetry = time.Second

// check rejects a question over a quota; of several, it returns the one with the longest wait. q.mu
// is held.
func (q *Quotas) check(id auth.Tenant, l Limits, now int64) error {
	used := q.usage(id)
	if err := q.checkDay(id, l, used); err != nil {
		return err
	}
	if l.QuestionsPerMinute > 0 {
		if n, room := used.inMinute(now, l.QuestionsPerMinute); n >= uint64(l.QuestionsPerMinute) {
			return &Exceeded{id, QuestionsPerMinute, float64(n), float64(l.QuestionsPerMinute),
				time.Duration(room-now) * time.Second}
		}
	}
	if l.ConcurrentRuns > 0 && used.Running >= l.ConcurrentRuns {
		return &Exceeded{id, ConcurrentRuns, float64(used.Running), float64(l.ConcurrentRuns), busyRetry}
	}
	return nil
}

func (q *Quotas) checkDay(id auth.Tenant, l Limits, used count) error {
	if l.QuestionsPerDay > 0 && used.Questions >= l.QuestionsPerDay {
		return q.tomorrow(id, QuestionsPerDay, float64(used.Questions), float64(l.QuestionsPerDay))
	}
	return q.checkSpending(id, l, used)
}

// checkSpending checks the quotas that also limit a running question.
func (q *Quotas) checkSpending(id auth.Tenant, l Limits, used count) error {
	switch {
	case l.TokensPerDay > 0 && used.Tokens >= l.TokensPerDay:
		return q.tomorrow(id, TokensPerDay, float64(used.Tokens), float64(l.TokensPerDay))
	case l.CostUSDPerDay > 0 && used.CostUSD >= l.CostUSDPerDay:
		return q.tomorrow(id, CostUSDPerDay, used.CostUSD, l.CostUSDPerDay)
	}
	return nil
}

func (q *Quotas) tomorrow(id auth.Tenant, name string, used, limit float64) *Exceeded {
	return &Exceeded{id, name, used, limit, max(q.clock.untilTomorrow(), time.Second).Round(time.Second)}
}

// Run is a running question.
type Run struct {
	quotas *Quotas
	tenant auth.Tenant
	own    *count
	ended  bool
}

// Remaining returns what the tenant may still spend; 0 is no limit. It returns *Exceeded if nothing is
// left.
func (r *Run) Remaining() (*llmv1.Budget, error) {
	q := r.quotas
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.cfg.LimitsFor(r.tenant)
	left := &llmv1.Budget{}
	if l.TokensPerDay == 0 && l.CostUSDPerDay == 0 {
		return left, nil
	}
	q.tick()
	used := q.usage(r.tenant)
	if err := q.checkSpending(r.tenant, l, used); err != nil {
		return nil, err
	}
	if l.TokensPerDay > 0 {
		left.MaxTokens = l.TokensPerDay - used.Tokens
	}
	if l.CostUSDPerDay > 0 {
		left.MaxCostUsd = l.CostUSDPerDay - used.CostUSD
	}
	return left, nil
}

// Charge records usage.
func (r *Run) Charge(u *llmv1.Usage) {
	q := r.quotas
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tick()
	r.own.charge(u)
	q.dirty = true
}

// End releases the run's slot. Further calls do nothing.
func (r *Run) End() {
	q := r.quotas
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.ended {
		return
	}
	r.ended = true
	r.own.Running--
	q.dirty = true
}

// State is the usage of one quota.
type State struct {
	// Name of the quota.
	Name string
	// Limit is 0 if unlimited; Used counts against it.
	Limit, Used float64
	// Resets is when some of Used expires; zero if nothing does or if unknown.
	Resets time.Time
}

// States returns the state of a tenant's quotas, in the order of Limits.
func (q *Quotas) States(id auth.Tenant) []State {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.tick()
	l, used := q.cfg.LimitsFor(id), q.usage(id)
	n, room := used.inMinute(now, uint32(1<<32-1))
	if n > 0 {
		_, room = used.inMinute(now, uint32(n))
	}
	states := []State{
		{Name: QuestionsPerMinute, Limit: float64(l.QuestionsPerMinute), Used: float64(n)},
		{Name: QuestionsPerDay, Limit: float64(l.QuestionsPerDay), Used: float64(used.Questions)},
		{Name: TokensPerDay, Limit: float64(l.TokensPerDay), Used: float64(used.Tokens)},
		{Name: CostUSDPerDay, Limit: l.CostUSDPerDay, Used: used.CostUSD},
		{Name: ConcurrentRuns, Limit: float64(l.ConcurrentRuns), Used: float64(used.Running)},
		{Name: FeedbackPerDay, Limit: float64(l.FeedbackPerDay), Used: float64(used.Feedback)},
	}
	for i := range states {
		switch name := states[i].Name; {
		case states[i].Used == 0 || name == ConcurrentRuns:
		case name == QuestionsPerMinute:
			states[i].Resets = time.Unix(room, 0)
		default:
			states[i].Resets = q.day.Add(24 * time.Hour)
		}
	}
	return states
}

// Names of the quotas in the configuration.
const (
	QuestionsPerMinute = "questions_per_minute"
	QuestionsPerDay    = "questions_per_day"
	TokensPerDay       = "tokens_per_day"
	CostUSDPerDay      = "cost_usd_per_day"
	ConcurrentRuns     = "concurrent_runs"
	FeedbackPerDay     = "feedback_per_day"
)

// Limits of one tenant; 0 is unlimited.
type Limits struct {
	// QuestionsPerMinute limits the questions within any 60 seconds.
	QuestionsPerMinute uint32 `koanf:"questions_per_minute"`
	// QuestionsPerDay limits the questions of a UTC day.
	QuestionsPerDay uint64 `koanf:"questions_per_day"`
	// TokensPerDay limits prompt and completion tokens. Cache hits cost none.
	TokensPerDay uint64 `koanf:"tokens_per_day"`
	// CostUSDPerDay limits the cost in US dollars by llm.prices; models without a price cost
	// nothing.
	CostUSDPerDay float64 `koanf:"cost_usd_per_day"`
	// ConcurrentRuns limits the questions in flight.
	ConcurrentRuns uint32 `koanf:"concurrent_runs"`
	// FeedbackPerDay limits the feedback marks of a UTC day.
	FeedbackPerDay uint64 `koanf:"feedback_per_day"`
}

// Validate returns the first invalid limit.
func (l Limits) Validate() error {
	if l.CostUSDPerDay < 0 || math.IsNaN(l.CostUSDPerDay) || math.IsInf(l.CostUSDPerDay, 0) {
		return fmt.Errorf("cost_usd_per_day: %v: want US dollars, 0 for no bound", l.CostUSDPerDay)
	}
	return nil
}

// Everyone is the key of the default limits.
const Everyone = "*"

// Config maps tenants to limits. A tenant with an entry does not inherit from Everyone.
type Config map[string]Limits

// Validate returns the invalid entries.
func (c Config) Validate() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if name != Everyone {
			if _, err := auth.ParseTenant(name); err != nil {
				errs = append(errs, fmt.Errorf("%w; or %q for all that are not named", err, Everyone))
				continue
			}
		}
		if err := c[name].Validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// LimitsFor returns the limits of a tenant.
func (c Config) LimitsFor(id auth.Tenant) Limits {
	if l, ok := c[id.String()]; ok {
		return l
	}
	return c[Everyone]
}

// Exceeded is the error of a tenant without quota left. It is an llm.ErrBudget too: a running
// question skips further model calls, as when its own budget is spent.
type Exceeded struct {
	Tenant auth.Tenant
	// Quota is the name of the quota.
	Quota string
	// Used counts against Limit.
	Used, Limit float64
	// Retry is when the quota has room again.
	Retry time.Duration
}

func (e *Exceeded) Error() string {
	when := map[string]string{
		QuestionsPerMinute: "questions in the last minute",
		QuestionsPerDay:    "questions today",
		TokensPerDay:       "tokens today",
		CostUSDPerDay:      "US dollars today",
		ConcurrentRuns:     "questions under way",
		FeedbackPerDay:     "feedback marks today",
	}[e.Quota]
	return fmt.Sprintf("tenant %s has used up its quota %s: %s of %s %s. Try again in %s; `triplemesh quota` shows "+
		"what is used, and the operator can raise it",
		e.Tenant, e.Quota, number(e.Used), number(e.Limit), when, e.Retry)
}

// Is reports whether target is llm.ErrBudget.
func (e *Exceeded) Is(target error) bool { return target == llm.ErrBudget }

// GRPCStatus returns RESOURCE_EXHAUSTED with a RetryInfo.
func (e *Exceeded) GRPCStatus() *status.Status {
	st := status.New(codes.ResourceExhausted, e.Error())
	with, err := st.WithDetails(
		errinfo.New(errorsv1.ErrorReason_ERROR_REASON_QUOTA_EXCEEDED, map[string]string{
			"quota": e.Quota, "limit": number(e.Limit), "used": number(e.Used), "tenant": e.Tenant.String(),
		}),
		&errdetails.RetryInfo{RetryDelay: durationpb.New(e.Retry)},
		&errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{
			Subject: "tenant:" + e.Tenant.String(), Description: fmt.Sprintf("%s: %s of %s", e.Quota, number(e.Used),
				number(e.Limit)),
		}}},
	)
	if err != nil {
		return st
	}
	return with
}

// number formats counts in full and money with its cents.
func number(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// clock grants no quota twice when the wall clock jumps. Seconds are monotonic. Days follow the wall
// clock but never go back: after a jump ahead and back, the rest of the wrong day counts as one day
// with it.
type clock struct {
	now   func() time.Time
	start time.Time
	last  time.Duration // since start
	date  time.Time     // midnight of the latest day seen
}

func newClock(now func() time.Time) clock {
	c := clock{now: now, start: now()}
	c.tick()
	return c
}

// tick advances the clock. It returns the second of the Unix epoch and the day.
func (c *clock) tick() (second int64, day time.Time) {
	now := c.now()
	// Sub reads the monotonic clock if there is one.
	c.last = max(c.last, now.Sub(c.start))
	if today := now.UTC().Truncate(24 * time.Hour); today.After(c.date) {
		c.date = today
	}
	return c.start.Add(c.last).Unix(), c.date
}

// untilTomorrow returns the rest of the day by the wall clock.
func (c *clock) untilTomorrow() time.Duration {
	return c.date.Add(24 * time.Hour).Sub(c.now().Round(0))
}
