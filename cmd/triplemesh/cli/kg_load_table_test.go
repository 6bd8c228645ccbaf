package cli

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

func TestLoadProposesTheKeyOfATable(t *testing.T) {
	const people = "rank,name,town,joined\n1,Ann,Rome,1 May 2014\n2,Bob,Rome,\n"
	const courses = "course,title,room\nC1,Logic,A\nC2,Sets,B\n"
	const medals = "who,metal\nAnn,gold\nAnn,silver\nBob,gold\n"
	types := []*retrieverv1.TypedColumn{{Heading: "rank", Type: retrieverv1.ColumnType_COLUMN_TYPE_TEXT}}
	for _, tt := range []struct {
		name, text string
		args       []string
		want       *retrieverv1.Columns
		code       int
		says       []string
	}{
		{name: "and is refused without a terminal", text: people, code: ExitUsage,
			says: []string{`column "name" names the entity of each`, `rank`, `number`, `--key-column "name"`, "--yes"}},
		{name: "and takes it where that was allowed", text: people, args: []string{"--yes"},
			want: &retrieverv1.Columns{Subject: "name"}, says: []string{"1 May 2014", "date"}},
		{name: "or the one that was named", text: people, args: []string{"--key-column=town", "--type=rank=text"},
			want: &retrieverv1.Columns{Subject: "town", Types: types},
			says: []string{`each, an instance of "town"`, `warning: column "town" has 1 different values in 2 rows`}},
		{name: "or rows, if no column is one", text: medals, args: []string{"--yes"},
			want: &retrieverv1.Columns{Rows: "table"}, says: []string{`"table 1"`}},
		{name: "or rows by a name", text: people, args: []string{"--rows=person"},
			want: &retrieverv1.Columns{Rows: "person"}, says: []string{`"person 1", an instance of "person"`}},
		{name: "and how rows are named that only a number tells apart", text: "order_id,total\n7,10\n8,30\n",
			args: []string{"--yes"}, want: &retrieverv1.Columns{Subject: "order_id"},
			says: []string{`an instance of "order", such as "order 7"`}},
		{name: "and the names of codes", text: courses, args: []string{"--yes"},
			want: &retrieverv1.Columns{Subject: "course", Name: "title"},
			says: []string{`"course" has the code of each and "title" the name, an instance of "course"`, "name "}},
		{name: "that were named", text: courses, args: []string{"--yes", "--name-column=room"},
			want: &retrieverv1.Columns{Subject: "course", Name: "room"}},
		{name: "unless they have a type", text: courses, args: []string{"--yes", "--type=title=text"},
			want: &retrieverv1.Columns{Subject: "course", Types: []*retrieverv1.TypedColumn{{Heading: "title",
				Type: retrieverv1.ColumnType_COLUMN_TYPE_TEXT}}}},
		{name: "or rows have a name", text: courses, args: []string{"--rows=lesson"},
			want: &retrieverv1.Columns{Rows: "lesson"}, says: []string{`"lesson 1"`}},
		{name: "and asks nothing of a table of facts", text: "subject,relation,object\na,b,c\n"},
		{name: "nor with columns named", text: people, args: []string{"--columns=name"},
			want: &retrieverv1.Columns{Subject: "name"}},
		{name: "a key that is no column", text: people, args: []string{"--key-column=nome"}, code: ExitUsage,
			says: []string{`no column "nome"`}},
		{name: "a type that is none", text: people, args: []string{"--key-column=name", "--type=rank=int"},
			code: ExitUsage,
			says: []string{"entity number date list text skip"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &services{})
			file := filepath.Join(t.TempDir(), "table.csv")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			triplemesh(t, nil, "", append([]string{"kg", "load", "mars", file, "--retriever", s.addr},
				tt.args...)...).Expect(t, tt.code, tt.says...)
			if !proto.Equal(s.columns, tt.want) {
				t.Errorf("sent %v, want %v", s.columns, tt.want)
			}
		})
	}
}
