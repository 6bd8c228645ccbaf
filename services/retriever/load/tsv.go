package load

import (
	"errors"
	"fmt"
	"strings"
)

// parseTSV reads subject<TAB>relation<TAB>object and, where there are more
// columns, the start and the end of validity.
func parseTSV(text string) (Fact, error) {
	columns := strings.Split(text, "\t")
	if len(columns) < 3 || len(columns) > 5 {
		return Fact{}, fmt.Errorf("%d columns, want subject, relation and object, and at most start and end of validity", len(columns))
	}
	f, err := cleanFact(Fact{Subject: columns[0], Relation: columns[1], Object: columns[2]})
	if err != nil {
		return Fact{}, err
	}
	var startErr, endErr error
	if len(columns) > 3 {
		f.Validity.Start, startErr = cleanDate("start", columns[3])
	}
	if len(columns) > 4 {
		f.Validity.End, endErr = cleanDate("end", columns[4])
	}
	return f, errors.Join(startErr, endErr)
}
