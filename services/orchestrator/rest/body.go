package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// readBody is a request's JSON, which the request then has again. It is read to
// its end, so that the server notices when its caller goes away. Where it
// cannot be used it has said so.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		refuseBody(w, r, err)
		return nil, false
	}
	if len(bytes.TrimSpace(data)) > 0 {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			problem.Write(w, r, problem.New(http.StatusUnsupportedMediaType, codes.InvalidArgument,
				fmt.Sprintf("the body is said to be %.100q; send JSON, and Content-Type: application/json", r.Header.Get("Content-Type"))))
			return nil, false
		}
		if err := checkJSON(data); err != nil {
			problem.Write(w, r, problem.New(http.StatusBadRequest, codes.InvalidArgument, "the body is no JSON: "+err.Error()))
			return nil, false
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return data, true
}

func checkJSON(data []byte) error {
	var all json.RawMessage
	return json.Unmarshal(data, &all)
}

// refuseBody tells why a body could not be read.
func refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	problem.Write(w, r, unreadable(err))
}

func unreadable(err error) problem.Problem {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return problem.New(http.StatusRequestEntityTooLarge, codes.InvalidArgument, fmt.Sprintf("the body is too large: at most %d bytes are taken", large.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problem.New(http.StatusRequestTimeout, codes.DeadlineExceeded, "the body came too slowly")
	}
	return problem.New(http.StatusBadRequest, codes.InvalidArgument, "the body ended too early")
}
