package llm

import (
	"errors"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// Ledger is the budget of one question or stage call and what was spent of it. A call reserves its
// likely cost and settles its actual cost, so parallel calls exceed a limit by one call at most. It
// is safe for concurrent use.
type Ledger struct {
	limits *llmv1.Budget
	model  string

	mu    sync.Mutex
	spent llmv1.Usage
	held  reservation
}

// reservation is what calls in flight may cost.
type reservation struct {
	calls  uint64
	tokens uint64
	cost   float64
}

// NewLedger returns a ledger. Nil limits, and each limit that is 0, mean no limit.
func NewLedger(l *llmv1.Limits) *Ledger {
	return &Ledger{limits: l.GetBudget(), model: l.GetModel().GetModel()}
}

// Model returns the model that the caller chose; "" means the configured one.
func (l *Ledger) Model() string { return l.model }

// Usage returns what was spent so far.
func (l *Ledger) Usage() *llmv1.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &llmv1.Usage{
		Calls:            l.spent.Calls,
		CachedCalls:      l.spent.CachedCalls,
		PromptTokens:     l.spent.PromptTokens,
		CompletionTokens: l.spent.CompletionTokens,
		CostUsd:          l.spent.CostUsd,
		Models:           slices.Clone(l.spent.Models),

		CachedPromptTokens:     l.spent.CachedPromptTokens,
		CachedCompletionTokens: l.spent.CachedCompletionTokens,
		CachedCostUsd:          l.spent.CachedCostUsd,
	}
}

// Charge adds the usage that another stage reports.
func (l *Ledger) Charge(u *llmv1.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.charge(u)
}

// charge adds usage. l.mu must be held.
func (l *Ledger) charge(u *llmv1.Usage) {
	l.spent.Calls += u.GetCalls()
	l.spent.CachedCalls += u.GetCachedCalls()
	l.spent.PromptTokens += u.GetPromptTokens()
	l.spent.CompletionTokens += u.GetCompletionTokens()
	l.spent.CostUsd += u.GetCostUsd()
	l.spent.CachedPromptTokens += u.GetCachedPromptTokens()
	l.spent.CachedCompletionTokens += u.GetCachedCompletionTokens()
	l.spent.CachedCostUsd += u.GetCachedCostUsd()
	for _, model := range u.GetModels() {
		if !slices.Contains(l.spent.Models, model) {
			l.spent.Models = append(l.spent.Models, model)
		}
	}
}

// Remaining returns the budget that other stages may spend. It returns ErrBudget when a limit is
// reached.
func (l *Ledger) Remaining() (*llmv1.Budget, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.check(); err != nil {
		return nil, err
	}
	left := &llmv1.Budget{}
	if m := l.limits.GetMaxCalls(); m > 0 {
		left.MaxCalls = m - l.spent.Calls - uint32(l.held.calls)
	}
	if m := l.limits.GetMaxTokens(); m > 0 {
		left.MaxTokens = m - l.tokens()
	}
	if m := l.limits.GetMaxCostUsd(); m > 0 {
		left.MaxCostUsd = m - l.spent.CostUsd - l.held.cost
	}
	return left, nil
}

// reserve holds one call and its likely cost, or returns ErrBudget. Exactly one of settle and
// release must follow.
func (l *Ledger) reserve(tokens int, cost float64) (reservation, *Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.check(); err != nil {
		return reservation{}, err
	}
	h := reservation{calls: 1, tokens: uint64(max(tokens, 0)), cost: max(cost, 0)}
	l.held.calls += h.calls
	l.held.tokens += h.tokens
	l.held.cost += h.cost
	return h, nil
}

// settle replaces a reservation by the actual cost of the call, at once: between the two another call
// could be granted what this one has spent.
func (l *Ledger) settle(h reservation, u Usage, model string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel(h)
	l.charge(&llmv1.Usage{
		Calls:            1,
		PromptTokens:     uint64(max(u.PromptTokens, 0)),
		CompletionTokens: uint64(max(u.CompletionTokens, 0)),
		CostUsd:          u.CostUSD,
		Models:           listModel(model),
	})
}

// release cancels a reservation: the call was refused, or did not reach the server.
func (l *Ledger) release(h reservation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel(h)
}

// cancel takes a reservation back. l.mu must be held.
func (l *Ledger) cancel(h reservation) {
	l.held.calls -= h.calls
	l.held.tokens -= h.tokens
	l.held.cost -= h.cost
}

// check returns an error when spent and held reach a limit. l.mu must be held.
func (l *Ledger) check() *Error {
	if m := l.limits.GetMaxCalls(); m > 0 && uint64(l.spent.Calls)+l.held.calls >= uint64(m) {
		return budgetError("calls", l.spent.Calls, l.held.calls, m)
	}
	if m := l.limits.GetMaxTokens(); m > 0 && l.tokens() >= m {
		return budgetError("tokens", l.spent.PromptTokens+l.spent.CompletionTokens, l.held.tokens, m)
	}
	if m := l.limits.GetMaxCostUsd(); m > 0 && l.spent.CostUsd+l.held.cost >= m {
		return budgetError("US dollars", l.spent.CostUsd, l.held.cost, m)
	}
	return nil
}

func (l *Ledger) tokens() uint64 {
	return l.spent.PromptTokens + l.spent.CompletionTokens + l.held.tokens
}

func budgetError(unit string, spent, held, limit any) *Error {
	return errorf(ErrBudget, "call a model: budget spent: %v %s used and %v reserved of %v; ask again with a larger "+
		"budget", spent, unit, held, limit)
}

// chargeCached counts an answer from the cache, with its original cost.
func (l *Ledger) chargeCached(model string, u Usage) {
	l.Charge(&llmv1.Usage{
		CachedCalls: 1, Models: listModel(model), CachedPromptTokens: uint64(max(u.PromptTokens, 0)),
		CachedCompletionTokens: uint64(max(u.CompletionTokens, 0)), CachedCostUsd: max(u.CostUSD, 0),
	})
}

// listModel returns a list of the model, empty if unnamed.
func listModel(model string) []string {
	if model == "" {
		return nil
	}
	return []string{model}
}

// AttachUsage adds what was spent so far to an error. The error's status carries it over a gRPC hop
// to AttachedUsage.
func (l *Ledger) AttachUsage(err error) error {
	usage := l.Usage()
	if err == nil || usage.GetCalls() == 0 && usage.GetCachedCalls() == 0 {
		return err
	}
	return &usageError{err, usage}
}

// AttachedUsage returns what was spent before an error; nil if it does not say.
func AttachedUsage(err error) *llmv1.Usage {
	if e, ok := errors.AsType[*usageError](err); ok {
		return e.usage
	}
	for _, detail := range status.Convert(err).Details() {
		if usage, ok := detail.(*llmv1.Usage); ok {
			return usage
		}
	}
	return nil
}

// usageError is an error with what was spent before it.
type usageError struct {
	error
	usage *llmv1.Usage
}

func (e *usageError) Unwrap() error { return e.error }

// GRPCStatus returns the status of the error with the usage. An error without a status keeps none:
// its text is not for callers.
func (e *usageError) GRPCStatus() *status.Status {
	var withStatus interface{ GRPCStatus() *status.Status }
	if !errors.As(e.error, &withStatus) || withStatus.GRPCStatus().Code() == codes.OK {
		return nil
	}
	s := withStatus.GRPCStatus()
	if detailed, err := s.WithDetails(e.usage); err == nil {
		return detailed
	}
	return s
}
