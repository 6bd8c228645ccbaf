package propose

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// separators are what spreadsheets put between cells when they save a sheet as
// text, the one that it is written with first.
var separators = []rune{'\t', ',', ';'}

// IsSheet tells by its first bytes whether a file is a sheet of proposals.
func IsSheet(head []byte) bool {
	_, ok := detectSeparator(head)
	return ok
}

// detectSeparator tells what stands between the headings of a sheet; others may
// stand beside the four that every sheet has.
func detectSeparator(head []byte) (rune, bool) {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	for _, separator := range separators {
		headings := strings.Split(string(line), string(separator))
		for i, h := range headings {
			headings[i] = strings.Trim(h, "\" \r")
		}
		if !slices.ContainsFunc(columns[:4], func(c string) bool { return !slices.Contains(headings, c) }) {
			return separator, true
		}
	}
	return 0, false
}

// readRows reads a sheet as this package or a spreadsheet wrote it. A fault names
// its line.
func readRows(name string, from io.Reader) ([]Row, error) {
	in := bufio.NewReaderSize(from, 1<<16)
	head, err := in.Peek(1 << 12)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	separator, ok := detectSeparator(head)
	if !ok {
		return nil, fmt.Errorf("%s is no sheet of proposals: its first line does not hold the headings %s", name,
			strings.Join(columns[:4], ", "))
	}
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	r := csv.NewReader(in)
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = separator, -1, true
	headings, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	places := map[string]int{}
	for i, h := range headings {
		places[strings.TrimSpace(h)] = i
	}
	var rows []Row
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		row, err := parseRow(func(column string) string {
			if i, ok := places[column]; ok && i < len(cells) {
				return strings.TrimSpace(unguarded(strings.ToValidUTF8(cells[i], string(utf8.RuneError))))
			}
			return ""
		})
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if row.Subject+row.Relation+row.Object != "" {
			rows = append(rows, row)
		}
	}
}

// write writes a sheet: cells separated by tabs, quoted where they must be.
func write(to io.Writer, rows []Row) error {
	w := csv.NewWriter(to)
	w.Comma = separators[0]
	if err := w.Write(columns); err != nil {
		return err
	}
	for i := range rows {
		cells := rows[i].cells()
		for j := range cells {
			cells[j] = guarded(cells[j])
		}
		if err := w.Write(cells); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// formulas are what a cell begins with that a spreadsheet would compute. Texts
// and models are not trusted with that.
const formulas = "=+-@"

// guarded puts an apostrophe before a cell that a spreadsheet would compute.
func guarded(cell string) string {
	if rest := strings.TrimLeft(cell, "'"); rest != "" && strings.ContainsRune(formulas, rune(rest[0])) {
		return "'" + cell
	}
	return cell
}

// unguarded takes it away.
func unguarded(cell string) string {
	if rest := strings.TrimLeft(cell, "'"); len(rest) < len(cell) && rest != "" && strings.ContainsRune(formulas,
		rune(rest[0])) {
		return cell[1:]
	}
	return cell
}
