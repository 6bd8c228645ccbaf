package load

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// aheadValues is how many values are handed from one goroutine to the other at
// a time, aheadChunks how many such chunks there are.
const (
	aheadValues = 1024
	aheadChunks = 4
)

// ahead takes values while the next ones are made by another goroutine. fill
// makes one of a value that was taken before, whose memory it may use; ok is
// false after the last one.
func ahead[T any](ctx context.Context, fill func(*T) (ok bool, err error), take func(*T) error) error {
	free, full := make(chan []T, aheadChunks), make(chan []T, aheadChunks)
	for range aheadChunks {
		free <- make([]T, aheadValues)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(full)
		for {
			var chunk []T
			select {
			case chunk = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			chunk = chunk[:aheadValues]
			for i := range chunk {
				ok, err := fill(&chunk[i])
				if err != nil {
					return err
				}
				if !ok {
					full <- chunk[:i]
					return nil
				}
			}
			full <- chunk
		}
	})
	group.Go(func() error {
		for chunk := range full {
			for i := range chunk {
				if err := take(&chunk[i]); err != nil {
					return err
				}
			}
			free <- chunk
		}
		return ctx.Err()
	})
	return group.Wait()
}
