package csv_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/csv"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

func read(t testing.TB, r io.Reader, columns csv.Columns) (sink sourcetest.Sink, bad []string, count uint64, err error) {
	t.Helper()
	in := source.Input{Name: "x.csv", Reader: r, Bad: func(e *source.PlaceError) error {
		bad = append(bad, e.Error())
		return nil
	}}
	count, err = csv.Read(t.Context(), in, &sink, columns)
	sink.Check(t)
	return sink, bad, count, err
}

func TestRead(t *testing.T) {
	named := csv.Columns{Subject: "who", Relation: "what", Object: "whom", Start: "from", End: "to"}
	for name, c := range map[string]struct {
		columns     csv.Columns
		text        string
		want, wrong []string
	}{
		"the first three columns are taken": {csv.Columns{}, "a,b,c,d\nParis,capital of,France,x\n", []string{"Paris | capital of | France"}, nil},
		"or those of the usual names":       {csv.Columns{}, "end,object,relation,subject,start\n2003,France,capital of,Paris,1997-07\n", []string{"Paris | capital of | France [1997-07/2003]"}, nil},
		"columns may be named":              {named, "whom,what,who,to,from\r\nFrance,capital of,Paris,,1997\r\n", []string{"Paris | capital of | France [1997/]"}, nil},
		"every other column may be a relation": {csv.Columns{Subject: "city", Start: "year"}, "city,country,year,inhabitants,mayor\nParis,France,2021,2145906,\nRome,Italy,,,Ann\n",
			[]string{"Paris | country | France [2021/]", "Paris | inhabitants | 2145906 (number) [2021/]", "Rome | country | Italy", "Rome | mayor | Ann"}, nil},
		"or one of them alone":                {csv.Columns{Subject: "city", Object: "country"}, "city,country,mayor\nParis,France,Ann\n", []string{"Paris | country | France"}, nil},
		"cells of numbers and dates are such": {csv.Columns{}, "s,r,o\na,b,+1.5\na,b,1997-07-01\na,b,1997x\n", []string{"a | b | 1.5 (number)", "a | b | 1997-07-01 (date)", "a | b | 1997x"}, nil},
		"any character may separate":          {csv.Columns{Separator: ';'}, "s;r;o\na;b;c,d\n", []string{"a | b | c,d"}, nil},
		"quotes keep what they hold":          {csv.Columns{}, "s,r,o\n\"a,\"\"A\"\"\",b,\"c\nd\te\"\nx,y,z\n", []string{`a,"A" | b | c d e`, "x | y | z"}, nil},
		"a byte order mark is passed over":    {csv.Columns{Subject: "s"}, "\xef\xbb\xbfs,r\na,b\n", []string{"a | r | b"}, nil},
		"rows with too few or many cells are bad": {csv.Columns{}, "s,r,o\na,b\n\na,b,c,d\na,b,c\n", []string{"a | b | c"},
			[]string{"x.csv:2: 2 cells under 3 headings", "x.csv:4: 4 cells under 3 headings"}},
		"a row after one of many lines has its own number": {csv.Columns{}, "s,r,o\na,b,\"c\nd\ne\"\na,b\n", []string{"a | b | c d e"}, []string{"x.csv:5: 2 cells under 3 headings"}},
		"cells that are no names are bad": {csv.Columns{}, "s,r,o\n,b,c\na, ,c\na,b,\n\xff,b,c\n", nil,
			[]string{"x.csv:2: the subject is empty", "x.csv:3: the relation is empty", "x.csv:4: the object is empty", "x.csv:5: the subject is not UTF-8"}},
		"dates that are none are bad": {named, "who,what,whom,from,to\na,b,c,once,\na,b,c,,later\n", nil,
			[]string{`x.csv:2: the start of validity "once" is no ISO 8601 date`, `x.csv:3: the end of validity "later" is no ISO 8601 date`}},
		"a quote in the middle is bad and the reading goes on": {csv.Columns{}, "s,r,o\na,b\"c,d\na,b,c\n", []string{"a | b | c"}, []string{`x.csv:2: bare " in non-quoted-field`}},
		"a quote that is not closed is bad":                    {csv.Columns{}, "s,r,o\na,b,c\na,b,\"c\nd,e,f\n", []string{"a | b | c"}, []string{`x.csv:3: extraneous or missing " in quoted-field`}},
		"a cell of many bytes is bad":                          {csv.Columns{}, "s,r,o\na,b," + strings.Repeat("x", source.MaxName+1) + "\na,b,c\n", []string{"a | b | c"}, []string{"x.csv:2: the object has 65537 bytes, at most 65536 are taken"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, bad, count, err := read(t, strings.NewReader(c.text), c.columns)
			if err != nil || count == 0 {
				t.Errorf("%d rows, error %v", count, err)
			}
			sourcetest.Equal(t, "facts", got.Facts, c.want)
			sourcetest.Equal(t, "bad rows", bad, c.wrong)
		})
	}
}

func TestTablesThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		columns    csv.Columns
		text, says string
	}{
		"nothing":                          {csv.Columns{}, "", "x.csv:1: the headings cannot be read"},
		"headings with a quote amiss":      {csv.Columns{}, "a\"b,c\n", "x.csv:1: the headings cannot be read"},
		"headings that are not UTF-8":      {csv.Columns{}, "a,\xff,c\n", "x.csv:1: heading 2 is not UTF-8"},
		"too few columns":                  {csv.Columns{}, "a,b\n", "x.csv:1: 2 columns, want subject"},
		"a column that is not there":       {csv.Columns{Subject: "x"}, "a,b\n", `x.csv:1: there is no column "x"; the headings are ["a" "b"]`},
		"no column of subjects":            {csv.Columns{Relation: "a", Object: "b"}, "a,b\n", "the column of subjects is not named"},
		"no column of objects":             {csv.Columns{Subject: "a", Relation: "b"}, "a,b\n", "needs one of objects"},
		"nothing but subjects":             {csv.Columns{Subject: "a", End: "b"}, "a,b\n", "no column but that of subjects"},
		"a heading of nothing as relation": {csv.Columns{Subject: "a"}, "a,,b\n", "column 2: the heading is empty"},
		"a quote that swallows the file":   {csv.Columns{}, "s,r,o\na,b,c\nx,y,\"z\n" + strings.Repeat("a,b,c\n", 400_000), "x.csv:3: a row is longer than 1048576 bytes; is a quote not closed?"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := read(t, strings.NewReader(c.text), c.columns)
			var place *source.PlaceError
			if !errors.As(err, &place) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

func TestManyRowsAreNoLongRow(t *testing.T) {
	row := "a,b," + strings.Repeat("c", 200) + "\n"
	_, bad, count, err := read(t, strings.NewReader("s,r,o\n"+strings.Repeat(row, 20_000)), csv.Columns{})
	if err != nil || bad != nil || count != 20_000 {
		t.Errorf("%d rows, bad %q, error %v", count, bad, err)
	}
}

func TestErrorsThatAreNoFaultOfTheFile(t *testing.T) {
	broken := errors.New("broken")
	_, _, _, err := read(t, io.MultiReader(strings.NewReader("s,r,o\na,b,c\nd,"), iotest.ErrReader(broken)), csv.Columns{})
	var place *source.PlaceError
	if !errors.Is(err, broken) || errors.As(err, &place) {
		t.Errorf("a connection that breaks: %v", err)
	}
	in := source.Input{Name: "x.csv", Reader: strings.NewReader("s,r,o\na,b,c\n")}
	if _, err := csv.Read(t.Context(), in, &sourcetest.Sink{Err: broken}, csv.Columns{}); !errors.Is(err, broken) || errors.As(err, &place) {
		t.Errorf("a sink that breaks: %v", err)
	}
	in = source.Input{Name: "x.csv", Reader: strings.NewReader("s,r,o\na,b\n")}
	if _, err := csv.Read(t.Context(), in, &sourcetest.Sink{}, csv.Columns{}); !errors.As(err, &place) {
		t.Errorf("a bad row where none may be: %v", err)
	}
	in = source.Input{Name: "x.tsv.gz", Reader: strings.NewReader("s\tr\to\na\tb,c\td\n")}
	var sink sourcetest.Sink
	if _, err := csv.Read(t.Context(), in, &sink, csv.Columns{}); err != nil || sink.Facts[0] != "a | b,c | d" {
		t.Errorf("tabs by the name: %q, %v", sink.Facts, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"subject,relation,object\na,\"b\",c\n", "s,r,o,start\na,b,1.5,1997\n", "\xef\xbb\xbfs,\"r\n\",o\n,,\n", "a\"b"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, wide bool) {
		columns := csv.Columns{}
		if wide {
			columns = csv.Columns{Subject: "s", Start: "start"}
		}
		_, _, _, err := read(t, strings.NewReader(text), columns)
		var place *source.PlaceError
		if err != nil && !errors.As(err, &place) {
			t.Errorf("%q: %v has no place", text, err)
		}
	})
}
