package admission_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/triplemesh/triplemesh/internal/admission"
)

// A server does eight requests at once, each in a second, and any more it does
// share that: what it gets beyond makes all of them slower.
func TestGoodputUnderOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const capacity, deadline = 8, 4 * time.Second
		g := admission.New(admission.Config{MaxInFlight: 256, MaxQueue: 256, MaxWait: 10 * time.Second})
		s := &shared{capacity: capacity}
		run := func(perSecond int, length time.Duration) (good int) {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for began := time.Now(); time.Since(began) < length; time.Sleep(time.Second / time.Duration(perSecond)) {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), deadline)
					defer cancel()
					leave, err := g.Enter(ctx)
					if err != nil {
						return
					}
					err = s.work(ctx, time.Second)
					leave(errors.Is(err, context.DeadlineExceeded))
					if err == nil {
						mu.Lock()
						good++
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			return good
		}
		run(capacity, 10*time.Second)
		at := run(capacity, time.Minute)
		run(5*capacity, 20*time.Second) // the limit is found
		over := run(5*capacity, time.Minute)
		if ratio := float64(over) / float64(at); ratio < 0.9 {
			t.Errorf("at 5 times the capacity %d were done in a minute, at capacity %d: %.2f of it, want 0.9",
				over, at, ratio)
		}
		after := run(capacity/2, 20*time.Second)
		if want := 20 * capacity / 2; after < want-1 {
			t.Errorf("after the burst %d of %d were done", after, want)
		}
	})
}

// shared is a server whose work goes the slower the more of it there is.
type shared struct {
	mu       sync.Mutex
	capacity int
	running  int
}

func (s *shared) work(ctx context.Context, needs time.Duration) error {
	s.count(1)
	defer s.count(-1)
	const tick = 50 * time.Millisecond
	for done := time.Duration(0); done < needs; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(tick):
		}
		done += time.Duration(float64(tick) * min(1, float64(s.capacity)/float64(s.count(0))))
	}
	return nil
}

func (s *shared) count(more int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running += more
	return s.running
}

// burst is a gate before a shared server, and what became of the requests.
type burst struct {
	gate   *admission.Gate
	server *shared
	time   time.Duration
	tenant string // empty for one that is not named
	// random lets requests come as from many callers who know nothing of each
	// other; nil at even intervals.
	random *rand.Rand

	mu    sync.Mutex
	ended []ended
	phase int
	asked atomic.Int64
}

// ended is a request that was answered.
type ended struct {
	phase      int
	came, took time.Duration // from the start of its phase on
}

// ask lets so many requests of a kind come per second.
func (b *burst) ask(t *testing.T, kind string, needs time.Duration, perSecond int, length time.Duration) {
	began := time.Now()
	b.phase++
	phase := b.phase
	pause := func() time.Duration {
		every := time.Second / time.Duration(perSecond)
		if b.random == nil {
			return every
		}
		return time.Duration(b.random.ExpFloat64() * float64(every))
	}
	for ; time.Since(began) < length; time.Sleep(pause()) {
		came := time.Since(began)
		b.asked.Add(1)
		go func() {
			ctx := t.Context()
			if b.tenant != "" {
				ctx = as(t, b.tenant)
			}
			ctx, cancel := context.WithTimeout(admission.WithKind(ctx), b.time)
			defer cancel()
			entered := time.Now()
			leave, err := b.gate.Enter(ctx)
			if err != nil {
				return
			}
			admission.SetKind(ctx, kind)
			err = b.server.work(ctx, needs)
			leave(errors.Is(err, context.DeadlineExceeded))
			if err == nil {
				b.mu.Lock()
				b.ended = append(b.ended, ended{phase, came, time.Since(entered)})
				b.mu.Unlock()
			}
		}()
	}
}

// admitted are the answers since they were last taken.
func (b *burst) admitted() []ended {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.ended
	b.ended = nil
	return all
}

func newBurst(capacity int, time time.Duration) *burst {
	return &burst{
		gate:   admission.New(admission.Config{MaxInFlight: 256, MaxQueue: 256, MaxWait: 10 * second}),
		server: &shared{capacity: capacity}, time: time,
	}
}

const second = time.Second

func TestABurstIsOverSoonAfterItsEnd(t *testing.T) {
	for name, has := range map[string]time.Duration{"with little time": 10 * second,
		"with all the time in the world": 5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const capacity = 8
				b := newBurst(capacity, has)
				b.ask(t, "pg-akv", second, capacity/2, time.Minute) // what is calm is learnt
				b.admitted()
				b.ask(t, "pg-akv", second, 5*capacity, 2*time.Minute)
				if got := b.gate.State(); got.Limit > 5*capacity {
					t.Errorf("in the burst: %+v, with a server that does %d at once", got, capacity)
				}
				if got, want := len(b.admitted()), 120*capacity*9/10; got < want {
					t.Errorf("in the burst %d were answered, want %d", got, want)
				}
				b.ask(t, "pg-akv", second, capacity/2, time.Minute)
				time.Sleep(10 * second)
				after := b.admitted()
				after = slices.DeleteFunc(after, func(e ended) bool { return e.phase < b.phase })
				after = slices.DeleteFunc(after, func(e ended) bool { return e.came < 30*second })
				for _, e := range after {
					if e.took > 3*second/2 {
						t.Errorf("a request %v after the burst took %v, where calm ones take a second", e.came, e.took)
					}
				}
				if want := 30 * capacity / 2; len(after) < want {
					t.Errorf("from 30 s after the burst on %d were answered, want %d", len(after), want)
				}
			})
		})
	}
}

func TestASuddenBurstIsFairFromItsBeginning(t *testing.T) {
	for name, calm := range map[string]time.Duration{"after a calm time": 30 * second,
		"to a server that has just come up": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const capacity = 4
				b := newBurst(capacity, 10*second)
				b.ask(t, "pg-akv", second, capacity/2, calm)
				b.admitted()
				modest := &burst{gate: b.gate, server: b.server, time: b.time, tenant: "modest"}
				var both sync.WaitGroup
				both.Go(func() { b.ask(t, "pg-akv", second, 10*capacity, 30*second) })
				both.Go(func() { modest.ask(t, "pg-akv", second, 1, 30*second) })
				both.Wait()
				time.Sleep(10 * second)
				few, many := len(modest.admitted()), len(b.admitted())
				// What comes at one moment of the false clock comes in any order.
				if few < 25 || few+many < 30*capacity*8/10 {
					t.Errorf("%d of 30 of a tenant within its share were answered, and %d in all; %d can be", few,
						few+many, 30*capacity)
				}
			})
		})
	}
}

// A tenant that needs a quarter of what can be done has now more and now less
// under way than its half of the places; what it sends for a moment waits, and is
// not refused because another tenant always waits.
func TestWhoeverNeedsLessThanItsShareMaySendItInBursts(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			const capacity = 4
			b := newBurst(capacity, 10*second)
			b.ask(t, "pg-akv", second, capacity/2, 30*second)
			modest := &burst{gate: b.gate, server: b.server, time: b.time, tenant: "modest",
				random: rand.New(rand.NewPCG(seed, 0))}
			var both sync.WaitGroup
			both.Go(func() { b.ask(t, "pg-akv", second, 10*capacity, 2*time.Minute) })
			both.Go(func() { modest.ask(t, "pg-akv", second, capacity/4, 2*time.Minute) })
			both.Wait()
			time.Sleep(10 * second)
			few, asked, many := len(modest.admitted()), int(modest.asked.Load()), len(b.admitted())
			// What comes at one moment of the false clock comes in any order.
			if few < asked*9/10 || few+many < 120*capacity*9/10 {
				t.Errorf("seed %d: %d of %d of the tenant within its share were answered, and %d in all; %d can be",
					seed, few, asked, few+many, 120*capacity)
			}
		})
	}
}

func TestAServerThatComesUpUnderOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const capacity = 8
		b := newBurst(capacity, 10*second)
		b.ask(t, "pg-akv", second, 5*capacity, time.Minute)
		if got, want := len(b.admitted()), 60*capacity*3/4; got < want {
			t.Errorf("in the first minute %d were answered, want %d", got, want)
		}
		b.ask(t, "pg-akv", second, 5*capacity, time.Minute)
		if got, want := len(b.admitted()), 60*capacity*9/10; got < want {
			t.Errorf("in the second minute %d were answered, want %d", got, want)
		}
		time.Sleep(time.Minute)
	})
}

func TestAChangeOfWhatIsAskedIsNoLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBurst(100, 5*time.Minute)
		b.ask(t, "io", second, 16, 3*time.Minute)
		b.admitted()
		b.ask(t, "ger", 15*second, 4, 3*time.Minute)
		time.Sleep(time.Minute)
		if got, want := len(b.admitted()), 4*3*60; got < want {
			t.Errorf("%d of %d were answered by another method, with a server that has places left", got, want)
		}
	})
}

func TestWorkThatTakesLongerForGoodIsLearnt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBurst(1000, 5*time.Minute)
		b.ask(t, "pg-akv", second, 16, time.Minute)
		b.ask(t, "pg-akv", 4*second, 16, 3*time.Minute)
		b.admitted()
		b.ask(t, "pg-akv", 4*second, 16, time.Minute)
		time.Sleep(10 * second)
		if got, want := len(b.admitted()), 16*60*9/10; got < want {
			t.Errorf("%d were answered in a minute, want %d: nothing is in the way but the gate, %+v", got, want,
				b.gate.State())
		}
		time.Sleep(time.Minute)
	})
}

func TestCallsOfStagesAreHeldToTheirTimeAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBurst(8, 5*time.Minute)
		b.ask(t, "", second, 4, time.Minute)
		limit := b.gate.State().Limit
		b.ask(t, "", second, 16, 10*second)
		if got := b.gate.State().Limit; got < limit {
			t.Errorf("the limit fell from %d to %d, though there is time for all", limit, got)
		}
		time.Sleep(time.Minute)
	})
}

func TestWhatUsedAllItsTimeWasLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGrownGate(t, 64, 8*second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*second)
		defer cancel()
		leaves := fill(t, ctx, g, 64)
		time.Sleep(9800 * time.Millisecond)
		for _, leave := range leaves { // each is answered with what was found
			leave(false)
		}
		if got := g.State().Limit; got > 60 {
			t.Errorf("got a limit of %d, want less than 64: nobody had time for a whole answer", got)
		}
	})
}
