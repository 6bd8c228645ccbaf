// Package method holds the methods that answer a question, one file each, in the order and the
// words of its paper.
package method

import (
	"context"
	"maps"
	"slices"

	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Stages are the clients of the stages that methods call.
type Stages struct {
	Generator generatorv1.GeneratorServiceClient
	Retriever retrieverv1.RetrieverServiceClient
	Verifier  verifierv1.VerifierServiceClient
	Evaluator evaluatorv1.EvaluatorServiceClient
	Reflector reflectorv1.ReflectorServiceClient
}

// Method is one way to answer.
type Method interface {
	// Info describes the method.
	Info() *orchestratorv1.Method
	// Answer takes a question through the method's stages and writes graphs, answers and grounding
	// to its run. It returns question.ErrStopped if the caller asked to stop early, else a gRPC
	// status.
	Answer(ctx context.Context, q *question.Question) error
}

// Ablatable is a method with ablations.
type Ablatable interface {
	Method
	// SkippedStages returns the stages that an ablation leaves out.
	SkippedStages(orchestratorv1.Ablation) []orchestratorv1.Stage
}

// All returns the methods, sorted by name.
func All(stages Stages, ger GerConfig) []Method {
	return []Method{
		Auto{stages},
		CoT{stages},
		Ger{stages, ger},
		IO{stages},
		PGAKV{stages},
		Query{stages},
		RAG{stages},
		RoG{stages},
		SC{stages},
		Text2Cypher{stages},
		ToG{Stages: stages},
		ToG{Stages: stages, Relations: true},
	}
}

// variants are the full method (ABLATION_UNSPECIFIED) and its ablations.
type variants[V any] map[orchestratorv1.Ablation]V

// ablations returns the ablations in the order of the contract.
func (v variants[V]) ablations() []orchestratorv1.Ablation {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(v)), func(a orchestratorv1.Ablation) bool {
		return a == orchestratorv1.Ablation_ABLATION_UNSPECIFIED
	})
}

// requested returns the variant that the caller asked for, or the full method.
func (v variants[V]) requested(q *question.Question) V {
	if variant, ok := v[q.Request().GetOptions().GetAblation()]; ok {
		return variant
	}
	return v[orchestratorv1.Ablation_ABLATION_UNSPECIFIED]
}

// Rewrite turns a follow-up question into a standalone one before a method answers it. If the
// generator fails, the question stays as asked and the stage reports a warning.
func (s Stages) Rewrite(ctx context.Context, q *question.Question) error {
	history := q.Request().GetHistory()
	if len(history) == 0 {
		return nil
	}
	err := modelStage(ctx, q, orchestratorv1.Stage_STAGE_REWRITE,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
			resp, err := s.Generator.RewriteQuestion(ctx, &generatorv1.RewriteQuestionRequest{
				Question: q.Text(), History: history, Limits: limits,
			})
			if err != nil {
				return nil, err
			}
			if resp.GetChanged() {
				q.Restate(resp.GetQuestion())
			}
			return resp, nil
		})
	if question.Recoverable(ctx, err) {
		return nil
	}
	return err
}
