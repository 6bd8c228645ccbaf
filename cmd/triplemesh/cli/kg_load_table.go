package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/terminal"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/table"
)

// typedColumns parses --type.
func (c *kgLoad) typedColumns() ([]*retrieverv1.TypedColumn, error) {
	var all []*retrieverv1.TypedColumn
	for _, text := range c.Type {
		at := strings.LastIndexByte(text, '=')
		as, reference, refers := strings.Cut(text[at+1:], ":")
		if at < 1 || retriever.ColumnTypes[table.Type(as)] == 0 ||
			refers && (as != string(table.Entity) || strings.TrimSpace(reference) == "") {
			return nil, fmt.Errorf("--type %q: want COLUMN=TYPE, with a type of %s, or entity:ROWS where cells are "+
				"codes of rows, such as manager_id=entity:employee", text, strings.Trim(fmt.Sprint(table.Types), "[]"))
		}
		all = append(all, &retrieverv1.TypedColumn{Heading: strings.TrimSpace(text[:at]),
			Type: retriever.ColumnTypes[table.Type(as)], Reference: strings.TrimSpace(reference)})
	}
	return all, nil
}

// setNames names the columns with the names of rows.
func setNames(columns *retrieverv1.Columns, names []string) {
	if len(names) > 0 {
		columns.Name, columns.FurtherNames = names[0], names[1:]
	}
}

// proposeColumns looks at CSV files whose columns are not all named, and at what refers from one to another, shows how
// they will be read, and asks if the key is its own proposal.
func (c *kgLoad) proposeColumns(p *Program, inputs []input, columns *retrieverv1.Columns) error {
	proposals := make([]*table.Proposal, len(inputs))
	for i, in := range inputs {
		if format, _ := source.FormatByName(in.name); c.Columns != "" && c.KeyColumn == "" ||
			c.Format != "csv" && (c.Format != "" || format != source.CSV) {
			continue
		}
		proposal, err := c.readProposal(p.Ctx, in)
		if err != nil {
			return usageError("load %s: %w", c.Name, err)
		}
		if !proposal.Facts || c.KeyColumn != "" || c.Rows != "" {
			proposals[i] = &proposal
		}
	}
	if c.KeyColumn == "" && c.Rows == "" && len(c.NameColumn) == 0 {
		isNone := func(p *table.Proposal) bool { return p == nil }
		table.Refer(slices.DeleteFunc(slices.Clone(proposals), isNone))
	}
	for i, proposal := range proposals {
		if proposal == nil {
			continue
		}
		if err := c.confirmColumns(p, &inputs[i], proposal, columns); err != nil {
			return err
		}
	}
	return nil
}

// confirmColumns chooses the columns of a file, shows them, and asks.
func (c *kgLoad) confirmColumns(p *Program, in *input, proposal *table.Proposal, columns *retrieverv1.Columns) error {
	in.columns = &retrieverv1.Columns{Subject: proposal.Key, Separator: c.Separator, Rows: c.Rows,
		Types: slices.Clone(columns.GetTypes())}
	isTyped := func(heading string) bool {
		return slices.ContainsFunc(columns.GetTypes(), func(t *retrieverv1.TypedColumn) bool {
			return t.GetHeading() == heading
		})
	}
	setNames(in.columns, c.NameColumn)
	if len(c.NameColumn) == 0 && c.Rows == "" && !slices.ContainsFunc(proposal.Names, isTyped) {
		setNames(in.columns, proposal.Names)
	}
	for _, column := range proposal.Columns {
		if column.Reference != "" && !isTyped(column.Heading) {
			in.columns.Types = append(in.columns.Types, &retrieverv1.TypedColumn{Heading: column.Heading,
				Type: retrieverv1.ColumnType_COLUMN_TYPE_ENTITY, Reference: column.Reference})
		}
	}
	if c.Rows != "" {
		in.columns.Subject = ""
	} else if proposal.Key == "" {
		in.columns.Rows = proposal.RowName
	}
	d := &dialogue{in: p.stdin, out: p.Stderr, silent: c.Yes || c.KeyColumn != "" || c.Rows != ""}
	showProposal(d, in.name, proposal, in.columns)
	flag := fmt.Sprintf("--key-column %s", strconv.Quote(in.columns.GetSubject()))
	if in.columns.GetSubject() == "" {
		flag = fmt.Sprintf("--rows %s", strconv.Quote(in.columns.GetRows()))
	}
	if !d.silent && !terminal.IsTerminal(p.stdin) {
		return usageError("load %s: %s: no column is named as the key; use %s, or --yes to load each file as "+
			"proposed", c.Name, in.name, flag)
	}
	if ok, err := d.yes("Load it so?", true); err != nil || !ok {
		return cmp.Or(err, usageError("load %s: nothing was loaded; name the key with --key-column, or --rows "+
			"where no column is one, and types with --type COLUMN=TYPE", c.Name))
	}
	return nil
}

func (c *kgLoad) readProposal(ctx context.Context, in input) (table.Proposal, error) {
	file, err := in.open(ctx)
	if err != nil {
		return table.Proposal{}, err
	}
	defer file.Close()
	plain, err := source.Unpack(in.name, file)
	if err != nil {
		return table.Proposal{}, err
	}
	defer plain.Close()
	return table.Propose(in.name, plain, []rune(c.Separator + "\x00")[0], c.KeyColumn)
}

// maxShown bounds the columns and warnings that are printed.
const maxShown = 40

func showProposal(d *dialogue, name string, p *table.Proposal, columns *retrieverv1.Columns) {
	rows := fmt.Sprintf("%d rows", p.Rows)
	if !p.Whole {
		rows = "the first " + rows
	}
	key := fmt.Sprintf("column %q names the entity of each", columns.GetSubject())
	if columns.GetRows() != "" {
		key = fmt.Sprintf("each is an entity of its own, %q", columns.GetRows()+" 1")
	}
	names := append([]string{columns.GetName()}, columns.GetFurtherNames()...)
	if names[0] != "" && columns.GetSubject() != "" {
		key = fmt.Sprintf("column %q has the code of each and %q the name", columns.GetSubject(),
			strings.Join(names, " "))
	} else if names[0] != "" {
		key = fmt.Sprintf("column %q has the name of each", strings.Join(names, " "))
	}
	if kind := table.KindOf(name, columns.GetRows(), columns.GetSubject(), columns.GetName()); kind != "" {
		key += fmt.Sprintf(", an instance of %q", kind)
		if other := p.OtherKind(kind); other != "" && columns.GetRows() == "" {
			key += fmt.Sprintf(" and %q", other)
		}
		for _, c := range p.Columns {
			row := table.NameRow(kind, c.Heading, c.Example)
			if c.Heading == columns.GetSubject() && names[0] == "" && row != c.Example {
				key += fmt.Sprintf(", such as %q", row)
			}
		}
	}
	d.say("%s: %s; %s", show.Line(name, 60), rows, show.Line(key, 120))
	for _, c := range p.Columns[:min(len(p.Columns), maxShown)] {
		as, reference := string(c.Type), ""
		if i := slices.IndexFunc(columns.GetTypes(), func(t *retrieverv1.TypedColumn) bool {
			return t.GetHeading() == c.Heading
		}); i >= 0 {
			as = strings.ToLower(strings.TrimPrefix(columns.GetTypes()[i].GetType().String(), "COLUMN_TYPE_"))
			reference = columns.GetTypes()[i].GetReference()
		}
		if c.Heading != "" && c.Heading == columns.GetSubject() {
			as, reference = "key", ""
		}
		if c.Heading != "" && slices.Contains(names, c.Heading) {
			as = "name"
		}
		example := show.Line(c.Example, 32)
		if reference != "" {
			example += fmt.Sprintf(", the code of %q", show.Line(reference, 32))
		}
		d.say("  %s %-7s %5d values, such as %s", terminal.Pad(show.Line(c.Heading, 24), 24), as, c.Distinct, example)
	}
	if more := len(p.Columns) - maxShown; more > 0 {
		d.say("  and %d more columns", more)
	}
	for _, w := range p.Warnings[:min(len(p.Warnings), maxShown)] {
		d.say("warning: %s", show.Line(w, 200))
	}
}
