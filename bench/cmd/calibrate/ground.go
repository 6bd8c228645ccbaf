package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// groundSet are questions over a knowledge graph.
type groundSet struct {
	kg, file string
	// pseudo is the file of the questions' pseudo-graphs.
	pseudo string
	// testSize is how many questions make up the test part.
	testSize int
}

var groundSets = []groundSet{
	{"wikidata", "wikidata/zsre.jsonl", "zsre.jsonl", 100}, {"wikidata", "multisource/webquestions.jsonl",
		"webq.jsonl", 60},
	{"freebase", "multisource/webquestions.jsonl", "webq.jsonl", 60}, {"freebase", "freebase/simplequestions.jsonl",
		"sq.jsonl", 100},
}

// eachGroundSet opens the knowledge graph of each set and hands its questions
// over with their pseudo-graphs.
func (b *bench) eachGroundSet(ctx context.Context, do func(groundSet, store.Snapshot, []draftedQuestion) error) error {
	for _, set := range groundSets {
		if b.kg != "" && b.kg != set.kg {
			continue
		}
		snap, err := b.open(ctx, set.kg)
		if err != nil {
			return err
		}
		questions, err := b.drafted(set)
		if err == nil {
			err = do(set, snap, questions)
		}
		snap.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

const groundHead = "kg         questions                        options                     n     hits   ground 1st " +
	"half 2nd half   recall  triples  subjects     ms\n"

// grounds measures GroundGraph: how often an answer is among the hits and in
// the ground graph, and how large that is. The pseudo-graphs are those that a
// model wrote (-pseudo), or are made without one: the topic entity, the
// question's other words as relation, and another question's answer as object.
// The shares are of all questions and of each half, by the questions' ids:
// settings are chosen by the first half alone. recall is the mean share of a
// question's answers that its ground graph names, ms the time a question takes
// without encoding its own words and without searching, but for the first
// setting.
func grounds(ctx context.Context, b *bench) error {
	fmt.Fprint(b.out, groundHead)
	return b.eachGroundSet(ctx, func(set groundSet, snap store.Snapshot, questions []draftedQuestion) error {
		options := settings()
		if b.verbose {
			options = options[1:2]
		}
		remembered := &cachedSnapshot{snap, map[searchKey][]store.Hit{}}
		for _, options := range options {
			if err := b.ground(ctx, remembered, set.file, questions, options.name, options.Options); err != nil {
				return err
			}
		}
		return nil
	})
}

type setting struct {
	name string
	ground.Options
}

// settings returns the presets, and the default with one parameter changed.
func settings() []setting {
	all := []setting{{"paper", ground.Paper()}, {"default", ground.Default()}}
	vary := func(name string, values []float32, set func(*ground.Options, float32)) {
		for _, v := range values {
			o := ground.Default()
			set(&o, v)
			all = append(all, setting{fmt.Sprintf("%s %g", name, v), o})
		}
	}
	vary("question weight", []float32{0, 0.5, 2}, func(o *ground.Options, v float32) { o.QuestionWeight = v })
	vary("relation weight", []float32{0, 0.5, 2}, func(o *ground.Options, v float32) { o.RelationWeight = v })
	vary("named bonus", []float32{0, 0.1, 0.4}, func(o *ground.Options, v float32) { o.NamedBonus = v })
	vary("max gap", []float32{0.3, 0.5, 9}, func(o *ground.Options, v float32) { o.MaxGap = v })
	vary("max list", []float32{2, 4, 20}, func(o *ground.Options, v float32) { o.MaxList = int(v) })
	vary("max facts", []float32{12, 15, 20, 30}, func(o *ground.Options, v float32) { o.MaxFacts = int(v) })
	vary("max subjects", []float32{2, 3, 4, 10}, func(o *ground.Options, v float32) { o.MaxSubjects = int(v) })
	vary("min confidence", []float32{0.45, 0.65}, func(o *ground.Options, v float32) { o.MinConfidence = v })
	vary("max read", []float32{250, 500, 4000, 20000}, func(o *ground.Options, v float32) { o.MaxRead = int(v) })
	return all
}

// tally counts over questions.
type tally struct{ n, inHits, inGround, triples, subjects int }

// cachedSnapshot caches searches across settings.
type cachedSnapshot struct {
	store.Snapshot
	hits map[searchKey][]store.Hit
}

// searchKey identifies a query by the address of its vector, which the encoder caches.
type searchKey struct {
	query *float32
	k     int
}

func (r *cachedSnapshot) SearchTriples(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	var missing [][]float32
	for _, q := range queries {
		if _, ok := r.hits[searchKey{&q[0], k}]; !ok {
			missing = append(missing, q)
		}
	}
	fresh, err := r.Snapshot.SearchTriples(ctx, missing, k, filter)
	if err != nil {
		return nil, err
	}
	for i, q := range missing {
		r.hits[searchKey{&q[0], k}] = fresh[i]
	}
	all := make([][]store.Hit, len(queries))
	for i, q := range queries {
		all[i] = r.hits[searchKey{&q[0], k}]
	}
	return all, nil
}

func (b *bench) ground(ctx context.Context, snap store.Snapshot, file string, questions []draftedQuestion, name string,
	options ground.Options) error {
	return b.groundWith(ctx, snap, b.encoder, file, questions, name, options)
}

func (b *bench) groundWith(ctx context.Context, snap store.Snapshot, encoder ground.Encoder, file string,
	questions []draftedQuestion, name string, options ground.Options) error {
	var halves [2]tally
	var recall float64
	start := time.Now()
	for _, q := range questions {
		r, err := ground.Ground(ctx, snap, encoder, runUntimed, q.Question, q.pseudo, options)
		if err != nil {
			return err
		}
		half := &halves[0]
		if q.heldOut {
			half = &halves[1]
		}
		half.n++
		half.subjects += len(r.Subjects)
		if slices.ContainsFunc(r.Hits, q.matchesFact) {
			half.inHits++
		}
		found := false
		recall += q.recall(r)
		for _, e := range r.Subjects {
			found = found || slices.ContainsFunc(e.Facts, q.matchesFact)
			half.triples += len(e.Facts)
		}
		if found {
			half.inGround++
		} else if b.verbose {
			b.printMiss(q, r)
		}
	}
	a, z := halves[0], halves[1]
	n := float64(a.n + z.n)
	_, err := fmt.Fprintf(b.out, "%-10s %-32s %-22s %6d %6.1f %% %6.1f %% %6.1f %% %6.1f %% %6.1f %% %8.1f %9.1f "+
		"%6.1f\n", snap.Info().KG, file, name, a.n+z.n,
		100*float64(a.inHits+z.inHits)/n, 100*float64(a.inGround+z.inGround)/n, 100*float64(a.inGround)/float64(a.n),
		100*float64(z.inGround)/float64(z.n),
		100*recall/n, float64(a.triples+z.triples)/n, float64(a.subjects+z.subjects)/n,
		float64(time.Since(start).Microseconds())/1000/n)
	return err
}

func (b *bench) printMiss(q draftedQuestion, r *ground.Result) {
	fmt.Fprintf(b.out, "missed %q of %q (half 2: %v): %q\n", q.Answers, q.pseudo, q.heldOut, q.Question)
	for _, e := range r.Subjects {
		fmt.Fprintf(b.out, "\t%.2f %s, %d facts\n", e.Confidence, e.Subject, len(e.Facts))
		for _, f := range e.Facts {
			fmt.Fprintf(b.out, "\t\t%.2f %s | %s | %s\n", f.Score, f.Subject, f.Relation, f.Object)
		}
	}
}

// recall returns the share of a question's answers that a ground graph names.
func (q question) recall(r *ground.Result) float64 {
	named := map[string]bool{}
	for _, e := range r.Subjects {
		for _, f := range e.Facts {
			named[store.Fold(f.Subject)], named[store.Fold(f.Object)] = true, true
		}
	}
	n := 0
	for _, a := range q.Answers {
		if named[store.Fold(a)] {
			n++
		}
	}
	return float64(n) / float64(max(len(q.Answers), 1))
}

func (q question) matchesFact(f ground.ScoredFact) bool {
	return q.isAnswer(f.Object) || q.isAnswer(f.Subject)
}

func runUntimed(ctx context.Context, _ string, do func(context.Context) (int, error)) error {
	_, err := do(ctx)
	return err
}
