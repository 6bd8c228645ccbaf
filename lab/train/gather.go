package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

const (
	// maxTopics is the contract's bound on topic entities, maxLinked the number of links that methods
	// ask for.
	maxTopics, maxLinked = 64, 5
	// maxWalks bounds the walks of a path and a topic entity: with more ends, a path is no answer.
	maxWalks = 300
	// maxCurrent is the number of paths of the present ranking that are evaluated.
	maxCurrent = 3
)

// Retriever is what training reads of a mesh.
type Retriever interface {
	LinkEntities(context.Context, *retrieverv1.LinkEntitiesRequest,
		...grpc.CallOption) (*retrieverv1.LinkEntitiesResponse, error)
	SuggestPaths(context.Context, *retrieverv1.SuggestPathsRequest,
		...grpc.CallOption) (*retrieverv1.SuggestPathsResponse, error)
	FollowPaths(context.Context, *retrieverv1.FollowPathsRequest,
		...grpc.CallOption) (*retrieverv1.FollowPathsResponse, error)
}

// Sample is a question with its candidate paths from one choice of topic entities.
type Sample struct {
	// Set and ID name the question, Text is what is asked.
	Set, ID, Text string
	// KG is the snapshot that was read.
	KG *graphv1.KnowledgeGraphRef
	// Linked reports that the topic entities are those that the mesh links, as users have them. Otherwise
	// they are those of the question set.
	Linked bool
	// Example is what a ranker learns. It has no paths if there are none around the topic entities.
	Example
	// Current is, for the first paths of the mesh's present ranking, the F1 of their ends. It is read for
	// questions that are held back.
	Current []float32
	// Held reports that the question is held back: a ranker is evaluated on it.
	Held bool
}

// Gatherer reads samples of a mesh.
type Gatherer struct {
	Retriever Retriever
	// KG is the knowledge graph that the questions are about.
	KG *graphv1.KnowledgeGraphRef
	// MaxHops is the length of the longest path, 1 to 4.
	MaxHops int
	// GoldOnly leaves out linked topic entities where a question has its own.
	GoldOnly bool
	// Parallel is the number of questions at a time.
	Parallel int
	// Progress is called after each question; may be nil.
	Progress func()

	mutex   sync.Mutex
	encoder string
	vectors map[string][]float32
}

// Encoder returns the name of the encoder that made the vectors, empty before Gather.
func (g *Gatherer) Encoder() string { return g.encoder }

// Relations returns the relations that samples have, in no order.
func (g *Gatherer) Relations() []string {
	var names []string
	for name := range g.vectors {
		names = append(names, name)
	}
	return names
}

// ErrValues reports a mesh of another version.
var ErrValues = errors.New("the mesh describes paths by other values than this program; use the same version of both")

// Gather returns the samples of questions in their order, two of a question whose topic entities are
// known and not those that the mesh links. held tells which are held back.
func (g *Gatherer) Gather(ctx context.Context, set string, questions []dataset.Question,
	held func(id string) bool) ([]Sample, error) {
	if g.vectors == nil {
		g.vectors = map[string][]float32{}
	}
	samples := make([][]Sample, len(questions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, g.Parallel))
	for i, q := range questions {
		group.Go(func() (err error) {
			samples[i], err = g.question(ctx, set, q, held(q.ID))
			if err != nil {
				return fmt.Errorf("question %s of %s: %w", q.ID, set, err)
			}
			if g.Progress != nil {
				g.Progress()
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(samples...), nil
}

func (g *Gatherer) question(ctx context.Context, set string, q dataset.Question, held bool) ([]Sample, error) {
	gold := dataset.Distinct(q.TopicEntities)
	gold = gold[:min(len(gold), maxTopics)]
	choices := [][]string{gold}
	if len(gold) == 0 || !g.GoldOnly {
		resp, err := g.Retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: g.KG, Text: q.Question,
			Limit: maxLinked})
		if err != nil {
			return nil, fmt.Errorf("link entities: %w", err)
		}
		var linked []string
		for _, l := range resp.GetLinks() {
			linked = append(linked, l.GetEntity())
		}
		if linked = dataset.Distinct(linked); !slices.Equal(linked, gold) {
			choices = append(choices, linked)
		}
	}
	kg := g.KG
	var samples []Sample
	for i, topics := range choices {
		if len(topics) == 0 && i == 0 {
			continue
		}
		s := Sample{Set: set, ID: q.ID, Text: q.Question, KG: kg, Linked: i > 0, Held: held}
		if len(topics) > 0 {
			if err := g.readQuestion(ctx, &s, q, topics); err != nil {
				return nil, err
			}
		}
		kg = s.KG // the snapshot, for a sample that reads none
		samples = append(samples, s)
	}
	return samples, nil
}

// readQuestion reads a sample's paths and where they lead.
func (g *Gatherer) readQuestion(ctx context.Context, s *Sample, q dataset.Question, topics []string) error {
	req := &retrieverv1.SuggestPathsRequest{Kg: g.KG, Question: q.Question, TopicEntities: topics,
		MaxHops: uint32(g.MaxHops), IncludeFeatures: true}
	resp, err := g.Retriever.SuggestPaths(ctx, req)
	if err != nil {
		return fmt.Errorf("list candidate paths: %w", err)
	}
	s.KG = resp.GetKg()
	if len(resp.GetPaths()) == 0 {
		return nil
	}
	if s.Question, err = g.convert(resp.GetFeatures(), len(resp.GetPaths())); err != nil {
		return err
	}
	paths := resp.GetPaths()
	if s.Held {
		current, err := g.Retriever.SuggestPaths(ctx, &retrieverv1.SuggestPathsRequest{Kg: s.KG, Question: q.Question,
			TopicEntities: topics, MaxHops: uint32(g.MaxHops), Limit: maxCurrent})
		if err != nil {
			return fmt.Errorf("rank paths: %w", err)
		}
		paths = slices.Concat(paths, current.GetPaths())
	}
	f1, err := g.follow(ctx, s.KG, q, topics, paths)
	if err != nil {
		return err
	}
	candidates := len(resp.GetPaths())
	s.F1, s.Current = f1[:candidates:candidates], f1[candidates:]
	return nil
}

// follow returns the F1 of the ends of each path against the answers.
func (g *Gatherer) follow(ctx context.Context, kg *graphv1.KnowledgeGraphRef, q dataset.Question, topics []string,
	paths []*graphv1.RelationPath) ([]float32, error) {
	// A walk starts from a topic entity by its name, which is another where the question has an id.
	names := slices.Clone(topics)
	for _, p := range paths {
		names = append(names, p.GetTopicEntities()...)
	}
	names = dataset.Distinct(names)
	req := &retrieverv1.FollowPathsRequest{Kg: kg, TopicEntities: names[:min(len(names), maxTopics)],
		LimitPerPath: maxWalks}
	asked := map[string]bool{}
	for _, p := range paths {
		key := kgtext.StepsKey(p.GetSteps())
		for _, topic := range startsOf(p, topics) {
			if walk := topic + "\x00" + key; !asked[walk] {
				asked[walk] = true
				req.Paths = append(req.Paths,
					&graphv1.RelationPath{Steps: p.GetSteps(), TopicEntities: []string{topic}})
			}
		}
	}
	ends := map[string][]string{}
	for batch := range slices.Chunk(req.GetPaths(), maxFollowed) {
		req.Paths = batch
		resp, err := g.Retriever.FollowPaths(ctx, req)
		if err != nil {
			return nil, fmt.Errorf("follow candidate paths: %w", err)
		}
		for _, w := range resp.GetPaths() {
			key := w.GetEntities()[0] + "\x00" + kgtext.StepsKey(w.GetSteps())
			ends[key] = append(ends[key], kgtext.PathEnd(w))
		}
	}
	gold := newGold(q)
	f1 := make([]float32, len(paths))
	for i, p := range paths {
		var all []string
		for _, topic := range startsOf(p, topics) {
			all = append(all, ends[topic+"\x00"+kgtext.StepsKey(p.GetSteps())]...)
		}
		f1[i] = gold.f1(all)
	}
	return f1, nil
}

// maxFollowed is the contract's bound on paths of one call.
const maxFollowed = 256

func startsOf(p *graphv1.RelationPath, topics []string) []string {
	if own := p.GetTopicEntities(); len(own) > 0 {
		return own
	}
	return topics
}

// convert checks and converts features. Equal vectors of relations are kept once.
func (g *Gatherer) convert(f *retrieverv1.PathFeatures, paths int) (*rank.Question, error) {
	if !slices.Equal(f.GetValueNames(), rank.ValueNames[:]) || len(f.GetCandidates()) != paths {
		return nil, ErrValues
	}
	q := &rank.Question{Vector: f.GetQuestionVector(), Paths: make([]rank.Path, paths)}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.encoder == "" {
		g.encoder = f.GetEncoder()
	}
	if f.GetEncoder() != g.encoder {
		return nil, fmt.Errorf("the mesh changed its encoder from %q to %q; train again", g.encoder, f.GetEncoder())
	}
	for _, r := range f.GetRelations() {
		v, ok := g.vectors[r.GetRelation()]
		if !ok {
			v = r.GetVector()
			if len(v) != len(q.Vector) {
				return nil, fmt.Errorf("relation %q: a vector of %d components, and the question has %d",
					r.GetRelation(), len(v), len(q.Vector))
			}
			g.vectors[strings.Clone(r.GetRelation())] = v
		}
		q.Relations = append(q.Relations, rank.Relation{Name: r.GetRelation(), Vector: v})
	}
	for i, c := range f.GetCandidates() {
		p := &q.Paths[i]
		if copy(p.Values[:], c.GetValues()) != rank.ValueCount || len(c.GetSteps()) == 0 ||
			len(c.GetProfileRelations()) != len(c.GetProfileShares()) {
			return nil, ErrValues
		}
		for _, s := range c.GetSteps() {
			p.Steps = append(p.Steps, int(s))
		}
		for j, r := range c.GetProfileRelations() {
			p.Profile = append(p.Profile, rank.Share{Relation: int(r), Share: c.GetProfileShares()[j]})
		}
		if !refersTo(p, len(q.Relations)) {
			return nil, ErrValues
		}
	}
	return q, nil
}

// refersTo reports whether all relations of a path exist.
func refersTo(p *rank.Path, relations int) bool {
	for _, s := range p.Steps {
		if s >= relations {
			return false
		}
	}
	for _, s := range p.Profile {
		if s.Relation >= relations {
			return false
		}
	}
	return true
}
