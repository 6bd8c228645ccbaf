package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// groundSet are questions over a knowledge graph.
type groundSet struct {
	kg, file string
	// pseudo is the file of the questions' pseudo-graphs.
	pseudo string
	// held is how many questions make up the test part.
	held int
}

var groundSets = []groundSet{
	{"wikidata", "wikidata/zsre.jsonl", "zsre.jsonl", 100}, {"wikidata", "multisource/webquestions.jsonl", "webq.jsonl", 60},
	{"freebase", "multisource/webquestions.jsonl", "webq.jsonl", 60}, {"freebase", "freebase/simplequestions.jsonl", "sq.jsonl", 100},
}

// grounds measures GroundGraph: how often an answer is among the hits and in
// the ground graph, and how large that is. The pseudo-graphs are those that a
// model wrote (-pseudo), or are made without one: the topic entity, the
// question's other words as relation, and another question's answer as object.
// The shares are of all questions and of each half, by the questions' ids:
// settings are chosen by the first half alone.
func grounds(ctx context.Context, b *bench) error {
	fmt.Fprintf(b.out, "%-10s %-32s %-22s %6s %8s %8s %8s %8s %8s %9s\n", "kg", "questions", "options", "n", "hits", "ground", "1st half", "2nd half", "triples", "subjects")
	for _, set := range groundSets {
		if b.kg != "" && b.kg != set.kg {
			continue
		}
		snap, err := b.open(ctx, set.kg)
		if err != nil {
			return err
		}
		questions, err := b.drafted(set)
		if err != nil {
			return err
		}
		options := settings()
		if b.verbose {
			options = options[1:2]
		}
		for _, options := range options {
			if err := b.ground(ctx, snap, set.file, questions, options.name, options.Options); err != nil {
				return err
			}
		}
		snap.Release()
	}
	return nil
}

type setting struct {
	name string
	ground.Options
}

// settings are the presets, and the default with one parameter changed.
func settings() []setting {
	all := []setting{{"paper", ground.Paper()}, {"default", ground.Default()}}
	for _, v := range []float32{0.45, 0.5, 0.6, 0.65} {
		o := ground.Default()
		o.MinConfidence = v
		all = append(all, setting{fmt.Sprintf("min confidence %.2f", v), o})
	}
	for _, v := range []float32{0, 0.05, 0.2, 0.3} {
		o := ground.Default()
		o.NamedBonus = v
		all = append(all, setting{fmt.Sprintf("named bonus %.2f", v), o})
	}
	for _, v := range []int{2, 3, 4, 10} {
		o := ground.Default()
		o.MaxSubjects = v
		all = append(all, setting{fmt.Sprintf("max subjects %d", v), o})
	}
	for _, v := range []int{12, 16, 30} {
		o := ground.Default()
		o.MaxFacts = v
		all = append(all, setting{fmt.Sprintf("max facts %d", v), o})
	}
	for _, v := range []int{3, 5, 20} {
		o := ground.Default()
		o.MaxList = v
		all = append(all, setting{fmt.Sprintf("max list %d", v), o})
	}
	return all
}

// tally counts over questions.
type tally struct{ n, inHits, inGround, triples, subjects int }

func (b *bench) ground(ctx context.Context, snap store.Snapshot, file string, questions []drafted, name string, options ground.Options) error {
	var halves [2]tally
	for _, q := range questions {
		r, err := ground.Ground(ctx, snap, b.encoder, untimed, q.Question, q.pseudo, options)
		if err != nil {
			return err
		}
		of := &halves[0]
		if q.held {
			of = &halves[1]
		}
		of.n++
		of.subjects += len(r.Subjects)
		if slices.ContainsFunc(r.Hits, q.answered) {
			of.inHits++
		}
		found := false
		for _, e := range r.Subjects {
			found = found || slices.ContainsFunc(e.Facts, q.answered)
			of.triples += len(e.Facts)
		}
		if found {
			of.inGround++
		} else if b.verbose {
			b.missed(q, r)
		}
	}
	a, z := halves[0], halves[1]
	n := float64(a.n + z.n)
	_, err := fmt.Fprintf(b.out, "%-10s %-32s %-22s %6d %6.1f %% %6.1f %% %6.1f %% %6.1f %% %8.1f %9.1f\n", snap.Info().KG, file, name, a.n+z.n,
		100*float64(a.inHits+z.inHits)/n, 100*float64(a.inGround+z.inGround)/n, 100*float64(a.inGround)/float64(a.n), 100*float64(z.inGround)/float64(z.n),
		float64(a.triples+z.triples)/n, float64(a.subjects+z.subjects)/n)
	return err
}

func (b *bench) missed(q drafted, r *ground.Result) {
	fmt.Fprintf(b.out, "missed %q of %q (half 2: %v): %q\n", q.Answers, q.pseudo, q.held, q.Question)
	for _, e := range r.Subjects {
		fmt.Fprintf(b.out, "\t%.2f %s, %d facts\n", e.Confidence, e.Subject, len(e.Facts))
		for _, f := range e.Facts {
			fmt.Fprintf(b.out, "\t\t%.2f %s | %s | %s\n", f.Score, f.Subject, f.Relation, f.Object)
		}
	}
}

func (q question) answered(f ground.Scored) bool { return q.right(f.Object) || q.right(f.Subject) }

func untimed(ctx context.Context, _ string, do func(context.Context) (int, error)) error {
	_, err := do(ctx)
	return err
}
