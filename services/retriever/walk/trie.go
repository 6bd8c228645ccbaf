package walk

import (
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// trie holds plans with common prefixes merged, level by level.
type trie struct {
	nodes []node
	// roots is the number of first steps.
	roots int
	// ends are the nodes of the plans' last steps.
	ends []int32
}

// node is a step after its parent's.
type node struct {
	step Step
	// parent is the index of the previous step; -1 for a first step.
	parent int32
	// topics are the starting entities of a first step.
	topics []store.EntityID
	// first and last delimit its range of the pass's arrivals.
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

// find returns the node of a step after a parent among those from level on, adding it if needed.
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
	if n.topics == nil && allDistinct(topics) {
		n.topics = topics[:len(topics):len(topics)]
		return
	}
	for _, t := range topics {
		if !slices.Contains(n.topics, t) {
			n.topics = append(n.topics, t)
		}
	}
}

func allDistinct(topics []store.EntityID) bool {
	for i, t := range topics {
		if slices.Contains(topics[:i], t) {
			return false
		}
	}
	return true
}

// levelEnd returns the end of the level that starts at last.
func (t *trie) levelEnd(last int) int {
	end := last
	for end < len(t.nodes) && int(t.nodes[end].parent) < last {
		end++
	}
	return end
}
