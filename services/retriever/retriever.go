// Package retriever is the stage beside the data: it finds triples by meaning,
// walks relations and links words to entities. It calls no language model.
package retriever

import (
	"context"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/memo"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// remembered is how many texts' vectors are kept from question to question: at
// 384 dims some 25 to 50 MiB.
const remembered = 1 << 14

// Service answers RetrieverService calls.
type Service struct {
	retrieverv1.UnimplementedRetrieverServiceServer

	tenants store.Tenants
	encoder *memo.Memo
	model   string
	observe observer
	// grounding is how knowledge graphs are grounded where a request does not
	// say.
	grounding grounding
}

// New returns a Service that reads each tenant's knowledge graphs and encodes
// with enc. configured is how they are grounded where a request does not say;
// nil takes the default.
func New(tenants store.Tenants, enc encoder.Encoder, configured map[string]GroundingConfig, tel *telemetry.Telemetry) (*Service, error) {
	observe, err := newObserver(tel)
	if err != nil {
		return nil, err
	}
	grounding, err := newGrounding(configured)
	if err != nil {
		return nil, err
	}
	return &Service{tenants: tenants, encoder: memo.New(enc, remembered), model: enc.Name(), observe: observe, grounding: grounding}, nil
}

// Register adds the service to a server.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	retrieverv1.RegisterRetrieverServiceServer(r, guarded{service: s})
}

// defaulted is a number of the request, or what 0 takes.
func defaulted(n uint32, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return int(n)
}

func refOf(snap store.Snapshot) *graphv1.KnowledgeGraphRef {
	info := snap.Info()
	return &graphv1.KnowledgeGraphRef{Name: info.KG, Snapshot: info.Number}
}

// known finds topic entities by name; the names that the snapshot does not
// hold come back too.
func known(ctx context.Context, snap store.Snapshot, names []string) (ids map[string]store.EntityID, unknown []string, err error) {
	ids = make(map[string]store.EntityID, len(names))
	for _, name := range names {
		id, ok, err := snap.Entity(ctx, name)
		switch {
		case err != nil:
			return nil, nil, err
		case ok:
			ids[name] = id
		default:
			unknown = append(unknown, name)
		}
	}
	return ids, unknown, nil
}
