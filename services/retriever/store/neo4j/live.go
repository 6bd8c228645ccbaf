package neo4j

import (
	"context"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// liveState is what was met in Neo4j while a snapshot is open, numbered after what
// was indexed. It is forgotten when the snapshot is.
type liveState struct {
	mutex sync.Mutex
	// nodes are entities by the ids of their nodes, new and old.
	nodes map[int64]store.EntityID
	// entities are those that were not indexed; byName leads to them.
	entities []newEntity
	byName   map[string]store.EntityID
	// triples are those that were not indexed.
	triples []store.DatedTriple
	byFact  map[store.DatedTriple]store.TripleID
	// confirmed are indexed triples that Neo4j was seen to hold, or not to.
	confirmed map[store.TripleID]bool
	// degrees are those of entities, out and in.
	degrees map[store.EntityID][2]int
	// counts are edges by relation; matched are entities that were found by their names since.
	counts    map[entityDirection]map[store.RelationID]int
	uncounted map[store.EntityID]bool
}

// newEntity is a node, or a literal with the id noNode.
type newEntity struct {
	store.NamedEntity
	node int64
}

func newLive() liveState {
	return liveState{
		nodes: map[int64]store.EntityID{}, byName: map[string]store.EntityID{},
		byFact:    map[store.DatedTriple]store.TripleID{},
		confirmed: map[store.TripleID]bool{}, degrees: map[store.EntityID][2]int{},
		counts: map[entityDirection]map[store.RelationID]int{}, uncounted: map[store.EntityID]bool{},
	}
}

// entity is the one that a node is: the indexed one only if both its id and its name are as
// indexed. So a node that was renamed, or one that was given the id of another that was deleted, is
// a new entity. ok is false if a node has a name that no entity can have.
func (s *snapshot) entity(ctx context.Context, id int64, name any) (e store.EntityID, ok bool, err error) {
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	if e, ok := s.live.nodes[id]; ok {
		return e, true, nil
	}
	shown, err := neo4j.NodeIdentity(id, name)
	if err != nil {
		return 0, false, nil
	}
	among := shown.PossibleNames()
	// Nearly always the name alone is it.
	for i := len(among) - 1; i >= 0; i-- {
		e, ok, err := s.local.Entity(ctx, among[i])
		if err != nil {
			return 0, false, err
		}
		if !ok {
			continue
		}
		node, err := s.index.node(e)
		if err != nil {
			return 0, false, err
		}
		if node == id {
			s.live.nodes[id] = e
			return e, true, nil
		}
	}
	for i := len(among) - 1; i >= 0; i-- {
		free, err := s.isNameFree(ctx, among[i])
		if err != nil {
			return 0, false, err
		}
		if free || i == 0 {
			e := s.add(newEntity{store.NamedEntity{Name: among[i], Kind: shown.Kind, Key: shown.Key}, id})
			s.live.nodes[id] = e
			return e, true, nil
		}
	}
	return 0, false, nil
}

// isNameFree reports whether no entity has a name.
func (s *snapshot) isNameFree(ctx context.Context, name string) (bool, error) {
	if _, taken := s.live.byName[name]; taken {
		return false, nil
	}
	_, taken, err := s.local.Entity(ctx, name)
	return !taken, err
}

func (s *snapshot) add(e newEntity) store.EntityID {
	id := store.EntityID(s.info.Entities + len(s.live.entities))
	s.live.entities = append(s.live.entities, e)
	s.live.byName[e.Name] = id
	return id
}

func (s *snapshot) value(ctx context.Context, literal store.NamedEntity) (store.EntityID, error) {
	if e, ok, err := s.local.Entity(ctx, literal.Name); ok || err != nil {
		return e, err
	}
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	if e, ok := s.live.byName[literal.Name]; ok {
		return e, nil
	}
	return s.add(newEntity{literal, noNode}), nil
}

// newEntity is an entity that was not indexed.
func (s *snapshot) newEntity(e store.EntityID) newEntity {
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	return s.live.entities[int(e)-s.info.Entities]
}

// nodeOf is the id of an entity's node, noNode if it has none.
func (s *snapshot) nodeOf(e store.EntityID) (int64, error) {
	if s.isIndexed(e) {
		return s.index.node(e)
	}
	return s.newEntity(e).node, nil
}

// triple is the number of a fact that was not indexed. The caller holds the lock.
func (s *snapshot) triple(d store.DatedTriple) store.TripleID {
	if id, ok := s.live.byFact[d]; ok {
		return id
	}
	id := store.TripleID(s.info.Triples + len(s.live.triples))
	s.live.triples = append(s.live.triples, d)
	s.live.byFact[d] = id
	return id
}

// newTriple is a fact that was not indexed.
func (s *snapshot) newTriple(t store.TripleID) store.DatedTriple {
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	return s.live.triples[int(t)-s.info.Triples]
}
