package retriever

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// sendMode loads one TSV file in a mode.
func sendMode(t *testing.T, client retrieverv1.KnowledgeGraphServiceClient, mode retrieverv1.LoadMode,
	text string) (*retrieverv1.LoadKnowledgeGraphResponse, error) {
	t.Helper()
	h := header("mars", true, false)
	h.GetHeader().Mode = mode
	return send(t, client, h, file("a.tsv"), chunk(text))
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func differences(t *testing.T, client retrieverv1.KnowledgeGraphServiceClient, from, to uint64) []string {
	t.Helper()
	stream, err := client.DiffSnapshots(t.Context(), &retrieverv1.DiffSnapshotsRequest{Kg: ref("mars", to), From: from})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range message.GetDifferences() {
			sign := "-"
			if d.GetAdded() {
				sign = "+"
			}
			tr := d.GetTriple()
			lines = append(lines, strings.Join([]string{sign, tr.GetSubject(), tr.GetRelation(), tr.GetObject()}, " "))
		}
	}
}

func TestDeltasAddAndRemoveTriples(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	must[*retrieverv1.LoadKnowledgeGraphResponse](t)(sendMode(t, client, retrieverv1.LoadMode_LOAD_MODE_REPLACE,
		"Mars\tmoon\tPhobos\nMars\tcolour\tred\n"))
	added := must[*retrieverv1.LoadKnowledgeGraphResponse](t)(sendMode(t, client, retrieverv1.LoadMode_LOAD_MODE_ADD,
		"Mars\tmoon\tDeimos\nMars\tmoon\tPhobos\n"))
	if s := added.GetSnapshot(); s.GetTriples() != 3 || s.GetBase() != 1 || s.GetKg().GetSnapshot() != 2 ||
		!s.GetActive() {
		t.Errorf("after adding there is %v", s)
	}
	if added.GetDuplicates() != 1 {
		t.Errorf("%d duplicates, want the one that was there", added.GetDuplicates())
	}
	removed := must[*retrieverv1.LoadKnowledgeGraphResponse](t)(sendMode(t, client,
		retrieverv1.LoadMode_LOAD_MODE_REMOVE,
		"Mars\tcolour\tred\n"))
	if s := removed.GetSnapshot(); s.GetTriples() != 2 || s.GetBase() != 2 {
		t.Errorf("after removing there is %v", s)
	}
	if got, want := differences(t, client, 1, 3), []string{"- Mars colour red",
		"+ Mars moon Deimos"}; !slices.Equal(got, want) {
		t.Errorf("from 1 to 3: %q, want %q", got, want)
	}
	if got := differences(t, client, 3, 0); len(got) != 0 {
		t.Errorf("a snapshot differs from itself: %q", got)
	}
	compacted, err := client.CompactSnapshot(t.Context(), &retrieverv1.CompactSnapshotRequest{Kg: ref("mars", 0)})
	if s := compacted.GetSnapshot(); err != nil || s.GetKg().GetSnapshot() != 4 || s.GetBase() != 0 ||
		s.GetTriples() != 2 || !s.GetActive() {
		t.Errorf("compacted to %v, error %v", compacted, err)
	}
	if got := differences(t, client, 3, 4); len(got) != 0 {
		t.Errorf("compacting changed %q", got)
	}
	again, err := client.CompactSnapshot(t.Context(), &retrieverv1.CompactSnapshotRequest{Kg: ref("mars", 4)})
	if err != nil || again.GetSnapshot().GetKg().GetSnapshot() != 4 {
		t.Errorf("a whole snapshot compacts to %v, error %v", again, err)
	}
	if _, err := client.DropKnowledgeGraph(t.Context(),
		&retrieverv1.DropKnowledgeGraphRequest{Kg: ref("mars", 1)}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("dropping a base: %v", err)
	}
}

func TestADeltaNeedsABase(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	if _, err := sendMode(t, client, retrieverv1.LoadMode_LOAD_MODE_ADD,
		"a\tb\tc\n"); status.Code(err) != codes.NotFound {
		t.Errorf("adding to nothing: %v", err)
	}
	must[*retrieverv1.LoadKnowledgeGraphResponse](t)(sendMode(t, client, retrieverv1.LoadMode_LOAD_MODE_REPLACE,
		"a\tb\tc\n"))
	for name, mode := range map[string]retrieverv1.LoadMode{
		"a\tb\tc\n": retrieverv1.LoadMode_LOAD_MODE_ADD, "x\ty\tz\n": retrieverv1.LoadMode_LOAD_MODE_REMOVE,
	} {
		if _, err := sendMode(t, client, mode, name); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v of %q, which changes nothing: %v", mode, name, err)
		}
	}
}

func TestExportAndImport(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	must[*retrieverv1.LoadKnowledgeGraphResponse](t)(sendMode(t, client, retrieverv1.LoadMode_LOAD_MODE_REPLACE,
		"Mars\tmoon\tPhobos\n"))
	stream, err := client.ExportSnapshot(t.Context(), &retrieverv1.ExportSnapshotRequest{Kg: ref("mars", 0)})
	if err != nil {
		t.Fatal(err)
	}
	var whole []byte
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, part.GetChunk()...)
	}
	other, _ := dialKnowledgeGraphs(t)
	imported, err := importing(t, other, "venus", whole)
	if s := imported.GetSnapshot(); err != nil || s.GetKg().GetName() != "venus" || s.GetTriples() != 1 ||
		!s.GetActive() {
		t.Errorf("imported %v, error %v", imported, err)
	}
	if same, err := importing(t, other, "", whole); err != nil || same.GetSnapshot().GetKg().GetName() != "mars" {
		t.Errorf("imported under its own name: %v, error %v", same, err)
	}
	for name, file := range map[string][]byte{"nothing": nil, "half a file": whole[:len(whole)/2],
		"something else": []byte("a\tb\tc\n")} {
		if _, err := importing(t, other, "broken", file); err == nil {
			t.Errorf("%s was imported", name)
		}
	}
	if _, err := other.ListKnowledgeGraphs(t.Context(),
		&retrieverv1.ListKnowledgeGraphsRequest{KgName: "broken"}); status.Code(err) != codes.NotFound {
		t.Errorf("a broken file left something behind: %v", err)
	}
}

func importing(t *testing.T, client retrieverv1.KnowledgeGraphServiceClient, kg string,
	file []byte) (*retrieverv1.ImportSnapshotResponse, error) {
	t.Helper()
	stream, err := client.ImportSnapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	messages := []*retrieverv1.ImportSnapshotRequest{
		{Part: &retrieverv1.ImportSnapshotRequest_Header{Header: &retrieverv1.ImportHeader{
			Kg: &graphv1.KnowledgeGraphRef{Name: kg}}}}}
	for part := range slices.Chunk(file, 1000) {
		messages = append(messages,
			&retrieverv1.ImportSnapshotRequest{Part: &retrieverv1.ImportSnapshotRequest_Chunk{Chunk: part}})
	}
	for _, m := range messages {
		if stream.Send(m) != nil {
			break // the server's reason comes below
		}
	}
	return stream.CloseAndRecv()
}

func TestLoadStreamReportsProgress(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := client.LoadKnowledgeGraphStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*retrieverv1.LoadKnowledgeGraphRequest{header("mars", false, false), file("a.tsv"),
		chunk("Mars\tmoon\tPhobos\nno triple\n")} {
		if err := stream.Send(&retrieverv1.LoadKnowledgeGraphStreamRequest{Request: m}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	phases := map[retrieverv1.LoadPhase]bool{}
	for {
		event, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if p := event.GetProgress(); p != nil {
			phases[p.GetPhase()] = true
			continue
		}
		if r := event.GetResult(); r.GetSnapshot().GetTriples() != 1 || r.GetBadLines() != 1 {
			t.Errorf("built %v", r)
		}
		break
	}
	if !phases[retrieverv1.LoadPhase_LOAD_PHASE_ENCODE] || phases[retrieverv1.LoadPhase_LOAD_PHASE_UNSPECIFIED] {
		t.Errorf("it told of the phases %v", phases)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after the result came %v", err)
	}
}
