//go:build weaviate

package weaviate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// many is a graph of n people in towns, who know one another.
func many(n int) []store.Fact {
	var facts []store.Fact
	add := func(subject, relation, object string) {
		facts = append(facts, store.Fact{Subject: store.NamedEntity{Name: subject}, Relation: relation,
			Object: store.NamedEntity{Name: object}})
	}
	for i := range n {
		person := fmt.Sprintf("person %d", i)
		add(person, "lives in", fmt.Sprintf("town %d", i%17))
		add(person, "knows", fmt.Sprintf("person %d", (i*7+1)%n))
	}
	return facts
}

// answersOf asks a snapshot for hops and hits, without what it remembers.
func answersOf(ctx context.Context, s store.Snapshot, of int, vectors [][]float32) (string, error) {
	s.(*snapshot).graph.vectors.Purge()
	var b strings.Builder
	err := store.Guard(func() error {
		id, ok, err := s.Entity(ctx, fmt.Sprintf("person %d", of))
		if err != nil || !ok {
			return fmt.Errorf("person %d: found %v, %w", of, ok, err)
		}
		here := []store.EntityID{id}
		for range 3 {
			lists, err := s.Edges(ctx, here, store.Out, nil)
			if err != nil {
				return err
			}
			here = nil
			for _, list := range lists {
				for _, e := range list {
					fmt.Fprintln(&b, s.RelationName(e.Relation), s.EntityName(e.Entity), e.Triple)
					here = append(here, e.Entity)
				}
			}
		}
		hits, err := s.SearchTriples(ctx, vectors[of%len(vectors):][:1], 5, store.Filter{})
		fmt.Fprintln(&b, hits)
		return err
	})
	return b.String(), err
}

func queriesOf(t *testing.T, n int) [][]float32 {
	t.Helper()
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("person %d lives in town %d", i, i%17))
	}
	vectors, err := storetest.Encoder().Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

// load asks a snapshot from several goroutines until it is told to stop, and
// compares each answer with the one before anything happened.
type asking struct {
	count, failed, wrong atomic.Int64
	slowest              atomic.Int64
	group                sync.WaitGroup
}

func (a *asking) start(t *testing.T, stop <-chan struct{}, n int, ask func(i int) (got, want string, err error)) {
	for worker := range n {
		a.group.Go(func() {
			for i := worker; ; i += n {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				got, want, err := ask(i)
				took := int64(time.Since(began))
				for old := a.slowest.Load(); took > old && !a.slowest.CompareAndSwap(old,
					took); old = a.slowest.Load() {
				}
				a.count.Add(1)
				if err != nil {
					a.failed.Add(1)
					t.Errorf("question %d: %v", i, err)
				} else if got != want {
					a.wrong.Add(1)
					t.Errorf("question %d: got\n%s, want\n%s", i, got, want)
				}
			}
		})
	}
}

// TestANodeIsLostAndComesBack kills a node of three while questions are asked,
// and starts it again by the command WEAVIATE_UP.
func TestANodeIsLostAndComesBack(t *testing.T) {
	pids := strings.Split(os.Getenv("WEAVIATE_PIDS"), ",")
	if len(pids) < 3 || os.Getenv("WEAVIATE_UP") == "" {
		t.Skip("WEAVIATE_PIDS names fewer than three nodes, or WEAVIATE_UP no command that starts one again")
	}
	const people = 400
	s := open(t, clusterConfig(t))
	storetest.Build(t, s, "people", many(people))
	snap := storetest.Open(t, s, "people", 0)
	vectors := queriesOf(t, 40)
	want := make([]string, people)
	for i := range want {
		var err error
		if want[i], err = answersOf(t.Context(), snap, i, vectors); err != nil {
			t.Fatal(err)
		}
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		var a asking
		stop := make(chan struct{})
		a.start(t, stop, 4, func(i int) (string, string, error) {
			// Every question opens the snapshot by itself, as requests do.
			snap, err := s.Open(t.Context(), "people", 0)
			if err != nil {
				return "", "", err
			}
			defer snap.Release()
			got, err := answersOf(t.Context(), snap, i%people, vectors)
			return got, want[i%people], err
		})
		ask := func(n int64) {
			for until := a.count.Load() + n; a.count.Load() < until && !t.Failed(); {
				if sleep(t.Context(), 50*time.Millisecond) != nil {
					return
				}
			}
		}
		ask(100)
		for i, pid := range restart(t) {
			pids[i] = pid
		}
		number, err := strconv.Atoi(pids[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(number, signal); err != nil {
			t.Fatal(err)
		}
		ask(500)
		restart(t)
		ask(500)
		close(stop)
		a.group.Wait()
		t.Logf("%v: %d questions, %d failed, %d wrong, the slowest took %v", signal, a.count.Load(), a.failed.Load(),
			a.wrong.Load(), time.Duration(a.slowest.Load()).Round(time.Millisecond))
	}
}

// TestANodeLostWhileLoadingEndsTheLoad kills a node of three while rows are sent: nothing of the load
// remains, and when the node is back the same files load.
func TestANodeLostWhileLoadingEndsTheLoad(t *testing.T) {
	if len(strings.Split(os.Getenv("WEAVIATE_PIDS"), ",")) < 3 || os.Getenv("WEAVIATE_UP") == "" {
		t.Skip("WEAVIATE_PIDS names fewer than three nodes, or WEAVIATE_UP no command that starts one again")
	}
	s := open(t, clusterConfig(t))
	content := func() store.Content { return storetest.Content(t, many(20_000)) }
	pids := restart(t)
	loaded := make(chan error, 1)
	go func() {
		_, err := s.Write(t.Context(), "people", content())
		loaded <- err
	}()
	// Rows are being sent when the collection of vectors is there.
	for name := collection(s.home, "people", 1, vectorsPart); ; {
		if _, err := s.cluster.readClass(t.Context(), name, true); err == nil {
			break
		}
		if err := sleep(t.Context(), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if number, err := strconv.Atoi(pids[1]); err != nil || syscall.Kill(number, syscall.SIGKILL) != nil {
		t.Fatalf("node %s was not killed, %v", pids[1], err)
	}
	if err := <-loaded; status.Code(err) != codes.Unavailable {
		t.Errorf("the load ends with %v", err)
	}
	restart(t)
	if _, err := s.List(t.Context(), "people"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the list answers %v", err)
	}
	info, err := s.Write(t.Context(), "people", content())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Verify(t.Context(), "people", info.Number); err != nil {
		t.Error(err)
	}
}

// restart starts the nodes that do not run, and returns the processes of all.
func restart(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", os.Getenv("WEAVIATE_UP")).Output()
	if err != nil {
		t.Fatalf("%s: %v", os.Getenv("WEAVIATE_UP"), err)
	}
	for line := range strings.Lines(string(out)) {
		if pids, ok := strings.CutPrefix(strings.TrimSpace(line), "WEAVIATE_PIDS="); ok {
			return strings.Split(pids, ",")
		}
	}
	t.Fatalf("%s names no WEAVIATE_PIDS: %s", os.Getenv("WEAVIATE_UP"), out)
	return nil
}

// TestSwitchesUnderLoad activates two snapshots by turns while several
// retrievers ask: each question sees one of them, whole, and a retriever never
// goes back to the older one once it has seen a switch.
func TestSwitchesUnderLoad(t *testing.T) {
	cfg := clusterConfig(t)
	writer := open(t, cfg)
	numbers := []uint64{storetest.Build(t, writer, "people", many(60)), storetest.Build(t, writer, "people", many(90))}
	vectors := queriesOf(t, 20)
	want := map[uint64][]string{}
	for _, number := range numbers {
		snap := storetest.Open(t, writer, "people", number)
		for i := range 60 {
			answer, err := answersOf(t.Context(), snap, i, vectors)
			if err != nil {
				t.Fatal(err)
			}
			want[number] = append(want[number], answer)
		}
	}
	var a asking
	var seen [2]atomic.Int64
	stop := make(chan struct{})
	for range 2 {
		reader := open(t, cfg)
		a.start(t, stop, 2, func(i int) (string, string, error) {
			snap, err := reader.Open(t.Context(), "people", 0)
			if err != nil {
				return "", "", err
			}
			defer snap.Release()
			number := snap.Info().Number
			seen[slices.Index(numbers, number)].Add(1)
			got, err := answersOf(t.Context(), snap, i%60, vectors)
			return got, want[number][i%60], err
		})
	}
	for i := range 20 {
		if _, err := writer.Activate(t.Context(), "people", numbers[i%2]); err != nil {
			t.Error(err)
		}
		// Retrievers read which is active twice a second: questions may be faster than that.
		for until := seen[i%2].Load() + 20; seen[i%2].Load() < until && !t.Failed(); {
			if sleep(t.Context(), 10*time.Millisecond) != nil {
				return
			}
		}
	}
	close(stop)
	a.group.Wait()
	t.Logf("%d questions over 20 switches, %d failed, %d wrong; %d saw one snapshot, %d the other", a.count.Load(),
		a.failed.Load(), a.wrong.Load(), seen[0].Load(), seen[1].Load())
	if seen[0].Load() == 0 || seen[1].Load() == 0 {
		t.Error("one of the snapshots was never seen")
	}
}

func TestTenants(t *testing.T) {
	storetest.RunTenants(t, func(t *testing.T) store.Tenants { return openTenants(t, clusterConfig(t)) })
}
