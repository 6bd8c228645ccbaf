package tests

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/testkit"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// TestBodiesThatAreTooMuchAreRefusedAtEveryDoor: each refusal is a client error with a short
// message, and the next request is answered.
func TestBodiesThatAreTooMuchAreRefusedAtEveryDoor(t *testing.T) {
	m := start(t, options{model: scripted(t), http: true})
	deep := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	wide := strings.Repeat(`"x",`, 200_000)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := fmt.Fprintf(w, `{"question": "why", "method": "io", "pad": "%s"}`,
		strings.Repeat("x", 64<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	endpoints := map[string]string{
		"/api/v1/ask":          `{"question": "why", "method": "io", "kg": %s}`,
		"/v1/chat/completions": `{"model": "triplemesh/io", "messages": %s}`,
		"/mcp":                 `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": %s}`,
	}
	for path, shape := range endpoints {
		for _, c := range []struct {
			name, encoding string
			body           []byte
			status         []int
		}{
			{"objects in objects", "", fmt.Appendf(nil, shape, deep), []int{http.StatusBadRequest}},
			{"a list of the wrong things", "", fmt.Appendf(nil, shape, "["+wide+`"x"]`), []int{http.StatusBadRequest,
				http.StatusOK}}, // MCP reports it within an answer
			{"a body that is too large", "", fmt.Appendf(nil, shape, `"`+strings.Repeat("x", 2<<20)+`"`),
				[]int{http.StatusRequestEntityTooLarge}},
			{"a packed body", "gzip", packed.Bytes(), []int{http.StatusBadRequest, http.StatusUnsupportedMediaType}},
			{"half a body", "", fmt.Appendf(nil, shape, `[{"`), []int{http.StatusBadRequest}},
		} {
			t.Run(path+" with "+c.name, func(t *testing.T) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.mesh.URL()+path,
					bytes.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "application/json, text/event-stream")
				if c.encoding != "" {
					req.Header.Set("Content-Encoding", c.encoding)
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				respBody, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				ok := false
				for _, status := range c.status {
					ok = ok || resp.StatusCode == status
				}
				most := 4 << 10
				if path == "/mcp" { // the SDK echoes a body that it cannot parse
					most = 3 * len(c.body)
				}
				if !ok || len(respBody) > most || resp.StatusCode == http.StatusOK &&
					!bytes.Contains(respBody, []byte("error")) {
					t.Errorf("got %d and %d bytes: %.300s", resp.StatusCode, len(respBody), respBody)
				}
			})
		}
	}
	if run := m.ask(t, question("pg-akv")); names(run) != employer {
		t.Errorf("afterwards a question is answered %q", names(run))
	}
}

func TestRequestsThatAskForTooMuchAreInvalid(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	retriever := retrieverv1.NewRetrieverServiceClient(m.dial(t, "retriever"))
	many := func(n int) []string { return strings.Split(strings.Repeat("x\n", n-1)+"x", "\n") }
	kg := &graphv1.KnowledgeGraphRef{Name: wikidata}
	ask := func(change func(*orchestratorv1.AskRequest)) func() error {
		return func() error {
			req := question("pg-akv")
			change(req)
			_, err := m.orchestrator.Ask(timeoutContext(t, patience), req)
			return err
		}
	}
	paths := make([]*graphv1.RelationPath, 257)
	for i := range paths {
		paths[i] = &graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: "r"}}}
	}
	for name, c := range map[string]struct {
		call  func() error
		field string
	}{
		"topic entities": {ask(func(r *orchestratorv1.AskRequest) { r.TopicEntities = many(65) }),
			"topic_entities"},
		"turns of a conversation": {ask(func(r *orchestratorv1.AskRequest) {
			r.History = make([]*generatorv1.Turn, 65)
		}), "history"},
		"other knowledge graphs": {ask(func(r *orchestratorv1.AskRequest) {
			r.OtherKgs = make([]*graphv1.KnowledgeGraphRef, 8)
		}), "other_kgs"},
		"relation paths": {ask(func(r *orchestratorv1.AskRequest) { r.RelationPaths = paths[:65] }),
			"relation_paths"},
		"the name of a method": {ask(func(r *orchestratorv1.AskRequest) { r.Method = strings.Repeat("x", 65) }),
			"method"},
		"a text to check": {func() error {
			_, err := m.orchestrator.Check(timeoutContext(t, patience),
				&orchestratorv1.CheckRequest{Text: strings.Repeat("x", 65537), Kg: kg})
			return err
		}, "text"},
		"a passage": {func() error {
			_, err := m.orchestrator.ProposeTriples(timeoutContext(t, patience),
				&orchestratorv1.ProposeTriplesRequest{Text: strings.Repeat("x", 16385)})
			return err
		}, "text"},
		"words that runs are listed by": {func() error {
			_, err := m.orchestrator.ListRuns(timeoutContext(t, patience),
				&orchestratorv1.ListRunsRequest{Query: strings.Repeat("a ", 513)})
			return err
		}, "query"},
		"runs of a page": {func() error {
			_, err := m.orchestrator.ListRuns(timeoutContext(t, patience),
				&orchestratorv1.ListRunsRequest{PageSize: 1001})
			return err
		}, "page_size"},
		"paths to follow": {func() error {
			_, err := retriever.FollowPaths(timeoutContext(t, patience), &retrieverv1.FollowPathsRequest{Kg: kg,
				TopicEntities: []string{"x"}, Paths: paths})
			return err
		}, "paths"},
		"walks of a path": {func() error {
			_, err := retriever.FollowPaths(timeoutContext(t, patience), &retrieverv1.FollowPathsRequest{Kg: kg,
				TopicEntities: []string{"x"}, Paths: paths[:1], LimitPerPath: 10_001})
			return err
		}, "limit_per_path"},
		"hops to suggest": {func() error {
			_, err := retriever.SuggestPaths(timeoutContext(t, patience), &retrieverv1.SuggestPathsRequest{Kg: kg,
				Question: "?", TopicEntities: []string{"x"}, MaxHops: 5})
			return err
		}, "max_hops"},
		"hops between entities": {func() error {
			_, err := retriever.FindShortestPaths(timeoutContext(t, patience),
				&retrieverv1.FindShortestPathsRequest{Kg: kg,
					From: []string{"x"}, To: []string{"y"}, MaxHops: 5})
			return err
		}, "max_hops"},
		"queries of a search": {func() error {
			_, err := retriever.SearchTriples(timeoutContext(t, patience), &retrieverv1.SearchTriplesRequest{Kg: kg,
				Queries: many(257)})
			return err
		}, "queries"},
	} {
		t.Run(name, func(t *testing.T) { checkStatus(t, c.call(), codes.InvalidArgument, c.field) })
	}
}

// Names of knowledge graphs become directories and those of files labels: neither escapes the
// store.
func TestNamesLeadNowhere(t *testing.T) {
	m := start(t, options{data: t.TempDir(), model: scripted(t)})
	outside := filepath.Join(filepath.Dir(m.data), "outside")
	for _, name := range []string{"../outside", "..", ".", "a/b", `a\b`, "/tmp/outside", "a\x00b", "CURRENT/..",
		".hidden", "a\nb", "con:", strings.Repeat("x", 300)} {
		_, err := testkit.LoadTSV(timeoutContext(t, patience), m.graphs, name, []byte("a\tb\tc\n"), false)
		checkStatus(t, err, codes.InvalidArgument, "")
		_, err = m.graphs.DropKnowledgeGraph(timeoutContext(t, patience),
			&retrieverv1.DropKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: name}})
		checkStatus(t, err, codes.InvalidArgument, "")
	}
	for _, file := range []string{"../../outside.tsv", "/etc/passwd.tsv", "a\nlevel=ERROR msg=forged.tsv",
		"\x1b[2J.tsv"} {
		if _, err := testkit.Load(timeoutContext(t, patience), m.graphs,
			&retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: "named"}},
			&retrieverv1.FileHeader{Name: file}, []byte("a\tb\tc\n")); err != nil {
			t.Errorf("a file that calls itself %q: %v", file, err)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Errorf("%s was made", outside)
	}
	err := filepath.WalkDir(m.data, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(path, "passwd") || strings.Contains(path, "forged") {
			t.Errorf("%s was made", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
