// Package load reads files of triples and builds snapshots from them.
package load

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Fact is a triple by its names.
type Fact struct {
	Subject, Relation, Object string
	Validity                  store.Validity
}

// maxName is the longest name in bytes, that of the contract.
const maxName = 65536

// LineError is a line that holds no triple, or a file that cannot be read on.
type LineError struct {
	// File it is in and line, from 1.
	File string
	Line uint64
	// Err says what is wrong with it.
	Err error
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// GRPCStatus makes it INVALID_ARGUMENT with the place in an ErrorInfo.
func (e *LineError) GRPCStatus() *status.Status {
	s := status.New(codes.InvalidArgument, e.Error())
	info := &errdetails.ErrorInfo{
		Reason:   "BAD_LINE",
		Domain:   "triplemesh",
		Metadata: map[string]string{"file": e.File, "line": fmt.Sprint(e.Line)},
	}
	if detailed, err := s.WithDetails(info); err == nil {
		return detailed
	}
	return s
}

// cleanName checks a name and puts it on one line: runs of white space and
// control characters become one space.
func cleanName(what, name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", fmt.Errorf("the %s is not UTF-8", what)
	}
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if name == "" {
		return "", fmt.Errorf("the %s is empty", what)
	}
	if len(name) > maxName {
		return "", fmt.Errorf("the %s has %d bytes, at most %d are taken", what, len(name), maxName)
	}
	return name, nil
}

func cleanFact(f Fact) (Fact, error) {
	var errs [3]error
	f.Subject, errs[0] = cleanName("subject", f.Subject)
	f.Relation, errs[1] = cleanName("relation", f.Relation)
	f.Object, errs[2] = cleanName("object", f.Object)
	return f, errors.Join(errs[:]...)
}

// dates are ISO 8601 of any precision from the year down.
var dates = regexp.MustCompile(`^[+-]?\d{4,9}(-\d\d(-\d\d(T[0-9:.]+(Z|[+-]\d\d:?\d\d)?)?)?)?$`)

func cleanDate(what, date string) (string, error) {
	date = strings.TrimSpace(date)
	if date != "" && (len(date) > 64 || !dates.MatchString(date)) {
		return "", fmt.Errorf("the %s of validity %.40q is no ISO 8601 date", what, date)
	}
	return strings.TrimPrefix(date, "+"), nil
}
