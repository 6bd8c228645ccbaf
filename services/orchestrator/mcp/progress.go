package mcp

import (
	"context"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// teller tells a client how far its call has come, where it wants to know. The
// protocol wants progress to rise: where it does not, a small step is taken. A
// client that cannot be told is none to wait for.
func teller(ctx context.Context, req *sdk.CallToolRequest) func(moment) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(moment) {}
	}
	done := 0.0
	return func(m moment) {
		done = max(done+0.001, m.done)
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: done, Total: m.total, Message: m.message,
		})
	}
}

// beat is how often a client hears of something that takes long: many give up
// after a minute without a word.
const beat = 10 * time.Second

// moment is how far something has come: done of total where they are known.
type moment struct {
	message     string
	done, total float64
}

// follow receives a stream to its end and hands each event to see, which
// returns what is going on now; without a message there is nothing new. While
// nothing comes, the client is told of the last moment again and again.
func follow[E any](tell func(moment), recv func() (E, error), see func(E) moment) error {
	type result struct {
		event E
		err   error
	}
	results, gone := make(chan result), make(chan struct{})
	defer close(gone)
	go func() {
		for {
			event, err := recv()
			select {
			case results <- result{event, err}:
			case <-gone:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	now, since := moment{message: "working"}, time.Now()
	for {
		select {
		case r := <-results:
			if r.err == io.EOF {
				return nil
			}
			if r.err != nil {
				return r.err
			}
			if m := see(r.event); m.message != "" {
				now, since = m, time.Now()
				tell(now)
			}
		case <-ticker.C:
			again := now
			again.message = fmt.Sprintf("%s (%v so far)", now.message, time.Since(since).Round(time.Second))
			tell(again)
		}
	}
}
