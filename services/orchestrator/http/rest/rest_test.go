package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
)

func TestWhereARequestGoes(t *testing.T) {
	a := start(t)
	kg := func(name string, snapshot uint64) *graphv1.KnowledgeGraphRef {
		return &graphv1.KnowledgeGraphRef{Name: name, Snapshot: snapshot}
	}
	for _, test := range []struct {
		request, body string
		want          proto.Message
	}{
		{"GET /api/v1/kgs", "", &retrieverv1.ListKnowledgeGraphsRequest{}},
		{"GET /api/v1/kgs/plans", "", &retrieverv1.ListKnowledgeGraphsRequest{KgName: "plans"}},
		{"POST /api/v1/kgs/plans:activate", `{"snapshot": 7}`,
			&retrieverv1.ActivateSnapshotRequest{Kg: kg("plans", 7)}},
		{"POST /api/v1/kgs/plans:activate", `{"snapshot": "7", "name": "other"}`,
			&retrieverv1.ActivateSnapshotRequest{Kg: kg("plans", 7)}},
		{"POST /api/v1/kgs/plans:rollback", ``,
			&retrieverv1.RollbackKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "plans"}}},
		{"GET /api/v1/kgs/plans/rankers", "", &retrieverv1.ListRankersRequest{KgName: "plans"}},
		{"POST /api/v1/kgs/plans/rankers/7:activate", ``,
			&retrieverv1.ActivateRankerRequest{Kg: kg("plans", 0), Number: 7}},
		{"POST /api/v1/kgs/plans/rankers:rollback", ``, &retrieverv1.RollbackRankerRequest{Kg: kg("plans", 0)}},
		{"DELETE /api/v1/kgs/plans/rankers/7", "", &retrieverv1.DeleteRankerRequest{Kg: kg("plans", 0), Number: 7}},
		{"POST /api/v1/kgs/plans:compact?noActivate=true", ``, &retrieverv1.CompactSnapshotRequest{Kg: kg("plans", 0),
			NoActivate: true}},
		{"POST /api/v1/kgs:columns", `{"file": "towns.csv", "head": "dG93bixwZW9wbGUK", "separator": ";"}`,
			&retrieverv1.ProposeColumnsRequest{File: "towns.csv", Head: []byte("town,people\n"), Separator: ";"}},
		{"DELETE /api/v1/kgs/plans?snapshot=7", "", &retrieverv1.DropKnowledgeGraphRequest{Kg: kg("plans", 7)}},
		{"DELETE /api/v1/kgs/plans", "", &retrieverv1.DropKnowledgeGraphRequest{Kg: kg("plans", 0)}},
		{"POST /api/v1/kgs/plans:neighbours", `{"entity": "Ada", "relationsOnly": true}`,
			&retrieverv1.ListNeighboursRequest{Kg: kg("plans", 0), Entity: "Ada", RelationsOnly: true}},
		{"POST /api/v1/kgs/plans:neighbours", `{"entity": "Ada", "kg": {"snapshot": 2}}`,
			&retrieverv1.ListNeighboursRequest{Kg: kg("plans", 2), Entity: "Ada"}},
		{"POST /api/v1/kgs/plans:entities", `{"entities": ["Ada", "Q42"]}`,
			&retrieverv1.BatchGetEntitiesRequest{Kg: kg("plans", 0), Entities: []string{"Ada", "Q42"}}},
	} {
		t.Run(test.request, func(t *testing.T) {
			method, path, _ := strings.Cut(test.request, " ")
			resp, body := a.do(t, method, path, test.body)
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("got %d %s", resp.StatusCode, body)
			}
			if got, ok := once(t, a.asked).(proto.Message); !ok || !proto.Equal(got, test.want) {
				t.Errorf("it asks for\n%swant\n%s", prototext.Format(got), prototext.Format(test.want))
			}
		})
	}
}

func TestJSONIsThatOfProtobuf(t *testing.T) {
	_, body := start(t).do(t, http.MethodPost, "/api/v1/kgs/plans:neighbours", `{"entity": "Ada"}`)
	var got map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got["total"] != fmt.Sprint(1<<60) {
		t.Errorf("got %s, want what is set alone, and 64 bits as a string", body)
	}
}

func TestWhatCannotBe(t *testing.T) {
	a := start(t, func(c *web.Config) { c.MaxBodyBytes = 1000 })
	a.asking.ask = func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
		return &orchestratorv1.AskResponse{}, nil
	}
	for _, test := range []struct {
		name, request, body string
		headers             []string
		status              int
		field               string // of a violation
	}{
		{"no JSON", "POST /api/v1/ask", `{"question"`, nil, 400, ""},
		{"JSON with more behind it", "POST /api/v1/ask", `{"question":"why"}{}`, nil, 400, ""},
		{"another kind of JSON", "POST /api/v1/ask", `["why"]`, nil, 400, ""},
		{"a name with a typo", "POST /api/v1/ask", `{"quesion":"why"}`, nil, 400, ""},
		{"a name with a typo, for a stream", "POST /api/v1/ask:stream", `{"quesion":"why"}`, nil, 400, ""},
		{"a number for a text", "POST /api/v1/ask", `{"question":1}`, nil, 400, ""},
		{"nothing", "POST /api/v1/ask", ``, nil, 400, "question"},
		{"nothing, for a stream", "POST /api/v1/ask:stream", ``, nil, 400, "question"},
		{"a number that is too large", "POST /api/v1/ask", `{"question":"why","options":{"grounding":{"topK":5000}}}`,
			nil, 400, "options.grounding.topK"},
		{"the same, for a stream", "POST /api/v1/ask:stream",
			`{"question":"why","options":{"grounding":{"topK":5000}}}`, nil, 400, "options.grounding.topK"},
		{"another content type", "POST /api/v1/ask", `{"question":"why"}`, []string{"Content-Type: text/plain"}, 415,
			""},
		{"a content type that cannot be read", "POST /api/v1/ask", `{"question":"why"}`, []string{"Content-Type: ;"},
			415, ""},
		{"a body that is too large", "POST /api/v1/ask", strings.Repeat(" ", 1001), nil, 413, ""},
		{"another method", "PUT /api/v1/ask", `{"question":"why"}`, nil, 405, ""},
		{"another place", "GET /api/v1/nowhere", "", nil, 404, ""},
		{"another verb of a knowledge graph", "POST /api/v1/kgs/plans:eat", "", nil, 404, ""},
		{"a way out of the place", "GET /api/v1/runs/..%2f..%2fetc", "", nil, 404, ""},
		{"a parameter with a typo", "GET /api/v1/runs?pagesize=3", "", nil, 400, "pagesize"},
		{"a parameter that is given twice", "GET /api/v1/runs?pageSize=3&pageSize=4", "", nil, 400, "pageSize"},
		{"a parameter that is no number", "GET /api/v1/runs?pageSize=many", "", nil, 400, ""},
		{"a parameter that is too large", "GET /api/v1/runs?pageSize=2000", "", nil, 400, "pageSize"},
		{"a query that cannot be read", "GET /api/v1/runs?query=%zz", "", nil, 400, ""},
		{"a name that cannot be", "DELETE /api/v1/kgs/PLANS", "", nil, 400, "kg.name"},
		{"a file without its name", "POST /api/v1/kgs/plans:load", "a\tb\tc\n", nil, 400, "file"},
		{"columns of no file", "POST /api/v1/kgs:columns", `{"head": ""}`, nil, 400, "file"},
		{"a type without a heading", "POST /api/v1/kgs/plans:load?file=a.csv&columns.types==COLUMN_TYPE_DATE",
			"a,b\n", nil, 400, ""},
		{"a type that is none", "POST /api/v1/kgs/plans:load?file=a.csv&columns.types=a=date", "a,b\n", nil, 400, ""},
		{"a heading without its type", "POST /api/v1/kgs/plans:load?file=a.csv&columns.types=a", "a,b\n", nil, 400, ""},
		{"a mode that is none", "POST /api/v1/kgs/plans:load?file=a.tsv&mode=eat", "a\tb\tc\n", nil, 400, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, path, _ := strings.Cut(test.request, " ")
			resp, body := a.do(t, method, path, test.body, test.headers...)
			p := problemIn(t, resp, body)
			if resp.StatusCode != test.status || p.Detail == "" || p.RequestID == "" ||
				p.RequestID != resp.Header.Get("X-Request-Id") {
				t.Errorf("got %d %s", resp.StatusCode, body)
			}
			if (test.field != "") != (len(p.Violations) > 0) || test.field != "" &&
				p.Violations[0].Field != test.field {
				t.Errorf("the violations are %v, want one of %q", p.Violations, test.field)
			}
			if test.status == http.StatusMethodNotAllowed && resp.Header.Get("Allow") != "POST" {
				t.Errorf("it is told that %q is allowed", resp.Header.Get("Allow"))
			}
		})
	}
}

func TestErrorsOfTheMesh(t *testing.T) {
	a := start(t)
	st, err := status.New(codes.ResourceExhausted,
		"busy").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(2e9)},
		&errdetails.ErrorInfo{Reason: "TOO_MANY_REQUESTS", Domain: "triplemesh"})
	if err != nil {
		t.Fatal(err)
	}
	a.asking.ask = func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
		return nil, st.Err()
	}
	resp, body := a.do(t, http.MethodPost, "/api/v1/ask", `{"question":"why"}`)
	if p := problemIn(t, resp, body); p.Status != 429 || p.Code != "RESOURCE_EXHAUSTED" ||
		p.Reason != "TOO_MANY_REQUESTS" || p.RetryAfter != 2 || resp.Header.Get("Retry-After") != "2" {
		t.Errorf("got %+v, %v", p, resp.Header)
	}
}

func TestNoHeaderBecomesMetadata(t *testing.T) {
	a := start(t)
	var came metadata.MD
	a.asking.ask = func(ctx context.Context, _ *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
		came, _ = metadata.FromIncomingContext(ctx)
		return &orchestratorv1.AskResponse{}, nil
	}
	resp, body := a.do(t, http.MethodPost, "/api/v1/ask", `{"question":"why"}`,
		"Authorization: Bearer abc", "Grpc-Metadata-X-Evil: 1", "Triplemesh-Subject: eve", "X-Forwarded-For: 1.2.3.4",
		"X-Request-Id: r-9")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("got %d %s", resp.StatusCode, body)
	}
	if got := came.Get("authorization"); len(got) != 1 || got[0] != "Bearer abc" {
		t.Errorf("the token came as %q", got)
	}
	if got := came.Get("x-request-id"); len(got) != 1 || got[0] != "r-9" {
		t.Errorf("the request's id came as %q", got)
	}
	for key := range came {
		if strings.Contains(key, "evil") || strings.Contains(key, "forwarded") ||
			strings.Contains(key, "grpcgateway") || key == "triplemesh-subject" {
			t.Errorf("%s came too", key)
		}
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, "Grpc") {
			t.Errorf("the answer has %s", name)
		}
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	a := start(t)
	resp, body := a.do(t, http.MethodGet, "/api/openapi.json", "")
	var d struct {
		OpenAPI string
		Paths   map[string]any
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil || d.OpenAPI == "" || d.Paths["/api/v1/ask:stream"] == nil {
		t.Errorf("got %d %.200s, %v", resp.StatusCode, body, err)
	}
	if again, _ := a.do(t, http.MethodGet, "/api/openapi.json", "", "If-None-Match: "+
		resp.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("what is known already is answered %d", again.StatusCode)
	}
}
