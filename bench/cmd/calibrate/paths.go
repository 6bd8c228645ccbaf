package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// pathSet is a dataset to plan paths for.
type pathSet struct {
	name, triples, questions string
	parse                    func(line string) (question, error)
	// testSize is how many questions the test part has, hops the longest path.
	testSize, hops int
	// reachable leaves out questions none of whose answers is within hops.
	reachable bool
}

var pathSets = []pathSet{
	{"WebQSP", "freebase/triples.tsv.gz", "freebase/webqsp.jsonl", fromJSON, 300, 2, false},
	{"CWQ", "freebase/triples.tsv.gz", "freebase/cwq.jsonl", fromJSON, 200, 4, true},
	{"MetaQA 2-hop", "metaqa/triples.tsv.gz", "metaqa/qa_2-hop.txt", fromMetaQA, 300, 3, false},
	{"MetaQA 3-hop", "metaqa/triples.tsv.gz", "metaqa/qa_3-hop.txt", fromMetaQA, 300, 3, false},
	{"PathQuestion 2H", "pathquestion/2H-kb.tsv", "pathquestion/PQ-2H.txt", fromPathQuestion, 300, 3, false},
	{"PathQuestion 3H", "pathquestion/3H-kb.tsv", "pathquestion/PQ-3H.txt", fromPathQuestion, 300, 3, false},
}

// paths measures SuggestPaths and FollowPaths with gold topic entities and no
// language model: how often an answer is among the first ends, in how many the
// first path or one of the first three leads to one, what share of the answers
// the ends hold, and how many ends there are.
func paths(ctx context.Context, b *bench) error {
	fmt.Fprintf(b.out, "%-16s %5s %5s %6s %9s %9s %11s %11s %13s %6s %8s\n",
		"questions", "n", "hops", "paths", "max ends", "answer in", "first path", "first three", "answers found",
		"ends", "p50 ms")
	for _, set := range pathSets {
		if b.kg != "" && !strings.HasPrefix(set.triples, b.kg) {
			continue
		}
		if err := b.pathSet(ctx, set); err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
	}
	return nil
}

func (b *bench) pathSet(ctx context.Context, set pathSet) error {
	kg, _, _ := strings.Cut(strings.ToLower(set.triples), ".")
	kg = strings.TrimSuffix(strings.ReplaceAll(kg, "/", "-"), "-triples") + "-walk"
	snap, err := b.load(ctx, set.triples, kg, load.RelationVectors)
	if err != nil {
		return err
	}
	defer snap.Release()
	all, err := b.readQuestions(set.questions, set.parse)
	if err != nil {
		return err
	}
	if set.reachable {
		if all, err = filterReachable(ctx, snap, all, set.hops); err != nil {
			return err
		}
	}
	questions := b.part(all, set.testSize)
	for _, setting := range []struct{ limit, maxEnds int }{{40, 60}, {10, 100}} {
		var sum pathMeasures
		var times []time.Duration
		for _, q := range questions {
			p, err := b.plan(ctx, snap, q, walk.SuggestRequest{Question: q.Question, MaxHops: set.hops,
				Limit:   setting.limit,
				MaxEnds: setting.maxEnds})
			if err != nil {
				return err
			}
			if b.verbose && p.first < 0 {
				fmt.Fprintf(b.out, "missed %q of %q: %q\n", q.Answers, q.TopicEntities, q.Question)
			}
			sum.add(p)
			times = append(times, p.duration)
		}
		slices.Sort(times)
		n := float64(len(questions))
		fmt.Fprintf(b.out, "%-16s %5d %5d %6d %9d %7.1f %% %9.1f %% %9.1f %% %11.1f %% %6.1f %8.1f\n",
			set.name, len(questions), set.hops, setting.limit, setting.maxEnds,
			100*float64(sum.answered)/n, 100*float64(sum.inFirst)/n, 100*float64(sum.inThree)/n, 100*sum.share/n,
			float64(sum.ends)/n,
			float64(times[len(times)/2].Microseconds())/1000)
	}
	return nil
}

// pathMeasures are the measures of the paths of a question, or their sums.
type pathMeasures struct {
	// first is the rank of the first path that leads to an answer, from 0; -1
	// if none does.
	first, ends                int
	share                      float64
	duration                   time.Duration
	answered, inFirst, inThree int
}

func (p *pathMeasures) add(q pathMeasures) {
	p.ends += q.ends
	p.share += q.share
	if q.first >= 0 {
		p.answered++
	}
	if q.first == 0 {
		p.inFirst++
	}
	if q.first >= 0 && q.first < 3 {
		p.inThree++
	}
}

// plan suggests paths for a question and follows them. Its words are encoded
// beforehand, so that the time is that of a question asked before.
func (b *bench) plan(ctx context.Context, snap store.Snapshot, q question,
	ask walk.SuggestRequest) (pathMeasures, error) {
	var err error
	if ask.Topics, err = topics(ctx, snap, q); err != nil {
		return pathMeasures{}, err
	}
	if _, err := walk.Suggest(ctx, snap, b.encoder, ask); err != nil {
		return pathMeasures{}, err
	}
	began := time.Now()
	suggested, err := walk.Suggest(ctx, snap, b.encoder, ask)
	if err != nil {
		return pathMeasures{}, err
	}
	p := pathMeasures{first: -1, duration: time.Since(began)}
	var plans []walk.Plan
	for _, s := range suggested {
		plans = append(plans, s.Plan)
	}
	walks, _, err := walk.Follow(ctx, snap, plans, walk.Limit{Walks: 1 << 16})
	if err != nil {
		return pathMeasures{}, err
	}
	ends, found := map[store.EntityID]bool{}, map[string]bool{}
	for rank, group := range walks {
		for _, w := range group {
			end := w.Entities[len(w.Entities)-1]
			if ends[end] || len(ends) == ask.MaxEnds {
				continue
			}
			ends[end] = true
			name := snap.EntityName(end)
			if !q.isAnswer(name) {
				continue
			}
			found[store.Fold(name)] = true
			if p.first < 0 {
				p.first = rank
			}
		}
	}
	p.ends, p.share = len(ends), min(1, float64(len(found))/float64(len(q.Answers)))
	return p, nil
}

func topics(ctx context.Context, snap store.Snapshot, q question) ([]store.EntityID, error) {
	var topics []store.EntityID
	for _, name := range q.TopicEntities {
		id, ok, err := snap.Entity(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			topics = append(topics, id)
		}
	}
	return topics, nil
}

// filterReachable keeps the questions with an answer within some hops of a topic
// entity, whichever way.
func filterReachable(ctx context.Context, snap store.Snapshot, all []question, hops int) ([]question, error) {
	var kept []question
	for _, q := range all {
		reached, err := topics(ctx, snap, q)
		if err != nil {
			return nil, err
		}
		seen, found := map[store.EntityID]bool{}, false
		for hop := 0; hop < hops && !found; hop++ {
			var next []store.EntityID
			for _, dir := range []store.Direction{store.Out, store.In} {
				lists, err := snap.Edges(ctx, reached, dir, nil)
				if err != nil {
					return nil, err
				}
				for _, edges := range lists {
					for _, e := range edges {
						if !seen[e.Entity] {
							seen[e.Entity] = true
							next = append(next, e.Entity)
							found = found || q.isAnswer(snap.EntityName(e.Entity))
						}
					}
				}
			}
			reached = next
		}
		if found {
			kept = append(kept, q)
		}
	}
	return kept, nil
}
