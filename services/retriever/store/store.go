// Package store defines what retrieval needs from a knowledge graph, in small interfaces by
// capability. storetest is the conformance suite that every backend passes.
package store

import (
	"context"
	"iter"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// EntityID numbers an entity or literal within one open snapshot, from 0.
type EntityID uint32

// RelationID numbers a relation within one open snapshot, from 0.
type RelationID uint32

// TripleID numbers a triple within one open snapshot, from 0.
type TripleID uint32

// Triple is a fact by its numbers.
type Triple struct {
	Subject  EntityID
	Relation RelationID
	Object   EntityID
}

// Kind is the kind of thing that an EntityID stands for.
type Kind uint8

const (
	// Entity is a thing with a name.
	Entity Kind = iota
	// Mediator is a node that only joins the parts of one fact, such as Freebase's "m.0jst5_", a
	// statement node of Wikidata or a blank node. It is never an answer.
	Mediator
	// Text is any other literal.
	Text
	// Number is a literal without a unit: digits with "." and "e" as in XSD.
	Number
	// Quantity is a number and its unit: "82350 square kilometre".
	Quantity
	// Date is an ISO 8601 date or time of any precision.
	Date
)

// Validity is the time during which a triple holds: ISO 8601 dates of any
// precision, empty if unknown or open.
type Validity struct {
	Start, End string
}

// Hit is a triple found by vector search.
type Hit struct {
	Triple TripleID
	// Score is the cosine to the query, -1 to 1.
	Score float32
}

// RelationHit is a relation found by vector search.
type RelationHit struct {
	Relation RelationID
	// Score is the cosine to the query, -1 to 1.
	Score float32
}

// Direction is the direction in which an edge is followed.
type Direction uint8

const (
	// Out goes from subject to object.
	Out Direction = iota
	// In goes from object to subject.
	In
)

// Edge is one step from an entity.
type Edge struct {
	Relation RelationID
	// Entity is where the step leads.
	Entity EntityID
	Triple TripleID
}

// RelationEdges counts the edges of one relation.
type RelationEdges struct {
	Relation RelationID
	Edges    int
}

// Info describes a snapshot.
type Info struct {
	// KG is the knowledge graph's name, Number the snapshot's, from 1.
	KG     string
	Number uint64
	// Base is the number of the snapshot that this one is a delta of, 0 if it is whole.
	Base uint64
	// Encoder names the model that made the vectors, Dims their length. Both
	// are zero in a snapshot without vectors.
	Encoder string
	Dims    int
	// TripleVectors reports whether triples have vectors. Relations have them
	// wherever Dims is not 0.
	TripleVectors bool
	// Triples and Entities count those that the snapshot shows. In a delta the
	// numbers of those that were removed stay free, so that greater numbers than
	// these are in use; Entities and Edges lead to all. Relations are numbered
	// from 0 to Relations-1 everywhere; in a delta some may have no triple left.
	Triples, Entities, Relations int
	// Bytes is the size on disk.
	Bytes   int64
	Created time.Time
}

// Names turns numbers into names and back.
type Names interface {
	// EntityName returns an entity's name, a copy that outlives the snapshot.
	// The id must come from this snapshot.
	EntityName(EntityID) string
	// Kind says what an entity is. The id must come from this snapshot.
	Kind(EntityID) Kind
	// RelationName returns a relation's name, a copy that outlives the
	// snapshot. The id must come from this snapshot.
	RelationName(RelationID) string
	// EntityKey returns an entity's IRI or key in its source, its name if it has no other, and
	// nothing for literals: a copy that outlives the snapshot. The id must come from this snapshot.
	EntityKey(EntityID) string
	// EntityByKey finds an entity by its exact key, if that is not its name.
	EntityByKey(ctx context.Context, key string) (id EntityID, ok bool, err error)
	// Entity finds an entity by its exact name.
	Entity(ctx context.Context, name string) (id EntityID, ok bool, err error)
	// Relation finds a relation by its exact name.
	Relation(ctx context.Context, name string) (id RelationID, ok bool, err error)
	// RelationTriples counts the triples of a relation.
	RelationTriples(RelationID) int
	// Entities returns all entities that a triple names, in byte order of their names.
	Entities() iter.Seq[EntityID]
	// Match finds entities whose name or alias, folded by Fold, equals key, in
	// the order of their ids.
	Match(ctx context.Context, key string) ([]EntityID, error)
	// Fuzzy finds entities whose folded name or alias resembles key, most alike
	// first, then in the order of their ids, each once, with a similarity of at
	// least minSimilarity (0 to 1, by spelling or by the words in common).
	Fuzzy(ctx context.Context, key string, minSimilarity float32, limit int) ([]NameMatch, error)
}

// KeyOrName returns what EntityKey does for an entity whose own key may be empty.
func KeyOrName(ownKey string, kind Kind, name func() string) string {
	if ownKey != "" || kind > Mediator {
		return ownKey
	}
	return name()
}

// FindEntity finds an entity by its exact name or, if none has that, by its exact key.
func FindEntity(ctx context.Context, names Names, nameOrKey string) (EntityID, bool, error) {
	if id, ok, err := names.Entity(ctx, nameOrKey); ok || err != nil {
		return id, ok, err
	}
	return names.EntityByKey(ctx, nameOrKey)
}

// NameMatch is an entity whose name resembles a text.
type NameMatch struct {
	Entity EntityID
	// Similarity is 0 to 1.
	Similarity float32
}

// Facts reads triples by number.
type Facts interface {
	// Triple returns a triple. The id must come from this snapshot.
	Triple(TripleID) Triple
	// Validity returns when a triple holds; zero if the graph does not say.
	Validity(TripleID) Validity
	// Provenance returns where a triple comes from: a file and line, a named graph
	// or a statement. It is empty if the graph was loaded without.
	Provenance(TripleID) string
}

// Walker follows edges.
type Walker interface {
	// Edges lists the edges of each entity in one read, ordered by relation,
	// then by triple. relations limits them to some relations; nil means all.
	// The slices may share the snapshot's memory and must not be changed.
	Edges(ctx context.Context, entities []EntityID, dir Direction, relations []RelationID) ([][]Edge, error)
	// Degree counts an entity's edges in a direction.
	Degree(EntityID, Direction) int
	// Relations counts an entity's edges in a direction relation by relation, in the order of their
	// ids. A hub's edges are counted, not read, unless a delta removed some of them.
	Relations(ctx context.Context, entity EntityID, dir Direction) ([]RelationEdges, error)
	// Sample returns an entity's edges of one relation, by triple: all of them, or, if there are
	// more than most, about that many, spread evenly over them. No more than most are read.
	Sample(ctx context.Context, entity EntityID, dir Direction, relation RelationID, most int) ([]Edge, error)
}

// Searcher finds triples and relations by their vectors.
type Searcher interface {
	// SearchTriples returns the k triples nearest to each query vector, best
	// first; equal scores are in the order of their ids. Vectors have Info.Dims
	// components and length 1.
	// Only triples that filter matches are compared; a snapshot without
	// vectors answers ErrNoVectors.
	SearchTriples(ctx context.Context, queries [][]float32, k int, filter Filter) ([][]Hit, error)
	// ScoreTriples returns the cosine of each query to each triple: result[q][t].
	ScoreTriples(ctx context.Context, queries [][]float32, triples []TripleID) ([][]float32, error)
	// SearchRelations returns the k relations nearest to each query vector.
	SearchRelations(ctx context.Context, queries [][]float32, k int) ([][]RelationHit, error)
	// RelationVector returns a relation's vector, Info.Dims long, nil if that
	// is 0. It may share the snapshot's memory and must not be changed.
	RelationVector(RelationID) []float32
}

// Snapshot is one immutable build of a knowledge graph, open for reading by any number of
// goroutines. Slices it returns are valid until it is released; names are copies and stay.
//
// Checksums are verified when data is first read. On a mismatch, methods that return an error
// return ErrCorrupt and the others panic with a Fault, so they must be called within Guard.
type Snapshot interface {
	Info() Info
	Names
	Facts
	Walker
	Searcher
	// Release ends the use of the snapshot. Further calls do nothing.
	Release()
}

// Opener returns snapshots.
type Opener interface {
	// Open returns a snapshot; number 0 means the active one. The error is ErrNotFound or
	// ErrNoActive if there is none, ErrCorrupt if a file is missing or cut off, ErrFormat if a
	// newer program wrote it. The caller must Release what it got.
	Open(ctx context.Context, kg string, number uint64) (Snapshot, error)
}

// Tenants returns each tenant's knowledge graphs. Services hold Tenants and
// no Store, so that a knowledge graph can only be reached through its tenant.
type Tenants interface {
	// ForTenant returns the store of one tenant. No name in it can address another tenant's
	// knowledge graphs. The zero tenant is ErrInvalid.
	ForTenant(auth.Tenant) (Store, error)
}

// ForRequest returns the store of the tenant that made ctx's request.
func ForRequest(ctx context.Context, tenants Tenants) (Store, error) {
	id, err := auth.TenantFrom(ctx)
	if err != nil {
		return nil, err
	}
	return tenants.ForTenant(id)
}
