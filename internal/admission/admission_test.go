package admission_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/triplemesh/triplemesh/internal/admission"
	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// as is a context of a tenant.
func as(t *testing.T, name string) context.Context {
	t.Helper()
	id, err := auth.ParseTenant(name)
	if err != nil {
		t.Fatal(err)
	}
	return auth.WithTenant(t.Context(), id)
}

// fill takes n places.
func fill(t *testing.T, ctx context.Context, g *admission.Gate, n int) (leave []func(bool)) {
	t.Helper()
	for range n {
		l, err := g.Enter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	return leave
}

// newGrownGate is a gate whose limit has grown to all that may be, with requests that
// take so long.
func newGrownGate(t *testing.T, most int, takes time.Duration) *admission.Gate {
	t.Helper()
	g := admission.New(admission.Config{MaxInFlight: most})
	for g.State().Limit < most {
		leaves := fill(t, t.Context(), g, g.State().Limit)
		time.Sleep(takes)
		for _, leave := range leaves {
			leave(false)
		}
	}
	return g
}

// knock enters beside the test and sends what became of it.
func knock(ctx context.Context, g *admission.Gate) (leave chan func(bool), refused chan error) {
	leave, refused = make(chan func(bool), 1), make(chan error, 1)
	go func() {
		l, err := g.Enter(ctx)
		if err != nil {
			refused <- err
			return
		}
		leave <- l
	}()
	return leave, refused
}

func TestAGateWithoutABoundLetsAllIn(t *testing.T) {
	g := admission.New(admission.Config{})
	fill(t, t.Context(), g, 1000)
}

func TestWhoIsTurnedAwayAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		queue int
		left  time.Duration
	}{
		"all where none may wait":         {0, time.Hour},
		"those with no time left to wait": {4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := admission.New(admission.Config{MaxInFlight: 2, MaxQueue: test.queue, MaxWait: time.Second})
			fill(t, t.Context(), g, 2)
			ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(test.left))
			defer cancel()
			var refused *admission.Refusal
			if _, err := g.Enter(ctx); !errors.As(err, &refused) || refused.Reason != admission.Full {
				t.Fatalf("got %v, want it refused because all is full", err)
			}
			if refused.RetryAfter < time.Second || refused.InFlight != 2 {
				t.Errorf("got %+v, want when to come again and how many are under way", refused)
			}
		})
	}
}

func TestARequestWaitsForAPlaceAndGetsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.New(admission.Config{MaxInFlight: 1, MaxQueue: 1, MaxWait: time.Minute})
		first := fill(t, t.Context(), g, 1)
		leave, _ := knock(t.Context(), g)
		synctest.Wait()
		if got := g.State(); got != (admission.State{Limit: 1, InFlight: 1, Waiting: 1}) {
			t.Fatalf("got %+v", got)
		}
		first[0](false)
		(<-leave)(false)
		if got := g.State(); got != (admission.State{Limit: 1}) {
			t.Errorf("got %+v, want an empty gate", got)
		}
	})
}

func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.New(admission.Config{MaxInFlight: 1, MaxQueue: 9, MaxWait: 10 * time.Second})
		fill(t, t.Context(), g, 1)
		gone, cancel := context.WithCancel(t.Context())
		short, cancelShort := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancelShort()
		_, patient := knock(t.Context(), g)
		_, hasty := knock(short, g)
		_, left := knock(gone, g)
		synctest.Wait()

		began := time.Now()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("who goes away: got %v", err)
		}
		for _, waits := range []struct {
			name string
			err  chan error
			want time.Duration
		}{
			{"who has little time keeps half of it", hasty, 4 * time.Second},
			{"nobody waits longer than may be", patient, 10 * time.Second},
		} {
			var refused *admission.Refusal
			if err := <-waits.err; !errors.As(err, &refused) || refused.Reason != admission.Waited {
				t.Errorf("%s: got %v", waits.name, err)
			}
			if took := time.Since(began); took != waits.want {
				t.Errorf("%s: after %v, want %v", waits.name, took, waits.want)
			}
		}
		if got := g.State().Waiting; got != 0 {
			t.Errorf("%d still wait", got)
		}
	})
}

func TestWhoseTurnWouldComeTooLateDoesNotWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.New(admission.Config{MaxInFlight: 1, MaxQueue: 100, MaxWait: 10 * time.Second})
		for range 20 { // one place a second, with others waiting
			knockAndWork(t.Context(), g, time.Second)
		}
		time.Sleep(5 * time.Second)
		began := time.Now()
		var refused *admission.Refusal
		if _, err := g.Enter(t.Context()); !errors.As(err, &refused) || refused.Reason != admission.TooLate {
			t.Fatalf("got %v", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it waited %v to be turned away", took)
		}
		if refused.RetryAfter < 3*time.Second || refused.RetryAfter > 16*time.Second {
			t.Errorf("told to come again in %v, with %d waiting for a second each", refused.RetryAfter, refused.Waiting)
		}
		synctest.Wait()
		time.Sleep(time.Minute)
	})
}

// knockAndWork enters, works and leaves, beside the test.
func knockAndWork(ctx context.Context, g *admission.Gate, work time.Duration) {
	go func() {
		if leave, err := g.Enter(ctx); err == nil {
			time.Sleep(work)
			leave(false)
		}
	}()
}

func TestTenantsShareThePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.New(admission.Config{MaxInFlight: 4, MaxQueue: 100, MaxWait: time.Hour})
		many, few := as(t, "many"), as(t, "few")
		first := fill(t, many, g, 4)
		for range 50 {
			knock(many, g)
		}
		synctest.Wait()
		var leaves []chan func(bool)
		for range 3 {
			leave, _ := knock(few, g)
			synctest.Wait()
			leaves = append(leaves, leave)
		}
		// Two places of four are fair: those that come free go to who has fewer.
		first[0](false)
		first[1](false)
		a, b := <-leaves[0], <-leaves[1]
		first[2](false) // one each by turns from here on
		synctest.Wait()
		select {
		case <-leaves[2]:
			t.Error("the tenant with few requests got three places of four")
		default:
		}
		a(false)
		(<-leaves[2])(false)
		b(false)
	})
}

func TestATenantCannotFillTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.New(admission.Config{MaxInFlight: 1, MaxQueue: 3, MaxWait: time.Hour})
		many, few := as(t, "many"), as(t, "few")
		first := fill(t, many, g, 1)
		var errs []chan error
		for range 3 {
			_, refused := knock(many, g)
			synctest.Wait()
			errs = append(errs, refused)
		}
		leave, _ := knock(few, g)
		synctest.Wait()
		var refused *admission.Refusal
		if err := <-errs[2]; !errors.As(err, &refused) || refused.Reason != admission.Displaced {
			t.Errorf("the newest of the longest line: got %v, want it displaced", err)
		}
		if _, err := g.Enter(many); !errors.As(err, &refused) || refused.Reason != admission.Full {
			t.Errorf("one more of the longest line: got %v, want it refused", err)
		}
		first[0](false)
		(<-leave)(false)
	})
}

func TestTheLimitFollowsWhatIsDoneInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.New(admission.Config{MaxInFlight: 64, MaxQueue: 64, MaxWait: time.Second})
		for range 20 { // everything hangs
			leaves := fill(t, t.Context(), g, g.State().Limit)
			time.Sleep(time.Second)
			for _, leave := range leaves {
				leave(true)
			}
		}
		if got := g.State().Limit; got != 1 {
			t.Errorf("got a limit of %d after nothing was done in time, want the least, 1 of 64", got)
		}
		rounds := 0
		for ; g.State().Limit < 64; rounds++ { // all is well again
			leaves := fill(t, t.Context(), g, g.State().Limit)
			time.Sleep(time.Second)
			for _, leave := range leaves {
				leave(false)
			}
		}
		if rounds > 30 {
			t.Errorf("the limit took %d rounds of requests to come back", rounds)
		}
	})
}

func TestTheLimitBeginsLow(t *testing.T) {
	for most, want := range map[int]int{256: 16, 1024: 64, 4: 4} {
		if got := admission.New(admission.Config{MaxInFlight: most}).State().Limit; got != want {
			t.Errorf("of %d: got %d, want %d", most, got, want)
		}
	}
}

func TestCallersWithTooLittleTimeDoNotCutTheLimitForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGrownGate(t, 64, time.Second)
		for _, round := range []struct {
			takes time.Duration
			late  bool
		}{{time.Second, false}, {100 * time.Millisecond, true}} {
			leaves := fill(t, t.Context(), g, 64)
			time.Sleep(round.takes)
			for _, leave := range leaves {
				leave(round.late)
			}
		}
		if got := g.State().Limit; got != 64 {
			t.Errorf("got a limit of %d, want 64", got)
		}
	})
}

func TestOneSlowQuestionIsNoLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGrownGate(t, 64, time.Second)
		for i := range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			leave := fill(t, ctx, g, 1)
			takes := time.Second
			if i > 50 {
				takes = 50 * time.Second
			}
			time.Sleep(takes)
			leave[0](false)
			cancel()
		}
		if got := g.State().Limit; got != 64 {
			t.Errorf("got a limit of %d, want 64", got)
		}
	})
}

func TestARoundOfLateRequestsCutsTheLimitOnce(t *testing.T) {
	g := admission.New(admission.Config{MaxInFlight: 160})
	for _, leave := range fill(t, t.Context(), g, 16) {
		leave(true)
	}
	if got := g.State().Limit; got != 4 {
		t.Errorf("got %d, want 4", got)
	}
}

func TestWhateverHappensTheBoundsHoldAndNobodyIsForgotten(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { anyHistory(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func anyHistory(t *testing.T, random *rand.Rand) {
	cfg := admission.Config{MaxInFlight: 1 + random.IntN(8), MaxQueue: random.IntN(8),
		MaxWait: time.Duration(random.IntN(5)) * time.Second}
	g := admission.New(cfg)
	names := []string{"one", "two", "three"}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var running, most int
	for range 100 {
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		ctx, cancel := as(t, names[random.IntN(len(names))]), context.CancelFunc(func() {})
		if random.IntN(2) == 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(6000))*time.Millisecond)
		}
		work, late := time.Duration(random.IntN(3000))*time.Millisecond, random.IntN(10) == 0
		wg.Go(func() {
			defer cancel()
			began := time.Now()
			leave, err := g.Enter(ctx)
			if waited := time.Since(began); waited > cfg.MaxWait {
				t.Errorf("waited %v, longer than %v", waited, cfg.MaxWait)
			}
			if err != nil {
				return
			}
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(work)
			mu.Lock()
			running--
			mu.Unlock()
			leave(late)
		})
		if got := g.State(); got.InFlight > cfg.MaxInFlight || got.Waiting > cfg.MaxQueue ||
			got.Limit > cfg.MaxInFlight || got.Limit < 1 {
			t.Errorf("got %+v with %+v", got, cfg)
		}
	}
	wg.Wait()
	if most > cfg.MaxInFlight {
		t.Errorf("%d ran at once, %d may", most, cfg.MaxInFlight)
	}
	if got := g.State(); got.InFlight != 0 || got.Waiting != 0 {
		t.Errorf("got %+v when all had gone", got)
	}
}

func BenchmarkEnter(b *testing.B) {
	g := admission.New(admission.Config{MaxInFlight: 256, MaxQueue: 256, MaxWait: time.Second})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			leave, err := g.Enter(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			leave(false)
		}
	})
}

// BenchmarkRefuse is what the gate itself needs to turn a request away.
func BenchmarkRefuse(b *testing.B) {
	g := admission.New(admission.Config{MaxInFlight: 1})
	if _, err := g.Enter(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := g.Enter(b.Context()); err == nil {
				b.Fatal("a request was let in")
			}
		}
	})
}

func TestReasonsAreTold(t *testing.T) {
	for _, reason := range []admission.Reason{admission.Full, admission.TooLate, admission.Waited,
		admission.Displaced} {
		err := &admission.Refusal{Reason: reason, InFlight: 3, Waiting: 2, RetryAfter: 1400 * time.Millisecond}
		want := fmt.Sprintf("3 requests are under way and 2 wait (%s); try again in 1s", reason)
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestACallOfAnAdmittedRequestIsNeverRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.New(admission.Config{MaxInFlight: 32, MaxQueue: 1, MaxWait: time.Second})
		admitted, cancel := context.WithTimeout(admission.WithAdmitted(t.Context()), time.Hour)
		defer cancel()
		leaves := fill(t, admitted, g, 32) // above the learned limit
		var waiting []chan func(bool)
		for range 40 {
			leave, _ := knock(admitted, g)
			waiting = append(waiting, leave)
			synctest.Wait()
		}
		other, refused := knock(t.Context(), g)
		time.Sleep(30 * time.Minute)
		if err := <-refused; err == nil {
			t.Error("a new request took a place although none was free")
		}
		if got := g.State(); got.InFlight != 32 || got.Waiting != 40 {
			t.Errorf("got %+v, want 32 calls in flight and 40 that wait", got)
		}
		testkit.Measured(t, "40 of 40 calls beyond the limit wait half an hour for a place")
		for _, leave := range leaves {
			leave(false)
		}
		for _, leave := range waiting {
			(<-leave)(false)
		}
		if got := g.State(); got.InFlight != 0 || got.Waiting != 0 || len(other) != 0 {
			t.Errorf("got %+v, want an empty gate", got)
		}
	})
}

func TestACallOfAnAdmittedRequestThatIsGoneGivesItsPlaceUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.New(admission.Config{MaxInFlight: 1, MaxQueue: 1, MaxWait: time.Second})
		leaves := fill(t, t.Context(), g, 1)
		ctx, cancel := context.WithTimeout(admission.WithAdmitted(t.Context()), time.Minute)
		defer cancel()
		if _, err := g.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		leaves[0](false)
		if got := g.State(); got.InFlight != 0 || got.Waiting != 0 {
			t.Errorf("got %+v, want an empty gate", got)
		}
	})
}

// A request that takes minutes tells nothing for as long; those that wait meanwhile are not refused.
func TestTheLimitGrowsWhileNoRequestHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admission.New(admission.Config{MaxInFlight: 256, MaxQueue: 256, MaxWait: 10 * time.Second})
		var done []chan func(bool)
		for range 150 {
			leave, _ := knock(t.Context(), g)
			done = append(done, leave)
			time.Sleep(time.Second)
		}
		if got := g.State().InFlight; got < 100 {
			t.Errorf("%d requests are in flight after 150 s without an end of any, want 100", got)
		}
		for _, leave := range done {
			select {
			case l := <-leave:
				l(false)
			default: // refused
			}
		}
		synctest.Wait()
	})
}
