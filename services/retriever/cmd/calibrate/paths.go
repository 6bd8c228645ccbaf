package main

import (
	"context"
	"fmt"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// paths measures SuggestPaths and FollowPaths on WebQSP with gold topic
// entities: how often an answer is among the path ends, and how many ends there
// are.
func paths(ctx context.Context, b *bench) error {
	snap, err := b.openToWalk(ctx, "freebase")
	if err != nil {
		return err
	}
	defer snap.Release()
	questions, err := b.questions("freebase/webqsp.jsonl", 150)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "WebQSP, %d questions, gold topic entities, no language model\n%8s %8s %10s %8s %8s\n",
		len(questions), "paths", "max ends", "answer in", "ends", "ms")
	for _, setting := range []struct{ limit, maxEnds int }{{1, 0}, {3, 0}, {5, 0}, {10, 0}, {10, 100}, {20, 100}, {20, 150}, {40, 100}} {
		found, ends := 0, 0
		start := time.Now()
		for _, q := range questions {
			hit, n, err := b.pathEnds(ctx, snap, q, setting.limit, setting.maxEnds)
			if err != nil {
				return err
			}
			if hit {
				found++
			}
			ends += n
		}
		n := float64(len(questions))
		fmt.Fprintf(b.out, "%8d %8d %8.1f %% %8.1f %8.1f\n", setting.limit, setting.maxEnds,
			100*float64(found)/n, float64(ends)/n, float64(time.Since(start).Milliseconds())/n)
	}
	return nil
}

// pathEnds suggests paths for a question, follows them, and says whether an
// answer is among the distinct ends and how many of these there are.
func (b *bench) pathEnds(ctx context.Context, snap store.Snapshot, q question, limit, maxEnds int) (hit bool, n int, err error) {
	var topics []store.EntityID
	for _, name := range q.TopicEntities {
		id, ok, err := snap.Entity(ctx, name)
		if err != nil {
			return false, 0, err
		}
		if ok {
			topics = append(topics, id)
		}
	}
	suggested, err := walk.Suggest(ctx, snap, b.encoder, walk.Ask{Question: q.Question, Topics: topics, MaxHops: 2, Limit: limit, MaxEnds: maxEnds})
	if err != nil {
		return false, 0, err
	}
	var plans []walk.Plan
	for _, s := range suggested {
		plans = append(plans, s.Plan)
	}
	walks, _, err := walk.Follow(ctx, snap, plans, walk.Limit{Walks: 100})
	if err != nil {
		return false, 0, err
	}
	ends := map[store.EntityID]bool{}
	for _, of := range walks {
		for _, w := range of {
			end := w.Entities[len(w.Entities)-1]
			ends[end] = true
			hit = hit || q.right(snap.EntityName(end))
		}
	}
	return hit, len(ends), nil
}
