// Package csv reads tables with headings: RFC 4180 with any separator.
package csv

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// maxRow is the longest row in bytes. A quote that is never closed would else
// take the rest of the file for one cell.
const maxRow = 1 << 20

// Columns says which columns make a triple, by their headings. The zero Columns
// takes those named subject, relation and object, with start and end, or else
// the first three.
type Columns struct {
	Subject string
	// Relation empty makes every other column a relation of its heading's name,
	// and its cell the object.
	Relation, Object string
	// Start and End are the columns of the first and the last day of validity;
	// may be empty.
	Start, End string
	// Separator is the character between cells; 0 takes the comma, and the tab
	// in a file whose name ends in .tsv or .tab.
	Separator rune
}

// Read reads a table and returns the number of rows, the headings aside. Cells
// are names; one of a number or a date is a literal of that kind. A row that
// holds no triple is rejected; in a table of one relation a column an empty
// cell holds none and is passed over.
func Read(ctx context.Context, in source.Input, to source.Sink, columns Columns) (uint64, error) {
	limited := &rows{file: in.Name, r: in.Reader}
	text := bufio.NewReaderSize(limited, 1<<16)
	if mark, _ := text.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = text.Discard(3)
	}
	r := csv.NewReader(text)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = separator(in.Name, columns), -1, true
	guarded := source.Guard(to)
	headings, err := r.Read()
	if err != nil {
		return 0, fault(in, limited, 0, fmt.Errorf("the headings cannot be read: %w", err))
	}
	t, err := newTable(headings, columns)
	if err != nil {
		return 0, &source.PlaceError{File: in.Name, Line: 1, Err: err}
	}
	line := uint64(1)
	for count := uint64(0); ; count++ {
		if count%1024 == 0 && ctx.Err() != nil {
			return count, ctx.Err()
		}
		limited.row = 0
		row, err := r.Read()
		if errors.Is(err, io.EOF) && limited.err == nil {
			return count, nil
		}
		var parse *csv.ParseError
		if err == nil {
			at, _ := r.FieldPos(0)
			line = uint64(at)
			err = t.take(row, guarded)
		} else if errors.As(err, &parse) && limited.err == nil {
			line, err = uint64(parse.StartLine), parse.Err
		} else {
			return count, fault(in, limited, line, err)
		}
		if err := guarded.Reject(in, line, err); err != nil {
			return count, err
		}
	}
}

// separator is the character between cells.
func separator(file string, columns Columns) rune {
	if columns.Separator != 0 {
		return columns.Separator
	}
	if format, _ := source.ByName(file); format == source.TSV {
		return '\t'
	}
	return ','
}

// fault tells an error of the file from one of the way it came by. line is that
// of the last row that could be read.
func fault(in source.Input, from *rows, line uint64, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		line = uint64(parse.StartLine) - 1
	}
	if from.err != nil {
		return source.At(in.Name, line+1, from.err)
	}
	return &source.PlaceError{File: in.Name, Line: line + 1, Err: err}
}

// rows is a file whose rows are bounded.
type rows struct {
	file string
	r    io.Reader
	// row counts the bytes read for the row under way, and those read ahead.
	row int
	err error
}

func (r *rows) Read(b []byte) (int, error) {
	if r.row > maxRow+len(b) {
		r.err = &source.PlaceError{File: r.file, Err: fmt.Errorf("a row is longer than %d bytes; is a quote not closed?", maxRow)}
		return 0, r.err
	}
	n, err := r.r.Read(b)
	r.row += n
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}
