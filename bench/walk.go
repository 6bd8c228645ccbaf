package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// plan is a relation path from a topic entity, each relation followed either
// way.
type plan struct {
	Question  string   `json:"question"`
	Topic     string   `json:"topic"`
	Relations []string `json:"relations"`
}

// walk follows the plans of all questions, a question at a time. What each
// question took is compared, not the sum alone: a few hubs outweigh all else.
func (b *bench) walk(ctx context.Context) error {
	if b.Plans == "" {
		return fmt.Errorf("%w: no file of plans is named: --plans FILE", errSkip)
	}
	plans, err := b.readPlans()
	if err != nil {
		return err
	}
	snap, err := b.loaded(ctx)
	if err != nil {
		return err
	}
	defer snap.Release()
	questions, err := numbered(ctx, snap, plans)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(questions, func(plans []walk.Plan) bool { return len(plans) > 0 }) {
		return fmt.Errorf("follow the plans of %s: none has a topic and relations of %s", b.Plans, b.Triples)
	}
	title := fmt.Sprintf("follow %d relation paths of %d questions", len(plans), len(questions))
	own, walks, err := b.follow(ctx, snap, questions)
	if err != nil {
		return err
	}
	b.addTimes(title, "triplemesh", own, own, fmt.Sprintf("%d walks", walks))
	if b.peers == nil {
		return nil
	}
	file, err := b.savePlans(plans)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name, script string
		open         map[string]any
	}{
		{"NetworkX", "walk", map[string]any{"open": b.Triples}},
		{"Neo4j", "neo4j_walk", map[string]any{"open": b.Triples, "uri": b.Neo4j}},
	} {
		if c.name == "Neo4j" && b.Neo4j == "" {
			b.progress("walk: Neo4j is left out: no server is named: --neo4j URI")
			continue
		}
		times, walks, version, err := b.followPeer(ctx, c.script, c.open, file)
		if err != nil {
			return err
		}
		b.addTimes(title, c.name, times, own, fmt.Sprintf("%s, %d walks", version, walks))
	}
	return nil
}

// readPlans reads the file of plans.
func (b *bench) readPlans() (plans []plan, err error) {
	err = jsonLines(b.Plans, func(p plan) bool {
		if p.Question != "" && p.Topic != "" && len(p.Relations) > 0 {
			plans = append(plans, p)
		}
		return true
	})
	if err == nil && len(plans) == 0 {
		err = fmt.Errorf(`read plans: %s has none; want lines {"question": …, "topic": …, "relations": […]}`, b.Plans)
	}
	return plans, err
}

// addTimes adds the rows of the times of single questions.
func (b *bench) addTimes(title, name string, times, own []float64, note string) {
	p50, average := middle(times), mean(times)
	row := Row{Contest: title, Name: name + ", a question", Value: average, Median: p50, Unit: "ms", Note: note +
		"; the value is the mean"}
	if name != "triplemesh" {
		row.Ratio = average / mean(own)
	}
	b.add(row)
}

func mean(times []float64) float64 {
	sum := 0.0
	for _, t := range times {
		sum += t
	}
	return sum / float64(max(len(times), 1))
}

func middle(times []float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// numbered turns plans into those of the engine, by question: a relation that
// is followed either way makes a plan for each way, which share their
// beginnings.
func numbered(ctx context.Context, snap store.Snapshot, plans []plan) ([][]walk.Plan, error) {
	byQuestion := map[string]int{}
	var questions [][]walk.Plan
	for _, p := range plans {
		at, there := byQuestion[p.Question]
		if !there {
			at = len(questions)
			byQuestion[p.Question] = at
			questions = append(questions, nil)
		}
		topic, known, err := snap.Entity(ctx, p.Topic)
		if err != nil {
			return nil, err
		}
		ways := [][]walk.Step{nil}
		for _, name := range p.Relations {
			relation, there, err := snap.Relation(ctx, name)
			if err != nil {
				return nil, err
			}
			known = known && there
			var longer [][]walk.Step
			for _, way := range ways {
				for _, inverse := range []bool{false, true} {
					longer = append(longer, append(slices.Clone(way), walk.Step{Relation: relation, Inverse: inverse}))
				}
			}
			ways = longer
		}
		if !known {
			continue
		}
		for _, way := range ways {
			questions[at] = append(questions[at], walk.Plan{Steps: way, Topics: []store.EntityID{topic}})
		}
	}
	return questions, nil
}

// unlimited asks for every walk.
var unlimited = walk.Limit{Walks: 1 << 20}

// follow times each question; the best of some rounds counts, as with peers.
func (b *bench) follow(ctx context.Context, snap store.Snapshot,
	questions [][]walk.Plan) (times []float64, walks int, err error) {
	for _, plans := range questions {
		best := 0.0
		found := 0
		for round := range b.Rounds {
			began := time.Now()
			lists, _, err := walk.Follow(ctx, snap, plans, unlimited)
			if err != nil {
				return nil, 0, err
			}
			took := float64(time.Since(began)) / float64(time.Millisecond)
			if round == 0 || took < best {
				best = took
			}
			found = 0
			for _, of := range lists {
				found += len(of)
			}
		}
		times, walks = append(times, best), walks+found
	}
	return times, walks, nil
}

func (b *bench) followPeer(ctx context.Context, script string, open map[string]any,
	plans string) (times []float64, walks int, version string, err error) {
	p, err := b.peers.start(ctx, script)
	if err != nil {
		return nil, 0, "", err
	}
	defer p.stop()
	b.progress("walk: %s reads the triples", script)
	opened, err := p.ask(open)
	if err != nil {
		return nil, 0, "", err
	}
	b.progress("walk: %s follows the plans", script)
	r, err := p.ask(map[string]any{"walk": plans, "repeat": b.Rounds})
	return r.MS, r.Walks, opened.Version, err
}

func (b *bench) savePlans(plans []plan) (string, error) {
	path := filepath.Join(b.work, "plans.jsonl")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	out := json.NewEncoder(f)
	for _, p := range plans {
		if err := out.Encode(p); err != nil {
			return "", err
		}
	}
	return path, f.Close()
}
