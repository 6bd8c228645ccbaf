// Package quota bounds what each tenant may use of the mesh: questions, tokens
// and money. It counts in memory, keeps the counts in a file, and adds up those
// of orchestrators that share a directory.
package quota

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// Names of the quotas, as the configuration has them.
const (
	QuestionsPerMinute = "questions_per_minute"
	QuestionsPerDay    = "questions_per_day"
	TokensPerDay       = "tokens_per_day"
	CostUSDPerDay      = "cost_usd_per_day"
	ConcurrentRuns     = "concurrent_runs"
)

// Limits are what one tenant may use. 0 is no bound.
type Limits struct {
	// QuestionsPerMinute is how many questions may be asked in any 60 seconds.
	QuestionsPerMinute uint32 `koanf:"questions_per_minute"`
	// QuestionsPerDay is how many may be asked on a day of UTC.
	QuestionsPerDay uint64 `koanf:"questions_per_day"`
	// TokensPerDay is how many tokens models may read and write for them
	// together. Answers from a cache cost none.
	TokensPerDay uint64 `koanf:"tokens_per_day"`
	// CostUSDPerDay is how many US dollars that may cost, by the prices in
	// llm.prices; models without a price cost nothing.
	CostUSDPerDay float64 `koanf:"cost_usd_per_day"`
	// ConcurrentRuns is how many questions may be under way at a time.
	ConcurrentRuns uint32 `koanf:"concurrent_runs"`
}

// Validate names the first limit that cannot be.
func (l Limits) Validate() error {
	if l.CostUSDPerDay < 0 || math.IsNaN(l.CostUSDPerDay) || math.IsInf(l.CostUSDPerDay, 0) {
		return fmt.Errorf("cost_usd_per_day: %v: want US dollars, 0 for no bound", l.CostUSDPerDay)
	}
	return nil
}

// Everyone is the key of the limits of tenants that have none of their own.
const Everyone = "*"

// Config are the limits by tenant. A tenant that is named has its own limits
// and none of Everyone's: what it leaves out has no bound.
type Config map[string]Limits

// Validate names the first entry that cannot be.
func (c Config) Validate() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if name != Everyone {
			if _, err := tenant.Parse(name); err != nil {
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

// Of are the limits of one tenant.
func (c Config) Of(id tenant.ID) Limits {
	if l, ok := c[id.String()]; ok {
		return l
	}
	return c[Everyone]
}
