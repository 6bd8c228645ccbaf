package table

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// ReadTSV reads lines of subject<TAB>relation<TAB>object, with at most two more columns for the start
// and the end of validity, and returns their number. Names are keys.
func ReadTSV(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
	return source.ReadLines(ctx, in, to, source.LineOptions{}, func() source.LineFunc { return readTSVLine })
}

func readTSVLine(line []byte, to source.Sink) error {
	s, err := parseTSV(string(line))
	if err != nil {
		return err
	}
	return to.Statement(s)
}

// maxTSVColumns are the most that a line has.
const maxTSVColumns = 5

// parseTSV reads a line, without its end.
func parseTSV(line string) (s source.Statement, err error) {
	var cells [maxTSVColumns]string
	count, rest := 0, line
	for more := true; more; count++ {
		var cell string
		if cell, rest, more = strings.Cut(rest, "\t"); count < maxTSVColumns {
			cells[count] = cell
		}
	}
	if count < 3 || count > maxTSVColumns {
		return s, fmt.Errorf("%d columns, want subject, relation and object, and at most start and end of validity",
			count)
	}
	var errs [5]error
	s.Subject.Key, errs[0] = source.NormalizeName("subject", cells[0])
	s.Relation, errs[1] = source.NormalizeName("relation", cells[1])
	s.Object.Key, errs[2] = source.NormalizeName("object", cells[2])
	if count > 3 {
		s.Validity.Start, errs[3] = source.NormalizeDate("start of validity", cells[3])
		s.Validity.End, errs[4] = source.NormalizeDate("end of validity", cells[4])
	}
	return s, errors.Join(errs[:]...)
}
