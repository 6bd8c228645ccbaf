package cluster_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/tests/cluster"
)

func TestQuestionsAreCountedByWhatCameOfThem(t *testing.T) {
	r := cluster.AtRate(t.Context(), 1e6, 10, func(_ context.Context, n int) cluster.Outcome {
		switch n {
		case 3:
			return cluster.Outcome{Kind: "UNAVAILABLE", Example: "gone"}
		case 4:
			return cluster.Outcome{Kind: "UNAVAILABLE", Example: "gone too"}
		}
		return cluster.Outcome{Kind: cluster.OK, Snapshot: uint64(1 + n%2)}
	})
	if r.Asked != 10 || r.Failed != 2 || !maps.Equal(r.Kinds, map[string]int{cluster.OK: 8, "UNAVAILABLE": 2}) {
		t.Errorf("got %+v", r)
	}
	if !maps.Equal(r.Snapshots, map[uint64]int{1: 4, 2: 4}) || r.Examples["UNAVAILABLE"] == "" {
		t.Errorf("got %+v", r)
	}
}

func TestAQuestionDoesNotWaitForTheOneBefore(t *testing.T) {
	const count = 20
	arrived := make(chan struct{}, count)
	r := cluster.AtRate(t.Context(), 1e6, count, func(context.Context, int) cluster.Outcome {
		arrived <- struct{}{}
		for len(arrived) < count { // all are under way at once, or this never ends
			time.Sleep(time.Millisecond)
		}
		return cluster.Outcome{Kind: cluster.OK}
	})
	if r.Asked != count || r.P50 <= 0 || r.Max < r.P99 || r.P99 < r.P50 {
		t.Errorf("got %+v", r)
	}
}

func TestALoadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := cluster.AtRate(ctx, 1000, 1<<30, func(_ context.Context, n int) cluster.Outcome {
		if n == 2 {
			cancel()
		}
		return cluster.Outcome{Kind: cluster.OK}
	})
	if r.Asked < 3 {
		t.Errorf("got %+v", r)
	}
}

func TestWhatIsUnderWayAtTheEndIsNotCounted(t *testing.T) {
	r := cluster.AsFastAs(t.Context(), 3, 20*time.Millisecond, func(ctx context.Context, n int) cluster.Outcome {
		if _, ok := ctx.Deadline(); ok {
			t.Error("questions are given the end of the load as their deadline")
		}
		if n > 5 {
			<-ctx.Done()
		}
		return cluster.Outcome{Kind: cluster.OK}
	})
	if r.Asked != 5 || r.Failed != 0 {
		t.Errorf("got %+v", r)
	}
}
