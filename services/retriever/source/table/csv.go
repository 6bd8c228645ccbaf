// Package table reads tables: CSV with headings (RFC 4180, any separator), and TSV without, a triple a
// line.
package table

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// maxRow is the longest row in bytes. A quote that is never closed would else
// take the rest of the file for one cell.
const maxRow = 1 << 20

// Columns says which columns make a triple, by their headings. The zero Columns takes those named
// subject, relation and object, with start and end, or else the first three.
type Columns struct {
	Subject string
	// Relation empty makes every other column a relation of its heading's name,
	// and its cell the object.
	Relation, Object string
	// Start and End are the columns of the first and the last day of validity; may be empty.
	Start, End string
	// Separator is the character between cells; 0 means the tab in a file whose name ends in .tsv or .tab, else the
	// first of comma, semicolon, tab and vertical bar that the headings have.
	Separator rune
	// Rows makes each row an entity of this name and its number, in place of Subject.
	Rows string
	// Names are the columns of which the names of the rows are put together, where Subject has codes: each row's entity
	// has the name, its code is its key and an alias. None where Subject has the names.
	Names []string
	// References say, by the headings of columns that hold codes of rows, what those rows are: 3 in a column of
	// "employee" is the entity of the row whose code is 3 in the table where Subject refers to "employee" as well. The
	// relation of a heading such as manager_id is "manager".
	References map[string]string
	// Types are those of columns by their headings; a cell that is not of its type is rejected. Those
	// of the other columns are inferred from the first rows, if every column is a relation.
	Types map[string]Type
}

// ReadCSV reads a table and returns the number of rows, the headings aside. Cells are names; one of
// a number or a date is a literal of that kind, and so are those of a column of numbers or dates. A row
// that holds no triple is rejected; in a table of one relation a column an empty cell is skipped, and the
// heading of the key, or else the name of the file, says what each row is ("Matterhorn | instance of | mountain").
func ReadCSV(ctx context.Context, in source.Input, to source.Sink, columns Columns) (uint64, error) {
	limited := &boundedReader{file: in.Name, r: in.Reader}
	r := newReader(in.Name, limited, columns.Separator)
	guarded := source.NewSinkGuard(to)
	headings, err := r.Read()
	if err != nil {
		return 0, wrapError(in, limited, 0, fmt.Errorf("the headings cannot be read: %w", err))
	}
	t, err := newTable(in.Name, headings, columns)
	if err == nil && t.types[t.object] == Skip {
		err = fmt.Errorf("column %q has the objects of all triples and cannot be skipped", headings[t.object])
	}
	if err != nil {
		return 0, &source.PlaceError{File: in.Name, Line: 1, Err: err}
	}
	line := uint64(1)
	for count := uint64(0); ; count++ {
		if count%1024 == 0 && ctx.Err() != nil {
			return count, ctx.Err()
		}
		limited.rowBytes = 0
		row, err := r.Read()
		if errors.Is(err, io.EOF) && limited.err == nil {
			if count == 0 {
				err = in.Reject(&source.PlaceError{File: in.Name, Line: 1,
					Err: fmt.Errorf("no rows under the headings "+
						"%.300q; the first line must name the columns", headings)})
				return 0, err
			}
			return count, t.flush(in, guarded)
		}
		var parse *csv.ParseError
		if err == nil {
			at, _ := r.FieldPos(0)
			line = uint64(at)
			if t.inferring {
				if err := t.hold(in, guarded, line, row); err != nil {
					return count, err
				}
				continue
			}
			guarded.Line = line
			err = t.readRow(row, guarded)
		} else if errors.As(err, &parse) && limited.err == nil {
			line, err = uint64(parse.StartLine), parse.Err
		} else {
			return count, wrapError(in, limited, line, err)
		}
		if err := guarded.Reject(in, line, err); err != nil {
			return count, err
		}
	}
}

// newReader reads rows, without a byte order mark. Without a separator it takes the one that the file's name says, or
// the headings.
func newReader(file string, in io.Reader, separator rune) *csv.Reader {
	text := bufio.NewReaderSize(in, 1<<16)
	if mark, _ := text.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = text.Discard(3)
	}
	if separator == 0 {
		head, _ := text.Peek(text.Size())
		separator = separatorOf(file, string(head))
	}
	r := csv.NewReader(text)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = separator, -1, true
	return r
}

// separatorOf returns the character between cells by the file's name, or else by the headings that it begins with.
func separatorOf(file, text string) rune {
	if format, _ := source.FormatByName(file); format == source.TSV {
		return '\t'
	}
	headings, _, _ := strings.Cut(text, "\n")
	for _, mark := range ",;\t|" {
		if strings.ContainsRune(headings, mark) {
			return mark
		}
	}
	return ','
}

// wrapError makes an error of the file a PlaceError; errors of the underlying reader are not. line is
// that of the last row that could be read.
func wrapError(in source.Input, from *boundedReader, line uint64, err error) error {
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		line = uint64(parse.StartLine) - 1
	}
	if from.err != nil {
		return source.WithLine(in.Name, line+1, from.err)
	}
	return &source.PlaceError{File: in.Name, Line: line + 1, Err: err}
}

// boundedReader is a file whose rows are bounded.
type boundedReader struct {
	file string
	r    io.Reader
	// rowBytes counts the bytes read for the row under way, and those read ahead.
	rowBytes int
	err      error
}

func (r *boundedReader) Read(b []byte) (int, error) {
	if r.rowBytes > maxRow+len(b) {
		r.err = &source.PlaceError{File: r.file,
			Err: fmt.Errorf("a row is longer than %d bytes; is a quote not closed?", maxRow)}
		return 0, r.err
	}
	n, err := r.r.Read(b)
	r.rowBytes += n
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// table reads the rows under some headings.
type table struct {
	width int
	// subject to end are places of columns, -1 for none.
	subject, relation, object, start, end int
	names                                 []int
	// relations are columns that are relations by their headings.
	relations map[int]string
	// types are those of columns; strict are those that the caller chose.
	types  map[int]Type
	strict map[int]bool
	// references are what the rows are whose codes a column holds.
	references map[int]string
	// rows names the rows, which row counts.
	rows string
	row  int
	// kind is what the rows are, empty if the table does not say, and otherKind what they are besides.
	kind, otherKind string
	// codes is the relation of a row's entity to its code, if it has a name.
	codes string

	// single holds the cell of a column that is no list.
	single [1]string

	// held are the first rows, by which types are inferred.
	inferring bool
	headings  []string
	held      []heldRow
	heldBytes int
}

type heldRow struct {
	line  uint64
	cells []string
}

// hold keeps a row until there are enough to infer the types.
func (t *table) hold(in source.Input, guarded *source.SinkGuard, line uint64, row []string) error {
	t.held = append(t.held, heldRow{line, slices.Clone(row)})
	for _, cell := range row {
		t.heldBytes += len(cell)
	}
	if len(t.held) < sampledRows && t.heldBytes < sampledBytes {
		return nil
	}
	return t.flush(in, guarded)
}

// flush infers the types from the rows held, and reads these.
func (t *table) flush(in source.Input, guarded *source.SinkGuard) error {
	if !t.inferring {
		return nil
	}
	t.inferring = false
	for i, heading := range t.headings {
		if _, relation := t.relations[i]; t.types[i] != Auto || !relation && strings.TrimSpace(heading) != "" {
			continue
		}
		var cells []string
		for _, row := range t.held {
			if len(row.cells) == t.width {
				cells = append(cells, row.cells[i])
			}
		}
		c := summarize(heading, cells)
		if c.Heading == "" && c.Cells > 0 {
			if err := in.Reject(&source.PlaceError{File: in.Name, Line: 1,
				Err: fmt.Errorf("column %d has no heading, skipped; add one", i+1)}); err != nil {
				return err
			}
		}
		if c.Type != Entity {
			t.types[i] = c.Type
		}
	}
	for _, row := range t.held {
		guarded.Line = row.line
		if err := guarded.Reject(in, row.line, t.readRow(row.cells, guarded)); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

func newTable(file string, headings []string, c Columns) (*table, error) {
	places := map[string]int{}
	for i, h := range headings {
		if !utf8.ValidString(h) {
			return nil, fmt.Errorf("heading %d is not UTF-8", i+1)
		}
		h = strings.TrimSpace(h)
		if _, twice := places[h]; !twice {
			places[h] = i
		}
	}
	t := &table{width: len(headings), subject: -1, relation: -1, object: -1, start: -1, end: -1, rows: c.Rows,
		headings: slices.Clone(headings), types: map[int]Type{}, strict: map[int]bool{}, references: map[int]string{}}
	find := func(heading string) (int, error) {
		place, ok := places[heading]
		if !ok {
			return 0, fmt.Errorf("no column %q; the headings are %.300q", heading, headings)
		}
		return place, nil
	}
	for heading, as := range c.Types {
		i, err := find(strings.TrimSpace(heading))
		if err != nil {
			return nil, err
		}
		t.types[i], t.strict[i] = as, as != Auto
	}
	for heading, rows := range c.References {
		i, err := find(strings.TrimSpace(heading))
		if err != nil {
			return nil, err
		}
		t.references[i], t.types[i] = rows, Entity
	}
	if c.Subject+c.Relation+c.Object+c.Start+c.End+c.Rows == "" {
		return t, t.useDefaultColumns(places)
	}
	if c.Rows != "" && c.Subject != "" {
		return nil, errors.New("a table is named by its rows or by a column, not by both")
	}
	if c.Relation != "" && c.Object == "" {
		return nil, errors.New("a column of relations needs one of objects; name it")
	}
	for _, column := range []struct {
		name string
		into *int
	}{{c.Subject, &t.subject}, {c.Relation, &t.relation}, {c.Object, &t.object}, {c.Start, &t.start}, {c.End, &t.end}} {
		if column.name == "" {
			continue
		}
		var err error
		if *column.into, err = find(column.name); err != nil {
			return nil, err
		}
	}
	for _, name := range c.Names {
		place, err := find(name)
		if err != nil {
			return nil, err
		}
		t.names = append(t.names, place)
	}
	if c.Subject == "" && c.Rows == "" {
		return nil, errors.New("the column of subjects is not named")
	}
	if len(c.Names) > 0 && (c.Relation != "" || slices.Contains(c.Names, c.Subject)) {
		return nil, errors.New("a column of names belongs to one of codes, in a table of which every other column is " +
			"a relation")
	}
	if c.Relation == "" {
		return t, t.useColumnsAsRelations(file, headings)
	}
	return t, nil
}

// useDefaultColumns finds the columns if none are configured.
func (t *table) useDefaultColumns(places map[string]int) error {
	if isFacts(t.headings) {
		for name, into := range map[string]*int{"subject": &t.subject, "relation": &t.relation, "object": &t.object,
			"start": &t.start, "end": &t.end} {
			if place, ok := places[name]; ok {
				*into = place
			}
		}
		return nil
	}
	if t.width < 3 {
		return fmt.Errorf("%d columns, want subject, relation and object; or name the column that identifies "+
			"a row", t.width)
	}
	if t.width > 3 {
		return fmt.Errorf("the headings %.300q are not subject, relation and object; name the column that "+
			"identifies a row", t.headings)
	}
	t.subject, t.relation, t.object = 0, 1, 2
	return nil
}

// useColumnsAsRelations makes every other column a relation.
func (t *table) useColumnsAsRelations(file string, headings []string) error {
	t.relations = map[int]string{}
	for i, h := range headings {
		if i == t.subject || i == t.start || i == t.end || slices.Contains(t.names, i) ||
			(t.object >= 0 && i != t.object) || t.types[i] == Skip || strings.TrimSpace(h) == "" {
			continue
		}
		if t.references[i] != "" {
			h = relationOf(h, headings)
		}
		name, err := source.NormalizeName("heading", h)
		if err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
		t.relations[i] = name
	}
	if len(t.relations) == 0 && len(t.names) == 0 {
		return errors.New("the table has no column besides that of the subjects")
	}
	switch {
	case t.subject < 0:
		t.kind = KindOf(file, t.rows)
	case len(t.names) > 0:
		t.kind = KindOf(file, headings[t.subject], headings[t.names[0]])
	case t.object < 0:
		t.kind = KindOf(file, headings[t.subject])
		if t.references[t.subject] == "" && keyWords.MatchString(headings[t.subject]) {
			t.references[t.subject] = t.kind
		}
	}
	if t.subject >= 0 {
		t.otherKind = otherKindOf(file, t.kind, headings)
	}
	if len(t.names) > 0 && t.subject >= 0 {
		code, err := source.NormalizeName("heading", headings[t.subject])
		if err != nil {
			return fmt.Errorf("column %d: %w", t.subject+1, err)
		}
		if t.codes = code; strings.EqualFold(t.kind, strings.ReplaceAll(code, "_", " ")) {
			t.codes += " code" // a course has no course
		}
	}
	t.inferring = true
	return nil
}

func (t *table) readRow(row []string, to source.Sink) error {
	if len(row) != t.width {
		return fmt.Errorf("%d cells under %d headings", len(row), t.width)
	}
	var s source.Statement
	var code string
	var err error
	if t.row++; t.rows != "" {
		s.Subject.Key = fmt.Sprintf("%s %d", t.rows, t.row)
	} else if code, err = source.NormalizeName("subject", row[t.subject]); err != nil {
		return err
	} else if s.Subject.Key = code; t.references[t.subject] != "" {
		s.Subject.Key = rowKey(t.references[t.subject], code)
	}
	if s.Validity, err = t.validity(row); err != nil {
		return err
	}
	if t.relations == nil {
		if s.Relation, err = source.NormalizeName("relation", row[t.relation]); err != nil {
			return err
		}
		for _, part := range t.parts(t.object, row[t.object]) {
			if s.Object, err = t.parse(t.object, part); err != nil {
				return err
			}
			if err := to.Statement(s); err != nil {
				return err
			}
		}
		return nil
	}
	filled, err := t.readName(row, code, s, to)
	if err != nil {
		return err
	}
	var bad error // the other cells of the row are as good as they were
	for i, text := range row {
		name, ok := t.relations[i]
		if !ok || strings.TrimSpace(text) == "" {
			continue
		}
		s.Relation = name
		for _, part := range t.parts(i, text) {
			if s.Object, err = t.parse(i, part); err != nil {
				bad = cmp.Or(bad, fmt.Errorf("column %q: %w", strings.TrimSpace(t.headings[i]), err))
				continue
			}
			if err := to.Statement(s); err != nil {
				return err
			}
			filled = true
		}
	}
	for _, kind := range []string{t.kind, t.otherKind} {
		if kind == "" || !filled {
			continue
		}
		s.Relation, s.Object, s.Validity = kindRelation, source.Term{Key: kind}, store.Validity{}
		if err := to.Statement(s); err != nil {
			return err
		}
	}
	return bad
}

// readName gives the entity of a row its name, if it has one apart from its key.
func (t *table) readName(row []string, code string, s source.Statement, to source.Sink) (hasName bool, err error) {
	var parts []string
	for _, i := range t.names {
		parts = append(parts, strings.Fields(row[i])...)
	}
	if len(parts) == 0 {
		return false, nil
	}
	name, err := source.NormalizeName("name", strings.Join(parts, " "))
	if err != nil {
		return false, err
	}
	if !source.IsNumber(s.Subject.Key) { // a question's numbers are not names
		if err := to.Alias(s.Subject.Key, s.Subject.Key); err != nil {
			return false, err
		}
	}
	if err := to.Label(s.Subject.Key, name, 0); err != nil || code == "" {
		return true, err
	}
	s.Relation, s.Object = t.codes, source.Term{Key: code, Kind: store.Text}
	if source.IsNumber(code) {
		s.Object.Kind = store.Number
	}
	return true, to.Statement(s)
}

// parse returns the object that part of a cell is.
func (t *table) parse(column int, part string) (source.Term, error) {
	if rows := t.references[column]; rows != "" {
		code, err := source.NormalizeName("object", part)
		return source.Term{Key: rowKey(rows, code)}, err
	}
	return parseTyped(part, t.types[column], t.strict[column])
}

// parts returns the objects in a cell, until the next call. An empty cell is one, which is refused.
func (t *table) parts(column int, text string) []string {
	if t.types[column] == List || t.references[column] != "" {
		parts := slices.DeleteFunc(splitList(text, t.strict[column]), func(part string) bool {
			return strings.TrimSpace(part) == ""
		})
		if len(parts) > 0 {
			return parts
		}
	}
	t.single[0] = text
	return t.single[:]
}

func (t *table) validity(row []string) (v store.Validity, err error) {
	if t.start >= 0 {
		if v.Start, err = source.NormalizeDate("start of validity", row[t.start]); err != nil {
			return v, err
		}
	}
	if t.end >= 0 {
		v.End, err = source.NormalizeDate("end of validity", row[t.end])
	}
	return v, err
}

// parseCell is the object in a cell. A year alone is taken for a number.
func parseCell(text string) (source.Term, error) {
	key, err := source.NormalizeName("object", text)
	if err != nil {
		return source.Term{}, err
	}
	if source.IsNumber(key) {
		return source.Term{Key: strings.TrimPrefix(key, "+"), Kind: store.Number}, nil
	}
	if date, err := source.NormalizeDate("object", key); err == nil {
		return source.Term{Key: date, Kind: store.Date}, nil
	}
	return source.Term{Key: key}, nil
}
