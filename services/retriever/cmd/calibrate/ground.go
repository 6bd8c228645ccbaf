package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// grounds measures GroundGraph: how often an answer is among the hits and in
// the ground graph, and how large that is. The pseudo-graphs are made without
// a language model: the topic entity, the question's other words as relation,
// and another question's answer as object.
func grounds(ctx context.Context, b *bench) error {
	fmt.Fprintf(b.out, "%-10s %-32s %-22s %6s %8s %8s %8s %9s\n", "kg", "questions", "options", "n", "hits", "ground", "triples", "subjects")
	for _, set := range []struct {
		kg, file string
		held     int
	}{
		{"wikidata", "wikidata/zsre.jsonl", 100}, {"wikidata", "multisource/webquestions.jsonl", 60},
		{"freebase", "multisource/webquestions.jsonl", 60}, {"freebase", "freebase/simplequestions.jsonl", 100},
	} {
		if b.kg != "" && b.kg != set.kg {
			continue
		}
		snap, err := b.open(ctx, set.kg)
		if err != nil {
			return err
		}
		questions, err := b.questions(set.file, set.held)
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

func (b *bench) ground(ctx context.Context, snap store.Snapshot, file string, questions []question, name string, options ground.Options) error {
	var inHits, inGround, triples, subjects int
	for i, q := range questions {
		pseudo := draft(q, questions[(i+1)%len(questions)])
		if b.misspell {
			for i := range pseudo {
				pseudo[i].Subject = misspelt(pseudo[i].Subject)
			}
		}
		r, err := ground.Ground(ctx, snap, b.encoder, untimed, q.Question, pseudo, options)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.Hits, q.answered) {
			inHits++
		}
		found := false
		for _, e := range r.Subjects {
			found = found || slices.ContainsFunc(e.Facts, q.answered)
			triples += len(e.Facts)
		}
		if found {
			inGround++
		} else if b.verbose {
			fmt.Fprintf(b.out, "missed %q of %q: %q\n", q.Answers, pseudo, q.Question)
			for _, e := range r.Subjects {
				fmt.Fprintf(b.out, "\t%.2f %s, %d facts\n", e.Confidence, e.Subject, len(e.Facts))
			}
		}
		subjects += len(r.Subjects)
	}
	n := float64(len(questions))
	_, err := fmt.Fprintf(b.out, "%-10s %-32s %-22s %6d %6.1f %% %6.1f %% %8.1f %9.1f\n", snap.Info().KG, file, name, len(questions),
		100*float64(inHits)/n, 100*float64(inGround)/n, float64(triples)/n, float64(subjects)/n)
	return err
}

func (q question) answered(f ground.Scored) bool { return q.right(f.Object) || q.right(f.Subject) }

// draft is a pseudo-graph as a model might write it that knows little.
func draft(q, other question) []ground.Fact {
	var pseudo []ground.Fact
	for _, topic := range q.TopicEntities[:min(len(q.TopicEntities), 2)] {
		var relation []string
		folded := " " + store.Fold(q.Question) + " "
		for word := range strings.FieldsSeq(strings.Replace(folded, " "+store.Fold(topic)+" ", " ", 1)) {
			if !strings.Contains(" what which who whom where when is was are were the a an of in to does do did s for how ", " "+word+" ") {
				relation = append(relation, word)
			}
		}
		relation = append(relation[:min(len(relation), 3)], "")
		pseudo = append(pseudo, ground.Fact{
			Subject: strings.ToLower(topic), Relation: strings.TrimSpace(strings.Join(relation, " ")), Object: other.Answers[0],
		})
	}
	return pseudo
}

// misspelt leaves out the letter in the middle.
func misspelt(name string) string {
	letters := []rune(name)
	return string(slices.Delete(letters, len(letters)/2, len(letters)/2+1))
}

func untimed(ctx context.Context, _ string, do func(context.Context) (int, error)) error {
	_, err := do(ctx)
	return err
}
