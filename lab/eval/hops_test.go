package eval

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// fakeFinder joins any two entities by walks of the lengths that it is given.
type fakeFinder struct {
	lengths   []int
	truncated bool
	err       error
	asked     []*retrieverv1.FindShortestPathsRequest
}

func (f *fakeFinder) FindShortestPaths(_ context.Context, in *retrieverv1.FindShortestPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.FindShortestPathsResponse, error) {
	f.asked = append(f.asked, in)
	if f.err != nil {
		return nil, f.err
	}
	out := &retrieverv1.FindShortestPathsResponse{Truncated: f.truncated}
	for _, n := range f.lengths {
		out.Paths = append(out.Paths, &graphv1.ReasoningPath{Steps: make([]*graphv1.RelationStep, n)})
	}
	return out, nil
}

var asksSpain = dataset.Question{ID: "1", Question: "q?", Answers: []string{"Spain"}, Aliases: [][]string{{"España"}},
	TopicEntities: []string{"Madrid"}}

func TestHops(t *testing.T) {
	t.Parallel()
	onGraph := results.Manifest{KG: "wikidata", Snapshot: 3}
	given := asksSpain
	given.Hops = 2
	alone := asksSpain
	alone.TopicEntities = nil
	open := asksSpain
	open.Kind = dataset.Open
	for _, c := range []struct {
		name     string
		finder   *fakeFinder
		manifest results.Manifest
		question dataset.Question
		want     *int
		asked    int
	}{
		{"those of the shortest walk", &fakeFinder{lengths: []int{3, 2, 4}}, onGraph, asksSpain, new(2), 1},
		{"none where no walk joins them", &fakeFinder{}, onGraph, asksSpain, new(0), 1},
		{"open where the search was cut short", &fakeFinder{truncated: true}, onGraph, asksSpain, nil, 1},
		{"open where the retriever fails", &fakeFinder{err: status.Error(codes.Internal, "broken")}, onGraph,
			asksSpain, nil, 2},
		{"the dataset's own", &fakeFinder{lengths: []int{1}}, onGraph, given, new(2), 0},
		{"open without topic entities", &fakeFinder{lengths: []int{1}}, onGraph, alone, nil, 0},
		{"open without a knowledge graph", &fakeFinder{lengths: []int{1}}, results.Manifest{}, asksSpain, nil, 0},
		{"open for open questions", &fakeFinder{lengths: []int{1}}, onGraph, open, nil, 0},
		{"a retriever that does not know the call is asked once",
			&fakeFinder{err: status.Error(codes.Unimplemented, "no")}, onGraph, asksSpain, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHops(c.finder)
			for range 2 { // the second time it is known
				got := h.count(t.Context(), c.manifest, c.question)
				if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
					t.Fatalf("got %v, want %v", got, c.want)
				}
				if c.want == nil && c.asked == 1 && c.finder.truncated {
					return
				}
			}
			if len(c.finder.asked) != c.asked {
				t.Errorf("asked %d times, want %d", len(c.finder.asked), c.asked)
			}
		})
	}
}

func TestHopsAreAskedOfTheSnapshotAndByAllNames(t *testing.T) {
	t.Parallel()
	finder := &fakeFinder{}
	newHops(finder).count(t.Context(), results.Manifest{KG: "wikidata", Snapshot: 3}, asksSpain)
	request := finder.asked[0]
	if request.GetKg().GetSnapshot() != 3 || !slices.Equal(request.GetFrom(), []string{"Madrid"}) ||
		!slices.Equal(request.GetTo(), []string{"Spain", "España"}) {
		t.Errorf("asked %v", request)
	}
}

func TestHopsOfEarlierResultsAreNotAskedAgain(t *testing.T) {
	t.Parallel()
	finder := &fakeFinder{lengths: []int{1}}
	h := newHops(finder)
	m := results.Manifest{KG: "wikidata"}
	h.remember(m, results.Record{ID: "1", Hops: new(4)})
	h.remember(m, results.Record{ID: "2"})
	if got := h.count(t.Context(), m, asksSpain); got == nil || *got != 4 || len(finder.asked) != 0 {
		t.Errorf("got %v, asked %v", got, finder.asked)
	}
	other := results.Manifest{KG: "freebase"}
	if got := h.count(t.Context(), other, asksSpain); got == nil || *got != 1 {
		t.Errorf("in another knowledge graph: %v", got)
	}
}

func TestRunKeepsHopsWithTheRecord(t *testing.T) {
	t.Parallel()
	r := newRunner(t, &fakeAsker{}, "", asksSpain)
	r.hops = newHops(&fakeFinder{lengths: []int{2}})
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if record, _ := r.journal.Record("1"); record.Hops == nil || *record.Hops != 2 {
		t.Errorf("kept %+v", record)
	}
}
