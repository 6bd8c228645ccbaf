package testkit

import (
	"context"
	"io"
	"slices"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// LoadTSV builds a snapshot of facts, a line each, as the command line does;
// inactive leaves the active one as it is.
func LoadTSV(ctx context.Context, to retrieverv1.KnowledgeGraphServiceClient, kg string, facts []byte, inactive bool) (*retrieverv1.LoadResponse, error) {
	return Load(ctx, to, kg, &retrieverv1.FileHeader{Name: "facts.tsv"}, facts, inactive)
}

// Load builds a snapshot of a file.
func Load(ctx context.Context, to retrieverv1.KnowledgeGraphServiceClient, kg string, file *retrieverv1.FileHeader, facts []byte, inactive bool) (*retrieverv1.LoadResponse, error) {
	stream, err := to.Load(ctx)
	if err != nil {
		return nil, err
	}
	parts := []*retrieverv1.LoadRequest{
		{Part: &retrieverv1.LoadRequest_Header{Header: &retrieverv1.LoadHeader{Kg: kg, NoActivate: inactive}}},
		{Part: &retrieverv1.LoadRequest_File{File: file}},
	}
	for chunk := range slices.Chunk(facts, 64<<10) {
		parts = append(parts, &retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_Chunk{Chunk: chunk}})
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
