// Package tsv reads lines of subject<TAB>relation<TAB>object, with at most two
// more columns for the start and the end of validity. Names are keys.
package tsv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/lines"
)

// Read reads a file on all cores and returns the number of lines.
func Read(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
	return lines.Read(ctx, in, to, lines.Options{}, func() lines.Take { return take })
}

func take(line []byte, to source.Sink) error {
	s, err := Parse(string(line))
	if err != nil {
		return err
	}
	return to.Statement(s)
}

// columns are the most that a line has.
const columns = 5

// Parse reads a line, without its end.
func Parse(line string) (s source.Statement, err error) {
	var cells [columns]string
	count, rest := 0, line
	for more := true; more; count++ {
		var cell string
		if cell, rest, more = strings.Cut(rest, "\t"); count < columns {
			cells[count] = cell
		}
	}
	if count < 3 || count > columns {
		return s, fmt.Errorf("%d columns, want subject, relation and object, and at most start and end of validity", count)
	}
	var errs [5]error
	s.Subject.Key, errs[0] = source.Name("subject", cells[0])
	s.Relation, errs[1] = source.Name("relation", cells[1])
	s.Object.Key, errs[2] = source.Name("object", cells[2])
	if count > 3 {
		s.Validity.Start, errs[3] = source.Date("start of validity", cells[3])
		s.Validity.End, errs[4] = source.Date("end of validity", cells[4])
	}
	return s, errors.Join(errs[:]...)
}
