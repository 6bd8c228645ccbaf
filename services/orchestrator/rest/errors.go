package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// answerError tells of a call that failed.
func answerError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	var routed *runtime.HTTPStatusError
	if errors.As(err, &routed) {
		problem.Write(w, r, problem.New(routed.HTTPStatus, codes.InvalidArgument, "the request cannot be read: "+routed.Err.Error()))
		return
	}
	problem.Write(w, r, problemOf(err))
}

// answerMisrouted tells of a path that the document has and the gateway cannot
// read, such as one with a bad escape.
func answerMisrouted(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, status int) {
	problem.Write(w, r, problem.New(status, codes.InvalidArgument, "the path cannot be read; /api/openapi.json tells what there is"))
}

// problemOf is the problem that an error of a call is, with its fields named as
// JSON has them.
func problemOf(err error) problem.Problem {
	var body unread
	if errors.As(err, &body) {
		return unreadable(body.error)
	}
	p := problem.Of(err)
	for i, v := range p.Violations {
		p.Violations[i].Field = jsonPath(v.Field)
	}
	return p
}

// jsonPath is the path of a field as JSON has it: "options.top_k" is
// "options.topK". A stream's request lies in a message of its own, of which the
// caller sees nothing.
func jsonPath(field string) string {
	field = strings.TrimPrefix(field, "request.")
	var b strings.Builder
	upper := false
	for _, c := range field {
		if c == '_' {
			upper = true
			continue
		}
		if upper {
			c = []rune(strings.ToUpper(string(c)))[0]
		}
		upper = false
		b.WriteRune(c)
	}
	return b.String()
}
