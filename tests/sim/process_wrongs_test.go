package sim

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// processWrongs are faults of processes.
func processWrongs() []wrong {
	stage := func(name string) bool { return name != modelServer }
	return []wrong{
		{name: "death", do: func(m *mesh, f fault) func() {
			p := m.processes[f.place]
			p.kill()
			return p.start
		}},
		{name: "restart", do: func(m *mesh, f fault) func() {
			p := m.processes[f.place]
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				p.stop()
			}()
			return func() {
				<-stopped
				p.start()
			}
		}},
		{name: "hang", do: func(m *mesh, f fault) func() {
			host := m.processes[f.place].machine()
			host.Freeze()
			return host.Thaw
		}},
		{name: "handlers-hang", where: stage, do: func(m *mesh, f fault) func() {
			p := m.processes[f.place]
			m.net.Logf("handlers of %s hang", f.place)
			p.hold()
			return p.release
		}},
		{name: "activation", harmless: true, do: func(m *mesh, f fault) func() {
			ctx, cancel := context.WithCancel(context.Background())
			go m.switching(ctx, time.Duration(1+f.size*200)*time.Millisecond)
			return cancel
		}},
	}
}

// switching activates the two snapshots in turn.
func (m *mesh) switching(ctx context.Context, every time.Duration) {
	for snapshot := uint64(2); ctx.Err() == nil; snapshot = 3 - snapshot {
		_, err := m.admin.ActivateSnapshot(ctx,
			&retrieverv1.ActivateSnapshotRequest{Kg: &graphv1.KnowledgeGraphRef{Name: kg,
				Snapshot: snapshot}})
		// Another fault may have killed the retriever.
		away := m.several && status.Code(err) == codes.Unavailable
		if err != nil && ctx.Err() == nil && !away {
			m.violate("activate snapshot %d: %v", snapshot, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}
