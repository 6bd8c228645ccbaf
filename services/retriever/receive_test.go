package retriever

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// sender sends chunks of a size, with a pause before each, and then nothing.
type sender struct {
	chunks, size int
	pause        time.Duration
	ends         bool
}

func (s sender) receive(ctx context.Context) func() (*retrieverv1.LoadKnowledgeGraphRequest, error) {
	sent := 0
	return func() (*retrieverv1.LoadKnowledgeGraphRequest, error) {
		if sent == s.chunks && s.ends {
			return nil, io.EOF
		}
		if sent == s.chunks {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		sent++
		select {
		case <-time.After(s.pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return &retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{
			Chunk: make([]byte, s.size)}}, nil
	}
}

func TestAnIdleLoadDoesNotBlockOthers(t *testing.T) {
	for _, c := range []struct {
		name   string
		sender sender
		waits  bool
		want   codes.Code
		within time.Duration
	}{
		{"one who sends nothing while another waits", sender{}, true, codes.Aborted, 2 * time.Minute},
		{"one who sends next to nothing", sender{chunks: 1000, size: 1, pause: 20 * time.Second, ends: true}, true,
			codes.Aborted, 2 * time.Minute},
		{"one who sends, and then nothing", sender{chunks: 1000, size: 1 << 20, pause: time.Second}, true,
			codes.Aborted, 1000*time.Second + 2*time.Minute},
		{"one who is slow, but not that slow", sender{chunks: 1000, size: 1 << 20, pause: 10 * time.Second, ends: true},
			true, codes.OK, 3 * time.Hour},
		{"one who is slow where nobody waits", sender{chunks: 10, size: 1, pause: time.Hour, ends: true}, false,
			codes.OK, 11 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				turns := newBuildQueue()
				release, err := turns.acquire(asTenant(t, ctx, "acme"))
				if err != nil {
					t.Fatal(err)
				}
				if c.waits {
					go func() {
						if _, err := turns.acquire(asTenant(t, ctx, "globex")); err != nil {
							t.Error(err)
						}
					}()
					synctest.Wait()
				}
				began := time.Now()
				receive := receiveUnlessIdle(ctx, turns, c.sender.receive(ctx))
				for err == nil {
					_, err = receive()
				}
				if err == io.EOF {
					err = nil
				}
				if took := time.Since(began); status.Code(err) != c.want || took > c.within {
					t.Errorf("after %v: %v; want %v within %v", took, err, c.want, c.within)
				}
				release()
				synctest.Wait()
			})
		})
	}
}

func TestALoadEndsOnCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		receive := receiveUnlessIdle(ctx, newBuildQueue(), sender{}.receive(ctx))
		go func() { time.Sleep(time.Second); cancel() }()
		if _, err := receive(); status.FromContextError(err).Code() != codes.Canceled {
			t.Errorf("got %v", err)
		}
	})
}
