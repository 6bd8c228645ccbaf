package table

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestParse(t *testing.T) {
	fact := func(s, r, o, start, end string) source.Statement {
		return source.Statement{
			Subject: source.Term{Key: s}, Relation: r, Object: source.Term{Key: o},
			Validity: store.Validity{Start: start, End: end},
		}
	}
	for name, c := range map[string]struct {
		line string
		want source.Statement
		says string
	}{
		"three columns are a fact": {line: "a\tis\tb", want: fact("a", "is", "b", "", "")},
		"columns four and five are its validity": {line: "a\tis\tb\t1997\t1998-05-02",
			want: fact("a", "is", "b", "1997", "1998-05-02")},
		"the start alone": {line: "a\tis\tb\t-0044", want: fact("a", "is", "b", "-0044", "")},
		"the end alone": {line: "a\tis\tb\t\t+2001-01",
			want: fact("a", "is", "b", "", "2001-01")},
		"spaces around and within names are folded": {line: " a  b \tis\t\u00a0c",
			want: fact("a b", "is", "c", "", "")},
		"a column too few": {line: "a\tis", says: "2 columns"},
		"columns too many": {line: "a\tis\tb\t\t\t\t", says: "7 columns"},
		"an empty name":    {line: "a\t \tb", says: "the relation is empty"},
		"a name that is too long": {line: strings.Repeat("n", source.MaxName+1) + "\tis\tb",
			says: "the subject has 65537 bytes"},
		"a start that is no date": {line: "a\tis\tb\tsoon", says: `the start of validity "soon"`},
		"an end that is no date":  {line: "a\tis\tb\t\t1 May", says: `the end of validity "1 May"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseTSV(c.line)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error is %v, want it to say %q", err, c.says)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %+v, error %v, want %+v", got, err, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a\tis\tb", "a\tis\tb\t1997\t1998\r", "\xef\xbb\xbfa\t\t\xff", "\u0085\t\u200b\tb",
		"a\x00\tb\tc"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s, err := parseTSV(line)
		if err != nil {
			return
		}
		for _, name := range []string{s.Subject.Key, s.Relation, s.Object.Key} {
			if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
				t.Errorf("%q has the name %q", line, name)
			}
		}
	})
}
