package retriever

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const (
	// patience is how long a build waits for what it is to be built from before
	// it counts that somebody else waits for their turn.
	patience = time.Minute
	// leastRate is how many bytes a second of waiting has to bring from then on.
	leastRate = 64 << 10
)

// hurried is a receive that gives up where nothing comes, or next to nothing,
// while others wait for their turn: who sends nothing must not keep everybody
// from loading. It receives until ctx ends.
func hurried[M proto.Message](ctx context.Context, t *turns, receive func() (M, error)) func() (M, error) {
	type received struct {
		message M
		err     error
	}
	// A stream's Recv ends with the stream alone, so it goes on beside.
	arrived := make(chan received)
	go func() {
		for {
			m, err := receive()
			select {
			case arrived <- received{m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	left := patience
	var ended error
	return func() (none M, _ error) {
		if ended != nil {
			return none, ended
		}
		began := time.Now()
		for {
			late := time.NewTimer(max(left-time.Since(began), time.Second))
			select {
			case r := <-arrived:
				late.Stop()
				earned := time.Duration(proto.Size(r.message)) * time.Second / leastRate
				left = min(left-time.Since(began)+earned, patience)
				ended = r.err
				return r.message, r.err
			case <-ctx.Done():
				late.Stop()
				return none, ctx.Err()
			case <-late.C:
				if t.waiting.Load() > 0 {
					return none, status.Errorf(codes.Aborted,
						"receive a knowledge graph: others wait to load, and for %s less than %d KiB came a second; send it again when it can be sent faster", patience, leastRate>>10)
				}
			}
		}
	}
}
