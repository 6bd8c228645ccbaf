package tests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// toxic is a network fault.
type toxic struct {
	name, json string
	// harmless means that questions are still answered, only later.
	harmless bool
}

var toxics = []toxic{
	{name: "latency and jitter", json: `{"type": "latency", "attributes": {"latency": 150, "jitter": 100}}`,
		harmless: true},
	{name: "a bandwidth of 10 kB/s", json: `{"type": "bandwidth", "attributes": {"rate": 10}}`, harmless: true},
	{name: "bytes one by one",
		json:     `{"type": "slicer", "attributes": {"average_size": 8, "size_variation": 4, "delay": 20}}`,
		harmless: true},
	{name: "connections that close slowly", json: `{"type": "slow_close", "attributes": {"delay": 1000}}`,
		harmless: true},
	{name: "connections that are reset", json: `{"type": "reset_peer", "attributes": {"timeout": 0}}`},
	{name: "connections cut in mid-answer", json: `{"type": "limit_data", "attributes": {"bytes": 200}}`},
	{name: "connections half open", json: `{"type": "timeout", "attributes": {"timeout": 0}}`},
}

// questionTime is the deadline of a question over a faulty network.
const questionTime = 2 * time.Second

// TestBadNetworksBetweenTheOrchestratorAndEachStage puts a faulty proxy before each stage. A
// question gets an answer, or ends in time with a partial answer or a status that gives the reason;
// once the network has recovered, questions are answered again.
func TestBadNetworksBetweenTheOrchestratorAndEachStage(t *testing.T) {
	m, proxies := proxied(t)
	pairs, slowest := 0, time.Duration(0)
	for _, stage := range slices.Sorted(maps.Keys(proxies)) {
		method := "pg-akv"
		if stage == "evaluator" || stage == "reflector" {
			method = "ger"
		}
		for _, way := range []string{"downstream", "upstream"} {
			for _, x := range toxics {
				t.Run(fmt.Sprintf("%s, %s of the %s", x.name, way, stage), func(t *testing.T) {
					added, err := proxies[stage].Toxics.AddToxicJson(strings.NewReader(strings.Replace(x.json, "{",
						`{"stream": "`+way+`", `, 1)))
					if err != nil {
						t.Fatal(err)
					}
					resp, err := m.orchestrator.Ask(timeoutContext(t, questionTime), question(method))
					checkEnd(t, x, resp.GetRun(), err)
					if err := proxies[stage].Toxics.RemoveToxic(t.Context(), added.Name); err != nil {
						t.Fatal(err)
					}
					pairs, slowest = pairs+1, max(slowest, recovery(t, m, method))
				})
			}
		}
	}
	testkit.Measured(t, "%d pairs of fault and place: none beyond its deadline, complete answers after %v at most",
		pairs, slowest.Round(10*time.Millisecond))
}

// recovery returns how long it takes until a question gets a complete answer.
func recovery(t *testing.T, m *running, method string) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		resp, err := m.orchestrator.Ask(timeoutContext(t, questionTime), question(method))
		if run := resp.GetRun(); err == nil && !run.GetPartial() && len(run.GetAnswers()) > 0 {
			return time.Since(began)
		}
		if time.Since(began) > patience {
			t.Fatalf("no complete answer %v after the network recovered: %v, %v", patience, resp.GetRun(), err)
		}
	}
}

func checkEnd(t *testing.T, x toxic, run *orchestratorv1.Run, err error) {
	t.Helper()
	switch code := status.Code(err); {
	case err == nil && x.harmless && len(run.GetAnswers()) == 0 && !run.GetPartial():
		t.Errorf("no answer, and not called partial: %v", run)
	case err == nil && run.GetPartial() && run.GetGroundingReason() == "":
		t.Errorf("a partial answer that does not say why: %v", run)
	case err != nil && code != codes.Unavailable && code != codes.DeadlineExceeded:
		t.Errorf("got %v", err)
	case err != nil && status.Convert(err).Message() == "":
		t.Error("an error without a message")
	}
}

// proxied starts a mesh whose orchestrator reaches each stage through a proxy.
func proxied(t *testing.T) (*running, map[string]*toxiproxy.Proxy) {
	t.Helper()
	others := slices.DeleteFunc(mesh.StageNames(), func(name string) bool { return name == "orchestrator" })
	stages := start(t, options{model: scripted(t), targets: others})
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	proxies := map[string]*toxiproxy.Proxy{}
	set := map[string]string{}
	for _, stage := range others {
		proxy := toxiproxy.NewProxy(server, stage, testkit.FreeAddr(t), stages.mesh.Addr(stage))
		if err := proxy.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(proxy.Stop)
		proxies[stage] = proxy
		set["orchestrator."+stage+".addr"] = proxy.Listen
	}
	return start(t, options{data: t.TempDir(), targets: []string{"orchestrator"}, set: set}), proxies
}
