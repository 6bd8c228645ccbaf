package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// countingEncoder counts the texts that are encoded.
type countingEncoder struct {
	ground.Encoder
	texts int
}

func (c *countingEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	c.texts += len(texts)
	return c.Encoder.Encode(ctx, texts)
}

// compareSubjectFirst measures subject-first retrieval against full vectorisation: of the
// questions whose answer is in the ground graph of the full search, the share
// that has it with candidates by name, and how many texts were encoded for that.
func compareSubjectFirst(ctx context.Context, b *bench) error {
	fmt.Fprintf(b.out, "%-10s %-32s %6s %8s %8s %8s %9s %9s %9s\n", "kg", "questions", "n", "full", "first", "kept",
		"1st half", "2nd half", "encoded")
	return b.eachGroundSet(ctx, func(set groundSet, snap store.Snapshot, questions []draftedQuestion) error {
		unvectored, err := b.openToWalk(ctx, set.kg)
		if err != nil {
			return err
		}
		var full, kept [2]int
		var found, most int
		texts := countingEncoder{Encoder: b.encoder}
		for _, q := range questions {
			half := 0
			if q.heldOut {
				half = 1
			}
			all, err := groundsAnswer(ctx, snap, b.encoder, q)
			if err != nil {
				return err
			}
			before := texts.texts
			some, err := groundsAnswer(ctx, unvectored, &texts, q)
			if err != nil {
				return err
			}
			most = max(most, texts.texts-before)
			if some {
				found++
			}
			if all {
				full[half]++
				if some {
					kept[half]++
				} else if b.verbose {
					fmt.Fprintf(b.out, "lost %q of %q (half 2: %v): %q\n", q.Answers, q.pseudo, q.heldOut, q.Question)
				}
			}
		}
		unvectored.Release()
		n := float64(len(questions))
		fmt.Fprintf(b.out, "%-10s %-32s %6d %6.1f %% %6.1f %% %6.1f %% %7.1f %% %7.1f %% %9.1f, %d at most\n", set.kg,
			set.file, len(questions),
			100*float64(full[0]+full[1])/n, 100*float64(found)/n, 100*float64(kept[0]+kept[1])/float64(full[0]+full[1]),
			100*float64(kept[0])/float64(full[0]), 100*float64(kept[1])/float64(full[1]), float64(texts.texts)/n, most)
		return nil
	})
}

// groundsAnswer reports whether an answer is in the ground graph.
func groundsAnswer(ctx context.Context, snap store.Snapshot, encoder ground.Encoder, q draftedQuestion) (bool, error) {
	r, err := ground.Ground(ctx, snap, encoder, runUntimed, q.Question, q.pseudo, ground.Default())
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(r.Subjects, func(e ground.Evidence) bool {
		return slices.ContainsFunc(e.Facts, q.matchesFact)
	}), nil
}
