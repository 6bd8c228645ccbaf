package propose

import (
	"fmt"
	"io"
	"strings"
)

// Reviewed counts the outcome of a sheet's proposals.
type Reviewed struct{ Accepted, Rejected, Open int }

// String says it in words.
func (r Reviewed) String() string {
	return fmt.Sprintf("%d accepted, %d rejected, %d not reviewed", r.Accepted, r.Rejected, r.Open)
}

// WriteAccepted writes the accepted proposals of a sheet as kg load reads facts:
// subject, relation, object, and when it held, separated by tabs. name is the
// sheet's, for what is said of faults.
func WriteAccepted(name string, sheet io.Reader, to io.Writer) (Reviewed, error) {
	var done Reviewed
	rows, err := readRows(name, sheet)
	if err != nil {
		return done, err
	}
	for i := range rows {
		row := &rows[i]
		switch row.Mark {
		case Open:
			done.Open++
			continue
		case Rejected:
			done.Rejected++
			continue
		}
		done.Accepted++
		subject, object := row.Names()
		cells := []string{subject, row.Relation, object}
		if row.From != "" || row.To != "" {
			cells = append(cells, row.From, row.To)
		}
		for j, cell := range cells {
			cells[j] = strings.Map(oneLine, cell)
		}
		if _, err := fmt.Fprintln(to, strings.Join(cells, "\t")); err != nil {
			return done, err
		}
	}
	return done, nil
}
