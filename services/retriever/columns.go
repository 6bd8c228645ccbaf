package retriever

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/table"
)

const (
	// maxHead bounds what is read of the head of a table, unpacked, in bytes.
	maxHead = 1 << 20
	// maxWarnings bounds the warnings of a proposal, and maxExample is that of an example in characters.
	maxWarnings, maxExample = 100, 200
)

// ColumnTypes are the API's types of columns.
var ColumnTypes = map[table.Type]retrieverv1.ColumnType{
	table.Auto:   retrieverv1.ColumnType_COLUMN_TYPE_UNSPECIFIED,
	table.Entity: retrieverv1.ColumnType_COLUMN_TYPE_ENTITY,
	table.Number: retrieverv1.ColumnType_COLUMN_TYPE_NUMBER,
	table.Date:   retrieverv1.ColumnType_COLUMN_TYPE_DATE,
	table.List:   retrieverv1.ColumnType_COLUMN_TYPE_LIST,
	table.Text:   retrieverv1.ColumnType_COLUMN_TYPE_TEXT,
	table.Skip:   retrieverv1.ColumnType_COLUMN_TYPE_SKIP,
}

func columnTypes(all []*retrieverv1.TypedColumn) map[string]table.Type {
	types := make(map[string]table.Type, len(all))
	for _, c := range all {
		for as, number := range ColumnTypes {
			if number == c.GetType() {
				types[c.GetHeading()] = as
			}
		}
	}
	return types
}

// references are what columns refer to, by their headings.
func references(all []*retrieverv1.TypedColumn) map[string]string {
	references := map[string]string{}
	for _, c := range all {
		if c.GetReference() != "" {
			references[c.GetHeading()] = c.GetReference()
		}
	}
	return references
}

// separatorRune returns the character between cells; 0 if none is named.
func separatorRune(text string) rune { return []rune(text + "\x00")[0] }

// ProposeColumns implements KnowledgeGraphService.
func (s *KnowledgeGraphs) ProposeColumns(ctx context.Context,
	req *retrieverv1.ProposeColumnsRequest) (*retrieverv1.ProposeColumnsResponse, error) {
	// One at a time: the window of a zstd archive alone takes up to 128 MiB.
	if err := enter(ctx, s.proposing); err != nil {
		return nil, err
	}
	defer func() { <-s.proposing }()
	p, err := proposeColumns(req)
	if status.Code(err) == codes.Unknown {
		err = status.Error(codes.InvalidArgument, err.Error())
	}
	if err != nil {
		return nil, err
	}
	res := &retrieverv1.ProposeColumnsResponse{Facts: p.Facts, Key: p.Key, RowName: p.RowName,
		RowCount: uint32(p.Rows), Whole: p.Whole, Warnings: p.Warnings[:min(len(p.Warnings), maxWarnings)]}
	if len(p.Names) > 0 {
		res.Name, res.FurtherNames = p.Names[0], p.Names[1:]
	}
	for _, c := range p.Columns {
		res.Columns = append(res.Columns, &retrieverv1.ProposedColumn{
			Heading: c.Heading, Type: ColumnTypes[c.Type], Cells: uint32(c.Cells), Distinct: uint32(c.Distinct),
			Example: strings.ToValidUTF8(fmt.Sprintf("%.*s", maxExample, c.Example), "\ufffd")})
	}
	return res, nil
}

func proposeColumns(req *retrieverv1.ProposeColumnsRequest) (table.Proposal, error) {
	size := len(req.GetHead())
	if req.GetWhole() {
		size++ // the end of the file comes first
	}
	plain, err := source.Unpack(req.GetFile(), source.NewHead(bytes.NewReader(req.GetHead()), size))
	if err != nil {
		return table.Proposal{}, err
	}
	defer plain.Close()
	return table.Propose(req.GetFile(), source.NewHead(plain, maxHead), separatorRune(req.GetSeparator()), "")
}
