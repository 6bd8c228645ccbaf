package source_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

// echo makes each line a label, and one that begins with "bad" a bad line.
func echo() source.LineFunc {
	return func(line []byte, to source.Sink) error {
		if strings.HasPrefix(string(line), "bad") {
			return errors.New("bad it is")
		}
		return to.Label(string(line), "x", 0)
	}
}

// read returns the lines, the places that are bad, and the number of lines.
func readAll(t *testing.T, r io.Reader, limit, workers int) (got, bad []string, count uint64, err error) {
	t.Helper()
	var sink sourcetest.Sink
	in := source.Input{Name: "f", Reader: r, Bad: func(e *source.PlaceError) error {
		bad = append(bad, e.Error())
		return nil
	}}
	count, err = source.ReadLines(t.Context(), in, &sink, source.LineOptions{Max: limit, Workers: workers}, echo)
	for _, l := range sink.Labels {
		got = append(got, strings.TrimSuffix(l, " = x"))
	}
	return got, bad, count, err
}

func TestRead(t *testing.T) {
	long := strings.Repeat("l", 30)
	for name, c := range map[string]struct {
		text  string
		want  []string
		bad   []string
		count uint64
	}{
		"nothing has no lines":               {"", nil, nil, 0},
		"lines are read in their order":      {"a\nb\nc\n", []string{"a", "b", "c"}, nil, 3},
		"the last one needs no end":          {"a\nb", []string{"a", "b"}, nil, 2},
		"Windows' ends are ends":             {"a\r\nb\r\n", []string{"a", "b"}, nil, 2},
		"blank lines count and are not read": {"\n \t\na\n\n", []string{"a"}, nil, 4},
		"a byte order mark is passed over":   {"\xef\xbb\xbfa\n", []string{"a"}, nil, 1},
		"a bad line is told by its number":   {"a\nbad\nb", []string{"a", "b"}, []string{"f:2: bad it is"}, 3},
		"a line that is not UTF-8 is bad": {"a\n\xff\n", []string{"a"},
			[]string{"f:2: the line is not UTF-8"}, 2},
		"a line that is too long is bad": {"a\n" + long + "\nb\n", []string{"a", "b"},
			[]string{"f:2: the line is longer than 20 bytes"}, 3},
		"so is one at the end": {"a\n" + long, []string{"a"},
			[]string{"f:2: the line is longer than 20 bytes"}, 2},
		"one of just the length is not, ends aside": {long[:20] + "\r\nb", []string{long[:20], "b"}, nil, 2},
		"bad lines of all kinds come in their order": {"bad\n" + long + "\nbad\n", nil,
			[]string{"f:1: bad it is", "f:2: the line is longer than 20 bytes", "f:3: bad it is"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			got, bad, count, err := readAll(t, strings.NewReader(c.text), 20, 1)
			if err != nil || count != c.count || !slices.Equal(got, c.want) || !slices.Equal(bad, c.bad) {
				t.Errorf("got %q, bad %q, %d lines, error %v; want %q, %q, %d", got, bad, count, err, c.want,
					c.bad, c.count)
			}
		})
	}
}

func TestManyBlocksKeepTheOrder(t *testing.T) {
	var text strings.Builder
	var want []string
	for i := range 200_000 {
		line := fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%17))
		want = append(want, line)
		text.WriteString(line + "\n")
	}
	for _, r := range []io.Reader{strings.NewReader(text.String()),
		iotest.HalfReader(strings.NewReader(text.String()))} {
		got, bad, count, err := readAll(t, r, 0, 4)
		if err != nil || count != 200_000 || bad != nil || !slices.Equal(got, want) {
			t.Errorf("%d lines of %d, %d bad, error %v", len(got), count, len(bad), err)
		}
	}
}

func TestALineLongerThanManyBlocksIsSkipped(t *testing.T) {
	for _, end := range []string{"\nb\n", "", "\n"} {
		r := io.MultiReader(strings.NewReader("a\n"), io.LimitReader(repeat('x'), 10<<20), strings.NewReader(end))
		got, bad, count, err := readAll(t, r, 0, 2)
		want := []string{"a"}
		lines := uint64(2)
		if end == "\nb\n" {
			want, lines = []string{"a", "b"}, 3
		}
		if err != nil || count != lines || !slices.Equal(got, want) ||
			!slices.Equal(bad, []string{"f:2: the line is longer than 1048576 bytes"}) {
			t.Errorf("before %q: got %q, bad %q, %d lines, error %v", end, got, bad, count, err)
		}
	}
}

type repeat byte

func (r repeat) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r)
	}
	return len(b), nil
}

func TestErrorsEndTheReading(t *testing.T) {
	full := errors.New("the sink is full")
	many := strings.Repeat("bad\na\n", 100_000)
	strict := source.Input{Name: "f", Reader: strings.NewReader(many)}
	if _, err := source.ReadLines(t.Context(), strict, &sourcetest.Sink{}, source.LineOptions{}, echo); err == nil ||
		err.Error() != "f:1: bad it is" {
		t.Errorf("a bad line where none may be: %v", err)
	}
	lax := func(r io.Reader) source.Input {
		return source.Input{Name: "f", Reader: r, Bad: func(*source.PlaceError) error { return nil }}
	}
	if _, err := source.ReadLines(t.Context(), lax(strings.NewReader(many)), &sourcetest.Sink{Err: full},
		source.LineOptions{},
		echo); !errors.Is(err, full) {
		t.Errorf("a sink that is full: %v", err)
	}
	cut := &source.PlaceError{File: "f", Byte: 4, Err: io.ErrUnexpectedEOF}
	_, err := source.ReadLines(t.Context(), lax(io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(cut))),
		&sourcetest.Sink{}, source.LineOptions{}, echo)
	if err == nil || err.Error() != "f:3: unexpected EOF" {
		t.Errorf("an archive that is cut off: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.ReadLines(ctx, lax(repeat('\n')), &sourcetest.Sink{}, source.LineOptions{},
		echo); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a reading that is given up: %v", err)
	}
}
