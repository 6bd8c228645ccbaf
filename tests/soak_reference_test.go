//go:build soak

package tests

import (
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// reference does a fixed piece of work again and again: its processor time says how fast the machine is at the moment,
// and the time that it takes how busy it is, as neighbours on it slow the reference and the mesh alike.
type reference struct {
	next   []int32 // a cycle through more memory than the caches hold
	data   []byte
	sorted []int

	mu    sync.Mutex
	took  []time.Duration // of the processor
	lasts []time.Duration
	total time.Duration // of the processor
}

func newReference() *reference {
	random := rand.New(rand.NewPCG(1, 1))
	r := &reference{next: make([]int32, 4<<20), data: make([]byte, 256<<10), sorted: make([]int, 10_000)}
	order := random.Perm(len(r.next))
	for i, at := range order {
		r.next[at] = int32(order[(i+1)%len(order)])
	}
	return r
}

// run works ten times a second until the context ends.
func (r *reference) run(ctx context.Context, t *testing.T) {
	runtime.LockOSThread() // the clock is that of the thread
	defer runtime.UnlockOSThread()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		start, before := time.Now(), threadTime(t)
		r.work()
		took, lasted := threadTime(t)-before, time.Since(start)
		r.mu.Lock()
		r.took, r.lasts, r.total = append(r.took, took), append(r.lasts, lasted), r.total+took
		r.mu.Unlock()
	}
}

// work takes a few milliseconds, and no memory: memory, processor and branches each have a part in it.
func (r *reference) work() {
	at := int32(0)
	for range 10_000 {
		at = r.next[at]
	}
	sum := sha256.Sum256(r.data)
	random := rand.New(rand.NewPCG(uint64(sum[0]), uint64(at)))
	for i := range r.sorted {
		r.sorted[i] = random.Int()
	}
	slices.Sort(r.sorted)
}

// take returns the medians of the processor time of the work and of how long it lasted since the last call, and the
// processor time of all work so far.
func (r *reference) take() (took, lasted, total time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	median := func(times *[]time.Duration) (middle time.Duration) {
		slices.Sort(*times)
		if n := len(*times); n > 0 {
			middle = (*times)[n/2]
		}
		*times = (*times)[:0]
		return middle
	}
	return median(&r.took), median(&r.lasts), r.total
}

// threadTime returns the processor time of this thread so far.
func threadTime(t *testing.T) time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		t.Errorf("read the clock of the thread: %v", err)
	}
	return time.Duration(at.Nano())
}
