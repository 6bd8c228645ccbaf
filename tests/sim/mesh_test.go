package sim

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit/simnet"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// mesh is the system of one simulation: a process for each replica of each stage, one or two model
// servers, and a caller.
type mesh struct {
	net      *simnet.Network
	replicas int
	narrow   bool // the orchestrators admit few concurrent questions
	several  bool // more than one fault occurs
	// link is the state of a link without faults.
	link   simnet.Link
	graphs *catalogue
	models map[string]*model
	// processes by name, such as "verifier-1"; names are in start order.
	processes map[string]*process
	names     []string

	conn   *grpc.ClientConn
	caller orchestratorv1.OrchestratorServiceClient
	admin  retrieverv1.KnowledgeGraphServiceClient

	mu     sync.Mutex
	spoils []*spoiled
	wrong  []string
	log    bytes.Buffer
}

// newMesh starts a mesh. The caller must close it.
func newMesh(tb testing.TB, p plan) (*mesh, error) {
	m := &mesh{
		net: simnet.New(p.seed), replicas: p.replicas, narrow: p.kind.narrow, several: len(p.faults) > 1, link: p.link,
		graphs: shared.catalogue(),
		models: map[string]*model{}, processes: map[string]*process{},
	}
	m.net.SetAll(p.link)
	for _, sort := range sorts() {
		for i := range p.replicas {
			name := fmt.Sprint(sort.name, "-", i)
			process := &process{net: m.net, name: name, run: sort.run(m), ended: m.died}
			if sort.name == modelServer {
				m.models[name] = newModel(tb, p.seed, i)
			}
			m.processes[name] = process
			m.names = append(m.names, name)
		}
	}
	// Running processes read the maps, so these must be complete before the first one starts.
	for _, name := range m.names {
		m.processes[name].start()
	}
	var err error
	if m.conn, err = client.Dial(m.dialling(m.net.Boot(callerHost), "orchestrator"), telemetry.Discard()); err != nil {
		return nil, err
	}
	m.caller = orchestratorv1.NewOrchestratorServiceClient(m.conn)
	m.admin = retrieverv1.NewKnowledgeGraphServiceClient(m.conn)
	return m, nil
}

// callerHost is the host of callers.
const callerHost = "caller"

// close stops every process and everything else in the mesh.
func (m *mesh) close() {
	m.conn.Close()
	var all sync.WaitGroup
	for _, p := range m.processes {
		p.release()
		p.machine().Thaw()
		all.Go(p.stop)
	}
	all.Wait()
	m.net.Close()
	// The fake clock stops when this goroutine ends, so timers must fire before.
	time.Sleep(time.Minute)
}

// violate records a violated invariant.
func (m *mesh) violate(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	m.net.Logf("VIOLATION: %s", text)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong = append(m.wrong, text)
}

func (m *mesh) died(name string, err error) { m.violate("%s ended by itself: %v", name, err) }

// Write implements io.Writer: it receives the logs of all processes.
func (m *mesh) Write(line []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log.Write(line)
}

// callers returns the hosts that call a process.
func (m *mesh) callers(name string) []string {
	var by []string
	switch stage := stageOf(name); stage {
	case "orchestrator":
		return []string{callerHost}
	case modelServer:
		for _, other := range m.names {
			if s := stageOf(other); s != modelServer && s != "retriever" && s != "orchestrator" {
				by = append(by, other)
			}
		}
	default:
		for i := range m.replicas {
			by = append(by, fmt.Sprint("orchestrator-", i))
		}
	}
	return by
}

// stageOf returns the stage of a process.
func stageOf(name string) string {
	stage, _, _ := strings.Cut(name, "-")
	return stage
}

func isHealth(method string) bool { return strings.HasPrefix(method, "/grpc.health.") }
