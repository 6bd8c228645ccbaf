// Package retriever is the stage beside the data: it finds triples by meaning, follows relations
// and links words to entities. It calls no language model.
package retriever

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// cachedTexts is the number of texts whose vectors are cached across questions: 25 to 50 MiB with
// 384 dimensions.
const cachedTexts = 1 << 14

// Service implements RetrieverService.
type Service struct {
	retrieverv1.UnimplementedRetrieverServiceServer

	tenants store.Tenants
	// encoder encodes for snapshots without vectors; encoders are those of snapshots by name.
	encoder  *encoder.Cache
	model    encoder.Encoder
	encoders sync.Map
	observe  observer
	// grounding holds the configured grounding options.
	grounding groundingDefaults
	rankers   rankers
}

// New returns a Service that reads each tenant's knowledge graphs and encodes with enc. configured
// are the grounding options for requests that do not set them; nil means the default.
func New(tenants store.Tenants, enc encoder.Encoder, configured map[string]GroundingConfig,
	tel *telemetry.Telemetry) (*Service, error) {
	observe, err := newObserver(tel)
	if err != nil {
		return nil, err
	}
	grounding, err := newGroundingDefaults(configured)
	if err != nil {
		return nil, err
	}
	return &Service{tenants: tenants, encoder: encoder.NewCache(enc, cachedTexts), model: enc, observe: observe,
		grounding: grounding, rankers: rankers{tenants: tenants, log: tel.Logger()}}, nil
}

// SetRanker sets the ranker of relation paths for knowledge graphs that have none of their own. It must
// not be called after the first request.
func (s *Service) SetRanker(ranker *rank.Ranker) { s.rankers.shipped = ranker }

// encoderFor returns the encoder that made a snapshot's vectors.
func (s *Service) encoderFor(ctx context.Context, name string) (*encoder.Cache, error) {
	if name == s.model.Name() {
		return s.encoder, nil
	}
	if known, ok := s.encoders.Load(name); ok {
		return known.(*encoder.Cache), nil
	}
	enc, err := encoder.ForName(ctx, s.model, name)
	if err != nil {
		return nil, err
	}
	cache, _ := s.encoders.LoadOrStore(name, encoder.NewCache(enc, cachedTexts))
	return cache.(*encoder.Cache), nil
}

// Register adds the service to a server.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	r.RegisterService(guardHandlers(retrieverv1.RetrieverService_ServiceDesc), s)
}

// orDefault returns a number of the request, or otherwise for 0.
func orDefault(n uint32, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return int(n)
}

func graphRef(snap store.Snapshot) *graphv1.KnowledgeGraphRef {
	info := snap.Info()
	return &graphv1.KnowledgeGraphRef{Name: info.KG, Snapshot: info.Number}
}

// resolveEntities resolves topic entities by name and returns the unknown names.
func resolveEntities(ctx context.Context, snap store.Snapshot,
	names []string) (ids map[string]store.EntityID, unknown []string, err error) {
	ids = make(map[string]store.EntityID, len(names))
	for _, name := range names {
		id, ok, err := store.FindEntity(ctx, snap, name)
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

// observer records spans and metrics of requests.
type observer struct {
	tracer trace.Tracer
	hits   metric.Int64Histogram
	pruned metric.Int64Counter
	paths  metric.Int64Histogram
}

func newObserver(tel *telemetry.Telemetry) (observer, error) {
	meter := tel.Meter()
	hits, err1 := meter.Int64Histogram("triplemesh.retriever.hits",
		metric.WithDescription("Distinct hits of a question before pruning."), metric.WithUnit("{triple}"))
	pruned, err2 := meter.Int64Counter("triplemesh.retriever.pruned_subjects",
		metric.WithDescription("Subjects that pruning removed, by reason."), metric.WithUnit("{subject}"))
	paths, err3 := meter.Int64Histogram("triplemesh.retriever.reasoning_paths",
		metric.WithDescription("Reasoning paths found in one call."), metric.WithUnit("{path}"))
	return observer{tracer: tel.Tracer(), hits: hits, pruned: pruned, paths: paths}, errors.Join(err1, err2, err3)
}

// withTenant adds the tenant to a measurement's attributes.
func withTenant(ctx context.Context, also ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(append(also, auth.TenantAttribute(ctx))...)
}

// step runs a step in a span; count is the number of items it handled or found.
func (o observer) step(ctx context.Context, name string, do func(context.Context) (int, error)) error {
	ctx, span := o.tracer.Start(ctx, name, trace.WithAttributes(auth.TenantAttribute(ctx)))
	defer span.End()
	count, err := do(ctx)
	span.SetAttributes(attribute.Int("triplemesh.count", count))
	if err != nil {
		span.RecordError(err)
		span.SetStatus(otelcodes.Error, err.Error())
	}
	return err
}

// originStore is a store with knowledge graphs that are loaded from elsewhere, without files.
type originStore interface {
	Origin(kg string) (read func(context.Context, source.Sink) (uint64, error), ok bool)
}

// findOrigin returns the reader of a knowledge graph that is loaded without files; ok is false for
// others.
func findOrigin(graphs store.Store, kg string) (read func(context.Context, source.Sink) (uint64, error), ok bool) {
	if over, ok := graphs.(interface{ Own() store.Store }); ok {
		graphs = over.Own()
	}
	known, ok := graphs.(originStore)
	if !ok {
		return nil, false
	}
	return known.Origin(kg)
}

// errFilesOfOrigin rejects files of a knowledge graph that is loaded without files.
func errFilesOfOrigin(kg string) error {
	ref := &graphv1.KnowledgeGraphRef{Name: kg}
	return newStatusError(codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_KG_READ_ELSEWHERE, ref,
		"load knowledge graph \""+kg+"\": the configuration says where this retriever reads it from; load it "+
			"without files, or load the files under another name")
}

// guardHandlers returns a copy of a service's description whose unary handlers run within
// store.Guard: damage that a handler meets in a snapshot is the call's error and does not end the
// process. The guard lies inside the server's interceptors, which would recover the panic as an
// internal error.
func guardHandlers(desc grpc.ServiceDesc) *grpc.ServiceDesc {
	desc.Methods = slices.Clone(desc.Methods)
	for i, method := range desc.Methods {
		desc.Methods[i].Handler = func(srv any, ctx context.Context, decode func(any) error,
			interceptor grpc.UnaryServerInterceptor) (any, error) {
			return method.Handler(srv, ctx, decode, func(ctx context.Context, req any, info *grpc.UnaryServerInfo,
				handle grpc.UnaryHandler) (any, error) {
				guarded := func(ctx context.Context, req any) (resp any, err error) {
					err = store.Guard(func() error {
						resp, err = handle(ctx, req)
						return err
					})
					return resp, err
				}
				if interceptor == nil {
					return guarded(ctx, req)
				}
				return interceptor(ctx, req, info, guarded)
			})
		}
	}
	return &desc
}

// resolveFilter resolves the names of a request's filter. Unknown names match nothing, so a filter
// of unknown names only rejects every triple.
func resolveFilter(ctx context.Context, snap store.Snapshot, f *retrieverv1.Filter) (store.Filter, error) {
	subjects, err := resolveNames(ctx, f.GetSubjects(),
		func(ctx context.Context, name string) (store.EntityID, bool, error) {
			return store.FindEntity(ctx, snap, name)
		})
	if err != nil {
		return store.Filter{}, err
	}
	relations, err := resolveNames(ctx, f.GetRelations(), snap.Relation)
	return store.Filter{Subjects: subjects, Relations: relations, At: f.GetAt()}, err
}

// resolveNames resolves names; no names give nil, which means no restriction.
func resolveNames[ID any](ctx context.Context, names []string, find func(context.Context, string) (ID, bool,
	error)) ([]ID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	ids := []ID{}
	for _, name := range names {
		id, ok, err := find(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
