package mcp

import (
	"context"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress tells a client how far a call has come, where it wants to know.
type progress struct {
	session *sdk.ServerSession
	token   any
	done    float64
}

func progressOf(req *sdk.CallToolRequest) *progress {
	return &progress{session: req.Session, token: req.Params.GetProgressToken()}
}

// tell says what is going on. The protocol wants progress to rise: where done
// does not, a small step is taken. A client that cannot be told is none to wait
// for.
func (p *progress) tell(ctx context.Context, m moment) {
	if p.token == nil {
		return
	}
	p.done = max(p.done+0.001, m.done)
	_ = p.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
		ProgressToken: p.token, Progress: p.done, Total: m.total, Message: m.message,
	})
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
func follow[E any](ctx context.Context, p *progress, recv func() (E, error), see func(E) moment) error {
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
				p.tell(ctx, now)
			}
		case <-ticker.C:
			again := now
			again.message = fmt.Sprintf("%s (%v so far)", now.message, time.Since(since).Round(time.Second))
			p.tell(ctx, again)
		}
	}
}
