package propose

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Desk is where a person reviews: it shows a proposal and reads what they make
// of it.
type Desk interface {
	// Show shows the i-th row of a sheet of so many, with a notice about what was
	// typed before; empty is none.
	Show(row Row, i, of int, notice string)
	// Key reads one key.
	Key() (rune, error)
	// Edit asks for another text for a cell; empty keeps it.
	Edit(heading, text string) (string, error)
}

// keys are what a person may type.
const keys = "y accepts, n rejects, s takes the suggested names, e edits, b goes back, space passes over, q ends"

// Review shows the open proposals of a sheet one after the other and keeps each
// decision at once. It returns how many were decided on; the end of the input
// ends it as q does.
func Review(path string, desk Desk) (decided int, err error) {
	sheet, err := OpenSheet(path)
	if err != nil {
		return 0, err
	}
	var way []int // rows that were decided on, to go back to
	notice := ""
	for i := 0; i < len(sheet.rows); {
		row := sheet.rows[i]
		if row.Mark != Open {
			i++
			continue
		}
		desk.Show(row, i, len(sheet.rows), notice)
		notice = ""
		key, err := desk.Key()
		switch {
		case errors.Is(err, io.EOF):
			return decided, nil
		case err != nil:
			return decided, err
		}
		switch mark := Mark(strings.ToLower(string(key))); mark {
		case Accepted, Rejected, AcceptedLike:
			if mark == AcceptedLike && row.SubjectLike == "" && row.ObjectLike == "" {
				notice = "no other names are suggested for this one"
				continue
			}
			row.Mark = mark
			if err := sheet.Replace(i, row); err != nil {
				return decided, err
			}
			decided++
			way = append(way, i)
		case "e":
			if err := edit(&row, desk); err != nil {
				return decided, err
			}
			if err := sheet.Replace(i, row); err != nil {
				return decided, err
			}
		case "b":
			if len(way) == 0 {
				notice = "nothing was decided on before this one"
				continue
			}
			i = way[len(way)-1]
			way = way[:len(way)-1]
			back := sheet.rows[i]
			back.Mark = Open
			if err := sheet.Replace(i, back); err != nil {
				return decided, err
			}
			decided--
		case " ":
			i++
		case "q", "\x03", "\x04": // Ctrl-C and Ctrl-D too
			return decided, nil
		default:
			notice = keys
		}
	}
	return decided, nil
}

// edit asks for the three parts of a fact. It is shown again afterwards.
func edit(row *Row, desk Desk) error {
	for _, cell := range []struct {
		heading string
		text    *string
		like    *string
	}{{"subject", &row.Subject, &row.SubjectLike}, {"relation", &row.Relation, nil},
		{"object", &row.Object, &row.ObjectLike}} {
		text, err := desk.Edit(cell.heading, *cell.text)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("edit the %s: %w", cell.heading, err)
		}
		if text = strings.Join(strings.Fields(strings.Map(oneLine, text)), " "); text != "" && text != *cell.text {
			*cell.text = text
			if cell.like != nil {
				*cell.like = "" // it was of the other name
			}
		}
	}
	return nil
}
