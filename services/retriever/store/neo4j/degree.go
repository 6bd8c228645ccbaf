package neo4j

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// asked is the most nodes whose degrees one statement asks for.
const asked = 4000

// handedOut notes entities whose degrees may be wanted.
func (s *snapshot) handedOut(entities ...store.EntityID) {
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	for _, e := range entities {
		s.live.unasked[e] = true
	}
}

// Degree implements store.Walker. Whoever asks for one entity's mostly asks for
// all that it was given: these are asked for in the same statement.
func (s *snapshot) Degree(e store.EntityID, dir store.Direction) int {
	if degrees, ok := s.degreesOf(e); ok {
		return degrees[dir]
	}
	if err := s.askDegrees(s.ctx, e); err != nil {
		s.fail("count edges", err)
	}
	degrees, _ := s.degreesOf(e)
	return degrees[dir]
}

func (s *snapshot) degreesOf(e store.EntityID) ([2]int, bool) {
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	degrees, ok := s.live.degrees[e]
	return degrees, ok
}

// askDegrees learns the degrees of an entity and of others that were handed out.
func (s *snapshot) askDegrees(ctx context.Context, first store.EntityID) error {
	entities := []store.EntityID{first}
	s.live.mutex.Lock()
	delete(s.live.unasked, first)
	for e := range s.live.unasked {
		if len(entities) == asked {
			break
		}
		delete(s.live.unasked, e)
		if _, known := s.live.degrees[e]; !known {
			entities = append(entities, e)
		}
	}
	s.live.mutex.Unlock()
	learnt := make(map[store.EntityID][2]int, len(entities))
	var ids []int64
	for _, e := range entities {
		id, err := s.nodeOf(e)
		if err != nil {
			return err
		}
		if learnt[e] = [2]int{}; id != noNode {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		rows, err := s.graph.reader.read(ctx, s.graph.degrees(), s.graph.with(map[string]any{"ids": ids}))
		if err != nil {
			return err
		}
		for _, row := range rows {
			e, ok, err := s.entity(ctx, number(row[0]), row[1])
			if err != nil {
				return err
			}
			if _, wanted := learnt[e]; ok && wanted {
				learnt[e] = [2]int{store.Out: int(number(row[2])), store.In: int(number(row[3]))}
			}
		}
	}
	if s.graph.IncludeProperties {
		if err := s.addLiterals(ctx, entities, learnt); err != nil {
			return err
		}
	}
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	for e, degrees := range learnt {
		s.live.degrees[e] = degrees
	}
	return nil
}

// addLiterals counts edges to and from literals, as they were when the graph
// was indexed.
func (s *snapshot) addLiterals(ctx context.Context, entities []store.EntityID, degrees map[store.EntityID][2]int) error {
	entities = slices.DeleteFunc(entities, func(e store.EntityID) bool { return !s.known(e) })
	for _, e := range entities {
		for _, dir := range []store.Direction{store.Out, store.In} {
			counts, err := s.local.Relations(ctx, e, dir)
			if err != nil {
				return err
			}
			sum := degrees[e]
			for _, c := range counts {
				if s.literal(c.Relation) {
					sum[dir] += c.Edges
				}
			}
			degrees[e] = sum
		}
	}
	return nil
}
