package tests

import (
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// fault is a failure of one of two replicas; a proxy sits between them and their callers.
type fault struct {
	name string
	// strike starts the fault and returns a function that ends it.
	strike func(*testing.T, *toxiproxy.Proxy) (end func())
}

const hungHandlers = "handlers that hang"

// replicaFaults returns the network faults, in each direction if it matters, a missing replica, and
// one whose handlers hang.
func replicaFaults(t *testing.T) (all []fault) {
	t.Helper()
	for _, x := range toxics {
		for _, way := range []string{"downstream", "upstream"} {
			if way == "upstream" && x.harmless {
				continue
			}
			all = append(all, fault{x.name + ", " + way, func(t *testing.T, p *toxiproxy.Proxy) func() {
				added, err := p.Toxics.AddToxicJson(strings.NewReader(strings.Replace(x.json, "{",
					`{"stream": "`+way+`", `, 1)))
				if err != nil {
					t.Fatal(err)
				}
				return func() { _ = p.Toxics.RemoveToxic(t.Context(), added.Name) } // removed with the proxy anyway
			}})
		}
	}
	hung := hanging(t)
	return append(all,
		fault{"connections refused", func(t *testing.T, p *toxiproxy.Proxy) func() {
			p.Stop()
			return func() { restart(t, p) }
		}},
		fault{hungHandlers, func(t *testing.T, p *toxiproxy.Proxy) func() {
			healthy := p.Upstream
			p.Stop()
			p.Upstream = hung
			restart(t, p)
			return func() {
				p.Stop()
				p.Upstream = healthy
				restart(t, p)
			}
		}},
	)
}

func restart(t *testing.T, p *toxiproxy.Proxy) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
}

// hanging returns the address of a server that accepts every call, finishes none, and reports
// itself as healthy.
func hanging(t *testing.T) string {
	t.Helper()
	s := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		<-stream.Context().Done()
		return stream.Context().Err()
	}))
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	return lis.Addr().String()
}

// startProxy starts a proxy before a server.
func startProxy(t *testing.T, upstream string) *toxiproxy.Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	p := toxiproxy.NewProxy(server, upstream, testkit.FreeAddr(t), upstream)
	restart(t, p)
	t.Cleanup(p.Stop)
	return p
}

// callees returns all services except the orchestrator.
func callees() []string {
	return slices.DeleteFunc(mesh.StageNames(), func(name string) bool { return name == "orchestrator" })
}

// questionsPerFault returns how many questions to ask during each fault: REPLICA_QUESTIONS, or a
// few.
func questionsPerFault() int {
	n, err := strconv.Atoi(os.Getenv("REPLICA_QUESTIONS"))
	if err != nil {
		return 3
	}
	return n
}

// patient is the hedging delay in these tests, short to keep them fast.
const patient = "500ms"

// inTime is the deadline of a question: less than the 30 s after which keepalive pings find a dead
// connection.
const inTime = 20 * time.Second

// TestOneReplicaOfAStageFailsAndNoQuestionDoes starts each stage twice, each behind its own proxy.
// Whichever fault hits one replica of a stage, every question gets a complete answer, also those in
// flight.
func TestOneReplicaOfAStageFailsAndNoQuestionDoes(t *testing.T) {
	model := scripted(t)
	proxies := map[string][2]*toxiproxy.Proxy{}
	for i := range 2 {
		stages := start(t, options{model: model, targets: callees()})
		for _, name := range callees() {
			both := proxies[name]
			both[i] = startProxy(t, stages.mesh.Addr(name))
			proxies[name] = both
		}
	}
	set := map[string]string{}
	for name, both := range proxies {
		set["orchestrator."+name+".addr"] = both[0].Listen + "," + both[1].Listen
		set["orchestrator."+name+".patience"] = patient
	}
	var sum toll
	for _, f := range replicaFaults(t) {
		t.Run(f.name, func(t *testing.T) {
			// A new orchestrator for each fault, which has no state from earlier ones.
			m := start(t, options{data: t.TempDir(), targets: []string{"orchestrator"}, set: set})
			for _, method := range []string{"pg-akv", "ger"} {
				askExpectingWhole(t, m.orchestrator, method)
			}
			for _, stage := range slices.Sorted(maps.Keys(proxies)) {
				method := "pg-akv"
				if stage == "evaluator" || stage == "reflector" {
					method = "ger"
				}
				model.Forget()
				end := f.strike(t, proxies[stage][0])
				cost, calls := stream(t, m.orchestrator, method, questionsPerFault())
				end()
				t.Logf("%-10s %s; %d more model calls than the answers report", stage, cost,
					len(model.Requests())-calls)
				sum.asked, sum.slowest = sum.asked+cost.asked, max(sum.slowest, cost.slowest)
			}
		})
	}
	testkit.Measured(t, "%d questions, 0 lost, the slowest took %v", sum.asked, sum.slowest.Round(10*time.Millisecond))
}

// TestASlowModelIsAskedOnce has a model that takes far longer than the hedging delay.
func TestASlowModelIsAskedOnce(t *testing.T) {
	model := scripted(t)
	model.On(testkit.Task("answer")).ReplyFunc(func(testkit.Request) string {
		time.Sleep(5 * time.Second / 2)
		return "{" + employer + "}"
	})
	set := map[string]string{}
	for range 2 {
		stages := start(t, options{model: model, targets: callees()})
		for _, name := range callees() {
			set["orchestrator."+name+".addr"] += stages.mesh.Addr(name) + ","
			set["orchestrator."+name+".patience"] = "1s"
		}
	}
	m := start(t, options{data: t.TempDir(), targets: []string{"orchestrator"}, set: set})
	var group sync.WaitGroup
	var calls atomic.Int64
	for range questionsPerFault() {
		group.Go(func() { calls.Add(int64(askExpectingWhole(t, m.orchestrator, "pg-akv"))) })
	}
	group.Wait()
	if n := len(model.Requests()); n != int(calls.Load()) || n != 2*questionsPerFault() {
		t.Errorf("%d questions made %d model calls, and report %d", questionsPerFault(), n, calls.Load())
	}
}

// toll is the cost of a fault.
type toll struct {
	asked          int
	slowest, again time.Duration
}

func (t toll) String() string {
	return strconv.Itoa(t.asked) + " questions, slowest " + t.slowest.Round(time.Millisecond).String() +
		", fast again after " + t.again.Round(time.Millisecond).String()
}

// stream asks questions concurrently and then one by one, until an answer takes less than the
// hedging delay. All answers must be complete. It also returns the number of model calls that they
// report.
func stream(t *testing.T, c orchestratorv1.OrchestratorServiceClient, method string, n int) (cost toll, calls int) {
	t.Helper()
	fast, err := time.ParseDuration(patient)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var mu sync.Mutex
	one := func() time.Duration {
		at := time.Now()
		used := askExpectingWhole(t, c, method)
		mu.Lock()
		defer mu.Unlock()
		took := time.Since(at)
		cost.asked++
		cost.slowest = max(cost.slowest, took)
		calls += used
		return took
	}
	var group sync.WaitGroup
	for range n {
		group.Go(func() { one() })
	}
	group.Wait()
	for range 5 { // clients keep using a slow network
		if one() < fast {
			break
		}
	}
	cost.again = time.Since(began)
	return cost, calls
}

// askExpectingWhole asks a question and requires a complete answer. It returns the number of model
// calls that the answer reports.
func askExpectingWhole(t *testing.T, c orchestratorv1.OrchestratorServiceClient, method string) int {
	t.Helper()
	resp, err := c.Ask(timeoutContext(t, inTime), question(method))
	run := resp.GetRun()
	want := employer
	if method == "ger" {
		want = yale + ", " + tisch
	}
	if err != nil || run.GetPartial() || names(run) != want || len(warnings(run)) > 0 {
		t.Errorf("a question by %s was answered %q, partial %v, with warnings %v, %v", method, names(run),
			run.GetPartial(), warnings(run), err)
	}
	return int(run.GetUsage().GetCalls())
}
