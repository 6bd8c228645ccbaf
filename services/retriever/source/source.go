// Package source says what knowledge graphs are read from: a reader of a format hands statements,
// labels and aliases to a Sink, one after another, and holds no more in memory than its format asks
// for. The packages below it are the formats.
package source

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Term is one end of a statement as its source names it.
type Term struct {
	// Key names a node within the source: a name, an IRI, an identifier. The key
	// of a literal is its text as a person reads it, without its unit.
	Key string
	// Kind is what the source says the term is.
	Kind store.Kind
	// Unit is the key of a quantity's unit, whose label is read as all labels
	// are; empty for all else.
	Unit string
}

// Statement is a fact by the keys of its source.
type Statement struct {
	Subject Term
	// Relation is a key too.
	Relation string
	Object   Term
	Validity store.Validity
	// Provenance is where the source has the fact from: a named graph or a statement.
	Provenance string
	// Line is that of the file, from 1; 0 if it is not known.
	Line uint64
}

// Sink takes what a reader finds, in any order. An error ends the reading. The strings may be kept.
type Sink interface {
	// Statement takes a fact.
	Statement(Statement) error
	// Label gives a key its name; rank 0 is the best, and of equal ranks the
	// first counts. A key without any label is shown by its own text.
	Label(key, name string, rank int) error
	// Alias gives a key a further name by which it is found.
	Alias(key, name string) error
}

// Input is a file as a reader of its format takes it.
type Input struct {
	// Name is for messages.
	Name string
	// Reader gives the file's bytes, unpacked.
	Reader io.Reader
	// Number is the file's place in its load, from 1. It keeps the blank nodes
	// of one file from those of another.
	Number int
	// Language is that of labels, a tag as in BCP 47; empty means "en".
	Language string
	// Start is where Reader begins, of a file that was read so far before.
	Start Mark
	// Mark is called from time to time with how far the file was passed to the sink, by readers
	// that can start there another time; nil for none. Its error ends the reading.
	Mark func(Mark) error
	// Provenance asks for the provenance of statements where that costs time.
	Provenance bool
	// Bad is called with each place that holds no statement. Its error ends
	// the reading. Without it the first such place ends the reading.
	Bad func(*PlaceError) error
}

// Mark is a place between two lines of an unpacked file: as many bytes and lines are before it.
type Mark struct {
	Bytes int64
	Lines uint64
}

// Reject passes a place to Bad.
func (in Input) Reject(e *PlaceError) error {
	if in.Bad == nil {
		return e
	}
	return in.Bad(e)
}

// PlaceError is a place in a file that holds no statement, or from which the
// file cannot be read on.
type PlaceError struct {
	// File is the name that the file was given with.
	File string
	// Line is counted from 1; 0 if Byte says the place.
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
	info := errinfo.New(errorsv1.ErrorReason_ERROR_REASON_BAD_LINE, map[string]string{"file": e.File})
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

// WithLine gives an error of reading a file its line. One that has a place already keeps it, and so
// does one that is not a fault of the file's, such as a connection that broke.
func WithLine(file string, line uint64, err error) error {
	if place, ok := errors.AsType[*PlaceError](err); ok {
		if place.Line == 0 {
			return &PlaceError{File: place.File, Line: line, Byte: place.Byte, Err: place.Err}
		}
		return err
	}
	return fmt.Errorf("read %s, line %d: %w", file, line, err)
}

// SinkGuard is a Sink that remembers the error of the one behind it, so that a
// reader can tell it from a fault of its file.
type SinkGuard struct {
	// Line is that of the statements to come; 0 if it is not known.
	Line uint64
	sink Sink
	err  error
}

// NewSinkGuard returns a Sink that passes everything on.
func NewSinkGuard(to Sink) *SinkGuard { return &SinkGuard{sink: to} }

// Statement implements Sink.
func (g *SinkGuard) Statement(s Statement) error {
	s.Line = g.Line
	return g.remember(g.sink.Statement(s))
}

// Label implements Sink.
func (g *SinkGuard) Label(key, name string, rank int) error {
	return g.remember(g.sink.Label(key, name, rank))
}

// Alias implements Sink.
func (g *SinkGuard) Alias(key, name string) error { return g.remember(g.sink.Alias(key, name)) }

func (g *SinkGuard) remember(err error) error {
	if err != nil {
		g.err = err
	}
	return err
}

// Err is the last error of the sink behind it; nil if there was none.
func (g *SinkGuard) Err() error { return g.err }

// Reject makes err, if there is one, the fault of a line; an error of the sink ends the reading.
func (g *SinkGuard) Reject(in Input, line uint64, err error) error {
	if err == nil || g.err != nil {
		return g.err
	}
	return in.Reject(&PlaceError{File: in.Name, Line: line, Err: err})
}
