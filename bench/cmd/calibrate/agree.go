package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/weaviate"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// otherStore is a store to compare with the embedded one.
type otherStore struct {
	grpc, http string
	exact      int
	ef         int
	replicas   int
	dir        string
	load       bool
	neo4j      neo4jStore

	// trips counts the requests to the store; those under way at the same time count as one.
	trips, underWay atomic.Int64
}

func (a *otherStore) flags(flags *flag.FlagSet) {
	flags.StringVar(&a.grpc, "weaviate-grpc", "", "agree: host:port,… of a Weaviate cluster to compare with")
	flags.StringVar(&a.http, "weaviate-http", "", "agree: its host:port,… for the schema")
	flags.IntVar(&a.exact, "weaviate-exact", weaviate.DefaultConfig().Exact,
		"agree: up to how many triples it compares every vector")
	flags.IntVar(&a.ef, "weaviate-ef", weaviate.DefaultConfig().EF, "agree: how many candidates its index looks at")
	flags.IntVar(&a.replicas, "weaviate-replicas", 2, "agree: how many nodes hold each part")
	flags.StringVar(&a.dir, "weaviate-dir", ".cache/calibrate/weaviate", "agree: directory for loads and name indexes")
	a.neo4j.trips = &a.trips
	a.neo4j.flags(flags)
	flags.BoolVar(&a.load, "load", false, "agree: reload the graph into the other store")
}

// openOne opens the store selected by the flags.
func (a *otherStore) openOne(ctx context.Context, b *bench, from store.Snapshot) (store.Snapshot, func() error, error) {
	if a.neo4j.uri != "" {
		return a.neo4j.open(ctx, b, from)
	}
	return a.open(ctx, b, from.Info().KG)
}

// open opens the other store's copy of a snapshot and loads it if it is missing.
func (a *otherStore) open(ctx context.Context, b *bench, kg string) (store.Snapshot, func() error, error) {
	cfg := weaviate.DefaultConfig()
	cfg.GRPC, cfg.Prefix, cfg.Dir = strings.Split(a.grpc, ","), fmt.Sprintf("Agree%dx%d", min(a.exact, 1), a.ef), a.dir
	for _, host := range strings.Split(a.http, ",") {
		cfg.HTTP = append(cfg.HTTP, "http://"+host)
	}
	cfg.Exact, cfg.EF, cfg.Replicas = a.exact, a.ef, a.replicas
	all, err := weaviate.New(cfg, grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any,
		conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if a.underWay.Add(1) == 1 {
			a.trips.Add(1)
		}
		defer a.underWay.Add(-1)
		return invoke(ctx, method, req, reply, conn, options...)
	}))
	if err != nil {
		return nil, nil, err
	}
	other, err := all.ForTenant(auth.DefaultTenant())
	if err != nil {
		return nil, nil, errors.Join(err, all.Close())
	}
	snap, err := other.Open(ctx, kg, 0)
	if a.load || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrNoActive) {
		err = a.copy(ctx, b, other, kg)
		if err == nil {
			snap, err = other.Open(ctx, kg, 0)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, all.Close())
	}
	return snap, all.Close, nil
}

func (a *otherStore) copy(ctx context.Context, b *bench, to store.Store, kg string) error {
	var file bytes.Buffer
	if err := b.graphs.Export(ctx, kg, 0, &file); err != nil {
		return err
	}
	began := time.Now()
	info, err := to.Import(ctx, kg, &file)
	if err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Fprintf(b.out, "loaded %s: %d triples in %.1f s, %.0f a second, %d MB sent\n", kg, info.Triples, took.Seconds(),
		float64(info.Triples)/took.Seconds(), info.Bytes>>20)
	_, err = to.Activate(ctx, kg, info.Number)
	return err
}

// agree compares the answers of two stores with the same content to the same calls.
func agree(ctx context.Context, b *bench) error {
	if b.against.grpc == "" && b.against.neo4j.uri == "" {
		return errors.New("name the other store: -weaviate-grpc and -weaviate-http, or -neo4j")
	}
	return b.eachGroundSet(ctx, func(set groundSet, snap store.Snapshot, questions []draftedQuestion) error {
		other, closing, err := b.against.openOne(ctx, b, snap)
		if err != nil {
			return err
		}
		defer func() { _ = closing() }()
		defer other.Release()
		c := comparison{bench: b, stores: [2]store.Snapshot{snap, other}}
		// Warms the encoder's cache, so that only the stores are timed.
		for _, q := range questions {
			if _, err := c.answer(ctx, snap, q); err != nil {
				return err
			}
		}
		fmt.Fprintf(b.out, "%s, %d questions of %s\n", set.kg, len(questions), set.file)
		for _, pass := range []string{"first time", "again"} {
			if err := c.pass(ctx, pass, questions); err != nil {
				return err
			}
		}
		return nil
	})
}

type comparison struct {
	*bench
	stores [2]store.Snapshot
}

// comparedCalls are the compared calls, in order.
var comparedCalls = [...]string{"SearchTriples", "LinkEntities", "SuggestPaths", "FollowPaths", "GroundGraph"}

// answers holds a store's results for a question, with the duration and round trips of each call.
type answers struct {
	lines     [len(comparedCalls)][]string
	durations [len(comparedCalls)]time.Duration
	trips     [len(comparedCalls)]int64
}

func (c *comparison) pass(ctx context.Context, name string, questions []draftedQuestion) error {
	var all [2][]answers
	for _, q := range questions {
		for i, snap := range c.stores {
			a, err := c.queryStore(ctx, i, snap, q)
			if err != nil {
				return fmt.Errorf("question %s: %w", q.ID, err)
			}
			all[i] = append(all[i], a)
		}
	}
	fmt.Fprintf(c.out, "%-12s %-14s %8s %8s %8s | %8s %8s | %8s %8s %6s\n", name, "", "agree", "recall", "extra",
		"p50 ms", "p99 ms", "p50 ms", "p99 ms", "trips")
	for what, title := range comparedCalls {
		same, held, lost, extra := 0, 0, 0, 0
		var took [2][]time.Duration
		trips := int64(0)
		for i := range questions {
			one, other := all[0][i].lines[what], all[1][i].lines[what]
			if slices.Equal(one, other) {
				same++
			} else if c.verbose {
				fmt.Fprintf(c.out, "%s of %s: lacks %q, adds %q\n", title, questions[i].ID, linesMissing(one, other),
					linesMissing(other, one))
			}
			held += len(one)
			lost += len(linesMissing(one, other))
			extra += len(linesMissing(other, one))
			trips += all[1][i].trips[what]
			for s := range took {
				took[s] = append(took[s], all[s][i].durations[what])
			}
		}
		fmt.Fprintf(c.out, "%-12s %-14s %7.1f%% %7.2f%% %8d | %8.2f %8.2f | %8.2f %8.2f %6.1f\n", "", title,
			100*float64(same)/float64(len(questions)), 100*(1-float64(lost)/math.Max(1, float64(held))), extra,
			quantileMillis(took[0], 0.5), quantileMillis(took[0], 0.99), quantileMillis(took[1], 0.5),
			quantileMillis(took[1], 0.99),
			float64(trips)/float64(len(questions)))
	}
	return nil
}

// queryStore queries one of the stores. Neo4j snapshots cache reads, so that each question opens a
// snapshot of its own, like a request.
func (c *comparison) queryStore(ctx context.Context, which int, snap store.Snapshot,
	q draftedQuestion) (answers, error) {
	if which == 0 || c.against.neo4j.again == nil {
		return c.answer(ctx, snap, q)
	}
	fresh, err := c.against.neo4j.again()
	if err != nil {
		return answers{}, err
	}
	defer fresh.Release()
	return c.answer(ctx, fresh, q)
}

// answer runs all compared calls for a question.
func (c *comparison) answer(ctx context.Context, snap store.Snapshot, q draftedQuestion) (a answers, err error) {
	err = store.Guard(func() error {
		options := ground.Default()
		vectors, err := c.encoder.Encode(ctx, append([]string{q.Question}, factTexts(q.pseudo)...))
		if err != nil {
			return err
		}
		var plans []walk.Plan
		steps := [len(comparedCalls)]func() ([]string, error){
			func() ([]string, error) { return searchLines(ctx, snap, vectors) },
			func() ([]string, error) { return linkLines(ctx, snap, c.encoder, q.Question) },
			func() (lines []string, err error) {
				plans, lines, err = suggestPlans(ctx, snap, c.encoder, q)
				return lines, err
			},
			func() ([]string, error) { return followPlans(ctx, snap, plans, vectors[0]) },
			func() ([]string, error) { return groundQuestion(ctx, snap, c.encoder, q, options) },
		}
		for i, step := range steps {
			began, trips := time.Now(), c.against.trips.Load()
			if a.lines[i], err = step(); err != nil {
				return fmt.Errorf("%s: %w", comparedCalls[i], err)
			}
			a.durations[i], a.trips[i] = time.Since(began), c.against.trips.Load()-trips
		}
		return nil
	})
	return a, err
}

// score formats a score rounded to 0.0005, since sums of different order differ in the seventh digit.
func score(s float32) string { return fmt.Sprintf("%.4f", math.Round(float64(s)*2000)/2000) }

func searchLines(ctx context.Context, snap store.Snapshot, vectors [][]float32) ([]string, error) {
	lists, err := snap.SearchTriples(ctx, vectors, 10, store.Filter{})
	var lines []string
	for q, hits := range lists {
		for _, h := range hits {
			lines = append(lines, fmt.Sprint(q, " ", h.Triple, " ", score(h.Score)))
		}
	}
	slices.Sort(lines)
	return lines, err
}

func linkLines(ctx context.Context, snap store.Snapshot, enc link.Encoder, text string) ([]string, error) {
	links, err := link.Entities(ctx, snap, enc, text, 5)
	var lines []string
	for _, l := range links {
		lines = append(lines, fmt.Sprint(snap.EntityName(l.Entity), " ", l.Mention, " ", l.Match, " ", score(l.Score)))
	}
	return lines, err
}

func suggestPlans(ctx context.Context, snap store.Snapshot, enc walk.Encoder,
	q draftedQuestion) ([]walk.Plan, []string, error) {
	ask := walk.SuggestRequest{Question: q.Question, MaxHops: 2, Limit: 10}
	for _, name := range q.TopicEntities {
		id, ok, err := snap.Entity(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			ask.Topics = append(ask.Topics, id)
		}
	}
	paths, err := walk.Suggest(ctx, snap, enc, ask)
	var plans []walk.Plan
	var lines []string
	for _, p := range paths {
		plans = append(plans, p.Plan)
		lines = append(lines, fmt.Sprint(p.Topics, p.Steps, p.Ends, " ", score(p.Score)))
	}
	return plans, lines, err
}

func followPlans(ctx context.Context, snap store.Snapshot, plans []walk.Plan, question []float32) ([]string, error) {
	limit := walk.Limit{Walks: 100, Question: func(context.Context) ([]float32, error) { return question, nil }}
	walks, _, err := walk.Follow(ctx, snap, plans, limit)
	var lines []string
	for i, group := range walks {
		for _, w := range group {
			line := fmt.Sprint(i)
			for _, e := range w.Entities {
				line += " → " + snap.EntityName(e)
			}
			lines = append(lines, line)
		}
	}
	return lines, err
}

func groundQuestion(ctx context.Context, snap store.Snapshot, enc ground.Encoder, q draftedQuestion,
	options ground.Options) ([]string, error) {
	r, err := ground.Ground(ctx, snap, enc, func(ctx context.Context, _ string, do func(context.Context) (int,
		error)) error {
		_, err := do(ctx)
		return err
	}, q.Question, q.pseudo, options)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, s := range r.Subjects {
		for _, f := range s.Facts {
			lines = append(lines, fmt.Sprint(f.Subject, " | ", f.Relation, " | ", f.Object, " | ", score(f.Score), " ",
				score(f.Question)))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

func factTexts(pseudo []ground.Fact) []string {
	var words []string
	for _, f := range pseudo {
		words = append(words, strings.Join([]string{f.Subject, f.Relation, f.Object}, " "))
	}
	return words
}

// linesMissing returns the lines of one list that another lacks.
func linesMissing(some, others []string) []string {
	there := map[string]bool{}
	for _, line := range others {
		there[line] = true
	}
	var lacking []string
	for _, line := range some {
		if !there[line] {
			lacking = append(lacking, line)
		}
	}
	return lacking
}

// quantileMillis returns a quantile in milliseconds.
func quantileMillis(took []time.Duration, quantile float64) float64 {
	sorted := slices.Sorted(slices.Values(took))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(quantile*float64(len(sorted))))].Seconds() * 1000
}
