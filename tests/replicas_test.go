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

// fault is what befalls one of two replicas, between which and its callers there
// is a proxy.
type fault struct {
	name string
	// strike begins it, and returns what ends it.
	strike func(*testing.T, *toxiproxy.Proxy) (end func())
}

const hungHandlers = "handlers that hang"

// replicaFaults are the bad networks, each way where that is not the same, and a replica
// that is not there, and one whose handlers hang.
func replicaFaults(t *testing.T) (all []fault) {
	t.Helper()
	for _, x := range toxics {
		for _, way := range []string{"downstream", "upstream"} {
			if way == "upstream" && x.harmless {
				continue
			}
			all = append(all, fault{x.name + ", " + way, func(t *testing.T, p *toxiproxy.Proxy) func() {
				added, err := p.Toxics.AddToxicJson(strings.NewReader(strings.Replace(x.json, "{", `{"stream": "`+way+`", `, 1)))
				if err != nil {
					t.Fatal(err)
				}
				return func() { _ = p.Toxics.RemoveToxic(t.Context(), added.Name) } // goes with the proxy, too
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
			well := p.Upstream
			p.Stop()
			p.Upstream = hung
			restart(t, p)
			return func() {
				p.Stop()
				p.Upstream = well
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

// hanging is the address of a server that takes every call, ends none, and says
// that it is well.
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

// behind is a proxy before a server.
func behind(t *testing.T, upstream string) *toxiproxy.Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	p := toxiproxy.NewProxy(server, upstream, testkit.FreeAddr(t), upstream)
	restart(t, p)
	t.Cleanup(p.Stop)
	return p
}

// callees are all services but the orchestrator.
func callees() []string {
	return slices.DeleteFunc(mesh.StageNames(), func(name string) bool { return name == "orchestrator" })
}

// asked is how many questions each fault is met with: REPLICA_QUESTIONS, or a few.
func asked() int {
	n, err := strconv.Atoi(os.Getenv("REPLICA_QUESTIONS"))
	if err != nil {
		return 3
	}
	return n
}

// patient is what the tests have for a replica: short, so that they are.
const patient = "500ms"

// inTime is what a question is given: less than the half minute after which
// keepalive pings find a dead connection.
const inTime = 20 * time.Second

// TestOneReplicaOfAStageFailsAndNoQuestionDoes starts each stage twice, each
// behind a proxy of its own. What befalls one replica of one stage, every
// question is wholly answered, also those that were under way.
func TestOneReplicaOfAStageFailsAndNoQuestionDoes(t *testing.T) {
	model := scripted(t)
	proxies := map[string][2]*toxiproxy.Proxy{}
	for i := range 2 {
		stages := start(t, options{model: model, targets: callees()})
		for _, name := range callees() {
			both := proxies[name]
			both[i] = behind(t, stages.mesh.Addr(name))
			proxies[name] = both
		}
	}
	set := map[string]string{}
	for name, both := range proxies {
		set["orchestrator."+name+".addr"] = both[0].Listen + "," + both[1].Listen
		set["orchestrator."+name+".patience"] = patient
	}
	for _, f := range replicaFaults(t) {
		t.Run(f.name, func(t *testing.T) {
			// Another orchestrator for each, which knows nothing of former faults.
			m := start(t, options{data: t.TempDir(), targets: []string{"orchestrator"}, set: set})
			for _, method := range []string{"pg-akv", "ger"} {
				whole(t, m.orchestrator, method)
			}
			for _, stage := range slices.Sorted(maps.Keys(proxies)) {
				method := "pg-akv"
				if stage == "evaluator" || stage == "reflector" {
					method = "ger"
				}
				model.Forget()
				end := f.strike(t, proxies[stage][0])
				told, calls := stream(t, m.orchestrator, method, asked())
				end()
				t.Logf("%-10s %s; %d model calls more than the answers tell of", stage, told, len(model.Requests())-calls)
			}
		})
	}
}

// TestASlowModelIsAskedOnce has a model that takes far longer than callers have
// patience with a replica.
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
	for range asked() {
		group.Go(func() { calls.Add(int64(whole(t, m.orchestrator, "pg-akv"))) })
	}
	group.Wait()
	if n := len(model.Requests()); n != int(calls.Load()) || n != 2*asked() {
		t.Errorf("%d questions asked the model %d times, and tell of %d", asked(), n, calls.Load())
	}
}

// toll is what a fault cost.
type toll struct {
	asked          int
	slowest, again time.Duration
}

func (t toll) String() string {
	return strconv.Itoa(t.asked) + " questions, slowest " + t.slowest.Round(time.Millisecond).String() + ", fast again after " + t.again.Round(time.Millisecond).String()
}

// stream asks questions at once and then one by one, until they are answered as
// fast as the patience for a replica is long. All must be wholly answered. It
// returns the model calls that the answers tell of, too.
func stream(t *testing.T, c orchestratorv1.OrchestratorServiceClient, method string, n int) (told toll, calls int) {
	t.Helper()
	fast, err := time.ParseDuration(patient)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var mu sync.Mutex
	one := func() time.Duration {
		at := time.Now()
		used := whole(t, c, method)
		mu.Lock()
		defer mu.Unlock()
		took := time.Since(at)
		told.asked++
		told.slowest = max(told.slowest, took)
		calls += used
		return took
	}
	var group sync.WaitGroup
	for range n {
		group.Go(func() { one() })
	}
	group.Wait()
	for range 5 { // a slow network is not left, and stays slow
		if one() < fast {
			break
		}
	}
	told.again = time.Since(began)
	return told, calls
}

// whole asks a question, and wants it answered as if nothing had been. It returns
// the model calls that the answer tells of.
func whole(t *testing.T, c orchestratorv1.OrchestratorServiceClient, method string) int {
	t.Helper()
	resp, err := c.Ask(within(t, inTime), question(method))
	run := resp.GetRun()
	want := employer
	if method == "ger" {
		want = yale + ", " + tisch
	}
	if err != nil || run.GetPartial() || names(run) != want || len(warnings(run)) > 0 {
		t.Errorf("a question by %s was answered %q, partial %v, with warnings %v, %v", method, names(run), run.GetPartial(), warnings(run), err)
	}
	return int(run.GetUsage().GetCalls())
}
