// Package problem writes the errors of the HTTP interfaces: problem details (RFC
// 9457) made from the statuses of gRPC.
package problem

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// ContentType is the media type of a Problem.
const ContentType = "application/problem+json"

// Problem is an error of an HTTP interface.
type Problem struct {
	// Type is "about:blank": what there is to know is in Code and Reason.
	Type string `json:"type"`
	// Title is the status in words.
	Title string `json:"title"`
	// Status is the HTTP status.
	Status int `json:"status"`
	// Detail says what is wrong and what to do next.
	Detail string `json:"detail"`
	// Code is the gRPC code, "NOT_FOUND".
	Code string `json:"code"`
	// Reason distinguishes errors of one code, "TOKEN_EXPIRED"; empty if the code says it all.
	Reason string `json:"reason,omitempty"`
	// Violations are the fields of the request that cannot be.
	Violations []Violation `json:"violations,omitempty"`
	// RetryAfter is after how many seconds it is worth trying again; 0 if that is not known.
	RetryAfter float64 `json:"retryAfter,omitempty"`
	// RequestID is under which the logs have the request.
	RequestID string `json:"requestId,omitempty"`
}

// Violation is a field of a request that cannot be.
type Violation struct {
	// Field is its path in the proto, "options.top_k".
	Field string `json:"field"`
	// Description says what is wrong with it.
	Description string `json:"description"`
}

// statuses are the HTTP statuses of gRPC codes, as google/rpc/code.proto maps
// them. Codes that are not here are 500.
var statuses = map[codes.Code]int{
	codes.OK:                 http.StatusOK,
	codes.Canceled:           499, // the caller left, and reads nothing
	codes.InvalidArgument:    http.StatusBadRequest,
	codes.FailedPrecondition: http.StatusBadRequest,
	codes.OutOfRange:         http.StatusBadRequest,
	codes.Unauthenticated:    http.StatusUnauthorized,
	codes.PermissionDenied:   http.StatusForbidden,
	codes.NotFound:           http.StatusNotFound,
	codes.AlreadyExists:      http.StatusConflict,
	codes.Aborted:            http.StatusConflict,
	codes.ResourceExhausted:  http.StatusTooManyRequests,
	codes.Unimplemented:      http.StatusNotImplemented,
	codes.Unavailable:        http.StatusServiceUnavailable,
	codes.DeadlineExceeded:   http.StatusGatewayTimeout,
}

// Status returns the HTTP status of a gRPC code.
func Status(c codes.Code) int {
	if s, ok := statuses[c]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// New returns a problem of the HTTP layer, whose status is more precise than the code.
func New(httpStatus int, c codes.Code, detail string) Problem {
	return Problem{Type: "about:blank", Title: title(httpStatus), Status: httpStatus, Detail: detail,
		Code: code.Code(c).String()}
}

// FromError returns the problem of a failed RPC.
func FromError(err error) Problem {
	st := status.Convert(err)
	p := New(Status(st.Code()), st.Code(), st.Message())
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			if d.GetReason() != p.Code {
				p.Reason = d.GetReason()
			}
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				p.Violations = append(p.Violations, Violation{Field: v.GetField(), Description: v.GetDescription()})
			}
		case *errdetails.RetryInfo:
			p.RetryAfter = d.GetRetryDelay().AsDuration().Seconds()
		}
	}
	return p
}

// WithRetryAfter sets the time after which to retry.
func (p Problem) WithRetryAfter(d time.Duration) Problem {
	p.RetryAfter = d.Seconds()
	return p
}

// For is the problem of a request: it has the request's id.
func (p Problem) For(r *http.Request) Problem {
	p.RequestID = telemetry.RequestID(r.Context())
	return p
}

// Write answers a request with a problem.
func Write(w http.ResponseWriter, r *http.Request, p Problem) {
	body, err := json.Marshal(p.For(r))
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter))))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n')) // to a caller that may be gone
}

func title(httpStatus int) string {
	if t := http.StatusText(httpStatus); t != "" {
		return t
	}
	return "Client Closed Request"
}
