package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"google.golang.org/grpc"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// File is a file to load.
type File struct {
	// Header has its name, which determines the format, and the columns of a CSV file.
	Header *retrieverv1.FileHeader
	// Open opens its content.
	Open func() (io.ReadCloser, error)
}

// LocalFile returns a file of this machine. columns are those of a CSV file; nil takes the default.
func LocalFile(path string, columns *retrieverv1.Columns) File {
	return File{
		&retrieverv1.FileHeader{Name: filepath.Base(path), Columns: columns},
		func() (io.ReadCloser, error) { return os.Open(path) },
	}
}

// chunk is the maximum size of a chunk in bytes.
const chunk = 1 << 20

type loadStream = grpc.BidiStreamingClient[
	retrieverv1.LoadKnowledgeGraphStreamRequest, retrieverv1.LoadKnowledgeGraphStreamResponse]

// Load builds a snapshot of a knowledge graph from files. It calls progress, unless that is nil, as
// the load proceeds. A load is atomic: if it fails, the active snapshot stays as it is. It is not
// retried.
func (c *Client) Load(ctx context.Context, header *retrieverv1.LoadHeader, files []File,
	progress func(*retrieverv1.LoadProgress)) (*retrieverv1.LoadKnowledgeGraphResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.KnowledgeGraphs.LoadKnowledgeGraphStream(ctx)
	if err != nil {
		return nil, err
	}
	sent := make(chan error, 1)
	go func() {
		err := sendFiles(stream, header, files)
		if err != nil {
			cancel()
		}
		sent <- err
	}()
	for {
		event, err := stream.Recv()
		if err != nil {
			cancel()
			if failure := <-sent; failure != nil {
				return nil, failure
			}
			return nil, err
		}
		switch e := event.GetEvent().(type) {
		case *retrieverv1.LoadKnowledgeGraphStreamResponse_Progress:
			if progress != nil {
				progress(e.Progress)
			}
		case *retrieverv1.LoadKnowledgeGraphStreamResponse_Result:
			<-sent
			return e.Result, nil
		}
	}
}

// sendFiles sends a load. Errors of the stream are nil here: Recv returns them.
func sendFiles(stream loadStream, header *retrieverv1.LoadHeader, files []File) error {
	send := func(req *retrieverv1.LoadKnowledgeGraphRequest) bool {
		return stream.Send(&retrieverv1.LoadKnowledgeGraphStreamRequest{Request: req}) == nil
	}
	if !send(&retrieverv1.LoadKnowledgeGraphRequest{
		Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{Header: header}}) {
		return nil
	}
	for _, f := range files {
		if ok, err := sendFile(f, send); !ok || err != nil {
			return err
		}
	}
	_ = stream.CloseSend() // Recv returns its error
	return nil
}

// sendFile reports whether the stream still takes requests.
func sendFile(f File, send func(*retrieverv1.LoadKnowledgeGraphRequest) bool) (bool, error) {
	content, err := f.Open()
	if err != nil {
		return false, fmt.Errorf("load: %w", err)
	}
	defer content.Close()
	if !send(&retrieverv1.LoadKnowledgeGraphRequest{
		Part: &retrieverv1.LoadKnowledgeGraphRequest_File{File: f.Header}}) {
		return false, nil
	}
	for {
		data := make([]byte, chunk) // gRPC may keep the last one
		n, err := io.ReadFull(content, data)
		if n > 0 && !send(&retrieverv1.LoadKnowledgeGraphRequest{
			Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{Chunk: data[:n]}}) {
			return false, nil
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("load: read %s: %w", f.Header.GetName(), err)
		}
	}
}
