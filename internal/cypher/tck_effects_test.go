package cypher_test

import (
	"fmt"
	"strconv"

	messages "github.com/cucumber/messages/go/v28"

	"github.com/triplemesh/triplemesh/internal/cypher"
)

// snapshot is what the kit counts side effects by: the sets of nodes,
// relationships, labels and property values of a graph.
type snapshot map[string]map[string]bool

func snapshotOf(g *cypher.Graph) snapshot {
	s := snapshot{"nodes": {}, "relationships": {}, "labels": {}, "properties": {}}
	properties := func(owner string, list []cypher.Property) {
		for _, p := range list {
			s["properties"][owner+" "+p.Key+" "+canonical(p.Value, false)] = true
		}
	}
	for _, n := range g.Nodes() {
		id := "n" + strconv.FormatInt(n.ID(), 10)
		s["nodes"][id] = true
		for _, l := range n.Labels() {
			s["labels"][l] = true
		}
		properties(id, n.Properties())
	}
	for _, r := range g.Relationships() {
		id := "r" + strconv.FormatInt(r.ID(), 10)
		s["relationships"][id] = true
		properties(id, r.Properties())
	}
	return s
}

// effects counts what came and what went, under the kit's names.
func effects(before, after snapshot) map[string]int {
	counts := map[string]int{}
	for what := range before {
		for x := range after[what] {
			if !before[what][x] {
				counts["+"+what]++
			}
		}
		for x := range before[what] {
			if !after[what][x] {
				counts["-"+what]++
			}
		}
	}
	return counts
}

func (w *world) expectEffects(table *messages.PickleTable) error {
	if w.err != nil {
		return w.err
	}
	want := map[string]int{}
	if table != nil {
		for _, row := range table.Rows {
			n, err := strconv.Atoi(row.Cells[1].Value)
			if err != nil {
				return err
			}
			want[row.Cells[0].Value] = n
		}
	}
	got := effects(w.before, snapshotOf(w.graph))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}
