// Package ground builds the ground graph G_g of a question: it searches with the pseudo-graph,
// prunes, and gathers the evidence of the kept subjects (PG&AKV §III-B).
package ground

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Encoder turns texts into vectors, one per text, each of length 1.
type Encoder interface {
	Encode(ctx context.Context, texts []string) ([][]float32, error)
}

// Fact is a triple by its names.
type Fact struct {
	Subject, Relation, Object string
	// Kind is the kind of the object.
	Kind     store.Kind
	Validity store.Validity
	// SubjectKey and ObjectKey are the keys of both ends, Provenance where the triple comes from;
	// empty in a draft.
	SubjectKey, ObjectKey, Provenance string
}

// ScoredFact is a fact of the knowledge graph with its scores: cosines, -1 to 1.
type ScoredFact struct {
	Fact
	// Score is the best cosine to any query.
	Score float32
	// Question is the cosine to the question.
	Question float32
	// RelationScore is the cosine of the fact's relation to the question without the names of its
	// topic entities: the best of several, and at least saidScore if the question has all its words and no ranker
	// knows the graph.
	RelationScore float32
	// Probability is that of the relation path that the fact belongs to; nil if none was ranked.
	Probability *float32
	// LeastHopScore is how well the question says the hop that it says least, of a fact that joins several;
	// nil of others.
	LeastHopScore *float32
	// Pseudo has the cosine to each pseudo-triple, in the order of the request.
	Pseudo []float32
}

// Evidence is a subject of the ground graph with its facts.
type Evidence struct {
	Subject, SubjectKey string
	// Confidence is the mean or the best cosine of its hits, depending on the preset.
	Confidence float32
	// Hits counts the hits with this subject.
	Hits int
	// Facts are ordered by falling score.
	Facts []ScoredFact
}

// Dropped is a subject that pruning removed.
type Dropped struct {
	Subject, SubjectKey string
	Confidence          float32
	Hits                int
	Reason              DropReason
}

// Result is G_g with the hits and the dropped subjects.
type Result struct {
	// Subjects are the kept subjects by falling confidence.
	Subjects []Evidence
	// Hits are G_t: the distinct hits before pruning, by falling score.
	Hits []ScoredFact
	// Dropped are ordered by falling confidence.
	Dropped []Dropped
	// Paths are the relation paths that may lead to the answers, best first; none without a ranker
	// that knows the graph.
	Paths []RankedPath
}

// Observe runs a named step so that the caller can trace it. count is the number of items that the
// step handled or found.
type Observe func(ctx context.Context, step string, do func(ctx context.Context) (count int, err error)) error

// Ground builds the ground graph of a question and a pseudo-graph, which may be empty.
func Ground(ctx context.Context, snap store.Snapshot, encoder Encoder, observe Observe, question string, pseudo []Fact,
	options Options) (*Result, error) {
	g := newGrounding(snap, encoder, plan(question, pseudo, options), options)
	run := func(ctx context.Context, steps ...step) error {
		for _, s := range steps {
			if err := observe(ctx, s.name, s.do); err != nil {
				return err
			}
		}
		return nil
	}
	// Names are looked up while the question is encoded.
	err := runBoth(ctx, run, []step{{"retriever.encode", g.encode}}, []step{{"retriever.link", g.link}})
	if err != nil {
		return nil, err
	}
	// Neither of both needs the other.
	err = runBoth(ctx, run, []step{{"retriever.suggest_paths", g.suggestPaths}}, []step{
		{"store.search_triples", g.search}, {"retriever.look_through", g.resolveMediators},
		{"retriever.prune", g.prune}, {"retriever.gather", g.gather}, {"retriever.encode_unnamed", g.encodeUnnamed},
	})
	if err != nil {
		return nil, err
	}
	if err := run(ctx, step{"retriever.walk_on", g.addWalkedFacts}); err != nil {
		return nil, err
	}
	return g.result(), nil
}

// runBoth runs two lists of steps at once. A panic continues in the goroutine of the caller, who may recover.
func runBoth(ctx context.Context, run func(context.Context, ...step) error, first, second []step) error {
	both, together := errgroup.WithContext(ctx)
	var panics [2]any
	for i, steps := range [][]step{first, second} {
		both.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					panics[i], err = fmt.Sprintf("%v\n%s", p, debug.Stack()), errPanic
				}
			}()
			return store.Guard(func() error { return run(together, steps...) })
		})
	}
	err := both.Wait()
	if p := cmp.Or(panics[0], panics[1]); p != nil {
		panic(p)
	}
	return err
}

// errPanic ends the steps beside one that panics.
var errPanic = errors.New("a step beside it panicked")

// step is a part of Ground that has a span of its own. It returns how much it found.
type step struct {
	name string
	do   func(context.Context) (int, error)
}

// grounding is the state of one call of Ground.
type grounding struct {
	snap store.Snapshot
	// triples finds and compares triples of snap: snap itself, or subjects first if its triples have no
	// vectors. Paths are followed in snap, as they may have thousands of walks to encode.
	triples store.Searcher
	encoder Encoder
	options Options
	plan    queries

	// passes is the options' filter; nil accepts every triple.
	passes func(store.TripleID) bool
	ranker edgeRanker
	// vectors are those of the plan's texts, encoded is closed when they are there.
	vectors [][]float32
	encoded chan struct{}
	// subjects are the entities named by the question or by subjects of the pseudo-graph. isNamed
	// is the same as a set; isMentioned also has those named by its objects.
	subjects             []store.EntityID
	isNamed, isMentioned map[store.EntityID]bool
	// links are entities that the question means, the likeliest first.
	links []link.Link
	// topics are the entities named by the question, mentions the words that name them.
	topics   []store.EntityID
	mentions []string
	// relations caches compareRelation.
	relations map[store.RelationID]relevance
	// unnamed is the vector of the question without its mentions.
	unnamed []float32
	// words are those of that.
	words kgtext.QuestionWords
	// factsAround caches readFacts by direction and entity.
	factsAround [2]map[store.EntityID][]candidate
	// validities are those of mediators.
	validities map[store.EntityID]store.Validity
	// hits are G_t with mediators resolved, by falling score.
	hits    []candidate
	kept    []rankedSubject
	dropped []droppedSubject
	// rankedPaths are the ranker's, best first, walkedFacts facts that join several if it has none.
	rankedPaths []RankedPath
	walkedFacts []candidate
	// evidence holds the facts of each kept subject.
	evidence map[store.EntityID][]candidate
}

func newGrounding(snap store.Snapshot, encoder Encoder, plan queries, options Options) *grounding {
	if !snap.Info().TripleVectors {
		options.MaxRead = min(options.MaxRead, subjectFirstMaxRead)
	}
	g := &grounding{
		snap: snap, triples: snap, encoder: encoder, options: options, plan: plan,
		passes: options.Filter.Matcher(snap), encoded: make(chan struct{}),
		isNamed: map[store.EntityID]bool{}, isMentioned: map[store.EntityID]bool{},
		relations:   map[store.RelationID]relevance{},
		factsAround: [2]map[store.EntityID][]candidate{{}, {}}, validities: map[store.EntityID]store.Validity{},
	}
	g.ranker = g.newEdgeRanker()
	return g
}

func (g *grounding) encode(ctx context.Context) (int, error) {
	var err error
	if g.vectors, err = g.encoder.Encode(ctx, g.plan.texts); err == nil {
		close(g.encoded)
	}
	return len(g.plan.texts), err
}

func (g *grounding) search(ctx context.Context) (int, error) {
	if g.options.broadQueries {
		if err := g.findNames(ctx); err != nil {
			return 0, err
		}
	}
	lists, err := g.triples.SearchTriples(ctx, g.vectors[:g.plan.queryCount], g.options.TopK, g.options.Filter)
	if err != nil {
		return 0, err
	}
	seen := tripleSet{}
	for _, list := range lists {
		for _, h := range list {
			if seen.add(h.Triple) {
				g.hits = append(g.hits, g.newCandidate(h.Triple))
			}
		}
	}
	if err := g.score(ctx, g.hits); err != nil {
		return 0, err
	}
	if g.options.broadQueries {
		more, err := g.searchByName(ctx, seen)
		if err != nil {
			return 0, err
		}
		g.hits = append(g.hits, more...)
	}
	slices.SortFunc(g.hits, compareByScore)
	return len(g.hits), nil
}

func (g *grounding) prune(context.Context) (int, error) {
	hits := make([]subjectHit, len(g.hits))
	for i, h := range g.hits {
		hits[i] = subjectHit{Subject: h.subject, Score: h.score}
	}
	k := cmp.Or(g.options.MaxSubjects, g.plan.subjects)
	g.kept, g.dropped = g.options.prune(hits, k, g.options.MinConfidence)
	g.restoreNamed()
	g.keepTopics()
	slices.SortStableFunc(g.kept, func(a, b rankedSubject) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return len(g.kept), nil
}

func (g *grounding) result() *Result {
	r := &Result{Paths: g.rankedPaths}
	for _, h := range g.hits {
		r.Hits = append(r.Hits, g.toScoredFact(h))
	}
	for _, s := range g.kept {
		e := Evidence{Subject: g.snap.EntityName(s.Entity), SubjectKey: g.snap.EntityKey(s.Entity),
			Confidence: s.Confidence, Hits: s.Hits}
		for _, f := range g.evidence[s.Entity] {
			e.Facts = append(e.Facts, g.toScoredFact(f))
		}
		r.Subjects = append(r.Subjects, e)
	}
	for _, d := range g.dropped {
		r.Dropped = append(r.Dropped, Dropped{
			Subject: g.snap.EntityName(d.Entity), SubjectKey: g.snap.EntityKey(d.Entity), Confidence: d.Confidence,
			Hits: d.Hits, Reason: d.Reason,
		})
	}
	return r
}
