package retriever

import (
	"fmt"
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// relationLine formats a count as "relation^ triples > onward".
func relationLine(c *retrieverv1.RelationCount) string {
	name := func(relation string, inverse bool) string {
		if inverse {
			return relation + "^"
		}
		return relation
	}
	line := fmt.Sprint(name(c.GetRelation(), c.GetInverse()), " ", c.GetTriples())
	for _, s := range c.GetOnward() {
		line += " > " + name(s.GetRelation(), s.GetInverse())
	}
	if c.GetOpaque() {
		line += " *"
	}
	return line
}

func TestNeighboursListEveryRelation(t *testing.T) {
	client := dial(t, rivers(), &storetest.WordEncoder{})
	mediated := dial(t, storetest.NewGraph(
		[3]string{"Reik", "held", "m.0off1"}, [3]string{"Reik", "held", "m.0off2"},
		[3]string{"m.0off1", "office", "Mayor"},
		[3]string{"Gudrun", "child", "Reik"},
	), &storetest.WordEncoder{})
	for _, c := range []struct {
		name      string
		client    retrieverv1.RetrieverServiceClient
		req       *retrieverv1.ListNeighboursRequest
		triples   int
		relations []string
		kind      graphv1.TermKind
	}{
		{"most triples first", client, &retrieverv1.ListNeighboursRequest{Entity: "Rhine", RelationsOnly: true}, 0,
			[]string{"country 2", "mouth 1", "tributary of^ 1"}, 0},
		{"with the triples too, whatever their limit", client, &retrieverv1.ListNeighboursRequest{Entity: "Rhine",
			Limit: 1}, 1, []string{"country 2", "mouth 1", "tributary of^ 1"}, 0},
		{"one direction", client, &retrieverv1.ListNeighboursRequest{Entity: "Rhine", RelationsOnly: true,
			Direction: retrieverv1.Direction_DIRECTION_IN}, 0, []string{"tributary of^ 1"}, 0},
		{"some relations", client, &retrieverv1.ListNeighboursRequest{Entity: "Rhine", RelationsOnly: true,
			Relations: []string{"mouth", "no such"}}, 0, []string{"mouth 1"}, 0},
		{"through mediators", mediated, &retrieverv1.ListNeighboursRequest{Entity: "Reik", RelationsOnly: true}, 0,
			[]string{"held 2 > office *", "child^ 1"}, 0},
		{"a mediator says that it is one", mediated, &retrieverv1.ListNeighboursRequest{Entity: "m.0off1",
			RelationsOnly: true}, 0, []string{"held^ 1", "office 1"}, graphv1.TermKind_TERM_KIND_MEDIATOR},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.req.Kg = kg
			resp, err := c.client.ListNeighbours(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			var total uint64
			for _, r := range resp.GetRelations() {
				got = append(got, relationLine(r))
				total += r.GetTriples()
			}
			if !slices.Equal(got, c.relations) || len(resp.GetTriples()) != c.triples {
				t.Errorf("got %q and %d triples, want %q and %d", got, len(resp.GetTriples()), c.relations, c.triples)
			}
			if resp.GetTotal() != total || resp.GetEntity().GetKind() != c.kind {
				t.Errorf("of %d triples in all, want %d; kind %v, want %v", resp.GetTotal(), total,
					resp.GetEntity().GetKind(), c.kind)
			}
		})
	}
}

func TestSampledEntitiesDependOnTheSeedAlone(t *testing.T) {
	client := dial(t, rivers(), storetest.HashEncoder(32))
	sample := func(limit uint32, seed uint64) []string {
		resp, err := client.SampleEntities(t.Context(),
			&retrieverv1.SampleEntitiesRequest{Kg: kg, Limit: limit, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range resp.GetEntities() {
			names = append(names, e.GetName())
		}
		slices.Sort(names)
		return names
	}
	all := sample(0, 1)
	if len(all) != 7 || len(slices.Compact(slices.Clone(all))) != 7 {
		t.Errorf("without a limit: %q", all)
	}
	seen := map[string]bool{}
	for seed := range uint64(50) {
		some := sample(2, seed)
		if again := sample(2, seed); len(some) != 2 || !slices.Equal(some, again) {
			t.Errorf("seed %d: %q, then %q", seed, some, again)
		}
		seen[some[0]], seen[some[1]] = true, true
	}
	if len(seen) != 7 {
		t.Errorf("only %v are ever chosen", seen)
	}
}
