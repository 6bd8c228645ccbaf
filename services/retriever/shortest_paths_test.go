package retriever

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestShortestPaths(t *testing.T) {
	g := rivers()
	client := dial(t, g, &storetest.WordEncoder{})
	resp, err := client.FindShortestPaths(t.Context(), &retrieverv1.FindShortestPathsRequest{
		Kg: kg, From: []string{"Main", "Nile"}, To: []string{"Berlin", "Rhine", "Nile", "Elbe"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range resp.GetPaths() {
		got = append(got, strings.Join(p.GetEntities(), " > "))
		if len(p.GetSteps()) != len(p.GetEntities())-1 {
			t.Errorf("%d steps for the entities %q", len(p.GetSteps()), p.GetEntities())
		}
	}
	if want := []string{"Main > Rhine", "Main > Rhine > Germany > Berlin"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{"Nile", "Elbe"}; !slices.Equal(resp.GetUnknownEntities(), want) {
		t.Errorf("unknown %q, want %q", resp.GetUnknownEntities(), want)
	}
	if resp.GetTruncated() || resp.GetKg().GetSnapshot() != 1 || g.Released != 1 {
		t.Errorf("truncated %v, snapshot %v, released %d times; want all walks of snapshot 1, released once",
			resp.GetTruncated(), resp.GetKg(), g.Released)
	}
}

func TestShortestPathsDefaultsAndLimits(t *testing.T) {
	var triples [][3]string
	for i := range 20 {
		stop := fmt.Sprint("stop ", i)
		triples = append(triples, [3]string{"a", "line", stop}, [3]string{stop, "line", "b"})
	}
	triples = append(triples, [3]string{"b", "line", "c"}, [3]string{"c", "line", "d"}, [3]string{"d", "line", "e"})
	client := dial(t, storetest.NewGraph(triples...), &storetest.WordEncoder{})
	tests := []struct {
		name  string
		req   *retrieverv1.FindShortestPathsRequest
		walks int
	}{
		{"sixteen walks a pair where the request does not say",
			&retrieverv1.FindShortestPathsRequest{To: []string{"b"}},
			16},
		{"as many as the request says", &retrieverv1.FindShortestPathsRequest{To: []string{"b"}, Limit: 20}, 20},
		{"four hops where the request does not say", &retrieverv1.FindShortestPathsRequest{To: []string{"d", "e"}}, 16},
		{"as few hops as the request says", &retrieverv1.FindShortestPathsRequest{To: []string{"d"}, MaxHops: 3}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Kg, tt.req.From = kg, []string{"a"}
			resp, err := client.FindShortestPaths(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			if len(resp.GetPaths()) != tt.walks {
				t.Errorf("%d walks, want %d", len(resp.GetPaths()), tt.walks)
			}
			if cut := tt.walks == 16; resp.GetTruncated() != cut {
				t.Errorf("truncated %v, want %v", resp.GetTruncated(), cut)
			}
		})
	}
}

func TestShortestPathsRefuseInvalidRequests(t *testing.T) {
	client := dial(t, rivers(), &storetest.WordEncoder{})
	for name, tt := range map[string]struct {
		req  *retrieverv1.FindShortestPathsRequest
		code codes.Code
	}{
		"no beginning": {&retrieverv1.FindShortestPathsRequest{Kg: kg, To: []string{"Rhine"}},
			codes.InvalidArgument},
		"more hops than can be": {&retrieverv1.FindShortestPathsRequest{Kg: kg, From: []string{"Main"},
			To: []string{"Rhine"}, MaxHops: 5}, codes.InvalidArgument},
		"a graph that is not there": {&retrieverv1.FindShortestPathsRequest{Kg: &graphv1.KnowledgeGraphRef{
			Name: "none"}, From: []string{"Main"}, To: []string{"Rhine"}}, codes.NotFound},
		"a snapshot that was not built": {&retrieverv1.FindShortestPathsRequest{
			Kg: &graphv1.KnowledgeGraphRef{Name: "test",
				Snapshot: 7}, From: []string{"Main"}, To: []string{"Rhine"}}, codes.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := client.FindShortestPaths(t.Context(), tt.req); status.Code(err) != tt.code {
				t.Errorf("got %v, want %v", err, tt.code)
			}
		})
	}
}
