package walk

import (
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// trie holds plans with their common beginnings merged, level by level: the
// first steps, then all second ones, and so on.
type trie struct {
	nodes []node
	// roots is how many nodes are first steps.
	roots int
	// ends are the nodes of each plan's last step.
	ends []int32
}

// node is a step after all steps above it.
type node struct {
	step Step
	// parent is the node before it; -1 for a first step.
	parent int32
	// topics are where a first step may start.
	topics []store.EntityID
	// first and last delimit its part of a pass's arrivals.
	first, last int32
}

// grow fills an empty trie.
func (t *trie) grow(plans []Plan) {
	for range plans {
		t.ends = append(t.ends, -1)
	}
	for depth := 0; ; depth++ {
		level, grew := len(t.nodes), false
		for i, p := range plans {
			if depth >= len(p.Steps) {
				continue
			}
			grew = true
			at := t.find(level, t.ends[i], p.Steps[depth])
			if depth == 0 {
				t.nodes[at].add(p.Topics)
			}
			t.ends[i] = at
		}
		if !grew {
			return
		}
		if depth == 0 {
			t.roots = len(t.nodes)
		}
	}
}

// find returns the node of a step after a parent among those from level on; it
// adds one where there is none.
func (t *trie) find(level int, parent int32, step Step) int32 {
	for i := level; i < len(t.nodes); i++ {
		if n := &t.nodes[i]; n.parent == parent && n.step == step {
			return int32(i)
		}
	}
	t.nodes = append(t.nodes, node{step: step, parent: parent})
	return int32(len(t.nodes) - 1)
}

func (n *node) add(topics []store.EntityID) {
	if n.topics == nil && distinct(topics) {
		n.topics = topics[:len(topics):len(topics)]
		return
	}
	for _, t := range topics {
		if !slices.Contains(n.topics, t) {
			n.topics = append(n.topics, t)
		}
	}
}

func distinct(topics []store.EntityID) bool {
	for i, t := range topics {
		if slices.Contains(topics[:i], t) {
			return false
		}
	}
	return true
}

// level returns where the level after the one that ends at last ends.
func (t *trie) level(last int) int {
	end := last
	for end < len(t.nodes) && int(t.nodes[end].parent) < last {
		end++
	}
	return end
}
