package weaviate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// batchSender sends rows in batches, several at a time. How many are under way goes
// up by one with each that arrives, and down to half with each that fails, as
// TCP does: a cluster that is busy gets no more to do. A caller that adds rows waits.
type batchSender struct {
	ctx     context.Context
	stop    context.CancelFunc
	cluster *cluster
	batch   []*pb.BatchObject
	size    int
	group   sync.WaitGroup

	mutex sync.Mutex
	// slotFree wakes callers that wait for a place.
	slotFree *sync.Cond
	inFlight int
	window   float64
	err      error
	sent     int64
}

const (
	// largestBatch keeps a batch far below what a node takes.
	largestBatch = 8 << 20
	// retryTime is how long a batch is tried again: longer than a new raft leader
	// and the loss of a node take to be noticed.
	retryTime = 45 * time.Second
	// minAttempts is how many attempts there are in that time at least.
	minAttempts = 4
)

func newBatchSender(ctx context.Context, c *cluster) *batchSender {
	in := &batchSender{cluster: c, window: 2}
	in.ctx, in.stop = context.WithCancel(ctx)
	in.slotFree = sync.NewCond(&in.mutex)
	context.AfterFunc(in.ctx, func() {
		in.mutex.Lock()
		defer in.mutex.Unlock()
		in.slotFree.Broadcast()
	})
	return in
}

// add sends a row with the next batch. The error is that of any batch so far.
func (in *batchSender) add(object *pb.BatchObject) error {
	in.batch = append(in.batch, object)
	in.size += proto.Size(object)
	if len(in.batch) < in.cluster.config.Batch && in.size < largestBatch {
		return nil
	}
	return in.flush()
}

func (in *batchSender) flush() error {
	if len(in.batch) == 0 {
		return nil
	}
	batch, size := in.batch, in.size
	in.batch, in.size = nil, 0
	in.mutex.Lock()
	defer in.mutex.Unlock()
	for in.inFlight >= int(in.window) && in.err == nil && in.ctx.Err() == nil {
		in.slotFree.Wait()
	}
	if err := in.firstError(); err != nil {
		return err
	}
	in.inFlight++
	in.sent += int64(size)
	in.group.Go(func() { in.finish(in.sendWithRetry(batch)) })
	return nil
}

func (in *batchSender) firstError() error {
	if in.err != nil {
		return in.err
	}
	return in.ctx.Err()
}

func (in *batchSender) finish(err error) {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	in.inFlight--
	if err != nil && in.err == nil {
		in.err = err
		in.stop()
	}
	in.slotFree.Broadcast()
}

func (in *batchSender) wait() error {
	err := in.flush()
	in.group.Wait()
	in.mutex.Lock()
	defer in.mutex.Unlock()
	err = firstError(in.err, err, in.ctx.Err())
	in.stop()
	return err
}

func (in *batchSender) bytes() int64 {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	return in.sent
}

func (in *batchSender) adapt(arrived bool) {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	if arrived {
		in.window = min(in.window+1, float64(in.cluster.config.InFlight))
	} else {
		in.window = max(in.window/2, 1)
	}
	in.slotFree.Broadcast()
}

// sendWithRetry sends a batch, and again what of it did not arrive.
func (in *batchSender) sendWithRetry(batch []*pb.BatchObject) error {
	end := time.Now().Add(retryTime)
	for i := 1; ; i++ {
		left, err := in.send(batch)
		in.adapt(err == nil)
		if err == nil || in.ctx.Err() != nil {
			return errors.Join(err, in.ctx.Err())
		}
		if code := status.Code(err); code == codes.InvalidArgument || code == codes.Unauthenticated ||
			code == codes.PermissionDenied || i >= minAttempts && time.Now().After(end) {
			return err
		}
		batch = left
		if err := sleep(in.ctx, backoff(i)); err != nil {
			return err
		}
	}
}

// send sends a batch once, to all replicas, and returns the rows that did not arrive.
func (in *batchSender) send(batch []*pb.BatchObject) (left []*pb.BatchObject, err error) {
	ctx, cancel := context.WithTimeout(in.cluster.authorized(in.ctx), 10*in.cluster.config.Timeout)
	defer cancel()
	doing := fmt.Sprintf("send %d rows to collection %s", len(batch), batch[0].Collection)
	level := pb.ConsistencyLevel_CONSISTENCY_LEVEL_ALL
	var node peer.Peer
	reply, err := in.cluster.attempts()().BatchObjects(ctx, &pb.BatchObjectsRequest{Objects: batch,
		ConsistencyLevel: &level}, grpc.Peer(&node))
	if err != nil {
		return batch, in.cluster.wrapError(doing, &node, err)
	}
	if len(reply.GetErrors()) == 0 {
		return nil, nil
	}
	for _, e := range reply.GetErrors() {
		if e.Index < 0 || int(e.Index) >= len(batch) {
			return batch, in.cluster.wrapError(doing, &node, fmt.Errorf("row %d of %d is refused: %s", e.Index,
				len(batch), e.Error))
		}
		left = append(left, batch[e.Index])
	}
	first := reply.GetErrors()[0]
	return left, in.cluster.wrapError(doing, &node, fmt.Errorf("%d rows are refused, the first (%s): %s", len(left),
		batch[first.Index].Uuid, first.Error))
}
