package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// The types of errors that clients of OpenAI know.
const (
	invalidRequest = "invalid_request_error"
	permission     = "permission_error"
	rateLimit      = "rate_limit_error"
	noQuota        = "insufficient_quota"
	serverError    = "server_error"
)

// patience is how long, in seconds, clients wait before they try again by
// themselves: official ones wait no longer.
const patience = 60

// failure is an error in OpenAI's shape.
type failure struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	// Param is the field of the request that is wrong; empty where none is.
	Param string `json:"param"`
	Code  string `json:"code"`

	status     int
	retryAfter float64 // seconds; 0 where that is not known
	final      bool    // trying again would only cost the same again
}

// Error implements error.
func (f *failure) Error() string { return f.Message }

// MarshalJSON leaves param null where there is none, as OpenAI does.
func (f *failure) MarshalJSON() ([]byte, error) {
	var param *string
	if f.Param != "" {
		param = &f.Param
	}
	return json.Marshal(map[string]any{"message": f.Message, "type": f.Type, "param": param, "code": f.Code})
}

// body is a failure as clients look for it, in an answer and in a stream.
func (f *failure) body() []byte {
	body, err := json.Marshal(struct {
		Error *failure `json:"error"`
	}{f})
	if err != nil { // strings are always JSON
		return []byte(`{"error":{"message":"internal error","type":"server_error","param":null,"code":"internal_error"}}`)
	}
	return body
}

func (f *failure) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if f.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter))))
	}
	if f.final {
		h.Set("X-Should-Retry", "false") // official clients obey it
	}
	if f.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(f.status)
	_, _ = w.Write(append(f.body(), '\n')) // to a caller that may be gone
}

// invalid is a request that cannot be answered as it is.
func invalid(param, format string, args ...any) *failure {
	return &failure{status: http.StatusBadRequest, Type: invalidRequest, Param: param, Code: "invalid_value", Message: fmt.Sprintf(format, args...)}
}

// failureOf is the failure that an error is: one of the door's own, or the
// status of a call.
func failureOf(err error) *failure {
	var own *failure
	if errors.As(err, &own) {
		return own
	}
	p := problem.Of(err)
	f := &failure{status: p.Status, Message: p.Detail, Type: invalidRequest, Code: strings.ToLower(cmp.Or(p.Reason, p.Code)), retryAfter: p.RetryAfter}
	switch status.Code(err) {
	case codes.Unauthenticated:
		f.Code = "invalid_api_key"
	case codes.PermissionDenied:
		f.Type = permission
	case codes.InvalidArgument:
		if len(p.Violations) > 0 {
			f.Param = param(p.Violations[0].Field)
		}
	case codes.NotFound, codes.FailedPrecondition, codes.OutOfRange, codes.AlreadyExists, codes.Aborted, codes.Unimplemented:
	case codes.ResourceExhausted:
		f.Type, f.Code = rateLimit, "rate_limit_exceeded"
		if f.retryAfter > patience {
			f.Type, f.Code, f.final = noQuota, noQuota, true
		}
	case codes.DeadlineExceeded:
		f.Type, f.final = serverError, true
	default:
		f.Type = serverError
	}
	return f
}

// param is the field of a chat request that a field of an AskRequest is made
// of.
func param(field string) string {
	field = strings.TrimPrefix(field, "request.")
	switch root, _, _ := strings.Cut(strings.ReplaceAll(field, "[", "."), "."); root {
	case "":
		return ""
	case "question", "history":
		return "messages"
	case "method":
		return "model"
	}
	return "triplemesh." + field
}
