package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// linkSet are questions that linking is measured on.
type linkSet struct {
	kg, file string
	// testSize is how many questions are the test part.
	testSize int
	// requireTopic skips questions whose topic entities are not in the graph.
	requireTopic bool
}

var linkSets = []linkSet{
	{"freebase", "freebase/webqsp.jsonl", 150, false},
	{"freebase", "freebase/simplequestions.jsonl", 100, false},
	{"wikidata", "wikidata/zsre.jsonl", 100, false},
	{"wikidata", "wikidata/qald10.jsonl", 86, true},
	{"metaqa", "metaqa/qa_2-hop.txt", 200, false},
	{"metaqa", "metaqa/qa_3-hop.txt", 200, false},
}

// links measures LinkEntities: how often a topic entity is the first link, and
// among the first five. A question without a topic entity counts as missed.
func links(ctx context.Context, b *bench) error {
	fmt.Fprintf(b.out, "%-32s %6s %7s %9s %9s %9s %7s\n", "questions", "n", "known", "recall@1", "recall@5",
		"gathered", "p50 ms")
	return b.eachLinkSet(ctx, func(set linkSet, snap store.Snapshot, questions []question) error {
		var at1, at5, known, gathered int
		var times []time.Duration
		for _, q := range questions {
			// Encoded once before: the time is that of linking alone.
			candidates, err := link.Gather(ctx, snap, b.encoder, q.Question)
			if err != nil {
				return err
			}
			began := time.Now()
			found, err := link.Entities(ctx, snap, b.encoder, q.Question, 5)
			if err != nil {
				return err
			}
			times = append(times, time.Since(began))
			at := slices.IndexFunc(found, func(l link.Link) bool { return q.isTopic(snap, l) })
			count(&at1, at == 0)
			count(&at5, at >= 0)
			count(&known, q.inGraph(ctx, snap))
			count(&gathered, slices.ContainsFunc(candidates,
				func(c link.Candidate) bool { return q.isTopic(snap, c.Link) }))
			if b.verbose && at != 0 {
				fmt.Fprintf(b.out, "missed %q in %q:", q.TopicEntities, q.Question)
				for _, l := range found {
					fmt.Fprintf(b.out, " %s %.2f;", snap.EntityName(l.Entity), l.Score)
				}
				fmt.Fprintln(b.out)
			}
		}
		slices.Sort(times)
		percent := func(n int) float64 { return 100 * float64(n) / float64(len(questions)) }
		fmt.Fprintf(b.out, "%-32s %6d %6.1f%% %8.1f%% %8.1f%% %8.1f%% %7.2f\n", set.file, len(questions),
			percent(known), percent(at1), percent(at5), percent(gathered), 1000*times[len(times)/2].Seconds())
		return nil
	})
}

func count(n *int, that bool) {
	if that {
		*n++
	}
}

// eachLinkSet hands out the questions of each set with their graph.
func (b *bench) eachLinkSet(ctx context.Context, do func(linkSet, store.Snapshot, []question) error) error {
	for _, set := range linkSets {
		if b.kg != "" && b.kg != set.kg {
			continue
		}
		questions, err := b.linkQuestions(set)
		if err != nil {
			return err
		}
		snap, err := b.openToWalk(ctx, set.kg)
		if err != nil {
			return err
		}
		if set.requireTopic {
			questions = slices.DeleteFunc(questions, func(q question) bool { return !q.inGraph(ctx, snap) })
		}
		err = do(set, snap, questions)
		snap.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// linkQuestions reads a dataset: JSON lines, or MetaQA's lines with the topic
// entity in brackets.
func (b *bench) linkQuestions(set linkSet) ([]question, error) {
	if strings.HasSuffix(set.file, ".jsonl") {
		return b.questions(set.file, set.testSize)
	}
	text, err := os.ReadFile(filepath.Join(b.data, set.file))
	if err != nil {
		return nil, err
	}
	var all []question
	for line := range strings.Lines(string(text)) {
		prefix, _, _ := strings.Cut(line, "\t")
		before, rest, _ := strings.Cut(prefix, "[")
		topic, after, _ := strings.Cut(rest, "]")
		all = append(all, question{Question: before + topic + after, TopicEntities: []string{topic}})
	}
	held := min(set.testSize, len(all))
	if b.test {
		return all[:held], nil
	}
	return all[held:min(len(all), held+b.limit)], nil
}

// isTopic reports whether a link is one of the question's topic entities.
func (q question) isTopic(snap store.Names, l link.Link) bool {
	return slices.Contains(q.TopicEntities, snap.EntityName(l.Entity))
}

// inGraph reports whether a graph holds one of the question's topic entities.
func (q question) inGraph(ctx context.Context, snap store.Names) bool {
	return slices.ContainsFunc(q.TopicEntities, func(name string) bool {
		_, ok, err := snap.Entity(ctx, name)
		return ok && err == nil
	})
}
