package retriever

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/paging"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// dialKnowledgeGraphs serves KnowledgeGraphs over an embedded store in dir on an in-memory
// connection.
func dialKnowledgeGraphs(t *testing.T) (client retrieverv1.KnowledgeGraphServiceClient, dir string) {
	dir = t.TempDir()
	graphs := embedded.NewTenants(dir)
	server := grpc.NewServer(
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo,
			handle grpc.UnaryHandler) (any, error) {
			return handle(auth.WithTenant(ctx, auth.DefaultTenant()), req)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo,
			handle grpc.StreamHandler) error {
			return handle(srv, ofTenant{stream, auth.DefaultTenant()})
		}),
	)
	NewKnowledgeGraphs(graphs, storetest.HashEncoder(32), t.TempDir()).Register(server)
	listener := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///memory",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := graphs.Close(); err != nil {
			t.Error(err)
		}
	})
	return retrieverv1.NewKnowledgeGraphServiceClient(conn), dir
}

// ofTenant is a stream of a tenant.
type ofTenant struct {
	grpc.ServerStream
	id auth.Tenant
}

func (s ofTenant) Context() context.Context { return auth.WithTenant(s.ServerStream.Context(), s.id) }

func header(kg string, strict, noActivate bool) *retrieverv1.LoadKnowledgeGraphRequest {
	return &retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{
		Header: &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: kg},
			Strict: strict, NoActivate: noActivate}}}
}

func file(name string) *retrieverv1.LoadKnowledgeGraphRequest {
	return &retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_File{
		File: &retrieverv1.FileHeader{Name: name}}}
}

func chunk(data string) *retrieverv1.LoadKnowledgeGraphRequest {
	return &retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{
		Chunk: []byte(data)}}
}

func send(t *testing.T, client retrieverv1.KnowledgeGraphServiceClient,
	messages ...*retrieverv1.LoadKnowledgeGraphRequest) (*retrieverv1.LoadKnowledgeGraphResponse, error) {
	t.Helper()
	stream, err := client.LoadKnowledgeGraph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		// The server may have ended the stream already; its reason comes below.
		if err := stream.Send(m); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
	}
	return stream.CloseAndRecv()
}

func ref(kg string, number uint64) *graphv1.KnowledgeGraphRef {
	return &graphv1.KnowledgeGraphRef{Name: kg, Snapshot: number}
}

func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLoadReadsSeveralFilesInChunks(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	packed := zip(t, "Rome\tcapital of\tItaly\nRome\tcapital of\n")
	res, err := send(t, client, header("world", false, false),
		file("a.tsv"), chunk("Paris\tcapi"), chunk("tal of\tFrance\nParis\tcapital of\tFrance\n"), chunk(""),
		file("empty.tsv"),
		file("b.tsv.gz"), chunk(packed[:7]), chunk(packed[7:]),
		file("c.nt"), chunk("<http://x/Lima> <http://x/capital_of> <http://x/Peru> ."))
	if err != nil {
		t.Fatal(err)
	}
	s := res.GetSnapshot()
	if s.GetKg().GetName() != "world" || s.GetKg().GetSnapshot() != 1 || s.GetTriples() != 3 || s.GetEntities() != 6 ||
		!s.GetActive() || s.GetEncoder() != "test-hash-32" || s.GetBytes() == 0 {
		t.Errorf("snapshot is %v", s)
	}
	if res.GetLines() != 5 || res.GetBadLines() != 1 || res.GetDuplicates() != 1 {
		t.Errorf("counts are %v", res)
	}
	if e := res.GetErrors(); len(e) != 1 || e[0].GetFile() != "b.tsv.gz" || e[0].GetLine() != 2 ||
		!strings.Contains(e[0].GetMessage(), "2 columns") {
		t.Errorf("errors are %v", e)
	}
}

func TestLoadRefuses(t *testing.T) {
	client, dir := dialKnowledgeGraphs(t)
	for name, c := range map[string]struct {
		messages []*retrieverv1.LoadKnowledgeGraphRequest
		says     string
	}{
		"an empty stream":         {nil, "want a header"},
		"a stream without header": {[]*retrieverv1.LoadKnowledgeGraphRequest{file("a.tsv")}, "no header"},
		"bytes before a file": {[]*retrieverv1.LoadKnowledgeGraphRequest{header("world", false, false),
			chunk("a\tb\tc\n")},
			"bytes before any file"},
		"a second header": {[]*retrieverv1.LoadKnowledgeGraphRequest{header("world", false, false), file("a.tsv"),
			header("world", false, false)}, "second header"},
		"an empty message": {[]*retrieverv1.LoadKnowledgeGraphRequest{{}}, "no header"},
		"no file": {[]*retrieverv1.LoadKnowledgeGraphRequest{header("world", false, false)},
			"nothing was read"},
		"bad lines only": {[]*retrieverv1.LoadKnowledgeGraphRequest{header("world", false, false), file("a.tsv"),
			chunk("x\n\xff\n")}, "a.tsv:1: 1 columns"},
		"a bad line, when strict": {[]*retrieverv1.LoadKnowledgeGraphRequest{header("world", true, false),
			file("a.tsv"),
			chunk("a\tb\tc\nx\ty\n")}, "a.tsv:2: 2 columns"},
		"a file of unknown format": {[]*retrieverv1.LoadKnowledgeGraphRequest{header("world", false, false),
			file("a.pdf")},
			"format cannot be told"},
		"a file that is no gzip": {[]*retrieverv1.LoadKnowledgeGraphRequest{header("world", false, false),
			file("a.tsv.gz"),
			chunk("a\tb\tc\n")}, "gzip"},
		"a gzip file that is cut": {[]*retrieverv1.LoadKnowledgeGraphRequest{header("world", false, false),
			file("a.tsv.gz"),
			chunk(zip(t, "a\tb\tc\n")[:20])}, "cut off"},
		"a name that leads elsewhere": {[]*retrieverv1.LoadKnowledgeGraphRequest{header("../up", false, false),
			file("a.tsv"),
			chunk("a\tb\tc\n")}, "a name is"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := send(t, client, c.messages...)
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want INVALID_ARGUMENT that says %q", err, c.says)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, error %v", left, err)
			}
		})
	}
}

func TestACancelledLoadLeavesNothing(t *testing.T) {
	client, dir := dialKnowledgeGraphs(t)
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := client.LoadKnowledgeGraph(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*retrieverv1.LoadKnowledgeGraphRequest{header("world", false, false), file("a.tsv"),
		chunk("a\tb\tc\n")} {
		if err := stream.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if _, err := stream.CloseAndRecv(); status.Code(err) != codes.Canceled {
		t.Errorf("error is %v", err)
	}
	// The next load waits until the first has ended.
	if _, err := send(t, client, header("other", false, false), file("a.tsv"), chunk("a\tb\tc\n")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "world")); !os.IsNotExist(err) {
		t.Errorf("the knowledge graph is there: %v", err)
	}
}

func TestActivateRollbackAndDrop(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	ctx := t.Context()
	for i, noActivate := range []bool{false, false, true} {
		res, err := send(t, client, header("world", false, noActivate), file("a.tsv"),
			chunk(strings.Repeat("a", i+1)+"\tis\tb\n"))
		if err != nil {
			t.Fatal(err)
		}
		if s := res.GetSnapshot(); s.GetKg().GetSnapshot() != uint64(i+1) || s.GetActive() == noActivate {
			t.Errorf("load %d: %v", i, s)
		}
	}
	active := func(doing string, want uint64, of int) {
		t.Helper()
		res, err := client.ListKnowledgeGraphs(ctx, &retrieverv1.ListKnowledgeGraphsRequest{KgName: "world"})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.GetSnapshots()) != of {
			t.Errorf("%s: %d snapshots, want %d", doing, len(res.GetSnapshots()), of)
		}
		for _, s := range res.GetSnapshots() {
			if s.GetActive() != (s.GetKg().GetSnapshot() == want) {
				t.Errorf("%s: snapshot %d is active: %v; want %d", doing, s.GetKg().GetSnapshot(), s.GetActive(), want)
			}
		}
	}
	active("after the loads", 2, 3)
	if res, err := client.ActivateSnapshot(ctx,
		&retrieverv1.ActivateSnapshotRequest{Kg: ref("world", 3)}); err != nil ||
		res.GetSnapshot().GetKg().GetSnapshot() != 3 || !res.GetSnapshot().GetActive() {
		t.Errorf("activate: %v, error %v", res, err)
	}
	active("after activating 3", 3, 3)
	if res, err := client.RollbackKnowledgeGraph(ctx,
		&retrieverv1.RollbackKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "world"}}); err != nil ||
		res.GetSnapshot().GetKg().GetSnapshot() != 2 {
		t.Errorf("roll back: %v, error %v", res, err)
	}
	active("after a rollback", 2, 3)
	if res, err := client.VerifySnapshot(ctx, &retrieverv1.VerifySnapshotRequest{Kg: ref("world", 0)}); err != nil ||
		!res.GetSnapshot().GetActive() || res.GetBytes() != res.GetSnapshot().GetBytes() {
		t.Errorf("verify: %v, error %v", res, err)
	}
	if res, err := client.DropKnowledgeGraph(ctx,
		&retrieverv1.DropKnowledgeGraphRequest{Kg: ref("world", 3)}); err != nil ||
		len(res.GetDropped()) != 1 || res.GetDropped()[0].GetSnapshot() != 3 {
		t.Errorf("drop 3: %v, error %v", res, err)
	}
	active("after dropping 3", 2, 2)
	if res, err := client.DropKnowledgeGraph(ctx,
		&retrieverv1.DropKnowledgeGraphRequest{Kg: ref("world", 0)}); err != nil ||
		len(res.GetDropped()) != 2 {
		t.Errorf("drop all: %v, error %v", res, err)
	}
	if res, err := client.ListKnowledgeGraphs(ctx, &retrieverv1.ListKnowledgeGraphsRequest{}); err != nil ||
		len(res.GetSnapshots()) != 0 {
		t.Errorf("list of nothing: %v, error %v", res, err)
	}
}

func TestListKnowledgeGraphsInPages(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	for _, kg := range []string{"world", "films", "world"} {
		if _, err := send(t, client, header(kg, false, false), file("a.tsv"), chunk("a\tis\tb\n")); err != nil {
			t.Fatal(err)
		}
	}
	var pages []int
	paged, err := paging.All(func(token string) ([]*retrieverv1.SnapshotInfo, string, error) {
		resp, err := client.ListKnowledgeGraphs(t.Context(), &retrieverv1.ListKnowledgeGraphsRequest{PageSize: 2,
			PageToken: token})
		pages = append(pages, len(resp.GetSnapshots()))
		return resp.GetSnapshots(), resp.GetNextPageToken(), err
	})
	var listed []string
	for _, s := range paged {
		listed = append(listed, fmt.Sprintf("%s@%d", s.GetKg().GetName(), s.GetKg().GetSnapshot()))
	}
	if want := []string{"films@1", "world@2", "world@1"}; err != nil || !slices.Equal(pages, []int{2, 1}) ||
		!slices.Equal(listed, want) {
		t.Errorf("pages of %v hold %q (%v), want %q", pages, listed, err, want)
	}
	_, err = client.ListKnowledgeGraphs(t.Context(), &retrieverv1.ListKnowledgeGraphsRequest{PageToken: "*"})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("a token of no page: %v, want InvalidArgument", err)
	}
}

func TestKnowledgeGraphErrorCodes(t *testing.T) {
	client, dir := dialKnowledgeGraphs(t)
	ctx := t.Context()
	if _, err := send(t, client, header("world", false, true), file("a.tsv"), chunk("a\tis\tb\n")); err != nil {
		t.Fatal(err)
	}
	activate := func(kg string, n uint64) error {
		_, err := client.ActivateSnapshot(ctx, &retrieverv1.ActivateSnapshotRequest{Kg: ref(kg, n)})
		return err
	}
	verify := func(kg string, n uint64) error {
		_, err := client.VerifySnapshot(ctx, &retrieverv1.VerifySnapshotRequest{Kg: ref(kg, n)})
		return err
	}
	drop := func(kg string, n uint64) error {
		_, err := client.DropKnowledgeGraph(ctx, &retrieverv1.DropKnowledgeGraphRequest{Kg: ref(kg, n)})
		return err
	}
	rollback := func(kg string) error {
		_, err := client.RollbackKnowledgeGraph(ctx,
			&retrieverv1.RollbackKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: kg}})
		return err
	}
	expect := func(doing string, err error, code codes.Code, reason string) {
		t.Helper()
		if status.Code(err) != code {
			t.Errorf("%s: got %v, want %v", doing, err, code)
			return
		}
		for _, d := range status.Convert(err).Details() {
			if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetReason() == reason &&
				info.GetDomain() == "triplemesh" {
				return
			}
		}
		t.Errorf("%s: %v has no ErrorInfo %s", doing, err, reason)
	}
	expect("verify what is not active", verify("world", 0), codes.FailedPrecondition, "KG_NO_ACTIVE_SNAPSHOT")
	expect("activate what is not there", activate("world", 7), codes.NotFound, "KG_NOT_FOUND")
	expect("activate no number", activate("world", 0), codes.InvalidArgument, "KG_INVALID")
	expect("drop what is not there", drop("nowhere", 0), codes.NotFound, "KG_NOT_FOUND")
	if err := activate("world", 1); err != nil {
		t.Fatal(err)
	}
	expect("roll back to nothing", rollback("world"), codes.FailedPrecondition, "KG_NO_PREVIOUS_SNAPSHOT")
	expect("drop what is active", drop("world", 1), codes.FailedPrecondition, "KG_SNAPSHOT_ACTIVE")
	if err := os.Truncate(filepath.Join(dir, "world", "1", "triples.objects"), 4); err != nil {
		t.Fatal(err)
	}
	expect("verify what is cut off", verify("world", 0), codes.DataLoss, "KG_CORRUPT")
	expect("activate what is cut off", activate("world", 1), codes.DataLoss, "KG_CORRUPT")
}
