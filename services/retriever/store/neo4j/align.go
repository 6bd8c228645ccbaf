package neo4j

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// pageIDs is the number of ids one statement looks at.
const pageIDs = 50_000

// align finds the nodes of a snapshot's entities and what else its numbers stand for. The graph may
// have changed since it was read: an entity without a node has no edges.
func (g *graph) align(ctx context.Context, local store.Snapshot) ([]int64, indexData, error) {
	ids := make([]int64, local.Info().Entities)
	for i := range ids {
		ids[i] = noNode
	}
	found := 0
	if err := g.eachNode(ctx, func(id int64, name any) error {
		shown, err := neo4j.NodeIdentity(id, name)
		if err != nil {
			return nil // Nor was it taken when the graph was read.
		}
		e, ok, err := findEntity(ctx, local, shown)
		if ok && ids[e] == noNode {
			ids[e] = id
			found++
		}
		return err
	}); err != nil {
		return nil, indexData{}, err
	}
	if found == 0 {
		return nil, indexData{}, &Fault{code: codes.FailedPrecondition,
			text: fmt.Sprintf("Neo4j %s: no node has the name of an entity; check labels and name_property (%q)",
				redactURL(g.URI), g.NameProperty)}
	}
	x, err := g.matchNames(ctx, local)
	return ids, x, err
}

// eachNode returns all nodes by ranges of their ids.
func (g *graph) eachNode(ctx context.Context, take func(id int64, name any) error) error {
	rows, err := g.reader.query(ctx, lastNode, nil)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	last := number(rows[0][0])
	for from := int64(0); from <= last; from += pageIDs {
		rows, err := g.reader.query(ctx, g.readNodes(),
			g.parameters(map[string]any{"from": from, "to": from + pageIDs - 1}))
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := take(number(row[0]), row[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// matchNames finds the relations that are types or properties, and the entities that are labels.
func (g *graph) matchNames(ctx context.Context, local store.Snapshot) (indexData, error) {
	x := indexData{Types: map[string]store.RelationID{}}
	if err := g.eachName(ctx, allTypes, neo4j.TypeIdentity, func(word string, shown neo4j.Identity) error {
		r, ok, err := findRelation(ctx, local, shown)
		if ok {
			x.Types[word] = r
		}
		return err
	}); err != nil || !g.IncludeProperties {
		return x, err
	}
	x.Properties, x.Labels = map[string]store.RelationID{}, map[string]store.EntityID{}
	if err := g.eachName(ctx, allKeys, neo4j.PropertyIdentity, func(word string, shown neo4j.Identity) error {
		r, ok, err := findRelation(ctx, local, shown)
		if ok && word != g.NameProperty {
			x.Properties[word] = r
		}
		return err
	}); err != nil {
		return x, err
	}
	if r, ok, err := findRelation(ctx, local, neo4j.LabelRelationIdentity()); err != nil {
		return x, err
	} else if ok {
		x.LabelRelation = &r
	}
	return x, g.eachName(ctx, allLabel, neo4j.LabelIdentity, func(word string, shown neo4j.Identity) error {
		e, ok, err := findEntity(ctx, local, shown)
		if ok {
			x.Labels[word] = e
		}
		return err
	})
}

func (g *graph) eachName(ctx context.Context, statement string, shownAs func(string) (neo4j.Identity, error),
	take func(string, neo4j.Identity) error) error {
	rows, err := g.reader.query(ctx, statement, nil)
	for _, row := range rows {
		shown, bad := shownAs(text(row[0]))
		if bad != nil {
			continue // Nor was it taken when the graph was read.
		}
		if err := take(text(row[0]), shown); err != nil {
			return err
		}
	}
	return err
}

// findEntity finds what something of Neo4j is called in a snapshot.
func findEntity(ctx context.Context, local store.Snapshot, shown neo4j.Identity) (store.EntityID, bool, error) {
	for _, name := range shown.PossibleNames() {
		if e, ok, err := local.Entity(ctx, name); ok || err != nil {
			return e, ok, err
		}
	}
	return 0, false, nil
}

func findRelation(ctx context.Context, local store.Snapshot, shown neo4j.Identity) (store.RelationID, bool, error) {
	for _, name := range shown.PossibleNames() {
		if r, ok, err := local.Relation(ctx, name); ok || err != nil {
			return r, ok, err
		}
	}
	return 0, false, nil
}
