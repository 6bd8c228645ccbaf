package table_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
	"github.com/triplemesh/triplemesh/services/retriever/source/table"
)

func readAll(t testing.TB, r io.Reader,
	columns table.Columns) (sink sourcetest.Sink, bad []string, count uint64, err error) {
	t.Helper()
	in := source.Input{Name: "x.csv", Reader: r, Bad: func(e *source.PlaceError) error {
		bad = append(bad, e.Error())
		return nil
	}}
	count, err = table.ReadCSV(t.Context(), in, &sink, columns)
	sink.Check(t)
	return sink, bad, count, err
}

func TestRead(t *testing.T) {
	named := table.Columns{Subject: "who", Relation: "what", Object: "whom", Start: "from", End: "to"}
	for name, c := range map[string]struct {
		columns     table.Columns
		text        string
		want, wrong []string
	}{
		"the first three columns are taken": {table.Columns{}, "a,b,c\nParis,capital of,France\n",
			[]string{"Paris | capital of | France"}, nil},
		"or those of the usual names": {table.Columns{}, "end,object,relation,subject,start\n2003,France,capital " +
			"of,Paris,1997-07\n", []string{"Paris | capital of | France [1997-07/2003]"}, nil},
		"columns may be named": {named, "whom,what,who,to,from\r\nFrance,capital of,Paris,,1997\r\n",
			[]string{"Paris | capital of | France [1997/]"}, nil},
		"every other column may be a relation": {table.Columns{Subject: "city", Start: "year"},
			"city,country,year,inhabitants,mayor\nParis,France,2021,2145906,\nRome,Italy,,,Ann\n",
			[]string{"Paris | country | France [2021/]", "Paris | inhabitants | 2145906 (number) [2021/]",
				"Paris | instance of | city", "Rome | country | Italy", "Rome | mayor | Ann",
				"Rome | instance of | city"}, nil},
		"an empty row is nothing": {table.Columns{Subject: "city"}, "city,mayor\nParis,\nRome,Ann\n",
			[]string{"Rome | mayor | Ann", "Rome | instance of | city"}, nil},
		"headings of names and numbers say nothing of the rows": {table.Columns{Subject: "Full name"},
			"Full name,mayor\nParis,Ann\n", []string{"Paris | mayor | Ann"}, nil},
		"what a number is of says what the rows are": {table.Columns{Subject: "Customer_ID"},
			"Customer_ID,city\nK1,Paris\n", []string{"K1 | city | Paris", "K1 | instance of | customer"}, nil},
		"or one of them alone": {table.Columns{Subject: "city", Object: "country"},
			"city,country,mayor\nParis,France,Ann\n", []string{"Paris | country | France"}, nil},
		"cells of numbers and dates are such": {table.Columns{}, "s,r,o\na,b,+1.5\na,b,1997-07-01\na,b,1997x\n",
			[]string{"a | b | 1.5 (number)", "a | b | 1997-07-01 (date)", "a | b | 1997x"}, nil},
		"a column of numbers is of numbers": {table.Columns{Subject: "s"}, "s,n,d,u\n" +
			"a,\"8,270.3\",15 October 1956,5 kW\nb,.5,1956-10,6 kW\nc,–8,1956-10-15,7 kW\n",
			[]string{"a | n | 8270.3 (number)", "a | d | 1956-10-15 (date)",
				"a | u | 5 kW (text)", "b | n | 0.5 (number)", "b | d | 1956-10 (date)", "b | u | 6 kW (text)",
				"c | n | -8 (number)", "c | d | 1956-10-15 (date)", "c | u | 7 kW (text)"}, nil},
		"a column of lists has a triple for each of them": {table.Columns{Subject: "s"}, "s,l,y,n\n" +
			"a,Go; Rust,1999|2003,\"Smith, Ann\"\nb,\"Go;C, C++;\",2001|2002,x;\nc,Rust,2001,\nd,;,,y\n",
			[]string{"a | l | Go", "a | l | Rust", "a | y | 1999 (number)", "a | y | 2003 (number)",
				"a | n | Smith, Ann", "b | l | Go", "b | l | C, C++", "b | y | 2001 (number)",
				"b | y | 2002 (number)", "b | n | x;", "c | l | Rust", "c | y | 2001 (number)",
				"d | l | ;", "d | n | y"}, nil},
		"one of lists between commas too, if the caller says so": {
			table.Columns{Subject: "s", Types: map[string]table.Type{"l": table.List}},
			"s,l\na,\"Go, Rust\"\nb,Go\nc,\"A, B; C\"\n",
			[]string{"a | l | Go", "a | l | Rust", "b | l | Go", "c | l | A, B", "c | l | C"}, nil},
		"objects of facts may be lists": {
			table.Columns{Types: map[string]table.Type{"o": table.List}}, "s,r,o\na,b,c;d\n",
			[]string{"a | b | c", "a | b | d"}, nil},
		"codes keep their zeros": {table.Columns{Subject: "s", Types: map[string]table.Type{"z": table.Entity}},
			"s,z,a\nx,01067,00012\ny,04109,00013\n", []string{"x | z | 01067", "x | a | 00012 (number)",
				"y | z | 04109", "y | a | 00013 (number)"}, nil},
		"a column of names names the rows of codes": {table.Columns{Subject: "course", Names: []string{"title"}},
			"course,title,needs,room\nC1,Calculus,,A\nC2,Topology,C1,B\nC3,,C2,B\n",
			[]string{"C1 | course code | C1 (text)", "C1 | room | A", "C1 | instance of | course",
				"C2 | course code | C2 (text)", "C2 | needs | C1", "C2 | room | B", "C2 | instance of | course",
				"C3 | needs | C2", "C3 | room | B", "C3 | instance of | course"}, nil},
		"a numbered row is of the kind that its name says": {
			table.Columns{Subject: "id", Names: []string{"product name"}},
			"id,product name\n17,Lamp\n18,Desk\n", []string{"17 | id | 17 (number)", "17 | instance of | product",
				"18 | id | 18 (number)", "18 | instance of | product"}, nil},
		"codes of rows are their entities": {table.Columns{Subject: "id", Names: []string{"name"},
			References: map[string]string{"id": "person", "manager_id": "person", "team id": "team",
				"friends": "person"}},
			"id,name,manager_id,team id,friends\n1,Ann,,T7,2;3.0\n2,Bob,1.0,40,\n", []string{
				"person 1 | id | 1 (number)", "person 1 | team | T7", "person 1 | friends | person 2",
				"person 1 | friends | person 3", "person 2 | id | 2 (number)", "person 2 | manager | person 1",
				"person 2 | team | team 40"}, nil},
		"names stand in several columns": {table.Columns{Rows: "guest", Names: []string{"first name", "last name"}},
			"first name,last name,room\nAnn, de la Cruz,7\nBob,,8\n", []string{"guest 1 | room | 7 (number)",
				"guest 1 | instance of | guest", "guest 2 | room | 8 (number)", "guest 2 | instance of | guest"}, nil},
		"a cell of another type than was said is bad, the others of its row are not": {
			table.Columns{Subject: "s",
				Types: map[string]table.Type{"n": table.Number, "x": table.Skip, "t": table.Text}},
			"s,n,x,t\na,none,1,12\nb,4,2,x\n", []string{"a | t | 12 (text)", "b | n | 4 (number)", "b | t | x (text)"},
			[]string{`x.csv:2: column "n": "none" is no number`}},
		"rows may be entities": {table.Columns{Rows: "medal"}, "who,metal\nAnn,gold\nAnn,silver\n",
			[]string{"medal 1 | who | Ann", "medal 1 | metal | gold", "medal 1 | instance of | medal",
				"medal 2 | who | Ann", "medal 2 | metal | silver", "medal 2 | instance of | medal"}, nil},
		"a column without a heading is left out": {table.Columns{Subject: "s"}, ",s,,b\n0,a,,c\n",
			[]string{"a | b | c"}, []string{"x.csv:1: column 1 has no heading, skipped; add one"}},
		"any character may separate": {table.Columns{Separator: ';'}, "s;r;o\na;b;c,d\n",
			[]string{"a | b | c,d"}, nil},
		"the headings say what separates": {table.Columns{}, "s;r;o\na;b;c,d\n", []string{"a | b | c,d"}, nil},
		"quotes keep what they hold": {table.Columns{}, "s,r,o\n\"a,\"\"A\"\"\",b,\"c\nd\te\"\nx,y,z\n",
			[]string{`a,"A" | b | c d e`, "x | y | z"}, nil},
		"a byte order mark is passed over": {table.Columns{Subject: "s"}, "\xef\xbb\xbfs,r\na,b\n",
			[]string{"a | r | b"}, nil},
		"rows with too few or many cells are bad": {table.Columns{}, "s,r,o\na,b\n\na,b,c,d\na,b,c\n",
			[]string{"a | b | c"},
			[]string{"x.csv:2: 2 cells under 3 headings", "x.csv:4: 4 cells under 3 headings"}},
		"a row after one of many lines has its own number": {table.Columns{}, "s,r,o\na,b,\"c\nd\ne\"\na,b\n",
			[]string{"a | b | c d e"}, []string{"x.csv:5: 2 cells under 3 headings"}},
		"cells that are no names are bad": {table.Columns{}, "s,r,o\n,b,c\na, ,c\na,b,\n\xff,b,c\n", nil,
			[]string{"x.csv:2: the subject is empty", "x.csv:3: the relation is empty", "x.csv:4: the object is empty",
				"x.csv:5: the subject is not UTF-8"}},
		"dates that are none are bad": {named, "who,what,whom,from,to\na,b,c,once,\na,b,c,,later\n", nil,
			[]string{`x.csv:2: the start of validity "once" is not an ISO 8601 date`,
				`x.csv:3: the end of validity "later" is not an ISO 8601 date`}},
		"a quote in the middle makes the line bad and reading continues": {table.Columns{}, "s,r,o\na,b\"c,d\na,b,c\n",
			[]string{"a | b | c"}, []string{`x.csv:2: bare " in non-quoted-field`}},
		"a quote that is not closed is bad": {table.Columns{}, "s,r,o\na,b,c\na,b,\"c\nd,e,f\n",
			[]string{"a | b | c"}, []string{`x.csv:3: extraneous or missing " in quoted-field`}},
		"a cell of many bytes is bad": {table.Columns{}, "s,r,o\na,b," + strings.Repeat("x",
			source.MaxName+1) + "\na,b,c\n", []string{"a | b | c"},
			[]string{"x.csv:2: the object has 65537 bytes, the limit is 65536"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, bad, count, err := readAll(t, strings.NewReader(c.text), c.columns)
			if err != nil || count == 0 {
				t.Errorf("%d rows, error %v", count, err)
			}
			sourcetest.Equal(t, "facts", got.Facts, c.want)
			sourcetest.Equal(t, "bad rows", bad, c.wrong)
		})
	}
}

func TestNamesOfCodes(t *testing.T) {
	got, bad, _, err := readAll(t,
		strings.NewReader("id,name,town\nK1,Ann,Rome\n2,Bob,Bonn\nK3,,Rome\n\"K\n4\",\xff,\n"),
		table.Columns{Subject: "id", Names: []string{"name"}})
	if err != nil {
		t.Fatal(err)
	}
	sourcetest.Equal(t, "labels", got.Labels, []string{"K1 = Ann", "2 = Bob"})
	sourcetest.Equal(t, "aliases", got.Aliases, []string{"K1 ~ K1"})
	sourcetest.Equal(t, "facts", got.Facts, []string{"K1 | id | K1 (text)", "K1 | town | Rome", "2 | id | 2 (number)",
		"2 | town | Bonn", "K3 | town | Rome"})
	sourcetest.Equal(t, "bad rows", bad, []string{"x.csv:5: the name is not UTF-8"})
}

func TestTableErrors(t *testing.T) {
	for name, c := range map[string]struct {
		columns    table.Columns
		text, says string
	}{
		"nothing":                     {table.Columns{}, "", "x.csv:1: the headings cannot be read"},
		"headings with a quote amiss": {table.Columns{}, "a\"b,c\n", "x.csv:1: the headings cannot be read"},
		"headings that are not UTF-8": {table.Columns{}, "a,\xff,c\n", "x.csv:1: heading 2 is not UTF-8"},
		"too few columns":             {table.Columns{}, "a,b\n", "x.csv:1: 2 columns, want subject"},
		"a column that is not there": {table.Columns{Subject: "x"}, "a,b\n",
			`x.csv:1: no column "x"; the headings are ["a" "b"]`},
		"no column of subjects": {table.Columns{Relation: "a", Object: "b"}, "a,b\n",
			"the column of subjects is not named"},
		"no column of objects": {table.Columns{Subject: "a", Relation: "b"}, "a,b\n", "needs one of objects"},
		"nothing but subjects": {table.Columns{Subject: "a", End: "b"}, "a,b\n",
			"no column besides that of the subjects"},
		"four columns without names": {table.Columns{}, "name,age,city,team\n",
			"are not subject, relation and object"},
		"objects that are skipped": {table.Columns{Subject: "a", Relation: "b", Object: "c",
			Types: map[string]table.Type{"c": table.Skip}}, "a,b,c\n", `column "c" has the objects`},
		"a type of no column": {table.Columns{Subject: "a", Types: map[string]table.Type{"x": table.Date}},
			"a,b\n", `no column "x"`},
		"names that are codes": {table.Columns{Subject: "a", Names: []string{"b", "a"}}, "a,b\n",
			"belongs to one of codes"},
		"a column of names that is not there": {table.Columns{Rows: "a", Names: []string{"x"}}, "a,b\n",
			`no column "x"`},
		"a reference of no column": {table.Columns{Subject: "a", References: map[string]string{"x": "y"}},
			"a,b\n", `no column "x"`},
		"names of facts": {table.Columns{Subject: "a", Relation: "b", Object: "c", Names: []string{"a"}}, "a,b,c\n",
			"belongs to one of codes"},
		"rows that a column names too": {table.Columns{Subject: "a", Rows: "row"}, "a,b\n", "not by both"},
		"a quote that swallows the file": {table.Columns{}, "s,r,o\na,b,c\nx,y,\"z\n" + strings.Repeat("a,b,c\n",
			400_000), "x.csv:3: a row is longer than 1048576 bytes; is a quote not closed?"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := readAll(t, strings.NewReader(c.text), c.columns)
			var place *source.PlaceError
			if !errors.As(err, &place) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

func TestPropose(t *testing.T) {
	for name, c := range map[string]struct {
		text, key string
		want      string
		types     []table.Type
		warns     []string
	}{
		"the first column of names that tells rows apart": {
			"rank,name,town,joined\n1,Ann,Rome,2014-03-01\n2,Bob,Rome,\n", "", "name",
			[]table.Type{table.Number, table.Entity, table.Entity, table.Date}, nil},
		"the name beside a login": {"username,mail,full_name\nann,a@b,Ann Lee\nbob,b@b,Bob Ray\n", "", "full_name", nil,
			nil},
		"a login, if there is no other name": {"id,username\n1,ann\n2,bob\n", "", "username", nil, nil},
		"a column of codes, if names repeat": {"order_id,who\n7,Ann\n8,Ann\n", "", "order_id",
			[]table.Type{table.Number, table.Entity}, nil},
		"no column, if all repeat": {"who,metal,n\nAnn,gold,1\nAnn,gold,2\n", "", "",
			[]table.Type{table.Entity, table.Entity, table.Number}, nil},
		"a key that repeats is warned of": {"who,metal\nAnn,gold\nAnn,silver\n", "who", "who",
			[]table.Type{table.Entity, table.Entity},
			[]string{`column "who" has 1 different values in 2 rows`}},
		"ragged rows, no heading, twice one heading": {"a,,b,b\nx,1,2,3\ny,1\nz,4,5,6\n", "", "a",
			[]table.Type{table.Entity, table.Skip, table.Number, table.Number},
			[]string{"1 rows have more or fewer cells than the 4 headings, the first in line 3",
				"column 2 has no heading", `several columns are called "b"`}},
		"cells that are not UTF-8": {"a,b\nx,K\xf6ln\ny,Bonn\nz,M\xfcnchen\n", "", "a",
			[]table.Type{table.Entity, table.Entity},
			[]string{"2 rows are not UTF-8, the first in line 2: their cells will be left out; save the file"}},
		"another separator": {"a;b\nx;1,5\ny;2,5\n", "", "a",
			[]table.Type{table.Entity, table.Number}, nil},
		"a separator that the headings lack": {"name\nx;1\ny;2\n", "", "name", []table.Type{table.Entity}, nil},
		"lists": {"a,b,c\nx,Go; Rust,\"He came in; he saw, and what he saw there was bad\"\ny,C; Go," +
			"\"he saw; he went away, with all of it for ever\"\nz,Go,he came\n", "", "a",
			[]table.Type{table.Entity, table.List, table.Entity}, nil},
		"names with digits are names": {"id,name,room\n1,7A,R1\n2,7B,R2\n", "", "name", nil, nil},
		"a semicolon of one cell is no list": {"a,b\nx,A;B\ny,C\n", "", "a",
			[]table.Type{table.Entity, table.Entity}, nil},
		"unless it lists what are cells of their own": {"a,b\nx,A;B\ny,B\nz,A\n", "", "a",
			[]table.Type{table.Entity, table.List}, nil},
		"lists between commas are warned of, places are not": {
			"a,b,c\nx,\"Go, Rust\",\"Paris, France\"\ny,\"Rust, C\",\"Lyon, France\"\n", "", "a",
			[]table.Type{table.Entity, table.Entity, table.Entity},
			[]string{`column "b" may list several values between commas in a cell; if it does, its type is list`}},
		"cells of another type": {"a,b\n" + strings.Repeat("x,1\n", 19) + "y,none\n", "a", "a",
			[]table.Type{table.Entity, table.Number}, []string{`column "a" has 2 different`,
				`column "b": 1 of 20 cells are no number, such as "none"`}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := table.Propose("x.csv", strings.NewReader(c.text), 0, c.key)
			if err != nil || p.Key != c.want || p.Facts || !p.Whole {
				t.Fatalf("proposes %+v, error %v; want the key %q", p, err, c.want)
			}
			for i, as := range c.types {
				if p.Columns[i].Type != as {
					t.Errorf("column %q is %s, want %s", p.Columns[i].Heading, p.Columns[i].Type, as)
				}
			}
			if warned := strings.Join(p.Warnings, "\n"); !slices.ContainsFunc(c.warns, func(w string) bool {
				return strings.Contains(warned, w)
			}) && len(c.warns) > 0 || len(p.Warnings) != len(c.warns) {
				t.Errorf("warns %q, want %q", p.Warnings, c.warns)
			}
		})
	}
	wrong, err := table.Propose("x.csv", strings.NewReader("a;b\nx;1\ny;2\n"), ',', "")
	if err != nil || wrong.Key != "a;b" || !slices.Equal(wrong.Warnings,
		[]string{"the table has one column; is its separator ';'?"}) {
		t.Errorf("with another separator than the headings': %+v, %v", wrong, err)
	}
	facts := strings.NewReader("object,subject,relation\na,b,c\n")
	if p, err := table.Propose("x.csv", facts, 0, ""); err != nil || !p.Facts {
		t.Errorf("a table of facts: %+v, %v", p, err)
	}
	if _, err := table.Propose("x.csv", strings.NewReader("a,b\n"), 0, "c"); err == nil {
		t.Error("a key that is no column was taken")
	}
}

func TestProposeNames(t *testing.T) {
	for name, c := range map[string]struct{ text, key, want string }{
		"a column of titles, if the key has codes": {"course,room,title\nC1,A,Logic\nC2,A,Sets\n", "", "title"},
		"one of names, if the key has numbers":     {"id,full_name\n1,Ann\n2,Bob\n", "id", "full_name"},
		"one of names, if the key has codes in capitals": {"code,ward_name\nCAR,Hearts\nNEU,Nerves\n", "",
			"ward_name"},
		"no login, if there is a name": {"id,user_name,email,full_name\n1,ann,a@b,Ann Lee\n2,bob,b@b,Bob Ray\n", "id",
			"full_name"},
		"none, if the key has other words in capitals":    {"band,title\nABBA,Arrival\nKISS,Dynasty\n", "", ""},
		"none, if names repeat":                           {"id,name\nK1,Ann\nK2,Ann\n", "", ""},
		"none, if a row has none":                         {"id,name\nK1,Ann\nK2,\n", "", ""},
		"none, if the key has names":                      {"town,title\nRome,A\nBonn,B\n", "", ""},
		"none, if the key repeats":                        {"id,name\nK1,Ann\nK1,Bob\n", "id", ""},
		"none, if the heading says another thing":         {"id,town\nK1,Rome\nK2,Bonn\n", "", ""},
		"none, if names are codes or numbers too":         {"id,name,title\nK1,B1,1\nK2,B2,2\n", "", ""},
		"one that several rows share, if there is a code": {"id,mail,name\n1,a,Ann\n2,b,Ann\n3,c,Bob\n", "", "name"},
		"both of a name in two columns": {"id,first_name,last_name,mail\n1,Ann,Lee,a\n2,Bob,Lee,b\n", "",
			"first_name last_name"},
		"both, if there is no code": {"Surname,Forename,age\nLee,Ann,20\nLee,Bob,21\n", "",
			"Forename Surname"},
		"one, if it has the whole name": {
			"code,first name,last name,full name\nA1,Ann,Lee,Ann Lee\nA2,Bob,Lee,Bob Lee\n",
			"", "full name"},
		"none of rows that are entities themselves": {"a,name\nx,y\nx,y\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := table.Propose("x.csv", strings.NewReader(c.text), 0, c.key)
			if err != nil || strings.Join(p.Names, " ") != c.want {
				t.Errorf("proposes the names %q of the key %q, error %v; want %q", p.Names, p.Key, err, c.want)
			}
		})
	}
}

func TestProposeReadsTheHeadOfATable(t *testing.T) {
	const text = "town,people\nRome,2750000\nZürich,443037\nParis,2100000\n"
	for name, c := range map[string]struct {
		bytes, rows int
		whole       bool
	}{
		"which ends within a row":                          {len(text) - 4, 2, false},
		"which ends within a character":                    {strings.Index(text, "ü") + 1, 1, false},
		"which ends with a row":                            {strings.Index(text, "Zürich"), 1, false},
		"which ends with the headings":                     {strings.Index(text, "Rome"), 0, false},
		"which ends with the file":                         {len(text), 3, false},
		"which would have had room for more than the file": {len(text) + 1, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := table.Propose("towns.csv", source.NewHead(strings.NewReader(text), c.bytes), 0, "")
			if err != nil || p.Rows != c.rows || p.Whole != c.whole || len(p.Warnings) > 0 || len(p.Columns) != 2 {
				t.Errorf("proposes %+v, error %v; want %d rows", p, err, c.rows)
			}
			if p.RowName != "town" {
				t.Errorf("the rows are called %q", p.RowName)
			}
		})
	}
}

func TestProposeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text []byte
		says string
	}{
		"nothing":                     {nil, "x.csv:1: the headings cannot be read: EOF"},
		"a picture":                   {[]byte("\x89PNG\r\n\x1a\n\x00\x00\rIHDR"), "heading 1 is not text in UTF-8"},
		"UTF-16":                      {[]byte("a\x00,\x00b\x00\n\x00"), "heading 1 is not text in UTF-8"},
		"more columns than are shown": {bytes.Repeat([]byte(","), 20_000), "20001 columns, at most 16384 can be shown"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := table.Propose("x.csv", bytes.NewReader(c.text), 0, "")
			var place *source.PlaceError
			if !errors.As(err, &place) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
	if p, err := table.Propose("x.csv", strings.NewReader("a"+strings.Repeat(",", 20_000)), 0, "a"); err != nil ||
		p.Key != "a" {
		t.Errorf("a wide table with a key: %q, %v", p.Key, err)
	}
}

func TestManyRowsAreNoLongRow(t *testing.T) {
	row := "a,b," + strings.Repeat("c", 200) + "\n"
	_, bad, count, err := readAll(t, strings.NewReader("s,r,o\n"+strings.Repeat(row, 20_000)), table.Columns{})
	if err != nil || bad != nil || count != 20_000 {
		t.Errorf("%d rows, bad %q, error %v", count, bad, err)
	}
}

func TestErrorsOutsideTheFileAreNotBadLines(t *testing.T) {
	broken := errors.New("broken")
	_, _, _, err := readAll(t, io.MultiReader(strings.NewReader("s,r,o\na,b,c\nd,"), iotest.ErrReader(broken)),
		table.Columns{})
	var place *source.PlaceError
	if !errors.Is(err, broken) || errors.As(err, &place) {
		t.Errorf("a connection that breaks: %v", err)
	}
	in := source.Input{Name: "x.csv", Reader: strings.NewReader("s,r,o\na,b,c\n")}
	if _, err := table.ReadCSV(t.Context(), in, &sourcetest.Sink{Err: broken}, table.Columns{}); !errors.Is(err,
		broken) ||
		errors.As(err, &place) {
		t.Errorf("a sink that breaks: %v", err)
	}
	in = source.Input{Name: "x.csv", Reader: strings.NewReader("s,r,o\na,b\n")}
	if _, err := table.ReadCSV(t.Context(), in, &sourcetest.Sink{}, table.Columns{}); !errors.As(err, &place) {
		t.Errorf("a bad row where none may be: %v", err)
	}
	in = source.Input{Name: "x.tsv.gz", Reader: strings.NewReader("s\tr\to\na\tb,c\td\n")}
	var sink sourcetest.Sink
	if _, err := table.ReadCSV(t.Context(), in, &sink, table.Columns{}); err != nil || sink.Facts[0] != "a | b,c | d" {
		t.Errorf("tabs by the name: %q, %v", sink.Facts, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"subject,relation,object\na,\"b\",c\n", "s,r,o,start\na,b,1.5,1997\n",
		"\xef\xbb\xbfs,\"r\n\",o\n,,\n", "a\"b"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, wide bool) {
		columns := table.Columns{}
		if wide {
			columns = table.Columns{Subject: "s", Start: "start", Types: map[string]table.Type{"o": table.Number}}
		}
		if p, err := table.Propose("x.csv", strings.NewReader(text), 0, ""); err == nil && p.Key == "" && !p.Facts {
			columns = table.Columns{Rows: "row"}
		}
		_, _, _, err := readAll(t, strings.NewReader(text), columns)
		var place *source.PlaceError
		if err != nil && !errors.As(err, &place) {
			t.Errorf("%q: %v has no place", text, err)
		}
	})
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file     string
		headings []string
		want     string
	}{
		{"x.csv", []string{"Mountain"}, "mountain"},
		{"tours.csv", []string{"Mountain"}, "mountain"},
		{"x.csv", []string{"id", "product name"}, "product"},
		{"animals.csv", []string{"name"}, "animal"},
		{"data/Animals.tsv.gz", []string{"", "id", "name"}, "animal"},
		{"zoo-animals_2024.csv", []string{"name"}, "animal"},
		{"people.csv", []string{"name"}, "person"}, {"cities.csv", []string{"name"}, "city"},
		{"buses.csv", []string{"name"}, "bus"}, {"data.csv", []string{"name"}, ""},
		{"lenses.csv", []string{"name"}, "lens"}, {"caches.csv", []string{"name"}, "cache"},
		{"companies.csv", []string{"title"}, "company"},
		{"Branches (2).csv", []string{"title"}, "branch"},
		{"houses.csv", []string{"title"}, "house"},
		{"zoo.csv", []string{"name"}, ""},
		{"glass.csv", []string{"name"}, ""},
		{"status.csv", []string{"name"}, ""},
		{"2024-results.csv", []string{"name"}, ""},
		{"items.csv", []string{"name"}, ""}, {"teachers.csv", []string{"id", "full_name"}, "teacher"},
		{"a.csv", []string{"customerId"}, "customer"},
		{"appointments.csv", []string{"appt_no"}, "appointment"}, {"visits.csv", []string{"appt_no"}, "appt"},
		{"order_items.csv", []string{"order item"}, "order item"},
		{"2024.csv", []string{"name"}, ""},
		{"", []string{"name"}, ""},
	} {
		if got := table.KindOf(c.file, c.headings...); got != c.want {
			t.Errorf("KindOf(%q, %q) = %q, want %q", c.file, c.headings, got, c.want)
		}
	}
}

func TestRowsAreWhatTheirFileIsCalledBesideTheirHeading(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, heading string
		want          []string
	}{
		{"cars.csv", "model", []string{"Nova | instance of | model", "Nova | instance of | car"}},
		{"models.csv", "model", []string{"Nova | instance of | model"}},
		{"cars.csv", "car model", []string{"Nova | instance of | car model"}},
		{"prices.csv", "model", []string{"Nova | instance of | model"}},
		{"garage.csv", "model", []string{"Nova | instance of | model"}},
	} {
		sink := &sourcetest.Sink{}
		in := source.Input{Name: c.file, Reader: strings.NewReader(c.heading + ",price\nNova,9\n")}
		if _, err := table.ReadCSV(t.Context(), in, sink, table.Columns{Subject: c.heading}); err != nil {
			t.Fatal(err)
		}
		sourcetest.Equal(t, c.file+" of "+c.heading, sink.Facts, append(c.want, "Nova | price | 9 (number)"))
	}
}

func TestTheNameOfAFileSaysWhatItsRowsAre(t *testing.T) {
	t.Parallel()
	sink := &sourcetest.Sink{}
	in := source.Input{Name: "animals.csv", Reader: strings.NewReader("name,home\nKofi,Savanna\n")}
	if _, err := table.ReadCSV(t.Context(), in, sink, table.Columns{Subject: "name"}); err != nil {
		t.Fatal(err)
	}
	sourcetest.Equal(t, "facts", sink.Facts, []string{"Kofi | home | Savanna", "Kofi | instance of | animal"})
}

func TestRowsThatOnlyANumberTellsApartHaveTheNameOfTheirKindBeforeIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, rows, want string }{
		{"loans.csv", "id,days\n3,3\n", "loan 3"},
		{"loans.csv", "id,days\n3.0,3\n", "loan 3"},
		{"loans.csv", "id,days\nL3,3\n", "L3"},
		{"data.csv", "id,days\n3,3\n", "3"},
		{"years.csv", "season,days\n3,3\n", "3"},
	} {
		sink := &sourcetest.Sink{}
		in := source.Input{Name: c.file, Reader: strings.NewReader(c.rows)}
		key, _, _ := strings.Cut(c.rows, ",")
		if _, err := table.ReadCSV(t.Context(), in, sink, table.Columns{Subject: key}); err != nil {
			t.Fatal(err)
		}
		if got := sink.Facts[0]; got != c.want+" | days | 3 (number)" {
			t.Errorf("%s with %q has %q, want %s", c.file, c.rows, got, c.want)
		}
	}
}
