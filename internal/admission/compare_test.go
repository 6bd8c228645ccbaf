package admission_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// scenario is a server and the requests that come to it, on a simulated clock.
type scenario struct {
	name     string
	deadline time.Duration
	// stations are those of the server; handle takes a request through them.
	stations func() []*station
	handle   func(context.Context, *simulation) error
	phases   []phase
	// warmup is not counted.
	warmup time.Duration
	// tenant, if not empty, is the one whose answers count.
	tenant string
}

// phase is a time with a constant rate of requests for each tenant, or with askers that each send
// one after the other and ignore refusals.
type phase struct {
	length time.Duration
	rates  map[string]float64 // requests per second
	askers int
}

func steadily(length time.Duration, rate float64) []phase {
	return []phase{{length: length, rates: map[string]float64{"default": rate}}}
}

func model(parallel float64, tick time.Duration) func() []*station {
	return func() []*station { return []*station{{tick: tick, parallel: always(parallel)}} }
}

// callModel makes calls one after the other that take so long together without load.
func callModel(calls int, each time.Duration) func(context.Context, *simulation) error {
	return func(ctx context.Context, s *simulation) error {
		for range calls {
			if err := s.stations[0].work(ctx, s.random.around(each)); err != nil {
				return err
			}
		}
		return nil
	}
}

const minute = time.Minute

var scenarios = []scenario{
	{name: "overloaded model, 10 s for an answer", deadline: 10 * second, stations: model(8, 20*time.Millisecond),
		handle: callModel(2, second/2), phases: steadily(5*minute, 40), warmup: minute},
	{name: "overloaded model, 5 min for an answer", deadline: 5 * minute, stations: model(1, 100*time.Millisecond),
		handle: callModel(2, 2*second), phases: steadily(30*minute, 1.25), warmup: 5 * minute},
	{name: "overloaded CPU", deadline: 5 * second, stations: model(2, 5*time.Millisecond),
		handle: callModel(4, 10*time.Millisecond), phases: steadily(2*minute, 250), warmup: second * 20},
	{name: "throttled pods, heedless clients", deadline: 5 * minute, stations: func() []*station {
		var all []*station
		for range 4 {
			all = append(all, &station{tick: time.Millisecond, parallel: always(1), quota: 5 * time.Millisecond,
				period: 100 * time.Millisecond})
		}
		return all
	}, handle: func(ctx context.Context, s *simulation) error {
		for range 3 {
			if err := leastLoaded(s.stations, s.random).work(ctx, s.random.around(3*time.Millisecond)); err != nil {
				return err
			}
		}
		return nil
	}, phases: []phase{{length: 10 * second, rates: map[string]float64{"default": 4}}, {length: minute, askers: 32}},
		warmup: 10 * second},
	{name: "noisy neighbour", deadline: 5 * second, stations: func() []*station {
		return []*station{{tick: 5 * time.Millisecond, parallel: func(at time.Duration) float64 {
			if at%(20*second) < 10*second {
				return 2
			}
			return .5
		}}}
	}, handle: callModel(4, 10*time.Millisecond), phases: steadily(2*minute, 50), warmup: 20 * second},
	{name: "slow model with many places", deadline: 10 * minute, stations: model(1000, second),
		handle: callModel(3, minute), phases: steadily(20*minute, 1)},
	{name: "bursts", deadline: 30 * second, stations: model(8, 20*time.Millisecond), handle: callModel(2, second/2),
		phases: []phase{
			{length: minute, rates: map[string]float64{"default": 4}},
			{length: 20 * second, rates: map[string]float64{"default": 40}},
			{length: minute, rates: map[string]float64{"default": 4}},
			{length: 20 * second, rates: map[string]float64{"default": 40}},
			{length: minute, rates: map[string]float64{"default": 4}},
		}},
	{name: "two tenants, both", deadline: 10 * second, stations: model(8, 20*time.Millisecond),
		handle: callModel(2, second/2), warmup: minute,
		phases: []phase{{length: 5 * minute, rates: map[string]float64{"many": 40, "few": 2}}}},
	{name: "two tenants, the one with few", deadline: 10 * second, stations: model(8, 20*time.Millisecond),
		handle: callModel(2, second/2), warmup: minute, tenant: "few",
		phases: []phase{{length: 5 * minute, rates: map[string]float64{"many": 40, "few": 2}}}},
}

// simulation is a run of a scenario.
type simulation struct {
	scenario
	stations []*station
	random   *lockedRand
	limiter  limiter
	began    time.Time
	seed     uint64

	mu   sync.Mutex
	good int
}

// seeds of the random arrivals and lengths. One is not enough: which of two goroutines runs first in
// a moment of the clock moves the goodput of one run by 4 %.
const seeds = 3

// goodput returns how many requests were answered in their time, over all seeds.
func (sc scenario) goodput(t *testing.T, newLimiter func() limiter) (good int) {
	t.Helper()
	for seed := range uint64(seeds) {
		good += sc.simulate(t, newLimiter, seed)
	}
	return good
}

func (sc scenario) simulate(t *testing.T, newLimiter func() limiter, seed uint64) (good int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{scenario: sc, stations: sc.stations(), limiter: newLimiter(), began: time.Now(), seed: seed,
			random: &lockedRand{r: rand.New(rand.NewPCG(seed, 2))}}
		ctx, stop := context.WithCancel(t.Context())
		var serving, asking sync.WaitGroup
		for _, st := range s.stations {
			serving.Go(func() { st.serve(ctx) })
		}
		for _, p := range sc.phases {
			s.run(ctx, p, &asking)
		}
		asking.Wait()
		stop()
		serving.Wait()
		good = s.good
	})
	return good
}

func (s *simulation) run(ctx context.Context, p phase, asking *sync.WaitGroup) {
	var sources sync.WaitGroup
	until := time.Now().Add(p.length)
	for name, rate := range p.rates {
		tenant, err := auth.ParseTenant(name)
		if err != nil {
			panic(err)
		}
		random := rand.New(rand.NewPCG(s.seed, uint64(len(name))))
		sources.Go(func() {
			for time.Now().Before(until) {
				asking.Go(func() { _ = s.ask(auth.WithTenant(ctx, tenant), name) })
				time.Sleep(time.Duration(random.ExpFloat64() / rate * float64(second)))
			}
		})
	}
	for i := range p.askers {
		asking.Go(func() {
			time.Sleep(time.Duration(i) * time.Millisecond / 4)
			for time.Now().Before(until) {
				if s.ask(ctx, "default") != nil {
					time.Sleep(8 * time.Millisecond)
				}
			}
		})
	}
	sources.Wait()
	time.Sleep(time.Until(until))
}

func (s *simulation) ask(ctx context.Context, tenant string) error {
	ctx, cancel := context.WithTimeout(ctx, s.deadline)
	defer cancel()
	leave, err := s.limiter.enter(ctx)
	if err != nil {
		return err
	}
	err = s.handle(ctx, s)
	leave(errors.Is(err, context.DeadlineExceeded))
	var length time.Duration
	for _, p := range s.phases {
		length += p.length
	}
	at := time.Since(s.began)
	if err == nil && at > s.warmup && at <= length && (s.tenant == "" || s.tenant == tenant) {
		s.mu.Lock()
		s.good++
		s.mu.Unlock()
	}
	return err
}

// minShare of the best limiter's goodput is required in every scenario.
const minShare = .9

func TestAdmissionKeepsNineTenthsOfTheBestGoodputInEveryScenario(t *testing.T) {
	table, worst := []string{"| scenario |"}, 1.0
	for _, l := range limiters {
		table[0] += " " + l.name + " |"
	}
	for _, sc := range scenarios {
		row, best, own := "| "+sc.name+" |", 0, 0
		for i, l := range limiters {
			good := sc.goodput(t, l.make)
			row += fmt.Sprintf(" %d |", good)
			best = max(best, good)
			if i == 0 {
				own = good
			}
		}
		table = append(table, row)
		share := float64(own) / float64(best)
		worst = min(worst, share)
		if share < minShare {
			t.Errorf("%s: %d answers in time, %.2f of the best, want %.1f", sc.name, own, share, minShare)
		}
	}
	t.Log("answers in time:\n" + strings.Join(table, "\n"))
	testkit.Measured(t, "%d scenarios: %.2f of the best or more", len(scenarios), worst)
}
