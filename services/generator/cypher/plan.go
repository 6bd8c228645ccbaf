package cypher

// matchStep is one step of matching a pattern: look for a node, or follow a
// relationship from a node that is known to its other end.
type matchStep struct {
	rel     *relPattern // nil: a node alone
	from    *nodePattern
	to      *nodePattern
	reverse bool // followed against the reading direction
	known   bool // the node (to) has its value already
}

// plan orders the steps of a clause: paths that touch known nodes first, each
// path from its best known node outwards, so that a search never starts at
// all nodes where it could follow a relationship.
func plan(paths []*pathPattern) []matchStep {
	known := map[int]bool{}
	for _, path := range paths {
		for _, n := range path.nodes {
			if n.bound {
				known[n.slot] = true
			}
		}
	}
	var steps []matchStep
	left := append([]*pathPattern(nil), paths...)
	for len(left) > 0 {
		best, start, score := 0, 0, -1
		for i, path := range left {
			for j, n := range path.nodes {
				if s := nodeScore(n, known); s > score {
					best, start, score = i, j, s
				}
			}
		}
		steps = appendPath(steps, left[best], start, known)
		left = append(left[:best], left[best+1:]...)
	}
	return steps
}

// nodeScore says how good a node is to start from.
func nodeScore(n *nodePattern, known map[int]bool) int {
	switch {
	case known[n.slot]:
		return 3
	case n.props != nil && !n.late:
		return 2
	case len(n.labels) > 0:
		return 1
	}
	return 0
}

func appendPath(steps []matchStep, path *pathPattern, start int, known map[int]bool) []matchStep {
	add := func(s matchStep) {
		s.known = known[s.to.slot]
		known[s.to.slot] = true
		steps = append(steps, s)
	}
	add(matchStep{to: path.nodes[start]})
	for i := start; i < len(path.rels); i++ {
		add(matchStep{rel: path.rels[i], from: path.nodes[i], to: path.nodes[i+1]})
	}
	for i := start - 1; i >= 0; i-- {
		add(matchStep{rel: path.rels[i], from: path.nodes[i+1], to: path.nodes[i], reverse: true})
	}
	return steps
}
