package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// What can be wrong with a knowledge graph. Errors of a store wrap one of
// these in an Error; test for them with errors.Is.
var (
	// ErrNotFound: there is no such knowledge graph or snapshot.
	ErrNotFound = errors.New("not found")
	// ErrNoActive: the knowledge graph has no active snapshot.
	ErrNoActive = errors.New("no active snapshot; activate one or load again")
	// ErrNoPrevious: there is no earlier snapshot to roll back to.
	ErrNoPrevious = errors.New("no earlier snapshot to roll back to")
	// ErrActive: the snapshot is active and cannot be dropped alone.
	ErrActive = errors.New("is active; activate another snapshot first, or drop the whole knowledge graph")
	// ErrCorrupt: a file is missing, cut off or differs from its checksum.
	ErrCorrupt = errors.New("corrupt")
	// ErrFull: the disk is full.
	ErrFull = errors.New("disk is full; free space and load again")
	// ErrNoVectors: the snapshot was built without vectors.
	ErrNoVectors = errors.New("the snapshot has no vectors; load it again with them")
	// ErrFormat: the snapshot was written by a newer or a much older program.
	ErrFormat = errors.New("unsupported snapshot format")
	// ErrBase: other snapshots are deltas of this one, which cannot be dropped alone.
	ErrBase = errors.New("depends on it; compact and drop that one first")
	// ErrTooManyDeltas: the chain of deltas is too long.
	ErrTooManyDeltas = errors.New("too many deltas on top of each other; compact the snapshot first")
	// ErrBusy: another process is at work on it.
	ErrBusy = errors.New("in use by another process; try again later")
	// ErrUnsupported: the kind of store does not do this.
	ErrUnsupported = errors.New("not supported by this kind of store")
	// ErrShared: the knowledge graph belongs to another tenant that shares it read-only.
	ErrShared = errors.New("is shared read-only; load a knowledge graph of your own")
	// ErrInvalid: the name or the content cannot be stored.
	ErrInvalid = errors.New("invalid")
)

// Invalidf returns an error that is ErrInvalid, without ErrInvalid's text in its message.
func Invalidf(format string, args ...any) error { return &invalid{fmt.Errorf(format, args...)} }

type invalid struct{ error }

func (e *invalid) Unwrap() []error { return []error{e.error, ErrInvalid} }

// WrapError adds the operation and the snapshot to an error, unless it has them already.
func WrapError(op, kg string, number uint64, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Error{Op: op, KG: kg, Number: number, Err: err}
}

// Error names the operation and the knowledge graph that Err happened in.
type Error struct {
	// Op is what was being done: "open", "load", "activate".
	Op string
	// KG is the knowledge graph, Number its snapshot, 0 if none was named.
	KG     string
	Number uint64
	// Err is what went wrong; it wraps one of the package's errors if one fits.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.KG == "" {
		return fmt.Sprintf("%s knowledge graph: %v", e.Op, e.Err)
	}
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
	info := errinfo.New(reason, map[string]string{"kg": e.KG, "snapshot": fmt.Sprint(e.Number)})
	if detailed, err := s.WithDetails(info); err == nil {
		return detailed
	}
	return s
}

func classify(err error) (codes.Code, errorsv1.ErrorReason) {
	switch {
	case errors.Is(err, ErrNotFound):
		return codes.NotFound, errorsv1.ErrorReason_ERROR_REASON_KG_NOT_FOUND
	case errors.Is(err, ErrNoActive):
		return codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_KG_NO_ACTIVE_SNAPSHOT
	case errors.Is(err, ErrNoPrevious):
		return codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_KG_NO_PREVIOUS_SNAPSHOT
	case errors.Is(err, ErrActive):
		return codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_KG_SNAPSHOT_ACTIVE
	case errors.Is(err, ErrCorrupt):
		return codes.DataLoss, errorsv1.ErrorReason_ERROR_REASON_KG_CORRUPT
	case errors.Is(err, ErrFull):
		return codes.ResourceExhausted, errorsv1.ErrorReason_ERROR_REASON_DISK_FULL
	case errors.Is(err, ErrNoVectors):
		return codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_KG_NO_VECTORS
	case errors.Is(err, ErrFormat):
		return codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_KG_FORMAT
	case errors.Is(err, ErrBase):
		return codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_KG_BASE
	case errors.Is(err, ErrTooManyDeltas):
		return codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_KG_DEEP
	case errors.Is(err, ErrBusy):
		return codes.Aborted, errorsv1.ErrorReason_ERROR_REASON_KG_BUSY
	case errors.Is(err, ErrShared):
		return codes.PermissionDenied, errorsv1.ErrorReason_ERROR_REASON_KG_SHARED
	case errors.Is(err, ErrUnsupported):
		return codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_STORE_UNSUPPORTED
	case errors.Is(err, ErrInvalid):
		return codes.InvalidArgument, errorsv1.ErrorReason_ERROR_REASON_KG_INVALID
	case errors.Is(err, context.Canceled):
		return codes.Canceled, errorsv1.ErrorReason_ERROR_REASON_CANCELLED
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded, errorsv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED
	}
	// An error that knows its own code, such as the encoder's, keeps it.
	if s, ok := status.FromError(err); ok {
		return s.Code(), errorsv1.ErrorReason_ERROR_REASON_KG_STORE
	}
	return codes.Internal, errorsv1.ErrorReason_ERROR_REASON_KG_STORE
}

// Fault is what a snapshot panics with if a method that returns no error meets damage, such as a
// page that differs from its checksum. Guard turns it into an error.
type Fault struct {
	// Err says what is damaged; it wraps ErrCorrupt.
	Err error
}

// Error implements error.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Guard runs read and returns its error. If read meets damage in a snapshot
// the error is ErrCorrupt: a Fault, or a file that another process truncated while it
// was mapped. Other panics continue. A caller that reads a snapshot does so within
// Guard, in each goroutine that reads; guards may lie within one another.
func Guard(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Fault:
			err = p.Err
		case interface {
			error
			Addr() uintptr
		}:
			err = fmt.Errorf("a file was cut off while it was read (%w): %w", p, ErrCorrupt)
		default:
			panic(p)
		}
	}()
	return read()
}
