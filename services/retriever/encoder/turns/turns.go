// Package turns shares work among a few goroutines.
package turns

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Each calls do with every number below n, from no more goroutines than
// workers, each taking the next number when it is done with one. The first
// error ends the others' contexts and is returned.
func Each(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	var next atomic.Int64
	group, running := errgroup.WithContext(ctx)
	for range min(workers, n) {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := do(running, i); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}
