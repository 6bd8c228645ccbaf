//go:build versions

package versions

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// running is a mesh of processes, two of each stage, which share a directory of knowledge graphs
// and one of runs.
type running struct {
	names string // prefix of every name, see serveNames
	ports map[string]string
	dir   string
	env   []string
	procs map[string][2]*process
}

// start runs every stage twice, in one version.
func start(tb testing.TB, of revision, data string, model *testkit.LLM) *running {
	tb.Helper()
	m := &running{names: serveNames(tb), ports: map[string]string{}, dir: tb.TempDir(), procs: map[string][2]*process{}}
	for _, stage := range mesh.StageNames() {
		m.ports[stage] = freePort(tb)
	}
	m.env = environment(tb, data, model)
	for stage := range m.ports {
		upper := strings.ToUpper(stage)
		m.env = append(m.env, "TRIPLEMESH_"+upper+"_SERVER_DRAIN_DELAY=300ms")
		if stage != "orchestrator" {
			m.env = append(m.env, "TRIPLEMESH_ORCHESTRATOR_"+upper+"_ADDR="+m.target(stage))
		}
	}
	for _, stage := range mesh.StageNames() {
		m.procs[stage] = [2]*process{m.launch(tb, of, stage, 0), m.launch(tb, of, stage, 1)}
	}
	return m
}

// environment returns the variables of all stages. A version ignores variables that it does not
// know.
func environment(tb testing.TB, data string, model *testkit.LLM) []string {
	tb.Helper()
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + data,
		"OPENAI_BASE_URL=" + model.URL(), "TRIPLEMESH_LLM_MODEL=scripted",
		"TRIPLEMESH_LLM_CACHE_MEMORY_ENTRIES=0", "TRIPLEMESH_REFLECTOR_REFLECTION_MODE=model",
		"TRIPLEMESH_RETRIEVER_STORE_DIR=" + filepath.Join(data, "kg"),
		"TRIPLEMESH_RETRIEVER_ENCODER_LIBRARY=" + testkit.Cache(tb, "onnxruntime", "libonnxruntime.so"),
		"TRIPLEMESH_RETRIEVER_ENCODER_FILE=" + testkit.Cache(tb, "encoder", "model.onnx"),
		"TRIPLEMESH_RETRIEVER_ENCODER_VOCABULARY=" + testkit.Cache(tb, "encoder", "vocab.txt"),
		"TRIPLEMESH_ORCHESTRATOR_RUNS_DIR=" + filepath.Join(data, "runs"),
	}
}

// target returns the name of both replicas of a stage for gRPC's resolver.
func (m *running) target(stage string) string {
	return m.names + stage + ".mesh.test:" + m.ports[stage]
}

// addr returns the address of one replica of a stage.
func (m *running) addr(stage string, replica int) string {
	return net.JoinHostPort(net.IP(replicas[replica][:]).String(), m.ports[stage])
}

func (m *running) launch(tb testing.TB, of revision, stage string, replica int) *process {
	tb.Helper()
	addr := m.addr(stage, replica)
	host, _, _ := net.SplitHostPort(addr)
	return launch(tb, of, stage, addr, m.dir, append(slices.Clone(m.env), "TRIPLEMESH_ORCHESTRATOR_HTTP_ADDR="+host+
		":0"))
}

// replace replaces a replica of a stage by one of another version, like a rollout on a node without
// room for a third one. It returns once all callers of the stage have connected to the new one: the
// other replica may stop then.
func (m *running) replace(tb testing.TB, stage string, replica int, by revision) {
	tb.Helper()
	procs := m.procs[stage]
	procs[replica].stop(tb)
	procs[replica] = m.launch(tb, by, stage, replica)
	m.procs[stage] = procs
	callers := 2 // the orchestrators
	if stage == "orchestrator" {
		callers = 1 // the test
	}
	for deadline := time.Now().Add(patience); procs[replica].log.peers() < callers; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("after %s the new %s is not called by all", patience, stage)
		}
	}
}

// stop stops all processes: the orchestrators, then the stages they call.
func (m *running) stop(tb testing.TB) {
	tb.Helper()
	for _, stage := range mesh.StageNames() {
		for _, p := range m.procs[stage] {
			p.stop(tb)
		}
	}
}

// dial connects to a stage as services do.
func (m *running) dial(tb testing.TB, stage string) *grpc.ClientConn {
	tb.Helper()
	conn, err := client.Dial(client.DefaultConfig(m.target(stage)), telemetry.Discard())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return conn
}

// freePort returns a port that is free at the addresses of both replicas.
func freePort(tb testing.TB) string {
	tb.Helper()
	var hosts []string
	for _, replica := range replicas {
		hosts = append(hosts, net.IP(replica[:]).String())
	}
	return testkit.FreePort(tb, hosts...)
}
