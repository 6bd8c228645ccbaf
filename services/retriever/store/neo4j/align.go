package neo4j

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// pageIDs is how many ids one statement looks at.
const pageIDs = 50_000

// align finds the nodes of a snapshot's entities and what else its numbers stand
// for. The graph may have changed since it was read: an entity without a node
// has no edges.
func (g *graph) align(ctx context.Context, local store.Snapshot) ([]int64, indexed, error) {
	ids := make([]int64, local.Info().Entities)
	for i := range ids {
		ids[i] = noNode
	}
	found := 0
	if err := g.eachNode(ctx, func(id int64, name any) error {
		shown, err := neo4j.Node(id, name)
		if err != nil {
			return nil // Nor was it taken when the graph was read.
		}
		e, ok, err := entityAmong(ctx, local, shown)
		if ok && ids[e] == noNode {
			ids[e] = id
			found++
		}
		return err
	}); err != nil {
		return nil, indexed{}, err
	}
	if found == 0 {
		return nil, indexed{}, &Fault{code: codes.FailedPrecondition,
			text: fmt.Sprintf("Neo4j %s: no node has the name of an entity; check labels and name_property (%q)", shown(g.URI), g.NameProperty)}
	}
	x, err := g.words(ctx, local)
	return ids, x, err
}

// eachNode hands out all nodes by ranges of their ids.
func (g *graph) eachNode(ctx context.Context, take func(id int64, name any) error) error {
	rows, err := g.reader.read(ctx, lastNode, nil)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	last := number(rows[0][0])
	for from := int64(0); from <= last; from += pageIDs {
		rows, err := g.reader.read(ctx, g.page(), g.with(map[string]any{"from": from, "to": from + pageIDs - 1}))
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

// words finds the relations that are types or properties, and the entities that
// are labels.
func (g *graph) words(ctx context.Context, local store.Snapshot) (indexed, error) {
	x := indexed{Types: map[string]store.RelationID{}}
	if err := g.eachWord(ctx, allTypes, neo4j.Type, func(word string, shown neo4j.Shown) error {
		r, ok, err := relationAmong(ctx, local, shown)
		if ok {
			x.Types[word] = r
		}
		return err
	}); err != nil || !g.IncludeProperties {
		return x, err
	}
	x.Properties, x.Labels = map[string]store.RelationID{}, map[string]store.EntityID{}
	if err := g.eachWord(ctx, allKeys, neo4j.Property, func(word string, shown neo4j.Shown) error {
		r, ok, err := relationAmong(ctx, local, shown)
		if ok && word != g.NameProperty {
			x.Properties[word] = r
		}
		return err
	}); err != nil {
		return x, err
	}
	if r, ok, err := relationAmong(ctx, local, neo4j.LabelRelation()); err != nil {
		return x, err
	} else if ok {
		x.LabelRelation = &r
	}
	return x, g.eachWord(ctx, allLabel, neo4j.Label, func(word string, shown neo4j.Shown) error {
		e, ok, err := entityAmong(ctx, local, shown)
		if ok {
			x.Labels[word] = e
		}
		return err
	})
}

func (g *graph) eachWord(ctx context.Context, statement string, shownAs func(string) (neo4j.Shown, error), take func(string, neo4j.Shown) error) error {
	rows, err := g.reader.read(ctx, statement, nil)
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

// entityAmong finds what something of Neo4j is called in a snapshot.
func entityAmong(ctx context.Context, local store.Snapshot, shown neo4j.Shown) (store.EntityID, bool, error) {
	for _, name := range shown.Among() {
		if e, ok, err := local.Entity(ctx, name); ok || err != nil {
			return e, ok, err
		}
	}
	return 0, false, nil
}

func relationAmong(ctx context.Context, local store.Snapshot, shown neo4j.Shown) (store.RelationID, bool, error) {
	for _, name := range shown.Among() {
		if r, ok, err := local.Relation(ctx, name); ok || err != nil {
			return r, ok, err
		}
	}
	return 0, false, nil
}
