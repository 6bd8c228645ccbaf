package encoder

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestRunParallelCallsEachNumberOnce(t *testing.T) {
	for _, workers := range []int{1, 3, 100} {
		var seen [50]atomic.Int32
		if err := RunParallel(t.Context(), workers, len(seen), func(_ context.Context, i int) error {
			seen[i].Add(1)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i := range seen {
			if n := seen[i].Load(); n != 1 {
				t.Errorf("%d workers: number %d was called %d times", workers, i, n)
			}
		}
	}
}

func TestRunParallelCancelsAfterAnError(t *testing.T) {
	broken := errors.New("broken")
	err := RunParallel(t.Context(), 2, 1000, func(ctx context.Context, i int) error {
		if i == 0 {
			return broken
		}
		<-ctx.Done() // would wait for ever otherwise
		return ctx.Err()
	})
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}
