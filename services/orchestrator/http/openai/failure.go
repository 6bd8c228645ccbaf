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

	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
)

// The error types that OpenAI clients know.
const (
	invalidRequest = "invalid_request_error"
	permission     = "permission_error"
	rateLimit      = "rate_limit_error"
	noQuota        = "insufficient_quota"
	serverError    = "server_error"
)

// patience is the longest retry delay, in seconds, that official clients accept.
const patience = 60

// failure is an error in OpenAI's shape.
type failure struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	// Param is the invalid field of the request; empty if none.
	Param string `json:"param"`
	Code  string `json:"code"`

	status     int
	retryAfter float64 // seconds; 0 if that is not known
	final      bool    // trying again would only cost the same again
}

func (f *failure) Error() string { return f.Message }

// MarshalJSON encodes an empty param as null, as OpenAI does.
func (f *failure) MarshalJSON() ([]byte, error) {
	var param *string
	if f.Param != "" {
		param = &f.Param
	}
	return json.Marshal(map[string]any{"message": f.Message, "type": f.Type, "param": param, "code": f.Code})
}

// body returns the failure in the envelope that clients expect.
func (f *failure) body() []byte {
	body, err := json.Marshal(struct {
		Error *failure `json:"error"`
	}{f})
	if err != nil { // strings are always JSON
		return []byte(
			`{"error":{"message":"internal error","type":"server_error","param":null,"code":"internal_error"}}`)
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

func invalid(param, format string, args ...any) *failure {
	return &failure{status: http.StatusBadRequest, Type: invalidRequest, Param: param, Code: "invalid_value",
		Message: fmt.Sprintf(format, args...)}
}

// failureOf converts an error: a failure of this package or the status of a call.
func failureOf(err error) *failure {
	if own, ok := errors.AsType[*failure](err); ok {
		return own
	}
	p := problem.FromError(err)
	f := &failure{status: p.Status, Message: p.Detail, Type: invalidRequest,
		Code: strings.ToLower(cmp.Or(p.Reason, p.Code)), retryAfter: p.RetryAfter}
	switch status.Code(err) {
	case codes.Unauthenticated:
		f.Code = "invalid_api_key"
	case codes.PermissionDenied:
		f.Type = permission
	case codes.InvalidArgument:
		if len(p.Violations) > 0 {
			f.Param = param(p.Violations[0].Field)
		}
	case codes.NotFound, codes.FailedPrecondition, codes.OutOfRange, codes.AlreadyExists, codes.Aborted,
		codes.Unimplemented:
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

// param returns the field of a chat request that sets a field of an AskRequest.
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
