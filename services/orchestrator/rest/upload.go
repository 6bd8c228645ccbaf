package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// uploads is the operation whose body is a file of facts.
const uploads = "LoadStream"

// maxLoad is how long a load may take: encoding a million facts takes hours.
const maxLoad = 24 * time.Hour

// chunk is how much of a file a message has.
const chunk = 1 << 20

// maxLeft is how much of a file is read that is not taken.
const maxLeft = 1 << 20

// progressEvery is the least time between two events of one phase.
const progressEvery = 250 * time.Millisecond

var uploadPath = regexp.MustCompile(`^/api/v1/kgs/[^/:]+:load$`)

// Uploads tells the requests whose body is a file.
func Uploads(r *http.Request) bool { return uploadPath.MatchString(r.URL.Path) }

// upload loads the body into a knowledge graph, and tells by events how far it
// is.
func (a *api) upload(w http.ResponseWriter, r *http.Request, kg string) {
	header, file := &retrieverv1.LoadHeader{}, &retrieverv1.FileHeader{}
	if err := fill(header, file, r.URL.Query()); err != nil {
		problem.Write(w, r, problemOf(err))
		return
	}
	header.Kg = kg
	ctx, cancel := context.WithTimeoutCause(r.Context(), maxLoad, context.DeadlineExceeded)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	stream, err := a.graphs.LoadStream(ctx)
	if err != nil {
		problem.Write(w, r, problemOf(err))
		return
	}
	// Events go out while the file still comes in. What is left of it when the
	// answer has ended must not be taken for the next request.
	w.Header().Set("Connection", "close")
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if err := send(stream, header, file, r.Body); err != nil {
			fail(unread{err})
		}
	}()
	newEvents(w, r, a.heartbeat).pass(thinned(func() (proto.Message, error) {
		m, err := stream.Recv()
		var cause unread
		switch {
		case err == nil:
			return m, nil
		case errors.As(context.Cause(ctx), &cause):
			return nil, cause
		}
		return nil, err
	}))
	// Some of the file may be on its way still: a connection that is closed over
	// it takes the answer with it.
	fail(nil)
	_ = control.Flush()
	<-sent
	_, _ = io.CopyN(io.Discard, r.Body, maxLeft)
}

// fill takes the parameters of a query into the two messages that begin a load.
func fill(header *retrieverv1.LoadHeader, file *retrieverv1.FileHeader, query url.Values) error {
	ofHeader, ofFile := url.Values{}, url.Values{}
	for field, values := range query {
		first, _, _ := strings.Cut(field, ".")
		if file.ProtoReflect().Descriptor().Fields().ByTextName(first) != nil {
			ofFile[field] = values
		} else {
			ofHeader[field] = values
		}
	}
	parser, none := &runtime.DefaultQueryParser{}, utilities.NewDoubleArray(nil)
	if err := errors.Join(parser.Parse(header, ofHeader, none), parser.Parse(file, ofFile, none)); err != nil {
		return status.Error(codes.InvalidArgument, "the query cannot be read: "+err.Error())
	}
	return nil
}

// unread is why a file could not be read to its end.
type unread struct{ error }

// send sends a file. The error is one of the file; where the mesh takes no more,
// its answer says why.
func send(stream retrieverv1.KnowledgeGraphService_LoadStreamClient, header *retrieverv1.LoadHeader, file *retrieverv1.FileHeader, body io.Reader) error {
	part := func(r *retrieverv1.LoadRequest) bool {
		return stream.Send(&retrieverv1.LoadStreamRequest{Request: r}) == nil
	}
	if !part(&retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_Header{Header: header}}) ||
		!part(&retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_File{File: file}}) {
		return nil
	}
	for buffer := make([]byte, chunk); ; {
		n, err := 0, error(nil)
		for n < len(buffer) && err == nil {
			var more int
			more, err = body.Read(buffer[n:])
			n += more
		}
		if n > 0 && !part(&retrieverv1.LoadRequest{Part: &retrieverv1.LoadRequest_Chunk{Chunk: buffer[:n]}}) {
			return nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return stream.CloseSend()
		case err != nil:
			return err
		}
	}
}

// thinned leaves events out of which others tell more a moment later.
func thinned(next receive) receive {
	var phase retrieverv1.LoadPhase
	var last time.Time
	return func() (proto.Message, error) {
		for {
			m, err := next()
			event, _ := m.(*retrieverv1.LoadStreamResponse)
			progress := event.GetProgress()
			if err != nil || progress == nil {
				return m, err
			}
			if now := time.Now(); progress.GetPhase() != phase || now.Sub(last) >= progressEvery {
				phase, last = progress.GetPhase(), now
				return m, nil
			}
		}
	}
}
