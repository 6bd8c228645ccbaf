package method_test

import (
	"testing"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

func TestRagAnswersFromTheHitsTheBestNextToTheQuestion(t *testing.T) {
	mesh := stagetest.New(t)
	run, err := ask(t.Context(), t, mesh, askOptions{method: "rag"})
	if err != nil {
		t.Fatal(err)
	}
	if hits := run.GetRag().GetHits(); len(hits) != 2 || hits[0].GetTriple().GetObject() != stagetest.Director {
		t.Errorf("the hits are %v", hits)
	}
	req := stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh)[0]
	facts := req.GetFixedGraph().GetTriples()
	if req.GetStyle() != generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH || len(facts) != 2 ||
		facts[1].GetTriple().GetObject() != stagetest.Director {
		t.Fatalf("answered by %v", req)
	}
	for _, f := range facts {
		if f.GetStatus() != graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
			t.Errorf("%v is not marked as the knowledge graph's", f)
		}
	}
}

func TestRagSearchesAsItIsTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		opts  *retrieverv1.GroundingOptions
		limit uint32
		at    string
	}{
		{"ten triples unless told otherwise", nil, 10, ""},
		{"as many as asked for", &retrieverv1.GroundingOptions{TopK: new(uint32(3))}, 3, ""},
		{"of a date", &retrieverv1.GroundingOptions{Filter: &retrieverv1.Filter{At: "2005"}}, 10, "2005"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			if _, err := ask(t.Context(), t, mesh,
				askOptions{method: "rag", options: &orchestratorv1.AskOptions{Grounding: c.opts}}); err != nil {
				t.Fatal(err)
			}
			req := stagetest.Requests[*retrieverv1.SearchTriplesRequest](mesh)[0]
			if req.GetLimit() != c.limit || req.GetFilter().GetAt() != c.at || req.GetQueries()[0] != stagetest.Film ||
				req.GetKg().GetSnapshot() != 3 {
				t.Errorf("searched by %v", req)
			}
		})
	}
}
