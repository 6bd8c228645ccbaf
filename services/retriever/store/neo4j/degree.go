package neo4j

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Degree implements store.Walker. An entity's degree is that of when it was
// indexed: degrees weigh entities against one another and keep hubs from being
// read, and are wanted for nearly every entity that is met, one by one. Asking
// Neo4j for each took 91 statements to link the entities of one question. Of a
// node that was not indexed Neo4j is asked.
func (s *snapshot) Degree(e store.EntityID, dir store.Direction) int {
	if s.known(e) {
		return s.local.Degree(e, dir)
	}
	degrees, err := s.degrees(s.ctx, e)
	if err != nil {
		s.fail("count edges", err)
	}
	return degrees[dir]
}

// degrees are those of a new node, out and in. All that were met since are asked
// for in the same statement: whoever wants one mostly wants them all.
func (s *snapshot) degrees(ctx context.Context, e store.EntityID) ([2]int, error) {
	s.live.mutex.Lock()
	known, ok := s.live.degrees[e]
	var ids []int64
	var asking []store.EntityID
	for i, met := range s.live.entities {
		at := store.EntityID(s.info.Entities + i)
		if _, asked := s.live.degrees[at]; !ok && !asked {
			s.live.degrees[at] = [2]int{}
			asking = append(asking, at)
			if met.node != noNode {
				ids = append(ids, met.node)
			}
		}
	}
	s.live.mutex.Unlock()
	if ok || len(ids) == 0 {
		return known, nil
	}
	rows, err := s.graph.reader.read(ctx, s.graph.statements.degrees(), s.graph.with(map[string]any{"ids": ids}))
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	if err != nil {
		for _, at := range asking {
			delete(s.live.degrees, at)
		}
		return known, err
	}
	for _, row := range rows {
		s.live.degrees[s.live.nodes[number(row[0])]] = [2]int{store.Out: int(number(row[1])), store.In: int(number(row[2]))}
	}
	return s.live.degrees[e], nil
}
