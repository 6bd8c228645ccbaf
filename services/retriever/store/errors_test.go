package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestErrorsCarryTheirCode(t *testing.T) {
	for _, c := range []struct {
		cause error
		code  codes.Code
	}{
		{store.ErrNotFound, codes.NotFound},
		{store.ErrNoActive, codes.FailedPrecondition},
		{store.ErrNoPrevious, codes.FailedPrecondition},
		{store.ErrActive, codes.FailedPrecondition},
		{store.ErrCorrupt, codes.DataLoss},
		{store.ErrFull, codes.ResourceExhausted},
		{store.ErrNoVectors, codes.FailedPrecondition},
		{store.ErrFormat, codes.FailedPrecondition},
		{store.ErrBase, codes.FailedPrecondition},
		{store.ErrTooManyDeltas, codes.FailedPrecondition},
		{store.ErrBusy, codes.Aborted},
		{store.ErrInvalid, codes.InvalidArgument},
		{store.ErrUnsupported, codes.FailedPrecondition},
		{store.ErrShared, codes.PermissionDenied},
		{context.Canceled, codes.Canceled},
		{context.DeadlineExceeded, codes.DeadlineExceeded},
		{status.Error(codes.Unavailable, "encoder is down"), codes.Unavailable},
		{errors.New("something else"), codes.Internal},
	} {
		cause := fmt.Errorf("read x: %w", c.cause)
		err := fmt.Errorf("further out: %w", &store.Error{Op: "open", KG: "wikidata", Number: 3, Err: cause})
		s, ok := status.FromError(err)
		if !ok || s.Code() != c.code {
			t.Errorf("%v: code %v, want %v", c.cause, s.Code(), c.code)
		}
		if !errors.Is(err, c.cause) {
			t.Errorf("%v is not to be found in %v", c.cause, err)
		}
		if len(s.Details()) != 1 {
			t.Fatalf("%v: details are %v", c.cause, s.Details())
		}
		info, ok := s.Details()[0].(*errdetails.ErrorInfo)
		if !ok || info.GetMetadata()["kg"] != "wikidata" || info.GetMetadata()["snapshot"] != "3" ||
			info.GetReason() == "" {
			t.Errorf("%v: detail is %v", c.cause, s.Details()[0])
		}
	}
}

func TestErrorsNameTheOperation(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[string]*store.Error{
		`open snapshot wikidata@3: cause`:         {Op: "open", KG: "wikidata", Number: 3, Err: cause},
		`build knowledge graph "wikidata": cause`: {Op: "build", KG: "wikidata", Err: cause},
		`import knowledge graph: cause`:           {Op: "import", Err: cause},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestInvalidfDoesNotRepeatItsCategory(t *testing.T) {
	cause := errors.New("cause")
	err := error(&store.Error{Op: "load", KG: "wikidata", Err: store.Invalidf("line %d: %w", 3, cause)})
	if want := `load knowledge graph "wikidata": line 3: cause`; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if !errors.Is(err, store.ErrInvalid) || !errors.Is(err, cause) || status.Code(err) != codes.InvalidArgument {
		t.Errorf("%v is neither invalid nor its cause: code %v", err, status.Code(err))
	}
}
