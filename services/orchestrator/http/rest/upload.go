package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
)

// uploads is the operation whose body is a file of triples.
const uploads = "LoadKnowledgeGraphStream"

// maxLoad is the timeout of a load: encoding a million triples takes hours.
const maxLoad = 24 * time.Hour

// chunk is the size of a file chunk in a message, and bounds how much of a rejected file is drained.
const chunk = 1 << 20

var uploadPath = regexp.MustCompile(`^/api/v1/kgs/[^/:]+:load$`)

// Uploads reports whether a request uploads a file.
func Uploads(r *http.Request) bool { return uploadPath.MatchString(r.URL.Path) }

// upload loads the body into a knowledge graph and reports progress by events.
func (a *api) upload(w http.ResponseWriter, r *http.Request, kg string) {
	header, file := &retrieverv1.LoadHeader{}, &retrieverv1.FileHeader{}
	if err := fill(header, file, r.URL.Query()); err != nil {
		problem.Write(w, r, problemOf(err))
		return
	}
	header.Kg = &graphv1.KnowledgeGraphRef{Name: kg}
	ctx, cancel := context.WithTimeoutCause(r.Context(), maxLoad, context.DeadlineExceeded)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	stream, err := a.graphs.LoadKnowledgeGraphStream(ctx)
	if err != nil {
		problem.Write(w, r, problemOf(err))
		return
	}
	// Events are sent while the body is read. The rest of the body must not be parsed as the next
	// request.
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
	newEvents(w, r, a.heartbeat).pass(func() (proto.Message, error) {
		m, err := stream.Recv()
		var cause unread
		switch {
		case err == nil:
			return m, nil
		case errors.As(context.Cause(ctx), &cause):
			return nil, cause
		}
		return nil, err
	})
	// Drain the body: closing a connection with unread data discards the response.
	fail(nil)
	_ = control.Flush()
	<-sent
	_, _ = io.CopyN(io.Discard, r.Body, chunk)
}

// fill sets the query parameters in the two messages that start a load.
func fill(header *retrieverv1.LoadHeader, file *retrieverv1.FileHeader, query url.Values) error {
	ofHeader, ofFile := url.Values{}, url.Values{}
	types, err := typedColumns(query["columns.types"])
	if err != nil {
		return err
	}
	delete(query, "columns.types") // the parser takes no list of messages
	for field, values := range query {
		first, _, _ := strings.Cut(field, ".")
		into := ofHeader
		if file.ProtoReflect().Descriptor().Fields().ByTextName(first) != nil {
			into = ofFile
		}
		into[field] = values
	}
	parser, none := &runtime.DefaultQueryParser{}, utilities.NewDoubleArray(nil)
	if err := errors.Join(parser.Parse(header, ofHeader, none), parser.Parse(file, ofFile, none)); err != nil {
		return status.Error(codes.InvalidArgument, "the query cannot be read: "+err.Error())
	}
	if len(types) > 0 {
		file.Columns = cmp.Or(file.Columns, &retrieverv1.Columns{})
		file.Columns.Types = types
	}
	return nil
}

// typedColumns parses columns and their types, such as population=COLUMN_TYPE_NUMBER and
// manager_id=COLUMN_TYPE_ENTITY:employee.
func typedColumns(all []string) (types []*retrieverv1.TypedColumn, err error) {
	for _, text := range all {
		at := strings.LastIndexByte(text, '=')
		name, reference, _ := strings.Cut(text[at+1:], ":")
		number, ok := retrieverv1.ColumnType_value[name]
		if !ok || at < 1 {
			return nil, status.Errorf(codes.InvalidArgument, "parameter columns.types: %.100q is not a heading and "+
				"a type; want population=COLUMN_TYPE_NUMBER", text)
		}
		types = append(types, &retrieverv1.TypedColumn{Heading: text[:at], Type: retrieverv1.ColumnType(number),
			Reference: reference})
	}
	return types, nil
}

// unread is the error of a body that could not be read.
type unread struct{ error }

// send streams a file. The error is one of the file; if the mesh stops reading, its status says
// why.
func send(stream retrieverv1.KnowledgeGraphService_LoadKnowledgeGraphStreamClient, header *retrieverv1.LoadHeader,
	file *retrieverv1.FileHeader, body io.Reader) error {
	part := func(r *retrieverv1.LoadKnowledgeGraphRequest) bool {
		return stream.Send(&retrieverv1.LoadKnowledgeGraphStreamRequest{Request: r}) == nil
	}
	if !part(&retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{
		Header: header}}) ||
		!part(&retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_File{File: file}}) {
		return nil
	}
	for buffer := make([]byte, chunk); ; {
		n, err := 0, error(nil)
		for n < len(buffer) && err == nil {
			var more int
			more, err = body.Read(buffer[n:])
			n += more
		}
		if n > 0 && !part(&retrieverv1.LoadKnowledgeGraphRequest{Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{
			Chunk: buffer[:n]}}) {
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

// readBody returns a request's JSON body, which stays readable. It reads to the end, so that the
// server notices a disconnect. On failure it has already responded.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		problem.Write(w, r, unreadable(err))
		return nil, false
	}
	if len(bytes.TrimSpace(data)) > 0 {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			problem.Write(w, r, problem.New(http.StatusUnsupportedMediaType, codes.InvalidArgument,
				fmt.Sprintf("the body is said to be %.100q; send JSON, and Content-Type: application/json",
					r.Header.Get("Content-Type"))))
			return nil, false
		}
		if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
			problem.Write(w, r, problem.New(http.StatusBadRequest, codes.InvalidArgument,
				"the body is no JSON: "+err.Error()))
			return nil, false
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return data, true
}

// unreadable says why a body could not be read.
func unreadable(err error) problem.Problem {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return problem.New(http.StatusRequestEntityTooLarge, codes.InvalidArgument,
			fmt.Sprintf("the body is too large: at most %d bytes are taken", large.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problem.New(http.StatusRequestTimeout, codes.DeadlineExceeded, "the body came too slowly")
	}
	return problem.New(http.StatusBadRequest, codes.InvalidArgument, "the body ended too early")
}
