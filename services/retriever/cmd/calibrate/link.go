package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/link"
)

// links measures LinkEntities: how often a topic entity is the first link, and
// among the first five.
func links(ctx context.Context, b *bench) error {
	fmt.Fprintf(b.out, "%-20s %6s %10s %10s\n", "questions", "n", "recall@1", "recall@5")
	for _, set := range []struct {
		kg, file string
		held     int
	}{{"freebase", "freebase/webqsp.jsonl", 150}, {"freebase", "freebase/simplequestions.jsonl", 100}, {"wikidata", "wikidata/zsre.jsonl", 100}} {
		snap, err := b.openToWalk(ctx, set.kg)
		if err != nil {
			return err
		}
		questions, err := b.questions(set.file, set.held)
		if err != nil {
			return err
		}
		var at1, at5 int
		for _, q := range questions {
			found, err := link.Entities(ctx, snap, q.Question, 5)
			if err != nil {
				return err
			}
			at := slices.IndexFunc(found, func(l link.Link) bool {
				return slices.Contains(q.TopicEntities, snap.EntityName(l.Entity))
			})
			if b.verbose && at != 0 {
				fmt.Fprintf(b.out, "missed %q in %q:", q.TopicEntities, q.Question)
				for _, l := range found {
					fmt.Fprintf(b.out, " %s %.2f;", snap.EntityName(l.Entity), l.Score)
				}
				fmt.Fprintln(b.out)
			}
			if at == 0 {
				at1++
			}
			if at >= 0 {
				at5++
			}
		}
		n := float64(len(questions))
		fmt.Fprintf(b.out, "%-20s %6d %8.1f %% %8.1f %%\n", set.file, len(questions), 100*float64(at1)/n, 100*float64(at5)/n)
		snap.Release()
	}
	return nil
}
