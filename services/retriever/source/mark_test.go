package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// markedSink is a sink that notes what came before each mark.
type markedSink struct {
	Batch
	keys []string
}

func (k *markedSink) Statement(s Statement) error {
	k.keys = append(k.keys, s.Subject.Key)
	return nil
}

func TestReadingResumesAtAMark(t *testing.T) {
	var text strings.Builder
	text.WriteString("\xef\xbb\xbf")
	for i := range 100_000 {
		fmt.Fprintf(&text, "line %d\n", i)
		if i == 50_000 {
			text.WriteString(strings.Repeat("long ", 1<<20) + "\n")
		}
	}
	from := func(start Mark, each func(Mark, int) error) (keys []string, count uint64, bad []uint64) {
		k := &markedSink{}
		count, err := ReadLines(t.Context(), Input{
			Name: "x", Reader: strings.NewReader(text.String()[start.Bytes:]), Start: start,
			Mark: func(m Mark) error { return each(m, len(k.keys)) },
			Bad:  func(e *PlaceError) error { bad = append(bad, e.Line); return nil },
		}, k, LineOptions{Workers: 2}, func() LineFunc {
			return func(line []byte, to Sink) error {
				return to.Statement(Statement{Subject: Term{Key: string(line)}})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return k.keys, count, bad
	}
	type place struct {
		Mark
		keys int
	}
	var marks []place
	all, count, bad := from(Mark{}, func(m Mark, keys int) error {
		marks = append(marks, place{m, keys})
		return nil
	})
	if len(marks) < 3 || count != 100_001 || !slices.Equal(bad, []uint64{50_002}) {
		t.Fatalf("%d marks, %d lines, bad are %v", len(marks), count, bad)
	}
	for _, m := range marks {
		got, n, bad := from(m.Mark, func(Mark, int) error { return nil })
		if !slices.Equal(got, all[m.keys:]) || n != count || (len(bad) == 1) != (m.Lines <= 50_001) {
			t.Errorf("from %+v: %d lines of %d, %d keys of %d, bad are %v", m, n, count, len(got), len(all)-m.keys, bad)
		}
	}
}
