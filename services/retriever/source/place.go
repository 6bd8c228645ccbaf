package source

import (
	"errors"
	"fmt"
	"strconv"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// PlaceError is a place in a file that holds no statement, or from which the
// file cannot be read on.
type PlaceError struct {
	// File is the name that the file was given with.
	File string
	// Line is counted from 1; 0 where Byte says the place.
	Line uint64
	// Byte is one of the unpacked file, counted from 0.
	Byte uint64
	// Err says what is wrong.
	Err error
}

// Error implements error.
func (e *PlaceError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s, byte %d: %v", e.File, e.Byte, e.Err)
}

// Unwrap returns the cause.
func (e *PlaceError) Unwrap() error { return e.Err }

// GRPCStatus makes it INVALID_ARGUMENT with the place in an ErrorInfo.
func (e *PlaceError) GRPCStatus() *status.Status {
	s := status.New(codes.InvalidArgument, e.Error())
	info := &errdetails.ErrorInfo{Reason: "BAD_LINE", Domain: "triplemesh", Metadata: map[string]string{"file": e.File}}
	if e.Line > 0 {
		info.Metadata["line"] = strconv.FormatUint(e.Line, 10)
	} else {
		info.Metadata["byte"] = strconv.FormatUint(e.Byte, 10)
	}
	if detailed, err := s.WithDetails(info); err == nil {
		return detailed
	}
	return s
}

// At gives an error of reading a file its line. One that has a place already
// keeps it, and so does one that is no fault of the file's, such as a
// connection that broke.
func At(file string, line uint64, err error) error {
	var place *PlaceError
	if errors.As(err, &place) {
		if place.Line == 0 {
			return &PlaceError{File: place.File, Line: line, Byte: place.Byte, Err: place.Err}
		}
		return err
	}
	return fmt.Errorf("read %s, line %d: %w", file, line, err)
}
