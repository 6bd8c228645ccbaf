package neo4j

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// indexing bounds a statement that reads a page of the graph, which takes longer
// than one of a question.
const indexing = 5 * time.Minute

// checkNames says early that nothing has a name.
func (g *graph) checkNames(ctx context.Context) error {
	rows, err := g.reader.read(ctx, g.present(), g.fixed)
	if err != nil || len(rows) == 0 {
		return err
	}
	some, _ := rows[0][0].(bool)
	one, _ := rows[0][1].(bool)
	if some && one {
		return nil
	}
	what := fmt.Sprintf("no node has the property %q; check name_property", g.NameProperty)
	if !some {
		what = fmt.Sprintf("there is no node with one of the labels %q; check labels and database", g.Labels)
	}
	return &Fault{code: codes.FailedPrecondition, text: "Neo4j " + shown(g.URI) + ": " + what}
}

// looked is how many triples Verify looks up in Neo4j.
const looked = 200

// Verify implements store.Catalogue: it compares the checksums of the files, and
// looks up a sample of their triples in Neo4j. Where most are gone it is not the
// index of this graph any more.
func (s *Store) Verify(ctx context.Context, kg string, number uint64) (store.Info, int64, error) {
	info, bytes, err := s.local.Verify(ctx, kg, number)
	g := s.graphs[kg]
	if err != nil || g == nil {
		return info, bytes, err
	}
	opened, err := s.Open(ctx, kg, info.Number)
	if err != nil {
		return info, bytes, err
	}
	defer opened.Release()
	snap := opened.(*snapshot)
	n, err := snap.verify(ctx)
	bytes += n
	if err == nil {
		err = snap.lookUp(ctx)
	}
	return snap.Info(), bytes, wrap("verify", kg, info.Number, err)
}

func (s *snapshot) lookUp(ctx context.Context) error {
	var ids []store.TripleID
	n := min(looked, s.info.Triples)
	for i := range n {
		ids = append(ids, store.TripleID(i*s.info.Triples/n))
	}
	there, err := s.confirm(ctx, ids)
	if err != nil {
		return err
	}
	gone := 0
	for _, id := range ids {
		if !there[id] {
			gone++
		}
	}
	if 2*gone > n {
		return &Fault{code: codes.FailedPrecondition, text: fmt.Sprintf(
			"of %d triples that were looked up, Neo4j %s no longer holds %d; load the graph again", n, shown(s.graph.URI), gone)}
	}
	return nil
}
