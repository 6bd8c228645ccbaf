// Package sources lets a question read several knowledge graphs as if they were
// one: each is asked on its own and at once, and what they hold is merged, with
// the name of the knowledge graph on every piece of evidence.
package sources

import (
	"context"
	"sync"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// entityNotFound is the retriever's reason where a knowledge graph lacks an
// entity by name.
const entityNotFound = "ENTITY_NOT_FOUND"

// reading is what a stage reads from.
type reading struct {
	kgs  []*graphv1.KnowledgeGraphRef
	warn func(*llmv1.Warning)
}

type readingKey struct{}

// With lets the retriever that New returns read all of kgs in calls of ctx,
// whichever of them a request names. warn is told of a knowledge graph that was
// gone on without; it may be called from several goroutines, one at a time for
// each call. With fewer than two knowledge graphs ctx is returned as it is.
func With(ctx context.Context, kgs []*graphv1.KnowledgeGraphRef, warn func(*llmv1.Warning)) context.Context {
	if len(kgs) < 2 {
		return ctx
	}
	return context.WithValue(ctx, readingKey{}, reading{kgs, warn})
}

// of is what a call reads from; ok is false where that is the one knowledge
// graph that its request names.
func of(ctx context.Context) (r reading, ok bool) {
	r, ok = ctx.Value(readingKey{}).(reading)
	return r, ok
}

// retriever asks another retriever once for each knowledge graph. Calls that
// no method makes, and all calls of a question that reads one knowledge graph,
// pass through untouched.
type retriever struct {
	retrieverv1.RetrieverServiceClient
}

// New returns a retriever that methods use like any other. Which knowledge
// graphs it reads is in the context, see With. A request that goes out names
// one knowledge graph and nothing of the others.
//
// Limits of a request hold for each knowledge graph, and for what is merged as
// well: prompts are as long and models are asked as often as with one. A
// knowledge graph that fails, or lacks the entity asked for, is a warning while
// others answer; where all fail, that is the error.
func New(one retrieverv1.RetrieverServiceClient) retrieverv1.RetrieverServiceClient {
	return retriever{one}
}

// answer is what one knowledge graph said.
type answer[Resp any] struct {
	kg   string
	resp Resp
}

// each asks every knowledge graph at once. The answers come in the order of
// the knowledge graphs, without those that failed. ask returns false for one
// that there is nothing to ask.
func each[Resp any](ctx context.Context, r reading, ask func(context.Context, *graphv1.KnowledgeGraphRef) (Resp, bool, error)) ([]answer[Resp], error) {
	resps := make([]Resp, len(r.kgs))
	asked := make([]bool, len(r.kgs))
	errs := make([]error, len(r.kgs))
	var group sync.WaitGroup
	for i, kg := range r.kgs {
		group.Go(func() { resps[i], asked[i], errs[i] = ask(ctx, kg) })
	}
	group.Wait()
	var answers []answer[Resp]
	for i, kg := range r.kgs {
		if errs[i] == nil && asked[i] {
			answers = append(answers, answer[Resp]{kg.GetName(), resps[i]})
		}
	}
	if err := worst(errs); err != nil {
		if len(answers) == 0 || ctx.Err() != nil {
			return nil, err
		}
		r.report(errs)
	}
	return answers, nil
}

// worst is the error that tells most: that an entity is not there says less
// than that nobody could look.
func worst(errs []error) error {
	var first error
	for _, err := range errs {
		switch {
		case err == nil:
		case !Lacking(err):
			return err
		case first == nil:
			first = err
		}
	}
	return first
}

// report tells which knowledge graphs were gone on without.
func (r reading) report(errs []error) {
	for i, kg := range r.kgs {
		switch {
		case errs[i] == nil:
		case Lacking(errs[i]):
			r.warn(llm.Warn(llm.WarnUnavailable, "the knowledge graph %s lacks an entity that others hold", kg.GetName()))
		default:
			r.warn(llm.Warn(llm.WarnUnavailable, "the knowledge graph %s was gone on without: %s", kg.GetName(), status.Convert(errs[i]).Message()))
		}
	}
}

// Lacking tells whether a knowledge graph was read and lacks an entity.
func Lacking(err error) bool {
	s := status.Convert(err)
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetReason() == entityNotFound {
			return s.Code() == codes.NotFound
		}
	}
	return false
}

// orDefault is a limit, or what the contract says that 0 takes.
func orDefault(limit uint32, otherwise int) int {
	if limit == 0 {
		return otherwise
	}
	return int(limit)
}

// unknown are the names that no knowledge graph holds.
func unknown[Resp interface{ GetUnknownEntities() []string }](answers []answer[Resp]) []string {
	missing := map[string]int{}
	var names []string
	for _, a := range answers {
		for _, name := range a.resp.GetUnknownEntities() {
			if missing[name]++; missing[name] == len(answers) {
				names = append(names, name)
			}
		}
	}
	return names
}
