package weaviate

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// world builds the suite's graph in a fake and opens it.
func world(t *testing.T, change func(*Config)) (*fake, *Store, store.Snapshot) {
	t.Helper()
	f := newFake(t)
	cfg := f.config()
	if change != nil {
		change(&cfg)
	}
	f.nodes = cfg.Replicas
	s := open(t, cfg)
	storetest.Build(t, s, "world", storetest.World())
	return f, s, storetest.Open(t, s, "world", 0)
}

// questions are reads that go to the cluster, whatever was read before.
var questions = map[string]func(context.Context, store.Snapshot) error{
	"a search": func(ctx context.Context, s store.Snapshot) error {
		_, err := s.SearchTriples(ctx, [][]float32{s.RelationVector(0)}, 3, store.Filter{})
		return err
	},
	"scores": func(ctx context.Context, s store.Snapshot) error {
		s.(*snapshot).graph.vectors.Purge()
		_, err := s.ScoreTriples(ctx, [][]float32{s.RelationVector(0)}, []store.TripleID{1, 2, 3})
		return err
	},
}

func TestInconsistentAnswersAreCorrupt(t *testing.T) {
	f, _, s := world(t, nil)
	withID := func(id string) func(*pb.SearchReply) {
		return func(reply *pb.SearchReply) { reply.Results[0].Metadata.Id = id }
	}
	for name, c := range map[string]struct {
		spoil func(*pb.SearchReply)
		asked []string
	}{
		"a row without an id":         {withID(""), []string{"a search", "scores"}},
		"a row with an id of another": {withID("dd3b7a5c-7f6e-4e5c-9a51-0f0a7f7f6a11"), []string{"a search", "scores"}},
		"a number that is too great":  {withID(rowID(1 << 20)), []string{"a search", "scores"}},
		"a row that is missing": {func(r *pb.SearchReply) { r.Results = r.Results[1:] },
			[]string{"scores"}},
		"a row that comes twice": {func(r *pb.SearchReply) { r.Results = append(r.Results, r.Results[0]) },
			[]string{"scores"}},
		"a vector that is cut off": {func(reply *pb.SearchReply) {
			for _, r := range reply.Results {
				r.Metadata.VectorBytes = r.Metadata.VectorBytes[:min(7, len(r.Metadata.VectorBytes))]
			}
		}, []string{"a search", "scores"}},
	} {
		f.set(func() {
			f.onSearch = func(_ context.Context, _ *pb.SearchRequest, reply *pb.SearchReply) error {
				c.spoil(reply)
				return nil
			}
		})
		for _, asked := range c.asked {
			err := questions[asked](t.Context(), s)
			if !errors.Is(err, store.ErrCorrupt) || status.Code(err) != codes.DataLoss ||
				!strings.Contains(err.Error(), "world@1") {
				t.Errorf("%s: %s answers %v", name, asked, err)
			}
		}
		f.set(func() { f.onSearch = nil })
		for asked, ask := range questions {
			if err := ask(t.Context(), s); err != nil {
				t.Errorf("after %s: %s answers %v", name, asked, err)
			}
		}
	}
}

func TestAReplicaWithMissingRowsIsNotTrusted(t *testing.T) {
	f, _, s := world(t, func(cfg *Config) { cfg.Replicas = 2 })
	// A read at ONE meets a replica without the rows, one at QUORUM does not.
	f.set(func() {
		f.onSearch = func(_ context.Context, req *pb.SearchRequest, reply *pb.SearchReply) error {
			if req.GetConsistencyLevel() == pb.ConsistencyLevel_CONSISTENCY_LEVEL_ONE {
				reply.Results = reply.Results[:len(reply.Results)/2]
			}
			return nil
		}
	})
	scores, err := s.ScoreTriples(t.Context(), [][]float32{s.RelationVector(0)}, []store.TripleID{1, 2, 3, 4})
	if err != nil || len(scores[0]) != 4 {
		t.Errorf("scores are %v, %v", scores, err)
	}
}

func TestClusterUnreachable(t *testing.T) {
	f, _, s := world(t, func(cfg *Config) { cfg.Timeout = 200 * time.Millisecond })
	for name, c := range map[string]struct {
		fault func(context.Context) error
		code  codes.Code
		says  string
	}{
		"it is overloaded": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, codes.DeadlineExceeded,
			"overloaded"},
		"it goes away": {func(context.Context) error { return status.Error(codes.Unavailable, "gone") },
			codes.Unavailable, "see that the nodes"},
		"another node is lost": {func(context.Context) error {
			return status.Error(codes.Unknown, "cannot reach node2: connection refused")
		}, codes.Unavailable, "node2"},
		"it wants a key": {func(context.Context) error {
			return status.Error(codes.Unauthenticated, "anonymous access not enabled")
		}, codes.Unauthenticated, "api_key"},
	} {
		f.set(func() {
			f.onSearch = func(ctx context.Context, _ *pb.SearchRequest, _ *pb.SearchReply) error { return c.fault(ctx) }
		})
		for asked, ask := range questions {
			err := ask(t.Context(), s)
			if status.Code(err) != c.code || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(),
				f.grpc.Addr().String()) {
				t.Errorf("%s: %s answers %v", name, asked, err)
			}
		}
	}
	f.set(func() { f.onSearch = nil })
}

func TestAFailedReadIsRetried(t *testing.T) {
	f, _, s := world(t, nil)
	for asked, ask := range questions {
		failures := 1
		f.set(func() {
			f.onSearch = func(context.Context, *pb.SearchRequest, *pb.SearchReply) error {
				if failures--; failures >= 0 {
					return status.Error(codes.Unknown, "connection reset by peer")
				}
				return nil
			}
		})
		if err := ask(t.Context(), s); err != nil {
			t.Errorf("%s: %v", asked, err)
		}
	}
}

func TestACancelledQuestionEndsAtOnce(t *testing.T) {
	f, _, s := world(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	f.set(func() {
		f.onSearch = func(context.Context, *pb.SearchRequest, *pb.SearchReply) error {
			cancel()
			return status.Error(codes.Unavailable, "gone")
		}
	})
	if err := questions["a search"](ctx, s); !errors.Is(err, context.Canceled) || status.Code(err) != codes.Canceled {
		t.Errorf("the answer is %v", err)
	}
}

func TestTheLastKnownSchemaIsUsedWhileUnreadable(t *testing.T) {
	f, s, _ := world(t, nil)
	f.set(func() { f.onSchema = func(*http.Request) int { return http.StatusServiceUnavailable } })
	s.mutex.Lock()
	seen := s.records["world"]
	seen.readAt = time.Time{}
	s.records["world"] = seen
	s.mutex.Unlock()
	snap, err := s.Open(t.Context(), "world", 0)
	if err != nil {
		t.Fatal(err)
	}
	snap.Release()
	if _, err := open(t, f.config()).Open(t.Context(), "world", 0); status.Code(err) != codes.Unavailable ||
		!strings.Contains(err.Error(), f.http.URL) {
		t.Errorf("a store that has seen nothing yet answers %v", err)
	}
}

func TestACorruptStructureIsNotUsed(t *testing.T) {
	for name, spoil := range map[string]func(piece []byte) []byte{
		"a byte that differs":  func(piece []byte) []byte { piece[len(piece)/2]++; return piece },
		"one that is cut off":  func(piece []byte) []byte { return piece[:len(piece)/3] },
		"padding that differs": func(piece []byte) []byte { piece[len(piece)-1]++; return piece },
		"nothing":              func([]byte) []byte { return nil },
	} {
		f, s, _ := world(t, nil)
		f.set(func() {
			f.onSearch = func(_ context.Context, req *pb.SearchRequest, reply *pb.SearchReply) error {
				if !strings.HasSuffix(req.Collection, structurePart) {
					return nil
				}
				fields := reply.Results[0].Properties.NonRefProps.Fields
				piece, err := base64.StdEncoding.DecodeString(fields[propData].GetBlobValue())
				fields[propData] = &pb.Value{Kind: &pb.Value_BlobValue{
					BlobValue: base64.StdEncoding.EncodeToString(spoil(piece))}}
				return err
			}
		})
		if _, _, err := s.Verify(t.Context(), "world", 0); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: verify answers %v", name, err)
		}
		if _, err := open(t, f.config()).Open(t.Context(), "world", 0); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: open answers %v", name, err)
		}
	}
}

// A damaged copy is replaced when the snapshot is opened, as if there were none.
func TestADamagedCopyOfTheStructureIsFetchedAgain(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	storetest.Build(t, open(t, cfg), "world", storetest.World())
	copies, err := filepath.Glob(filepath.Join(cfg.Dir, structuresDir, "*", "world", "*", "manifest.json"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies are %v, %v", copies, err)
	}
	if err := os.WriteFile(copies[0], []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	snap := storetest.Open(t, open(t, cfg), "world", 0)
	if found, err := snap.Match(t.Context(), "paris"); err != nil || len(found) != 2 {
		t.Errorf("it matches %v, %v", found, err)
	}
}

// A question may have less time than the structure takes: it ends in time, and the next one finds what
// was fetched meanwhile.
func TestFetchingOutlivesTheQuestionThatBeganIt(t *testing.T) {
	f, _, _ := world(t, nil)
	fetching, proceed := make(chan struct{}), make(chan struct{})
	f.set(func() {
		f.onSearch = func(_ context.Context, req *pb.SearchRequest, _ *pb.SearchReply) error {
			if strings.HasSuffix(req.Collection, structurePart) {
				close(fetching)
				<-proceed
			}
			return nil
		}
	})
	s := open(t, f.config())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-fetching
		cancel()
	}()
	if _, err := s.Open(ctx, "world", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("the question ends with %v", err)
	}
	close(proceed)
	snap := storetest.Open(t, s, "world", 0) // Fetching again would close a closed channel.
	if n := snap.Info().Triples; n == 0 {
		t.Error("there are no triples")
	}
}

func TestWhatAnEarlierVersionLoadedIsRefusedAndCanBeDropped(t *testing.T) {
	f, s, _ := world(t, nil)
	if _, err := s.change(t.Context(), "world", func(r *catalogueRecord) error {
		r.Snapshots[0].StructureSHA256 = ""
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.cluster.createClass(t.Context(), class{"class": collection(s.home, "world", 1, "facts")}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), "world", 0); !errors.Is(err, store.ErrFormat) ||
		!strings.Contains(err.Error(), "load the files again") {
		t.Errorf("open answers %v", err)
	}
	s.cluster.config.Grace = 0
	s.closeAll()
	if _, err := s.Drop(t.Context(), "world", 0); err != nil {
		t.Fatal(err)
	}
	if left := f.collections(); len(left) > 0 {
		t.Errorf("these are left: %v", left)
	}
}

func TestTheSchemaIsReadWhereverANodeAnswers(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.HTTP = []string{"http://127.0.0.1:1", "http://127.0.0.1:2", f.http.URL}
	s := open(t, cfg)
	storetest.Build(t, s, "world", storetest.World())
	if at := s.cluster.lastHealthy.Load(); at != 2 {
		t.Errorf("node %d is asked first", at)
	}
}

// A node that is starting serves before it knows its collections; it must cost a read one attempt at
// most, however many reads go on.
func TestAReadIsTriedAgainOnAnotherNode(t *testing.T) {
	f, _, _ := world(t, nil)
	starting := newFake(t)
	starting.set(func() {
		starting.onSearch = func(context.Context, *pb.SearchRequest, *pb.SearchReply) error {
			return status.Error(codes.Unknown, "could not find class in schema")
		}
	})
	cfg := f.config()
	cfg.GRPC = append(cfg.GRPC, starting.grpc.Addr().String())
	s := storetest.Open(t, open(t, cfg), "world", 0)
	var reads errgroup.Group
	for range 8 {
		reads.Go(func() error {
			for range 50 {
				if err := questions["a search"](t.Context(), s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := reads.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAReadIsTriedAgainOnANodeThatIsBeingConnected(t *testing.T) {
	f, _, s := world(t, nil)
	starting := newFake(t) // It knows no collection.
	cfg := f.config()
	slow := cfg.GRPC[0]
	cfg.GRPC = append(cfg.GRPC, starting.grpc.Addr().String())
	c, err := dial(cfg, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
		if address == slow {
			time.Sleep(300 * time.Millisecond)
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	for _, conn := range c.conns {
		conn.Connect()
	}
	for state := connectivity.Idle; state != connectivity.Ready; state = c.conns[1].GetState() {
		if !c.conns[1].WaitForStateChange(t.Context(), state) {
			t.Fatal("the starting node was not connected")
		}
	}
	collection := s.(*snapshot).graph.collection(vectorsPart)
	if _, err := c.search(t.Context(), &pb.SearchRequest{Collection: collection}); err != nil {
		t.Error(err)
	}
}
