package table

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

var (
	// referenceEnd is the end of a heading of codes, after which the relation is not named.
	referenceEnd = regexp.MustCompile(`(?i)(?:[ _.-]+(?:ids?|fk|ref|keys?|codes?|no|nr|num|number)|([a-z])I[Dd]s?)$`)
	// toItself matches relations of rows to others of their own table.
	toItself = regexp.MustCompile(`(?i)^(?:parent|manager|manage[sd]? by|supervisor|boss|superior|lead|mentor|head|` +
		`reports? ?_?to|previous|predecessor|next|successor|original|mother|father|spouse|partner|referred by)$`)
)

// relationOf returns the relation that a column of codes is by its heading: "manager" of "manager_id".
func relationOf(heading string, headings []string) string {
	heading = strings.TrimSpace(heading)
	relation := referenceEnd.ReplaceAllString(heading, "$1")
	if relation == "" || slices.Contains(headings, relation) {
		return heading
	}
	return relation
}

// codeOf returns a code as all tables write it: 3 for the 3.0 of a spreadsheet whose column has empty cells.
func codeOf(cell string) string {
	if whole, fraction, _ := strings.Cut(cell, "."); source.IsNumber(cell) && strings.Trim(fraction, "0") == "" {
		return whole
	}
	return cell
}

// rowKey returns the key of the entity that a row is by its code. Numbers are codes of several tables at once, and go
// with what the rows are: "employee 3".
func rowKey(rows, code string) string {
	if code = codeOf(code); source.IsNumber(code) {
		return rows + " " + code
	}
	return code
}

// NameRow returns the name of a row that has none beside its key: the kind of the rows and the key, where that is a
// number under a heading such as "id" ("loan 3"), or else the key.
func NameRow(kind, heading, key string) string {
	if kind == "" || !keyWords.MatchString(heading) {
		return key
	}
	return rowKey(kind, key)
}

// referred is a table to whose rows columns may refer.
type referred struct {
	*Proposal
	kind  string
	code  *Column
	names []string
}

// Refer finds the columns of tables, loaded together, that hold codes of rows of another of them or of their own, as
// tables of a database do, and chooses these codes as the keys of the tables referred to. Which table a column refers
// to is said by its heading (department_id, home_department_id), or else by its codes, if those of one other table
// alone have them all. A key may refer too: such rows say more of those of another table. Rows that other columns name
// by their names keep these as keys.
func Refer(tables []*Proposal) {
	var all []referred
	for _, p := range tables {
		if r, ok := p.referred(); ok {
			all = append(all, r)
		}
	}
	for _, p := range tables {
		for i := range p.Columns {
			p.refer(&p.Columns[i], all, tables)
		}
	}
}

// referred returns what columns may refer to, if the rows have codes.
func (p *Proposal) referred() (referred, bool) {
	i := p.codes()
	if i < 0 || p.Facts {
		return referred{}, false
	}
	r := referred{Proposal: p, code: &p.Columns[i], names: p.Names}
	if len(p.Names) == 0 && p.Key != "" && p.Key != r.code.Heading {
		r.names = []string{p.Key}
	}
	r.kind = cmp.Or(KindOf(p.file, append([]string{r.code.Heading}, r.names...)...), p.RowName)
	return r, true
}

// codes returns the place of the column with the codes of the rows, -1 if none has them.
func (p *Proposal) codes() int {
	kind := kindOfFile(p.file)
	for i, c := range p.Columns {
		of := strings.ToLower(keyWords.ReplaceAllString(referenceEnd.ReplaceAllString(c.Heading, "$1"), ""))
		isOwn := i == 0 || of == "" || of == kind || c.Heading == p.Key && kind == ""
		if isOwn && p.tellsApart(c) && keyWords.MatchString(c.Heading) && c.areCodes() {
			return i
		}
	}
	return -1
}

// areCodes reports whether all cells are codes, such as "CS101" and 17.
func (c Column) areCodes() bool {
	for value := range c.values {
		if code := codeOf(value); !c.isCode(code) || strings.ContainsAny(code, "./") {
			return false
		}
	}
	return c.Cells > 0 && c.Type != Date
}

// refer decides what a column refers to.
func (p *Proposal) refer(c *Column, all []referred, tables []*Proposal) {
	isOwn := func(r referred) bool { return c == r.code }
	if p.Facts || slices.Contains(p.Names, c.Heading) || !c.areCodes() || slices.ContainsFunc(all, isOwn) {
		return
	}
	relation := relationOf(c.Heading, nil)
	kind := strings.ToLower(strings.ReplaceAll(relation, "_", " "))
	isCode := relation != strings.TrimSpace(c.Heading)
	var found []referred
	for _, lacks := range []func(r referred) bool{
		func(r referred) bool { return !strings.HasSuffix(" "+kind, " "+r.kind) || !r.has(c, agreement) },
		func(r referred) bool { return r.Proposal != p || !toItself.MatchString(kind) || !r.has(c, agreement) },
		func(r referred) bool { return !isCode || c.Heading == p.Key || r.Proposal == p || !r.has(c, 1) },
	} {
		if found = slices.DeleteFunc(slices.Clone(all), lacks); len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 0:
	case 1:
		found[0].take(c, p, tables)
	default:
		p.Warnings = append(p.Warnings, fmt.Sprintf("column %q may hold codes of several tables; if it does, --type "+
			"%s=entity:%s says of which", c.Heading, c.Heading, found[0].kind))
	}
}

// has reports whether rows have a share of the codes in a column.
func (r referred) has(c *Column, share float64) bool {
	known := c.countIn(r.code.values)
	return float64(known) >= share*float64(len(c.values)) || !r.Whole && known > 0 && share < 1
}

// countIn returns how many of the different cells are among others.
func (c *Column) countIn(others map[string]bool) (n int) {
	for value := range c.values {
		if others[value] || others[codeOf(value)] {
			n++
		}
	}
	return n
}

// take makes a column refer to the rows, and the codes of these their keys.
func (r referred) take(c *Column, from *Proposal, tables []*Proposal) {
	if r.Key != r.code.Heading && len(r.names) == 1 && r.isNamed(tables) {
		from.Warnings = append(from.Warnings, fmt.Sprintf("column %q holds codes of %q, which other columns name by "+
			"%q: it is read as it stands", c.Heading, r.kind, r.names[0]))
		return
	}
	c.Type, c.Reference, r.code.Type, r.code.Reference = Entity, r.kind, Entity, r.kind
	r.Key, r.Names = r.code.Heading, r.names
}

// isNamed reports whether a column of one of the tables has the names of rows.
func (r referred) isNamed(tables []*Proposal) bool {
	own := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Heading == r.names[0] })
	for _, p := range tables {
		for i, c := range p.Columns {
			isOther := (p != r.Proposal || i != own) && (c.Type == Entity || c.Type == List)
			if isOther && 2*c.countIn(r.Columns[own].values) >= max(1, len(c.values)) {
				return true
			}
		}
	}
	return false
}
