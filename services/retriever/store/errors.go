package store

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What can be wrong with a knowledge graph. Errors of a store wrap one of
// these in an Error, so errors.Is tells them apart.
var (
	// ErrNotFound: there is no such knowledge graph or snapshot.
	ErrNotFound = errors.New("not found")
	// ErrNoActive: the knowledge graph has no active snapshot.
	ErrNoActive = errors.New("no active snapshot; activate one or load again")
	// ErrNoPrevious: there is no earlier snapshot to roll back to.
	ErrNoPrevious = errors.New("no earlier snapshot to roll back to")
	// ErrActive: the snapshot is active and cannot be dropped alone.
	ErrActive = errors.New("is active; activate another one first, or drop the knowledge graph whole")
	// ErrCorrupt: a file is missing, cut off or differs from its checksum.
	ErrCorrupt = errors.New("corrupt")
	// ErrFull: the disk is full.
	ErrFull = errors.New("disk is full; free space and load again")
	// ErrNoVectors: the snapshot was built without vectors.
	ErrNoVectors = errors.New("the snapshot has no vectors; load it again with them")
	// ErrFormat: the snapshot was written by a newer or a much older program.
	ErrFormat = errors.New("the snapshot's format is not known here")
	// ErrBase: other snapshots are deltas of this one, which cannot be dropped
	// alone.
	ErrBase = errors.New("is based on it; compact and drop that one first")
	// ErrDeep: too many deltas lie on one another.
	ErrDeep = errors.New("too many deltas lie on one another; compact the snapshot first")
	// ErrBusy: somebody else is at work on it.
	ErrBusy = errors.New("in use by somebody else; try again when they are done")
	// ErrUnsupported: the kind of store does not do this.
	ErrUnsupported = errors.New("this kind of store does not do that")
	// ErrShared: the knowledge graph is another tenant's, who lets all read it.
	ErrShared = errors.New("is shared with you to be read, not to be changed; load one of your own")
	// ErrInvalid: the name or the content cannot be stored.
	ErrInvalid = errors.New("invalid")
)

// Error says what was being done to which knowledge graph when Err happened.
type Error struct {
	// Op is what was being done: "open", "load", "activate".
	Op string
	// KG is the knowledge graph, Number its snapshot, 0 where none was named.
	KG     string
	Number uint64
	// Err is what went wrong; it wraps one of the package's errors where one
	// fits.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Number == 0 {
		return fmt.Sprintf("%s knowledge graph %q: %v", e.Op, e.KG, e.Err)
	}
	return fmt.Sprintf("%s snapshot %s@%d: %v", e.Op, e.KG, e.Number, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// GRPCStatus gives the error its gRPC code and an ErrorInfo with the reason.
func (e *Error) GRPCStatus() *status.Status {
	code, reason := classify(e.Err)
	s := status.New(code, e.Error())
	info := &errdetails.ErrorInfo{
		Reason: reason,
		Domain: "triplemesh",
		Metadata: map[string]string{
			"kg":       e.KG,
			"snapshot": fmt.Sprint(e.Number),
		},
	}
	if detailed, err := s.WithDetails(info); err == nil {
		return detailed
	}
	return s
}

func classify(err error) (codes.Code, string) {
	switch {
	case errors.Is(err, ErrNotFound):
		return codes.NotFound, "KG_NOT_FOUND"
	case errors.Is(err, ErrNoActive):
		return codes.FailedPrecondition, "KG_NO_ACTIVE_SNAPSHOT"
	case errors.Is(err, ErrNoPrevious):
		return codes.FailedPrecondition, "KG_NO_PREVIOUS_SNAPSHOT"
	case errors.Is(err, ErrActive):
		return codes.FailedPrecondition, "KG_SNAPSHOT_ACTIVE"
	case errors.Is(err, ErrCorrupt):
		return codes.DataLoss, "KG_CORRUPT"
	case errors.Is(err, ErrFull):
		return codes.ResourceExhausted, "DISK_FULL"
	case errors.Is(err, ErrNoVectors):
		return codes.FailedPrecondition, "KG_NO_VECTORS"
	case errors.Is(err, ErrFormat):
		return codes.FailedPrecondition, "KG_FORMAT"
	case errors.Is(err, ErrBase):
		return codes.FailedPrecondition, "KG_BASE"
	case errors.Is(err, ErrDeep):
		return codes.FailedPrecondition, "KG_DEEP"
	case errors.Is(err, ErrBusy):
		return codes.Aborted, "KG_BUSY"
	case errors.Is(err, ErrShared):
		return codes.PermissionDenied, "KG_SHARED"
	case errors.Is(err, ErrUnsupported):
		return codes.FailedPrecondition, "STORE_UNSUPPORTED"
	case errors.Is(err, ErrInvalid):
		return codes.InvalidArgument, "KG_INVALID"
	case errors.Is(err, context.Canceled):
		return codes.Canceled, "CANCELLED"
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded, "DEADLINE_EXCEEDED"
	}
	// An error that knows its own code, such as the encoder's, keeps it.
	if s, ok := status.FromError(err); ok {
		return s.Code(), "KG_STORE"
	}
	return codes.Internal, "KG_STORE"
}
