package explore

import (
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func invert(steps []Step) []Step {
	out := make([]Step, len(steps))
	for i, s := range steps {
		out[len(steps)-1-i] = Step{s.Relation, !s.Inverse}
	}
	return out
}

func (s Step) direction() store.Direction {
	if s.Inverse {
		return store.In
	}
	return store.Out
}

// follow returns where steps lead from entities.
func (e *explorer) follow(from []store.EntityID, steps []Step) ([]store.EntityID, error) {
	for _, s := range steps {
		lists, err := e.snap.Edges(e.ctx, sample(from, domainSize), s.direction(), []store.RelationID{s.Relation})
		if err != nil {
			return nil, err
		}
		seen := map[store.EntityID]bool{}
		next := []store.EntityID{}
		for _, edges := range lists {
			for _, edge := range edges {
				if !seen[edge.Entity] && len(next) < domainSize {
					seen[edge.Entity] = true
					next = append(next, edge.Entity)
				}
			}
		}
		from = next
	}
	return from, nil
}

// subjects returns some entities that have a relation.
func (e *explorer) subjects(s Step) ([]store.EntityID, error) {
	err := e.findSubjects([]Step{s})
	return e.starts[s], err
}

// findSubjects looks for some entities that have each relation, in one pass over the entities.
func (e *explorer) findSubjects(steps []Step) error {
	open := map[store.Direction][]store.RelationID{}
	for _, s := range steps {
		if _, known := e.starts[s]; !known && !slices.Contains(open[s.direction()], s.Relation) {
			open[s.direction()] = append(open[s.direction()], s.Relation)
			e.starts[s] = []store.EntityID{}
		}
	}
	var chunk []store.EntityID
	flush := func() error {
		for dir, relations := range open {
			lists, err := e.snap.Edges(e.ctx, chunk, dir, relations)
			if err != nil {
				return err
			}
			for i, edges := range lists {
				for j, edge := range edges {
					s := Step{edge.Relation, dir == store.In}
					if (j == 0 || edges[j-1].Relation != edge.Relation) && len(e.starts[s]) < domainSize {
						e.starts[s] = append(e.starts[s], chunk[i])
					}
				}
			}
			open[dir] = slices.DeleteFunc(relations, func(r store.RelationID) bool {
				return len(e.starts[Step{r, dir == store.In}]) >= sampled*4
			})
			if len(open[dir]) == 0 {
				delete(open, dir)
			}
		}
		chunk = chunk[:0]
		return nil
	}
	looked := 0
	for id := range e.snap.Entities() {
		if len(open) == 0 || looked > 1_000_000 {
			break
		}
		looked++
		if chunk = append(chunk, id); len(chunk) == subjectChunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// subjectChunk is how many entities one read takes.
const subjectChunk = 4096
