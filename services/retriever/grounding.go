package retriever

import (
	"cmp"
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// defaultGroundingKey is the key of the settings for all other knowledge graphs.
const defaultGroundingKey = "*"

// GroundingConfig holds the grounding options of a knowledge graph, for requests that do not set
// them: thresholds depend on the encoder and the graph, and `triplemesh calibrate` finds and writes
// them. 0 takes the preset's value.
type GroundingConfig struct {
	// Preset is default or paper; empty means default.
	Preset string `koanf:"preset"`
	// TopK is the number of hits per query.
	TopK uint32 `koanf:"top_k"`
	// MinConfidence is the minimum confidence of a subject, up to 1.
	MinConfidence float32 `koanf:"min_confidence"`
	// MinNamed is the minimum confidence of a subject that the pseudo-graph names exactly.
	MinNamed float32 `koanf:"min_named"`
	// MaxSubjects is the maximum number of subjects of a ground graph.
	MaxSubjects uint32 `koanf:"max_subjects"`
	// MaxFacts is the maximum number of facts of all subjects together.
	MaxFacts uint32 `koanf:"max_facts"`
	// MaxList is the maximum number of facts of one subject and relation.
	MaxList uint32 `koanf:"max_list"`
	// MaxRead is the maximum number of facts read around all subjects in each direction.
	MaxRead uint32 `koanf:"max_read"`
	// MaxWalked is the maximum number of facts that join several facts.
	MaxWalked uint32 `koanf:"max_walked"`
	// MaxGap is how far the priority of a list may lie below the best one.
	MaxGap float32 `koanf:"max_gap"`
	// QuestionWeight is the weight of the question's cosine to a fact in the fact's priority.
	QuestionWeight float32 `koanf:"question_weight"`
	// RelationWeight is the weight of the question's cosine to the fact's relation.
	RelationWeight float32 `koanf:"relation_weight"`
	// NamedBonus is added for facts of a named entity.
	NamedBonus float32 `koanf:"named_bonus"`
}

// groundingDefaults are the configured options by knowledge graph.
type groundingDefaults map[string]ground.Options

func newGroundingDefaults(configured map[string]GroundingConfig) (groundingDefaults, error) {
	g := groundingDefaults{}
	for kg, c := range configured {
		options, err := c.options()
		if err != nil {
			return nil, fmt.Errorf("grounding.%s.%w", kg, err)
		}
		g[kg] = options
	}
	return g, nil
}

func (g groundingDefaults) forGraph(kg string) ground.Options {
	if options, ok := g[kg]; ok {
		return options
	}
	if options, ok := g[defaultGroundingKey]; ok {
		return options
	}
	return ground.Default()
}

func (c GroundingConfig) options() (ground.Options, error) {
	var o ground.Options
	switch c.Preset {
	case "", "default":
		o = ground.Default()
	case "paper":
		o = ground.Paper()
	default:
		return o, fmt.Errorf("preset is %q; want default or paper", c.Preset)
	}
	if c.MinConfidence > 1 || c.MinConfidence < -1 || c.MinNamed > 1 || c.MinNamed < -1 {
		return o, fmt.Errorf("min_confidence and min_named are %g and %g; want -1 to 1", c.MinConfidence, c.MinNamed)
	}
	if c.MaxGap < 0 || c.QuestionWeight < 0 || c.RelationWeight < 0 || c.NamedBonus < 0 {
		return o, fmt.Errorf("max_gap, question_weight, relation_weight and named_bonus must not be negative")
	}
	o.TopK, o.MaxSubjects = cmp.Or(int(c.TopK), o.TopK), cmp.Or(int(c.MaxSubjects), o.MaxSubjects)
	o.MaxFacts, o.MaxList = cmp.Or(int(c.MaxFacts), o.MaxFacts), cmp.Or(int(c.MaxList), o.MaxList)
	o.MaxRead, o.MaxWalked = cmp.Or(int(c.MaxRead), o.MaxRead), cmp.Or(int(c.MaxWalked), o.MaxWalked)
	o.MinConfidence, o.MinNamed = cmp.Or(c.MinConfidence, o.MinConfidence), cmp.Or(c.MinNamed, o.MinNamed)
	o.MaxGap, o.NamedBonus = cmp.Or(c.MaxGap, o.MaxGap), cmp.Or(c.NamedBonus, o.NamedBonus)
	o.QuestionWeight = cmp.Or(c.QuestionWeight, o.QuestionWeight)
	o.RelationWeight = cmp.Or(c.RelationWeight, o.RelationWeight)
	return o, nil
}

// forRequest returns the options of a request: the configured ones or the preset that it names,
// overridden by what it sets itself.
func (g groundingDefaults) forRequest(ctx context.Context, snap store.Snapshot,
	o *retrieverv1.GroundingOptions) (ground.Options, error) {
	options := g.forGraph(snap.Info().KG)
	switch o.GetPreset() {
	case retrieverv1.Preset_PRESET_DEFAULT:
		options = ground.Default()
	case retrieverv1.Preset_PRESET_PAPER:
		options = ground.Paper()
	}
	if o == nil {
		o = &retrieverv1.GroundingOptions{}
	}
	overrideCount(&options.TopK, o.TopK)
	overrideCount(&options.MaxSubjects, o.MaxSubjects)
	overrideCount(&options.MaxFacts, o.MaxFacts)
	overrideCount(&options.MaxList, o.MaxList)
	overrideCount(&options.MaxWalked, o.MaxWalked)
	override(&options.MinConfidence, o.MinConfidence)
	// A threshold that the request sets applies to named subjects too.
	override(&options.MinNamed, o.MinConfidence)
	override(&options.MinNamed, o.MinNamed)
	override(&options.MaxGap, o.MaxGap)
	override(&options.QuestionWeight, o.QuestionWeight)
	override(&options.RelationWeight, o.RelationWeight)
	override(&options.NamedBonus, o.NamedBonus)
	var err error
	options.Filter, err = resolveFilter(ctx, snap, o.GetFilter())
	return options, err
}

func override[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

func overrideCount(to *int, given *uint32) {
	if given != nil {
		*to = int(*given)
	}
}

// GroundGraph implements retrieverv1.RetrieverServiceServer.
func (s *Service) GroundGraph(ctx context.Context,
	req *retrieverv1.GroundGraphRequest) (*retrieverv1.GroundGraphResponse, error) {
	var pseudo []ground.Fact
	for _, t := range req.GetPseudoGraph().GetTriples() {
		pseudo = append(pseudo, ground.Fact{Subject: t.GetSubject(), Relation: t.GetRelation(), Object: t.GetObject()})
	}
	snap, enc, err := s.openForSearch(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	options, err := s.grounding.forRequest(ctx, snap, req.GetOptions())
	if err != nil {
		return nil, err
	}
	options.Ranker = s.rankers.forSnapshot(ctx, snap)
	result, err := ground.Ground(ctx, snap, enc, s.observe.step, req.GetQuestion(), pseudo, options)
	if err != nil {
		return nil, err
	}
	s.observe.hits.Record(ctx, int64(len(result.Hits)), withTenant(ctx))
	resp := &retrieverv1.GroundGraphResponse{GroundGraph: &graphv1.GroundGraph{}, Hits: scoredTriples(result.Hits),
		Kg: graphRef(snap)}
	for _, e := range result.Subjects {
		resp.GroundGraph.Subjects = append(resp.GroundGraph.Subjects, &graphv1.SubjectEvidence{
			Subject: e.Subject, SubjectId: e.SubjectKey, Confidence: e.Confidence, Hits: uint32(e.Hits),
			Triples: scoredTriples(e.Facts),
		})
	}
	resp.Paths = followedPaths(snap, result.Paths)
	pruned := map[graphv1.DropReason]int64{}
	for _, d := range result.Dropped {
		reason := dropReasons[d.Reason]
		pruned[reason]++
		resp.Dropped = append(resp.Dropped, &graphv1.DroppedSubject{
			Subject: d.Subject, SubjectId: d.SubjectKey, Confidence: d.Confidence, Hits: uint32(d.Hits), Reason: reason,
		})
	}
	for reason, subjects := range pruned {
		s.observe.pruned.Add(ctx, subjects, withTenant(ctx, attribute.String("reason", reason.String())))
	}
	return resp, nil
}

func followedPaths(snap store.Snapshot, ranked []ground.RankedPath) []*graphv1.ReasoningPath {
	var suggestions []walk.Suggestion
	var plans []walk.Plan
	var walks [][]walk.Walk
	for _, p := range ranked {
		suggestions, plans, walks = append(suggestions, p.Suggestion), append(plans, p.Plan), append(walks, p.Walks)
	}
	return reasoningPaths(snap, suggestedPaths(snap, suggestions), plans, walks)
}

var dropReasons = map[ground.DropReason]graphv1.DropReason{
	ground.OutsideSelection: graphv1.DropReason_DROP_REASON_CANDIDATE_SELECTION,
	ground.LowConfidence:    graphv1.DropReason_DROP_REASON_CONFIDENCE,
}

func scoredTriples(facts []ground.ScoredFact) []*graphv1.ScoredTriple {
	triples := make([]*graphv1.ScoredTriple, len(facts))
	for i, f := range facts {
		triples[i] = &graphv1.ScoredTriple{
			Triple: &graphv1.Triple{
				Subject: f.Subject, Relation: f.Relation, Object: f.Object, Validity: validity(f.Validity),
				ObjectKind: termKinds[f.Kind], SubjectId: f.SubjectKey, ObjectId: f.ObjectKey, Provenance: f.Provenance,
			},
			Score: f.Score, PseudoTripleScores: f.Pseudo, QuestionScore: f.Question,
			RelationScore: proto.Float32(f.RelationScore), Probability: f.Probability,
			LeastHopScore: f.LeastHopScore,
		}
	}
	return triples
}

// validity returns nil if the graph has no interval.
func validity(v store.Validity) *graphv1.ValidityInterval {
	if v == (store.Validity{}) {
		return nil
	}
	return &graphv1.ValidityInterval{Start: v.Start, End: v.End}
}
