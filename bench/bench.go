// Package bench measures the retrieval engine beside its peers: the same data,
// in one run, taking turns, so that a busy machine is unfair to all alike. What
// it prints are times and, above all, ratios.
package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// Row is one contestant's result in one contest.
type Row struct {
	// Contest says what was measured, such as "1M vectors, 10 queries".
	Contest string `json:"contest"`
	// Name is the contestant: a part of the engine or a peer.
	Name string `json:"name"`
	// Value is the best of all rounds, Median that of the middle one, in Unit.
	Value  float64 `json:"value"`
	Median float64 `json:"median"`
	Unit   string  `json:"unit"`
	// Ratio is how many times better the contest's first engine row is than
	// this row, from the best of both; 0 if there is nothing to compare.
	Ratio float64 `json:"ratio,omitempty"`
	// Recall is the share of the true best hits that were found, counted with
	// ties; 0 if it has no meaning.
	Recall float64 `json:"recall,omitempty"`
	// Note says what else matters, such as how long an index took to build.
	Note string `json:"note,omitempty"`
}

// contestant is somebody who can be timed.
type contestant struct {
	name string
	note string
	// run does the work once and says how long it took: a peer knows its own
	// time better than we do.
	run func(ctx context.Context) (time.Duration, error)
	// recall is asked for after the rounds; nil for none.
	recall func() float64
}

// contest lets contestants take turns for some rounds. The first one is the
// engine, which the others are compared with.
func (b *bench) contest(ctx context.Context, title string, rounds int, contestants ...contestant) error {
	took := make([][]float64, len(contestants))
	for round := range rounds {
		for i, c := range contestants {
			b.tell(title, round*len(contestants)+i, rounds*len(contestants))
			best, err := c.turn(ctx)
			if err != nil {
				return fmt.Errorf("measure %s: %s: %w", title, c.name, err)
			}
			took[i] = append(took[i], float64(best)/float64(time.Millisecond))
		}
	}
	b.tell(title, rounds*len(contestants), rounds*len(contestants))
	first := slices.Min(took[0])
	for i, c := range contestants {
		slices.Sort(took[i])
		row := Row{Contest: title, Name: c.name, Value: took[i][0], Median: took[i][len(took[i])/2],
			Unit: "ms", Note: c.note}
		if i > 0 && first > 0 {
			row.Ratio = row.Value / first
		}
		if c.recall != nil {
			row.Recall = c.recall()
		}
		b.add(row)
	}
	return nil
}

// turnTime is how long a turn lasts at least: the threads of the previous one
// keep spinning for a while, and its own have to wake up.
const turnTime = 300 * time.Millisecond

// turn runs twice or more often and returns the best time but for the first.
func (c contestant) turn(ctx context.Context) (best time.Duration, err error) {
	began := time.Now()
	for n := 0; n < 2 || time.Since(began) < turnTime; n++ {
		took, err := c.run(ctx)
		if err != nil {
			return 0, err
		}
		if n == 1 || n > 1 && took < best {
			best = took
		}
	}
	return best, nil
}

// timed measures one run of the engine.
func timed(run func(ctx context.Context) error) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		err := run(ctx)
		return time.Since(began), err
	}
}

// bench is one run of the command.
type bench struct {
	Options
	work   string // a directory for generated files, removed at the end
	peers  *peers
	opened map[string]*engine // by encoder, once a measure needs them
	rows   []Row
	stderr io.Writer
}

func (b *bench) add(r Row) {
	b.rows = append(b.rows, r)
	b.progress("%s: %s %.3f %s", r.Contest, r.Name, r.Value, r.Unit)
}

func (b *bench) tell(contest string, done, of int) {
	if b.Turn != nil {
		b.Turn(contest, done, of)
	}
}

func (b *bench) progress(format string, args ...any) {
	if b.stderr != nil {
		fmt.Fprintf(b.stderr, format+"\n", args...)
	}
}
