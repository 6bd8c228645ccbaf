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

// mesh is everything that one simulation consists of: a process for each replica
// of each stage, a model server or two, and somebody who asks.
type mesh struct {
	net      *simnet.Network
	replicas int
	narrow   bool // the orchestrators take few questions at once
	several  bool // more than one fault befalls it
	// link is what links are like that nothing is done to.
	link   simnet.Link
	graphs *catalogue
	models map[string]*model
	// processes are by name, "verifier-1", and names in the order of their start.
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

// newMesh starts one. Close ends it.
func newMesh(tb testing.TB, p plan) (*mesh, error) {
	m := &mesh{
		net: simnet.New(p.seed), replicas: p.replicas, narrow: p.kind.narrow, several: len(p.faults) > 1, link: p.link, graphs: shared.catalogue(),
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
			process.start()
		}
	}
	var err error
	if m.conn, err = client.Dial(m.dialling(m.net.Boot(callerHost), "orchestrator"), telemetry.Discard()); err != nil {
		return nil, err
	}
	m.caller = orchestratorv1.NewOrchestratorServiceClient(m.conn)
	m.admin = retrieverv1.NewKnowledgeGraphServiceClient(m.conn)
	return m, nil
}

// callerHost is where questions come from.
const callerHost = "caller"

// close ends every process, and what else goes on in the mesh.
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
	// The clock stands still once this goroutine ends, so whatever ends by itself
	// must do so now.
	time.Sleep(time.Minute)
}

// violate notes that an invariant does not hold.
func (m *mesh) violate(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	m.net.Logf("VIOLATION: %s", text)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong = append(m.wrong, text)
}

func (m *mesh) died(name string, err error) { m.violate("%s ended by itself: %v", name, err) }

// Write implements io.Writer: it takes the logs of all processes.
func (m *mesh) Write(line []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log.Write(line)
}

// callers are the hosts that call the process of a name.
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

// stageOf is the stage of a process.
func stageOf(name string) string {
	stage, _, _ := strings.Cut(name, "-")
	return stage
}

func isHealth(method string) bool { return strings.HasPrefix(method, "/grpc.health.") }
