package weaviate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// collections lists what a fake holds beside records.
func (f *fake) collections() []string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var names []string
	for name := range f.classes {
		if !strings.HasSuffix(name, separator+"record") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestAFailedLoadLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*fake)
		code  codes.Code
		says  string
	}{
		"a row that is refused": {func(f *fake) {
			f.onBatch = func(_ context.Context, req *pb.BatchObjectsRequest) (*pb.BatchObjectsReply, error) {
				if strings.HasSuffix(req.Objects[0].Collection, vectorsPart) {
					return nil, status.Error(codes.InvalidArgument, "vector lengths don't match")
				}
				return nil, nil
			}
		}, codes.InvalidArgument, "vector lengths"},
		"a node that is lost": {func(f *fake) {
			f.onNodes = func(r *http.Request) bool { return r.URL.Path != "/v1/nodes" }
		}, codes.Unavailable, "node0"},
		"a collection that no node holds": {func(f *fake) { f.onNodes = func(*http.Request) bool { return false } },
			codes.Unavailable, "no node holds"},
		"a row that got lost": {func(f *fake) {
			f.onBatch = func(_ context.Context, req *pb.BatchObjectsRequest) (*pb.BatchObjectsReply, error) {
				req.Objects = req.Objects[:len(req.Objects)-1]
				return nil, nil
			}
		}, codes.DataLoss, "after the load"},
		"no key": {func(f *fake) {
			f.onSchema = func(r *http.Request) int {
				if r.Method == http.MethodPost && !strings.Contains(r.URL.Path, "x") && len(f.classes) > 1 {
					return http.StatusUnauthorized
				}
				return 0
			}
		}, codes.PermissionDenied, "api_key"},
	} {
		f := newFake(t)
		s := open(t, f.config())
		f.set(func() { c.spoil(f) })
		_, err := s.Write(t.Context(), "world", storetest.Content(t, storetest.World()))
		if status.Code(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		f.set(func() { f.onBatch, f.onNodes, f.onSchema = nil, nil, nil })
		if _, err := s.List(t.Context(), "world"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("after %s the list answers %v", name, err)
		}
		if left := f.collections(); name != "no key" && len(left) > 0 {
			t.Errorf("after %s these are left: %v", name, left)
		}
		storetest.Build(t, s, "world", storetest.World())
	}
}

func TestTemporarilyRefusedRowsAreResent(t *testing.T) {
	f := newFake(t)
	s := open(t, f.config())
	refused := map[string]bool{}
	f.set(func() {
		f.onBatch = func(_ context.Context, req *pb.BatchObjectsRequest) (*pb.BatchObjectsReply, error) {
			reply := &pb.BatchObjectsReply{}
			for i, o := range req.Objects {
				if i%2 == 0 && !refused[o.Uuid] {
					refused[o.Uuid] = true
					reply.Errors = append(reply.Errors, &pb.BatchObjectsReply_BatchError{Index: int32(i),
						Error: "shard is read-only"})
				} else {
					f.rows[o.Collection][o.Uuid] = o
				}
			}
			return reply, nil
		}
	})
	storetest.Build(t, s, "world", storetest.World())
	if len(refused) == 0 {
		t.Error("nothing was refused")
	}
}

// TestALoadResumesAKilledLoad ends a load in such a way that it can
// clean nothing up, as when its process is killed.
func TestALoadResumesAKilledLoad(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.Batch, cfg.InFlight = 5, 1
	first := open(t, cfg)
	first.blockRows = 5
	batches := 0
	dead := false
	f.set(func() {
		f.onBatch = func(_ context.Context, req *pb.BatchObjectsRequest) (*pb.BatchObjectsReply, error) {
			if batches++; batches > 3 {
				dead = true
				return nil, status.Error(codes.InvalidArgument, "killed")
			}
			return nil, nil
		}
		f.onSchema = func(*http.Request) int {
			if dead {
				return http.StatusForbidden
			}
			return 0
		}
	})
	if _, err := first.Write(t.Context(), "world", storetest.Content(t, storetest.World())); err == nil {
		t.Fatal("the load was not ended")
	}
	before := len(f.collections())
	sent := 0
	f.set(func() {
		f.onSchema = nil
		f.onBatch = func(_ context.Context, req *pb.BatchObjectsRequest) (*pb.BatchObjectsReply, error) {
			sent += len(req.Objects)
			return nil, nil
		}
	})
	if before == 0 {
		t.Fatal("nothing was left to go on with")
	}
	second := open(t, cfg)
	if _, err := second.List(t.Context(), "world"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a load that is not done is listed: %v", err)
	}
	second.loadTimeout, second.blockRows = 0, 5
	info, err := second.Write(t.Context(), "world", storetest.Content(t, storetest.World()))
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, rows := range f.rows {
		all += len(rows)
	}
	if info.Number != 1 || sent >= all {
		t.Errorf("it went on as snapshot %d and sent %d rows of %d", info.Number, sent, all)
	}
	if _, _, err := second.Verify(t.Context(), "world", 1); err != nil {
		t.Error(err)
	}
	if _, err := second.Write(t.Context(), "world", storetest.Content(t, storetest.World()[:5])); err != nil {
		t.Error(err)
	}
}

func TestAnAbandonedLoadIsRemovedByTheNext(t *testing.T) {
	f := newFake(t)
	s := open(t, f.config())
	s.loadTimeout = 0
	if _, err := s.change(t.Context(), "world", func(r *catalogueRecord) error {
		r.Pending, r.Next = []pendingLoad{{Number: 7, Fingerprint: "x", Beat: time.Now().Add(-time.Hour)}}, 8
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.cluster.createClass(t.Context(),
		class{"class": collection(s.home, "world", 7, vectorsPart)}); err != nil {
		t.Fatal(err)
	}
	storetest.Build(t, s, "world", storetest.World())
	for _, name := range f.collections() {
		if strings.Contains(name, separator+"7"+separator) {
			t.Errorf("%s is left", name)
		}
	}
}

func TestDroppedSnapshotsAreDeletedAfterTheGracePeriod(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.Grace = 0
	s := open(t, cfg)
	first := storetest.Build(t, s, "world", storetest.World())
	snap := storetest.Open(t, s, "world", 0)
	storetest.Build(t, s, "world", storetest.World()[:5])
	if _, err := s.Drop(t.Context(), "world", first); err != nil {
		t.Fatal(err)
	}
	if err := questions["a search"](t.Context(), snap); err != nil {
		t.Errorf("what is still read was deleted: %v", err)
	}
	snap.Release()
	if err := s.clean(t.Context(), "world", 0); err != nil {
		t.Fatal(err)
	}
	if left := f.collections(); len(left) != 2 {
		t.Errorf("these are left: %v", left)
	}
}

func TestAnExpiredLockIsTaken(t *testing.T) {
	f := newFake(t)
	s := open(t, f.config())
	held := fmt.Sprintf(`{"Owner":"nobody","Until":%q}`, time.Now().Add(-time.Second).Format(time.RFC3339Nano))
	if err := s.cluster.createClass(t.Context(), descriptionClass(lockName(s.home, "world"), held)); err != nil {
		t.Fatal(err)
	}
	storetest.Build(t, s, "world", storetest.World())
	if left := f.collections(); slices.Contains(left, lockName(s.home, "world")) {
		t.Errorf("the lock is left")
	}
}
