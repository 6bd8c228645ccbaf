package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
)

func statusWith(t *testing.T, c codes.Code, text string, details ...protoadapt.MessageV1) error {
	t.Helper()
	st, err := status.New(c, text).WithDetails(details...)
	if err != nil {
		t.Fatal(err)
	}
	return st.Err()
}

func TestAStatusBecomesAProblem(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want problem.Problem
	}{
		{"with no more than a code", status.Error(codes.NotFound, "no run"),
			problem.Problem{Type: "about:blank", Title: "Not Found", Status: 404, Detail: "no run", Code: "NOT_FOUND"}},
		{"wrapped", fmt.Errorf("list: %w", status.Error(codes.PermissionDenied, "no")),
			problem.Problem{Type: "about:blank", Title: "Forbidden", Status: 403,
				Detail: "list: rpc error: code = PermissionDenied desc = no", Code: "PERMISSION_DENIED"}},
		{"with a reason that says more than the code", statusWith(t, codes.Unauthenticated, "old",
			&errdetails.ErrorInfo{Reason: "TOKEN_EXPIRED"}),
			problem.Problem{Type: "about:blank", Title: "Unauthorized", Status: 401, Detail: "old",
				Code: "UNAUTHENTICATED", Reason: "TOKEN_EXPIRED"}},
		{"with a reason that says the same", statusWith(t, codes.Unavailable, "down",
			&errdetails.ErrorInfo{Reason: "UNAVAILABLE"}),
			problem.Problem{Type: "about:blank", Title: "Service Unavailable", Status: 503, Detail: "down",
				Code: "UNAVAILABLE"}},
		{"with fields that cannot be", statusWith(t, codes.InvalidArgument, "no",
			&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "top_k",
				Description: "too many"}}}),
			problem.Problem{Type: "about:blank", Title: "Bad Request", Status: 400, Detail: "no",
				Code: "INVALID_ARGUMENT", Violations: []problem.Violation{{Field: "top_k", Description: "too many"}}}},
		{"with a time to come again", statusWith(t, codes.ResourceExhausted, "busy",
			&errdetails.RetryInfo{RetryDelay: durationpb.New(1500 * time.Millisecond)}),
			problem.Problem{Type: "about:blank", Title: "Too Many Requests", Status: 429, Detail: "busy",
				Code: "RESOURCE_EXHAUSTED", RetryAfter: 1.5}},
		{"of a caller that went away", status.Error(codes.Canceled, "gone"),
			problem.Problem{Type: "about:blank", Title: "Client Closed Request", Status: 499, Detail: "gone",
				Code: "CANCELLED"}},
		{"that is none", errors.New("broken"),
			problem.Problem{Type: "about:blank", Title: "Internal Server Error", Status: 500, Detail: "broken",
				Code: "UNKNOWN"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := problem.FromError(test.err); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestEveryCodeHasAStatus(t *testing.T) {
	for c := codes.OK; c <= codes.Unauthenticated; c++ {
		if got := problem.Status(c); got < 200 || got > 599 || c != codes.OK && got < 400 {
			t.Errorf("%v is %d", c, got)
		}
	}
}

func TestWhatIsWritten(t *testing.T) {
	write := func(p problem.Problem) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		w := httptest.NewRecorder()
		problem.Write(w, r.WithContext(telemetry.WithRequestID(r.Context(), "r-1")), p)
		return w
	}
	w := write(problem.New(http.StatusTooManyRequests, codes.ResourceExhausted,
		"busy").WithRetryAfter(1200 * time.Millisecond))
	var got problem.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if w.Code != 429 || got.RequestID != "r-1" || got.RetryAfter != 1.2 || w.Header().Get("Retry-After") != "2" ||
		w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %v %+v", w.Code, w.Header(), got)
	}
	if got := write(problem.New(http.StatusUnauthorized, codes.Unauthenticated, "who?")).Header().Get(
		"WWW-Authenticate"); got != "Bearer" {
		t.Errorf("who is not known is asked for %q", got)
	}
}
