package quota

import (
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/internal/tenant"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// Quotas count what tenants use and refuse what is over. Safe for concurrent
// use.
//
// A question is admitted by what was used before it, and each of its stages is
// given what is left then. So a tenant's tokens and money are overrun by what
// the stages under way at that moment cost, and by no more. Of orchestrators
// that share a directory each knows of the others what they had used some
// seconds ago (see Every): all quotas may be overrun by what the others let in
// during that time.
type Quotas struct {
	cfg    Config
	shared *share // nil where nothing is kept

	mu     sync.Mutex
	clock  clock
	day    time.Time
	own    map[tenant.ID]*count
	others map[tenant.ID]count // added up
	dirty  bool
}

func newQuotas(cfg Config, now func() time.Time) *Quotas {
	q := &Quotas{cfg: cfg, clock: newClock(now), own: map[tenant.ID]*count{}, others: map[tenant.ID]count{}}
	q.tick()
	return q
}

// tick looks at the clock and begins a new day where one has come. q.mu is held.
func (q *Quotas) tick() (now int64) {
	now, day := q.clock.read()
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

// of is what a tenant has used of late, by way of all orchestrators. q.mu is
// held.
func (q *Quotas) of(id tenant.ID) count {
	all := q.others[id]
	all.Recent = append([]second(nil), all.Recent...)
	if own := q.own[id]; own != nil {
		all.add(*own)
	}
	return all
}

// Begin admits a question of a tenant, or says by *Exceeded why not. The error
// is tenant.ErrNone for no tenant. The caller must End the run.
func (q *Quotas) Begin(id tenant.ID) (*Run, error) {
	if id.IsZero() {
		return nil, tenant.ErrNone
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.tick()
	if limits := q.cfg.Of(id); limits != (Limits{}) {
		if err := q.check(id, limits, now); err != nil {
			return nil, err
		}
	}
	own := q.own[id]
	if own == nil {
		own = &count{}
		q.own[id] = own
	}
	own.ask(now)
	q.dirty = true
	return &Run{quotas: q, tenant: id, own: own}, nil
}

// busyRetry is when a tenant with too many questions under way may try again.
const busyRetry = time.Second

// check refuses a question that would be over. The quota with the longest wait
// is told, since nothing helps before that is over. q.mu is held.
func (q *Quotas) check(id tenant.ID, l Limits, now int64) error {
	used := q.of(id)
	if err := q.checkDay(id, l, used); err != nil {
		return err
	}
	if l.QuestionsPerMinute > 0 {
		if n, room := used.inMinute(now, l.QuestionsPerMinute); n >= uint64(l.QuestionsPerMinute) {
			return &Exceeded{id, QuestionsPerMinute, float64(n), float64(l.QuestionsPerMinute), time.Duration(room-now) * time.Second}
		}
	}
	if l.ConcurrentRuns > 0 && used.Running >= l.ConcurrentRuns {
		return &Exceeded{id, ConcurrentRuns, float64(used.Running), float64(l.ConcurrentRuns), busyRetry}
	}
	return nil
}

func (q *Quotas) checkDay(id tenant.ID, l Limits, used count) error {
	if l.QuestionsPerDay > 0 && used.Questions >= l.QuestionsPerDay {
		return q.tomorrow(id, QuestionsPerDay, float64(used.Questions), float64(l.QuestionsPerDay))
	}
	return q.checkSpending(id, l, used)
}

// checkSpending is what of the day a question under way is held to.
func (q *Quotas) checkSpending(id tenant.ID, l Limits, used count) error {
	switch {
	case l.TokensPerDay > 0 && used.Tokens >= l.TokensPerDay:
		return q.tomorrow(id, TokensPerDay, float64(used.Tokens), float64(l.TokensPerDay))
	case l.CostUSDPerDay > 0 && used.CostUSD >= l.CostUSDPerDay:
		return q.tomorrow(id, CostUSDPerDay, used.CostUSD, l.CostUSDPerDay)
	}
	return nil
}

func (q *Quotas) tomorrow(id tenant.ID, name string, used, limit float64) *Exceeded {
	return &Exceeded{id, name, used, limit, max(q.clock.untilTomorrow(), time.Second).Round(time.Second)}
}

// Run is a question under way.
type Run struct {
	quotas *Quotas
	tenant tenant.ID
	own    *count
	ended  bool
}

// Left is what the tenant may still spend, each open limit 0. The error is
// *Exceeded where that is nothing.
func (r *Run) Left() (*llmv1.Budget, error) {
	q := r.quotas
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.cfg.Of(r.tenant)
	left := &llmv1.Budget{}
	if l.TokensPerDay == 0 && l.CostUSDPerDay == 0 {
		return left, nil
	}
	q.tick()
	used := q.of(r.tenant)
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

// Charge counts what was spent.
func (r *Run) Charge(u *llmv1.Usage) {
	q := r.quotas
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tick()
	r.own.charge(u)
	q.dirty = true
}

// End lets the next question in. What comes after the first End does nothing.
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

// State is how much of one quota is used.
type State struct {
	// Name is the quota's.
	Name string
	// Limit is the most, 0 for no bound, and Used what counts against it now.
	Limit, Used float64
	// Resets is when some of it counts no longer; zero where nothing does or
	// nobody knows.
	Resets time.Time
}

// Of is the state of a tenant's quotas, in the order of Limits.
func (q *Quotas) Of(id tenant.ID) []State {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.tick()
	l, used := q.cfg.Of(id), q.of(id)
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
