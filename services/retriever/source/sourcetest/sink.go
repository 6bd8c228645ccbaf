// Package sourcetest records what readers of formats find, as lines that a test
// can compare.
package sourcetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Sink is a source.Sink that keeps all it is given.
type Sink struct {
	// Facts are "subject | relation | object", with the kind of what is no
	// entity in brackets and the time it holds after that.
	Facts []string
	// Labels are "key = name" with " #rank" if that is not 0, Aliases "key ~
	// name".
	Labels, Aliases []string
	// Raw are the statements as they came.
	Raw []source.Statement
	// Err is returned by every call.
	Err error
}

// Statement implements source.Sink.
func (s *Sink) Statement(f source.Statement) error {
	s.Raw = append(s.Raw, f)
	line := show(f.Subject) + " | " + f.Relation + " | " + show(f.Object)
	if f.Validity != (store.Validity{}) {
		line += " [" + f.Validity.Start + "/" + f.Validity.End + "]"
	}
	s.Facts = append(s.Facts, line)
	return s.Err
}

func show(t source.Term) string {
	names := []string{"", " (mediator)", " (text)", " (number)", " (in " + t.Unit + ")", " (date)"}
	return t.Key + names[t.Kind]
}

// Label implements source.Sink.
func (s *Sink) Label(key, name string, rank int) error {
	line := key + " = " + name
	if rank > 0 {
		line += fmt.Sprintf(" #%d", rank)
	}
	s.Labels = append(s.Labels, line)
	return s.Err
}

// Alias implements source.Sink.
func (s *Sink) Alias(key, name string) error {
	s.Aliases = append(s.Aliases, key+" ~ "+name)
	return s.Err
}

// Equal compares what was recorded, sorted, with what a test wants.
func Equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

// Check fails where something was handed over that no knowledge graph can have:
// keys and names that are empty, too long, not UTF-8 or more than one line.
func (s *Sink) Check(t testing.TB) {
	t.Helper()
	check := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			if text == "" || len(text) > source.MaxName || !utf8.ValidString(text) ||
				strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("a key or name is %.80q", text)
			}
		}
	}
	for _, f := range s.Raw {
		check(f.Subject.Key, f.Relation, f.Object.Key)
		if (f.Object.Unit != "") != (f.Object.Kind == store.Quantity) {
			t.Errorf("%+v is of kind %d", f.Object, f.Object.Kind)
		}
	}
	check(s.Labels...)
	check(s.Aliases...)
}
