package rest_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
)

// loaded is the data of one load.
type loaded struct {
	header *retrieverv1.LoadHeader
	file   *retrieverv1.FileHeader
	bytes  string
	err    error
}

// taking accepts a load, reports each chunk, and records the data.
func taking(to chan<- loaded) func(retrieverv1.KnowledgeGraphService_LoadKnowledgeGraphStreamServer) error {
	return func(stream retrieverv1.KnowledgeGraphService_LoadKnowledgeGraphStreamServer) error {
		var l loaded
		l.err = l.take(stream)
		to <- l
		if l.err != nil {
			return l.err
		}
		return stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{
			Event: &retrieverv1.LoadKnowledgeGraphStreamResponse_Result{
				Result: &retrieverv1.LoadKnowledgeGraphResponse{Lines: uint64(strings.Count(l.bytes, "\n"))}}})
	}
}

func (l *loaded) take(stream retrieverv1.KnowledgeGraphService_LoadKnowledgeGraphStreamServer) error {
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch part := req.GetRequest().GetPart().(type) {
		case *retrieverv1.LoadKnowledgeGraphRequest_Header:
			l.header = part.Header
		case *retrieverv1.LoadKnowledgeGraphRequest_File:
			l.file = part.File
		case *retrieverv1.LoadKnowledgeGraphRequest_Chunk:
			l.bytes += string(part.Chunk)
		}
		if err := stream.Send(&retrieverv1.LoadKnowledgeGraphStreamResponse{
			Event: &retrieverv1.LoadKnowledgeGraphStreamResponse_Progress{
				Progress: &retrieverv1.LoadProgress{Phase: retrieverv1.LoadPhase_LOAD_PHASE_READ,
					Done: uint64(len(l.bytes))},
			}}); err != nil {
			return err
		}
	}
}

func TestAFileIsLoaded(t *testing.T) {
	a := start(t, func(c *web.Config) { c.MaxBodyBytes = 10 }) // which is not for files
	came := make(chan loaded, 1)
	a.graphs.load = taking(came)
	facts := strings.Repeat("Velmora\triver\tTessen\n", 200_000) // several chunks
	resp := a.send(t, t.Context(), http.MethodPost,
		"/api/v1/kgs/plans:load?file=facts.csv&format=FORMAT_CSV&mode=LOAD_MODE_ADD&vectors=VECTORS_NONE"+
			"&strict=true&provenance=true&columns.subject=a&columns.separator=%09"+
			"&columns.types=b=COLUMN_TYPE_DATE&columns.types=c%3Dd=COLUMN_TYPE_SKIP"+
			"&columns.types=e=COLUMN_TYPE_ENTITY:row&columns.name=f&columns.furtherNames=g", facts,
		"Content-Type: text/csv")
	got := readEvents(resp.Body).collect()
	if len(got) < 2 || got[0].name != "progress" || got[len(got)-1].name != "result" ||
		!strings.Contains(got[len(got)-1].data, `"200000"`) {
		t.Errorf("got %q", got)
	}
	l := once(t, came)
	wantHeader := &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: "plans"}, Strict: true,
		Provenance: true,
		Mode:       retrieverv1.LoadMode_LOAD_MODE_ADD,
		Vectors:    retrieverv1.Vectors_VECTORS_NONE}
	wantFile := &retrieverv1.FileHeader{Name: "facts.csv", Format: retrieverv1.Format_FORMAT_CSV,
		Columns: &retrieverv1.Columns{Subject: "a", Separator: "\t", Name: "f", FurtherNames: []string{"g"},
			Types: []*retrieverv1.TypedColumn{
				{Heading: "b", Type: retrieverv1.ColumnType_COLUMN_TYPE_DATE},
				{Heading: "c=d", Type: retrieverv1.ColumnType_COLUMN_TYPE_SKIP},
				{Heading: "e", Type: retrieverv1.ColumnType_COLUMN_TYPE_ENTITY, Reference: "row"}}}}
	if !proto.Equal(l.header, wantHeader) || !proto.Equal(l.file, wantFile) || l.bytes != facts || l.err != nil {
		t.Errorf("%v, %v and %d bytes came, %v", l.header, l.file, len(l.bytes), l.err)
	}
}

func TestALoadThatIsRefused(t *testing.T) {
	a := start(t)
	a.graphs.load = func(retrieverv1.KnowledgeGraphService_LoadKnowledgeGraphStreamServer) error {
		return status.Error(codes.FailedPrecondition, "there is a load of it already")
	}
	resp, body := a.do(t, http.MethodPost, "/api/v1/kgs/plans:load?file=a.tsv", "a\tb\tc\n")
	if p := problemIn(t, resp, body); p.Status != 400 || p.Code != "FAILED_PRECONDITION" {
		t.Errorf("got %+v", p)
	}
	if !resp.Close {
		t.Error("what is left of the file would be the next request")
	}
}

func TestAFileThatIsTooLarge(t *testing.T) {
	a := start(t, func(c *web.Config) { c.MaxUploadBytes = 100 })
	came := make(chan loaded, 1)
	a.graphs.load = taking(came)
	t.Run("is refused before it comes where it says so", func(t *testing.T) {
		resp, body := a.do(t, http.MethodPost, "/api/v1/kgs/plans:load?file=a.tsv", strings.Repeat("x", 101))
		if p := problemIn(t, resp, body); p.Status != 413 {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("is no knowledge graph where it does not", func(t *testing.T) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+"/api/v1/kgs/plans:load?file=a.tsv",
			io.MultiReader(strings.NewReader(strings.Repeat("x", 101))))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(text), "at most 100 bytes") {
			t.Errorf("got %d %s, %v", resp.StatusCode, text, err)
		}
		if l := once(t, came); l.err == nil {
			t.Errorf("the load ended with %v, want it cancelled", l.err)
		}
	})
}

// TestTruncatedUpload checks that half a file never becomes a knowledge graph.
func TestTruncatedUpload(t *testing.T) {
	a := start(t)
	came := make(chan loaded, 1)
	a.graphs.load = taking(came)
	for name, head := range map[string]string{
		"of a length that was told": "Content-Length: 1000\r\n\r\nhalf a li",
		"in chunks":                 "Transfer-Encoding: chunked\r\n\r\n9\r\nhalf a li\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(conn, "POST /api/v1/kgs/plans:load?file=a.tsv HTTP/1.1\r\nHost: localhost\r\n%s",
				head); err != nil {
				t.Fatal(err)
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			if l := once(t, came); l.err == nil {
				t.Errorf("the load ended with %v, want it cancelled", l.err)
			}
		})
	}
}
