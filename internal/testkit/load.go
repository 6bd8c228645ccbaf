package testkit

import (
	"context"
	"io"
	"slices"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// LoadTSV builds a snapshot of facts, a line each, as the command line does;
// inactive leaves the active one as it is.
func LoadTSV(ctx context.Context, to retrieverv1.KnowledgeGraphServiceClient, kg string, facts []byte,
	inactive bool) (*retrieverv1.LoadKnowledgeGraphResponse, error) {
	return Load(ctx, to, &retrieverv1.LoadHeader{Kg: &graphv1.KnowledgeGraphRef{Name: kg}, NoActivate: inactive},
		&retrieverv1.FileHeader{Name: "facts.tsv"}, facts)
}

// Load builds a snapshot of a file.
func Load(ctx context.Context, to retrieverv1.KnowledgeGraphServiceClient, header *retrieverv1.LoadHeader,
	file *retrieverv1.FileHeader, facts []byte) (*retrieverv1.LoadKnowledgeGraphResponse, error) {
	stream, err := to.LoadKnowledgeGraph(ctx)
	if err != nil {
		return nil, err
	}
	parts := []*retrieverv1.LoadKnowledgeGraphRequest{
		{Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{Header: header}},
		{Part: &retrieverv1.LoadKnowledgeGraphRequest_File{File: file}},
	}
	for chunk := range slices.Chunk(facts, 64<<10) {
		parts = append(parts, &retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{
			Chunk: chunk}})
	}
	for _, p := range parts {
		if err := stream.Send(p); err == io.EOF {
			break // CloseAndRecv has the reason
		} else if err != nil {
			return nil, err
		}
	}
	return stream.CloseAndRecv()
}
