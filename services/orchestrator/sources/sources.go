// Package sources lets a question read several knowledge graphs as if they were one: it fans each
// request out to all of them, merges the responses, and labels every piece of evidence with the name
// of its knowledge graph.
package sources

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	"github.com/triplemesh/triplemesh/internal/llm"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// selection are the knowledge graphs that a stage reads.
type selection struct {
	kgs  []*graphv1.KnowledgeGraphRef
	warn func(*llmv1.Warning)
}

type selectionKey struct{}

// With lets the retriever that New returns read all of kgs in calls with the returned context,
// whichever of them a request names. warn receives a warning for each knowledge graph that was
// skipped; it may be called concurrently. With fewer than two knowledge graphs ctx is returned
// unchanged.
func With(ctx context.Context, kgs []*graphv1.KnowledgeGraphRef, warn func(*llmv1.Warning)) context.Context {
	if len(kgs) < 2 {
		return ctx
	}
	return context.WithValue(ctx, selectionKey{}, selection{kgs, warn})
}

// retriever calls another retriever once for each knowledge graph. Calls that no method makes, and
// all calls of a question that reads one knowledge graph, pass through.
type retriever struct {
	retrieverv1.RetrieverServiceClient
}

// New returns a retriever that reads the knowledge graphs in the context, see With. A request that
// goes out names one knowledge graph and carries no labels of others.
//
// The limits of a request hold for each knowledge graph and for the merged response, so prompts and
// the number of model calls do not grow with the number of knowledge graphs. A knowledge graph that
// fails, or lacks the entity asked for, is a warning if others answer; if all fail, that is the error.
func New(one retrieverv1.RetrieverServiceClient) retrieverv1.RetrieverServiceClient {
	return retriever{one}
}

// response is that of one knowledge graph.
type response[Resp any] struct {
	kg   string
	resp Resp
}

// fanOut sends a request to every knowledge graph in the context at once and merges the responses.
// They come in the order of the knowledge graphs, without those that failed. Each knowledge graph gets
// a copy of the request that names it; prepare, if not nil, adapts the copy and reports whether it is
// to be sent. Without knowledge graphs in the context the request goes out unchanged.
func fanOut[Req, Resp proto.Message](ctx context.Context, req Req, opts []grpc.CallOption,
	call func(context.Context, Req, ...grpc.CallOption) (Resp, error), prepare func(Req) bool,
	merge func(kg *graphv1.KnowledgeGraphRef, responses []response[Resp]) Resp) (none Resp, err error) {
	selected, several := ctx.Value(selectionKey{}).(selection)
	if !several {
		return call(ctx, req, opts...)
	}
	resps := make([]Resp, len(selected.kgs))
	sent := make([]bool, len(selected.kgs))
	errs := make([]error, len(selected.kgs))
	var group sync.WaitGroup
	for i, kg := range selected.kgs {
		group.Go(func() {
			own := proto.CloneOf(req)
			setKG(own, kg)
			if sent[i] = prepare == nil || prepare(own); sent[i] {
				resps[i], errs[i] = call(ctx, own, opts...)
			}
		})
	}
	group.Wait()
	var responses []response[Resp]
	for i, kg := range selected.kgs {
		if errs[i] == nil && sent[i] {
			responses = append(responses, response[Resp]{kg.GetName(), resps[i]})
		}
	}
	if err := mostSevere(errs); err != nil {
		if len(responses) == 0 || ctx.Err() != nil {
			return none, err
		}
		selected.warnSkipped(errs)
	}
	return merge(selected.kgs[0], responses), nil
}

// setKG sets the field kg, which every request of the retriever has.
func setKG(req proto.Message, kg *graphv1.KnowledgeGraphRef) {
	m := req.ProtoReflect()
	m.Set(m.Descriptor().Fields().ByName("kg"), protoreflect.ValueOfMessage(kg.ProtoReflect()))
}

// mostSevere returns the error that says most: a failure before an entity that does not exist.
func mostSevere(errs []error) error {
	var first error
	for _, err := range errs {
		switch {
		case err == nil:
		case !IsEntityNotFound(err):
			return err
		case first == nil:
			first = err
		}
	}
	return first
}

// warnSkipped warns of the knowledge graphs that failed.
func (s selection) warnSkipped(errs []error) {
	for i, kg := range s.kgs {
		switch {
		case errs[i] == nil:
		case IsEntityNotFound(errs[i]):
			s.warn(llm.Warn(llm.WarnUnavailable, "the knowledge graph %s lacks an entity that others hold",
				kg.GetName()))
		default:
			s.warn(llm.Warn(llm.WarnUnavailable, "the knowledge graph %s was skipped: %s", kg.GetName(),
				status.Convert(errs[i]).Message()))
		}
	}
}

// IsEntityNotFound reports whether a knowledge graph was read and lacks an entity.
func IsEntityNotFound(err error) bool {
	return status.Code(err) == codes.NotFound &&
		errinfo.Reason(err) == errorsv1.ErrorReason_ERROR_REASON_ENTITY_NOT_FOUND
}

// truncate returns the first limit items; 0 means the default of the contract.
func truncate[E any](items []E, limit uint32, defaultLimit int) []E {
	if limit > 0 {
		defaultLimit = int(limit)
	}
	return items[:min(len(items), defaultLimit)]
}

// sortBy sorts items by descending key; equal items keep their order.
func sortBy[E any, K cmp.Ordered](items []E, key func(E) K) {
	slices.SortStableFunc(items, func(a, b E) int { return cmp.Compare(key(b), key(a)) })
}

// unknownToAll returns the entities that no knowledge graph holds.
func unknownToAll[Resp interface{ GetUnknownEntities() []string }](responses []response[Resp]) []string {
	missing := map[string]int{}
	var names []string
	for _, r := range responses {
		for _, name := range r.resp.GetUnknownEntities() {
			if missing[name]++; missing[name] == len(responses) {
				names = append(names, name)
			}
		}
	}
	return names
}
