package retriever

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

func TestProposeColumns(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	const towns = "town,people,since,\nRome,\"2,750,000\",1 May 2014,x\nZürich,443037,3 June 2016,\n"
	entity, number := retrieverv1.ColumnType_COLUMN_TYPE_ENTITY, retrieverv1.ColumnType_COLUMN_TYPE_NUMBER
	date, skip := retrieverv1.ColumnType_COLUMN_TYPE_DATE, retrieverv1.ColumnType_COLUMN_TYPE_SKIP
	want := &retrieverv1.ProposeColumnsResponse{
		Key: "town", RowName: "town", RowCount: 2, Whole: true,
		Columns: []*retrieverv1.ProposedColumn{
			{Heading: "town", Type: entity, Cells: 2, Distinct: 2, Example: "Rome"},
			{Heading: "people", Type: number, Cells: 2, Distinct: 2, Example: "2,750,000"},
			{Heading: "since", Type: date, Cells: 2, Distinct: 2, Example: "1 May 2014"},
			{Type: skip, Cells: 1, Distinct: 1, Example: "x"},
		},
		Warnings: []string{"column 4 has no heading: it will be left out; name it in the first line"},
	}
	first := proto.CloneOf(want)
	first.RowCount, first.Whole = 1, false
	for _, c := range first.GetColumns() {
		c.Cells, c.Distinct = 1, 1
	}
	packed := zip(t, towns)
	for name, c := range map[string]struct {
		req  *retrieverv1.ProposeColumnsRequest
		want *retrieverv1.ProposeColumnsResponse
	}{
		"of a table": {&retrieverv1.ProposeColumnsRequest{File: "towns.csv", Head: []byte(towns), Whole: true}, want},
		"of a table without its last line break": {&retrieverv1.ProposeColumnsRequest{File: "towns.csv",
			Head: []byte(strings.TrimSuffix(towns, "\n")), Whole: true}, want},
		"of tabs by the name": {&retrieverv1.ProposeColumnsRequest{File: "towns.tsv", Whole: true,
			Head: []byte("town\tpeople\tsince\t\nRome\t2,750,000\t1 May 2014\tx\nZürich\t443037\t3 June 2016\t\n")},
			want},
		"of another separator": {&retrieverv1.ProposeColumnsRequest{File: "towns.csv", Whole: true, Separator: ";",
			Head: []byte("town;people;since;\nRome;2,750,000;1 May 2014;x\nZürich;443037;3 June 2016;\n")}, want},
		"of a head that ends within a row": {&retrieverv1.ProposeColumnsRequest{File: "towns.csv",
			Head: []byte(towns[:len(towns)-20])}, first},
		"of a head that ends within a character": {&retrieverv1.ProposeColumnsRequest{File: "towns.csv",
			Head: []byte(towns[:strings.Index(towns, "ü")+1])}, first},
		"of a head of a few bytes": {&retrieverv1.ProposeColumnsRequest{File: "x.csv", Head: []byte("a\nb\n")},
			&retrieverv1.ProposeColumnsResponse{Key: "a", RowName: "x", RowCount: 1,
				Columns: []*retrieverv1.ProposedColumn{
					{Heading: "a", Type: entity, Cells: 1, Distinct: 1, Example: "b"}}}},
		"of an archive": {&retrieverv1.ProposeColumnsRequest{File: "towns.csv.gz", Head: []byte(packed),
			Whole: true}, want},
		"of codes and titles": {&retrieverv1.ProposeColumnsRequest{File: "x.csv", Whole: true,
			Head: []byte("id,title\nK1,A\nK2,B\n")}, &retrieverv1.ProposeColumnsResponse{Key: "id", Name: "title",
			RowName: "x", RowCount: 2, Whole: true,
			Columns: []*retrieverv1.ProposedColumn{
				{Heading: "id", Type: entity, Cells: 2, Distinct: 2, Example: "K1"},
				{Heading: "title", Type: entity, Cells: 2, Distinct: 2, Example: "A"}}}},
		"of facts": {&retrieverv1.ProposeColumnsRequest{File: "x.csv", Head: []byte("subject,relation,object\na,b,c\n"),
			Whole: true}, &retrieverv1.ProposeColumnsResponse{Facts: true, RowCount: 1, Whole: true,
			Columns: []*retrieverv1.ProposedColumn{
				{Heading: "subject", Type: entity, Cells: 1, Distinct: 1, Example: "a"},
				{Heading: "relation", Type: entity, Cells: 1, Distinct: 1, Example: "b"},
				{Heading: "object", Type: entity, Cells: 1, Distinct: 1, Example: "c"},
			}}},
	} {
		t.Run(name, func(t *testing.T) {
			if res, err := client.ProposeColumns(t.Context(), c.req); err != nil || !proto.Equal(res, c.want) {
				t.Errorf("proposes %v, error %v; want %v", res, err, c.want)
			}
		})
	}
}

func TestProposeColumnsOfTheHeadOfAnArchive(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	var text strings.Builder
	text.WriteString("town,people\n")
	for i := range 50_000 {
		fmt.Fprintf(&text, "Town %d,%d\n", i, i*i%9973)
	}
	packed := zip(t, text.String())
	res, err := client.ProposeColumns(t.Context(), &retrieverv1.ProposeColumnsRequest{File: "towns.csv.gz",
		Head: []byte(packed[:len(packed)/3])})
	if err != nil || res.GetKey() != "town" || res.GetRowCount() != 2000 || res.GetWhole() ||
		len(res.GetWarnings()) > 0 {
		t.Errorf("proposes %v, error %v", res, err)
	}
}

func TestProposeColumnsRefuses(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	for name, c := range map[string]struct {
		file, head string
		says       string
	}{
		"nothing": {"x.csv", "", "read x.csv: the head of the file ends"},
		"half a line of headings": {"x.csv", "town,peo",
			"x.csv:1: the headings cannot be read: the head of the file ends"},
		"a picture":     {"x.csv", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "heading 1 is not text in UTF-8"},
		"a spreadsheet": {"x.csv", "PK\x03\x04\x14\x00\x06\x00\x08\x00\n", "heading 1 is not text in UTF-8"},
		"another file than its name says": {"x.csv.gz", "town,people\n",
			"the name says gzip, but no gzip archive"},
		"the beginning of an archive": {"x.csv.gz", "\x1f\x8b\x08\x00", "the head of the file ends"},
		"a broken archive": {"x.csv.gz",
			zip(t, "town,people\n")[:10] + "\xff\xff\xff\xff\xff\xff\xff\xff", "corrupt"},
		"a line of columns alone": {"x.csv", strings.Repeat(",", 1<<20-1) + "\n", "at most 16384 can be shown"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := client.ProposeColumns(t.Context(), &retrieverv1.ProposeColumnsRequest{File: c.file,
				Head: []byte(c.head)})
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), c.says) {
				t.Errorf("proposes %v, error %v; want %q", res, err, c.says)
			}
		})
	}
}

func TestAProposalWaitsForTheOneBefore(t *testing.T) {
	s := NewKnowledgeGraphs(nil, nil, "")
	req := &retrieverv1.ProposeColumnsRequest{File: "x.csv", Head: []byte("a,b\nc,d\n"), Whole: true}
	s.proposing <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.ProposeColumns(ctx, req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another is made: %v", err)
	}
	<-s.proposing
	for range 2 {
		if res, err := s.ProposeColumns(t.Context(), req); err != nil || res.GetKey() != "a" {
			t.Errorf("after it: %v, %v", res, err)
		}
	}
}

func TestAProposalIsBounded(t *testing.T) {
	client, _ := dialKnowledgeGraphs(t)
	wide := strings.Repeat("a,", 16_000) + "a\n" + strings.Repeat("\xf6,", 16_000) + strings.Repeat("ü", 1000) + "\n"
	res, err := client.ProposeColumns(t.Context(), &retrieverv1.ProposeColumnsRequest{File: "x.csv",
		Head: []byte(wide), Whole: true})
	if err != nil || len(res.GetColumns()) != 16_001 || len(res.GetWarnings()) != 100 || proto.Size(res) > 1<<20 {
		t.Fatalf("%d columns and %d warnings in %d bytes, error %v", len(res.GetColumns()), len(res.GetWarnings()),
			proto.Size(res), err)
	}
	if example := res.GetColumns()[16_000].GetExample(); example != strings.Repeat("ü", 200) {
		t.Errorf("the example has %d characters", utf8.RuneCountInString(example))
	}
	if !slices.ContainsFunc(res.GetWarnings(), func(w string) bool {
		return strings.Contains(w, "1 rows are not UTF-8")
	}) {
		t.Errorf("warns %q", res.GetWarnings()[:3])
	}
	// A small archive of a large table is unpacked no further than the head.
	bomb := zip(t, "a,b\n\""+strings.Repeat("x", 64<<20))
	if res, err := client.ProposeColumns(t.Context(), &retrieverv1.ProposeColumnsRequest{File: "x.csv.gz",
		Head: []byte(bomb), Whole: true}); err != nil || res.GetRowCount() != 0 || res.GetWhole() {
		t.Errorf("proposes %v, error %v", res, err)
	}
}
