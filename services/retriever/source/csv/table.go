package csv

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// table reads the rows under some headings.
type table struct {
	width int
	// subject to end are places of columns, -1 for none.
	subject, relation, object, start, end int
	// others are columns that are relations by their headings.
	others map[int]string
}

func newTable(headings []string, c Columns) (*table, error) {
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
	t := &table{width: len(headings), relation: -1, object: -1, start: -1, end: -1}
	if c == (Columns{Separator: c.Separator}) {
		return t, t.standard(places)
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
		place, ok := places[column.name]
		if !ok {
			return nil, fmt.Errorf("there is no column %q; the headings are %.300q", column.name, headings)
		}
		*column.into = place
	}
	if c.Subject == "" {
		return nil, errors.New("the column of subjects is not named")
	}
	if c.Relation == "" {
		return t, t.wide(headings)
	}
	return t, nil
}

// standard finds the columns that nobody named.
func (t *table) standard(places map[string]int) error {
	subject, hasSubject := places["subject"]
	relation, hasRelation := places["relation"]
	object, hasObject := places["object"]
	if hasSubject && hasRelation && hasObject {
		t.subject, t.relation, t.object = subject, relation, object
		for name, into := range map[string]*int{"start": &t.start, "end": &t.end} {
			if place, ok := places[name]; ok {
				*into = place
			}
		}
		return nil
	}
	if t.width < 3 {
		return fmt.Errorf("%d columns, want subject, relation and object", t.width)
	}
	t.subject, t.relation, t.object = 0, 1, 2
	return nil
}

// wide makes every other column a relation.
func (t *table) wide(headings []string) error {
	t.others = map[int]string{}
	for i, h := range headings {
		if i == t.subject || i == t.start || i == t.end || (t.object >= 0 && i != t.object) {
			continue
		}
		name, err := source.Name("heading", h)
		if err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
		t.others[i] = name
	}
	if len(t.others) == 0 {
		return errors.New("there is no column but that of subjects")
	}
	return nil
}

func (t *table) take(row []string, to source.Sink) error {
	if len(row) != t.width {
		return fmt.Errorf("%d cells under %d headings", len(row), t.width)
	}
	var s source.Statement
	var err error
	if s.Subject.Key, err = source.Name("subject", row[t.subject]); err != nil {
		return err
	}
	if s.Validity, err = t.validity(row); err != nil {
		return err
	}
	if t.others == nil {
		if s.Relation, err = source.Name("relation", row[t.relation]); err != nil {
			return err
		}
		if s.Object, err = cell(row[t.object]); err != nil {
			return err
		}
		return to.Statement(s)
	}
	for i, text := range row {
		name, ok := t.others[i]
		if !ok || strings.TrimSpace(text) == "" {
			continue
		}
		s.Relation = name
		if s.Object, err = cell(text); err != nil {
			return err
		}
		if err := to.Statement(s); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) validity(row []string) (v store.Validity, err error) {
	if t.start >= 0 {
		if v.Start, err = source.Date("start of validity", row[t.start]); err != nil {
			return v, err
		}
	}
	if t.end >= 0 {
		v.End, err = source.Date("end of validity", row[t.end])
	}
	return v, err
}

// cell is the object in a cell. A year alone cannot be told from a number.
func cell(text string) (source.Term, error) {
	key, err := source.Name("object", text)
	if err != nil {
		return source.Term{}, err
	}
	if source.IsNumber(key) {
		return source.Term{Key: strings.TrimPrefix(key, "+"), Kind: store.Number}, nil
	}
	if date, err := source.Date("object", key); err == nil {
		return source.Term{Key: date, Kind: store.Date}, nil
	}
	return source.Term{Key: key}, nil
}
