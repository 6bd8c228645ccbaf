package table

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Type is what the cells of a column are.
type Type string

// The types of columns.
const (
	// Auto takes each cell for what it looks like, in a column of which too few cells agree.
	Auto   Type = ""
	Entity Type = "entity"
	// Number reads 8,270.3 and 79 037 121 too; a number with a unit is kept as it is written.
	Number Type = "number"
	// Date reads English dates too, and makes them ISO 8601.
	Date Type = "date"
	// List is several cells in one, between semicolons, vertical bars or, where the caller says so, commas.
	List Type = "list"
	// Text is a literal, which no other row can share.
	Text Type = "text"
	// Skip leaves a column out.
	Skip Type = "skip"
)

// Types are all that a caller can choose.
var Types = []Type{Entity, Number, Date, List, Text, Skip}

const (
	// sampledRows and sampledBytes bound what types and keys are inferred from, in memory.
	sampledRows, sampledBytes = 2000, 4 << 20
	// agreement is the share of cells that must be of a type.
	agreement = 0.9
	// proseWords is the mean number of words from which a column is prose, listedWords that up to which the parts of
	// cells are names.
	proseWords, listedWords = 10, 4
	// listed is the share of cells that must have several parts.
	listed = 0.1
	// maxColumns bounds the columns of a proposal; spreadsheets have no more.
	maxColumns = 16384
)

var (
	thousands    = regexp.MustCompile(`^[-+]?\d{1,3}(?:[, \x{a0}\x{202f}'’]\d{3})+(?:\.\d+)?$`)
	decimalComma = regexp.MustCompile(`^[-+]?\d+,(?:\d{1,2}|\d{4,})$`)
	separators   = strings.NewReplacer(",", "", " ", "", "\u00a0", "", "\u202f", "", "'", "", "’", "")
	signs        = strings.NewReplacer("−", "-", "–", "-")
)

// parseNumber reads a number as people write it. The number is empty if it has a unit.
func parseNumber(text string) (number string, ok bool) {
	text = signs.Replace(strings.TrimSpace(text))
	switch {
	case thousands.MatchString(text):
		text = separators.Replace(text)
	case decimalComma.MatchString(text):
		text = strings.Replace(text, ",", ".", 1)
	}
	if source.IsNumber(text) {
		text = strings.TrimPrefix(text, "+")
		if i := strings.IndexByte(text, '.'); i == 0 || i == 1 && text[0] == '-' {
			text = text[:i] + "0" + text[i:]
		}
		return text, true
	}
	_, ok = kgtext.ParseQuantity(text)
	return "", ok
}

// parseDate reads a date that is more than a year, as ISO 8601.
func parseDate(text string) (string, bool) {
	if date, err := source.NormalizeDate("cell", text); err == nil && strings.IndexByte(date, '-') > 0 {
		return date, true
	}
	d, ok := kgtext.ParseDate(text)
	switch {
	case !ok || d.Month == 0 || d.Year <= 0:
		return "", false
	case d.Day == 0:
		return fmt.Sprintf("%04d-%02d", d.Year, d.Month), true
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day), true
}

// parseTyped is the object in a cell of a column of a type. strict makes a cell of another type an error.
func parseTyped(text string, as Type, strict bool) (source.Term, error) {
	key, err := source.NormalizeName("object", text)
	if err != nil {
		return source.Term{}, err
	}
	switch as {
	case Entity:
		return source.Term{Key: key}, nil
	case Text:
		return source.Term{Key: key, Kind: store.Text}, nil
	case Number:
		if number, ok := parseNumber(key); ok && number != "" {
			return source.Term{Key: number, Kind: store.Number}, nil
		} else if ok {
			return source.Term{Key: key, Kind: store.Text}, nil
		}
	case Date:
		if date, ok := parseDate(key); ok {
			return source.Term{Key: date, Kind: store.Date}, nil
		}
		if date, err := source.NormalizeDate("cell", key); err == nil {
			return source.Term{Key: date, Kind: store.Date}, nil
		}
	}
	if strict && as != List {
		return source.Term{}, fmt.Errorf("%.40q is no %s", key, as)
	}
	return parseCell(text)
}

// splitList returns what a cell lists.
func splitList(text string, byCommas bool) []string {
	for _, mark := range []string{";", "|"} {
		if strings.Contains(text, mark) {
			return strings.Split(text, mark)
		}
	}
	if byCommas {
		return strings.Split(text, ",")
	}
	return []string{text}
}

// areLists reports whether cells list names, many of them or names that are cells of their own, and whether some seem
// to, between commas: what comes behind a comma begins another cell, unlike the countries of "Paris, France".
func areLists(cells []string) (surely, maybe bool) {
	several, parts, words, isKnown := 0, 0, 0, true
	begins, follows := map[string]bool{}, map[string]bool{}
	for _, cell := range cells {
		split := splitList(cell, false)
		several += min(1, len(split)-1)
		parts += len(split)
		words += len(strings.Fields(cell))
		for _, part := range split {
			isKnown = isKnown && (len(split) == 1 || slices.Contains(cells, strings.TrimSpace(part)))
		}
		split = splitList(cell, true)
		begins[strings.TrimSpace(split[0])] = true
		for _, part := range split[1:] {
			follows[strings.TrimSpace(part)] = true
		}
	}
	for part := range follows {
		maybe = maybe || begins[part]
	}
	areNames := words <= listedWords*parts
	isOften := float64(several) >= max(2, listed*float64(len(cells)))
	return areNames && (isOften || several > 0 && isKnown), areNames && maybe
}

// Column is what is known of a column from a sample of its rows.
type Column struct {
	Heading string
	Type    Type
	// Cells are those that are not empty, Distinct the different ones, Misfits those of another type.
	Cells, Distinct, Misfits int
	// Example is a cell, and Misfit one that does not fit the type.
	Example, Misfit string
	// Reference is what the rows are whose codes the cells are; empty if they are none.
	Reference string

	values  map[string]bool
	words   int
	coded   int  // cells that are codes
	mayList bool // between commas
}

// summarize infers the type of a column.
func summarize(heading string, cells []string) Column {
	c := Column{Heading: strings.TrimSpace(heading), values: map[string]bool{}}
	var filled, noNumbers, noDates []string
	codes, codeLength := 0, -1
	for _, cell := range cells {
		cell = strings.TrimSpace(cell)
		if cell == "" {
			continue
		}
		c.Cells++
		filled = append(filled, cell)
		c.values[cell] = true
		c.words += len(strings.Fields(cell))
		if c.isCode(cell) {
			c.coded++
		}
		c.Example = cmp.Or(c.Example, cell)
		if _, ok := parseNumber(cell); !ok {
			noNumbers = append(noNumbers, cell)
		}
		if _, ok := parseDate(cell); !ok {
			noDates = append(noDates, cell)
		}
		if codeLength < 0 {
			codeLength = len(cell)
		} else if codeLength != len(cell) {
			codeLength = 0
		}
		if len(cell) >= 4 && cell[0] == '0' && !strings.ContainsAny(cell, ".,:-/ ") {
			codes++
		}
	}
	c.Distinct = len(c.values)
	fits := func(misfits []string) bool { return float64(len(misfits)) <= (1-agreement)*float64(c.Cells) }
	keep := func(as Type, misfits []string) {
		c.Type, c.Misfits = as, len(misfits)
		if len(misfits) > 0 {
			c.Misfit = misfits[0]
		}
	}
	switch {
	case c.Cells == 0, codes > 0 && codeLength > 0:
		keep(Entity, nil) // 01067 and 04109 are codes: as numbers they lose their zeros
	case fits(noDates):
		keep(Date, noDates)
	case fits(noNumbers):
		keep(Number, noNumbers)
	default:
		var isList bool
		switch isList, c.mayList = areLists(filled); {
		case isList:
			keep(List, nil)
		case c.words > proseWords*c.Cells:
			keep(Text, nil)
		default:
			keep(Entity, nil)
		}
	}
	c.mayList = c.mayList && c.Type == Entity
	return c
}

// Proposal says how a table can be read.
type Proposal struct {
	// Facts reports whether the headings are those of facts: there is nothing to propose.
	Facts bool
	// Key is the heading of the column that tells rows apart and names them; empty if none does.
	Key string
	// Names are the headings of the columns of which the names of the rows are put together, if Key has codes or no
	// column is one; nil if Key has them.
	Names []string
	// RowName names the rows of a table without a key, after the file.
	RowName string
	// Columns are all columns, Rows the number of rows that were looked at.
	Columns []Column
	Rows    int
	// Whole reports whether those are all.
	Whole bool
	// Warnings say what may be wrong with the table, or with the key that the caller chose.
	Warnings []string

	file string
}

// OtherKind returns what the rows are besides a kind that a heading says, by the name of the file; empty for nothing
// else.
func (p *Proposal) OtherKind(kind string) string {
	var headings []string
	for _, c := range p.Columns {
		headings = append(headings, c.Heading)
	}
	return otherKindOf(p.file, kind, headings)
}

// Propose looks at the first rows of a table, unpacked, of which in may be a head. key is the caller's
// choice; empty leaves it open.
func Propose(file string, in io.Reader, separator rune, key string) (Proposal, error) {
	r := newReader(file, source.NewHead(in, sampledBytes), separator)
	headings, err := r.Read()
	if err == nil {
		err = checkHeadings(headings, key)
	}
	if err != nil {
		return Proposal{}, &source.PlaceError{File: file, Line: 1,
			Err: fmt.Errorf("the headings cannot be read: %w; the first line must name the columns", err)}
	}
	headings = slices.Clone(headings)
	p := Proposal{Facts: isFacts(headings), file: file}
	cells := make([][]string, len(headings))
	var ragged, garbled []int // lines
	for p.Rows < sampledRows {
		row, err := r.Read()
		if errors.Is(err, io.EOF) || errors.Is(err, source.ErrCut) {
			p.Whole = !errors.Is(err, source.ErrCut)
			break
		}
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			ragged = append(ragged, parse.StartLine)
			continue
		} else if err != nil {
			return Proposal{}, fmt.Errorf("read %s: %w", file, err)
		}
		line, _ := r.FieldPos(0)
		if len(row) != len(headings) {
			ragged = append(ragged, line)
			continue
		}
		if slices.ContainsFunc(row, func(cell string) bool { return !utf8.ValidString(cell) }) {
			garbled = append(garbled, line)
		}
		p.Rows++
		for i, cell := range row {
			cells[i] = append(cells[i], cell)
		}
	}
	for i, h := range headings {
		c := summarize(h, cells[i])
		switch {
		case c.Heading == "":
			c.Type = Skip
		case c.Type == List && len(headings) == 1:
			c.Type = Entity // another separator is likelier
		}
		p.Columns = append(p.Columns, c)
	}
	if p.Facts {
		return p, nil
	}
	stem, _, _ := strings.Cut(filepath.Base(file), ".")
	p.RowName = cmp.Or(kindOfFile(file), stem, "row")
	p.warn(headings, ragged, garbled)
	if err := p.chooseKey(key); err != nil {
		return p, err
	}
	p.chooseNames()
	return p, nil
}

// checkHeadings rejects what is no table, and what is too wide to propose a key for.
func checkHeadings(headings []string, key string) error {
	for i, h := range headings {
		if !utf8.ValidString(h) || strings.ContainsRune(h, 0) {
			return fmt.Errorf("heading %d is not text in UTF-8", i+1)
		}
	}
	if key == "" && len(headings) > maxColumns {
		return fmt.Errorf("%d columns, at most %d can be shown", len(headings), maxColumns)
	}
	return nil
}

// isFacts reports whether the headings are those of a table of facts.
func isFacts(headings []string) bool {
	return !slices.ContainsFunc([]string{"subject", "relation", "object"}, func(want string) bool {
		return !slices.ContainsFunc(headings, func(h string) bool { return strings.TrimSpace(h) == want })
	})
}

func (p *Proposal) warn(headings []string, ragged, garbled []int) {
	if len(ragged) > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d rows have more or fewer cells than the %d headings, "+
			"the first in line %d: they will be left out", len(ragged), len(headings), ragged[0]))
	}
	if len(garbled) > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d rows are not UTF-8, the first in line %d: their cells will "+
			"be left out; save the file as UTF-8", len(garbled), garbled[0]))
	}
	if i := strings.IndexAny(headings[0], ";\t|"); i >= 0 && len(headings) == 1 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the table has one column; is its separator %q?", headings[0][i]))
	}
	seen := map[string]bool{}
	for i, c := range p.Columns {
		switch {
		case c.Heading == "" && c.Cells == 0:
		case c.Heading == "":
			p.Warnings = append(p.Warnings, fmt.Sprintf("column %d has no heading: it will be left out; "+
				"name it in the first line", i+1))
		case seen[c.Heading]:
			p.Warnings = append(p.Warnings, fmt.Sprintf("several columns are called %q: they become one relation",
				c.Heading))
		case c.Misfits > 0:
			p.Warnings = append(p.Warnings, fmt.Sprintf("column %q: %d of %d cells are no %s, such as %.40q",
				c.Heading, c.Misfits, c.Cells, c.Type, c.Misfit))
		case c.mayList:
			p.Warnings = append(p.Warnings, fmt.Sprintf("column %q may list several values between commas in a cell; "+
				"if it does, its type is list", c.Heading))
		}
		seen[c.Heading] = true
	}
}

var (
	// codeForm matches a word with a digit, such as "CS101" and "B-17", symbolForm one in capitals, such as "CARD",
	// nameHeading the heading of a column of names, loginHeading one of what stands for a name beside it.
	codeForm     = regexp.MustCompile(`^[\pL_.:/-]*\d[\pL\d_.:/-]*$`)
	symbolForm   = regexp.MustCompile(`^\p{Lu}[\p{Lu}_.:/-]*$`)
	nameHeading  = regexp.MustCompile(`(?i)(?:^|[ _-])(?:names?|titles?|labels?)$`)
	loginHeading = regexp.MustCompile(`(?i)^(?:user[ _-]?name|login(?:[ _-]name)?|nick[ _-]?name|handle|slug|` +
		`(?:e-?)?mail(?:[ _-]address)?|url)$`)
)

// isCode reports whether a cell is a code: it has a digit, or is in capitals in a column whose heading says codes.
func (c Column) isCode(cell string) bool {
	return codeForm.MatchString(cell) || symbolForm.MatchString(cell) && keyWords.MatchString(c.Heading)
}

// chooseNames takes the first column of names that tells all rows apart, if the key has codes.
func (p *Proposal) chooseNames() {
	hasCodes := slices.ContainsFunc(p.Columns, func(c Column) bool {
		return c.Heading == p.Key && p.tellsApart(c) && c.coded == c.Cells
	})
	at := slices.IndexFunc(p.Columns, func(c Column) bool {
		return c.Heading != p.Key && p.hasNames(c) && c.coded == 0
	})
	if hasCodes && at >= 0 && p.Names == nil {
		p.Names = []string{p.Columns[at].Heading}
	}
}

// tellsApart reports whether a column has a heading and another cell in each row.
func (p *Proposal) tellsApart(c Column) bool {
	return c.Heading != "" && c.Cells == p.Rows && c.Distinct == p.Rows && p.Rows > 0
}

// hasNames reports whether a column has a name of each row by its heading.
func (p *Proposal) hasNames(c Column) bool {
	return p.tellsApart(c) && c.Type == Entity && nameHeading.MatchString(c.Heading) &&
		!loginHeading.MatchString(c.Heading)
}

// areNames reports whether cells are names by their heading, although they look like values with units: the class 7A.
func (c Column) areNames() bool {
	return c.Type == Number && nameHeading.MatchString(c.Heading) &&
		!slices.ContainsFunc(slices.Collect(maps.Keys(c.values)), source.IsNumber)
}

var keyWords = regexp.MustCompile(`(?i)(?:^|[ _.-])(?:id|key|code|isbn|sku|uuid|no|number)$|(?-i:[a-z]I[Dd])$`)

// chooseKey takes the first column of names that tells all rows apart, else one of codes.
func (p *Proposal) chooseKey(key string) error {
	if key != "" {
		i := slices.IndexFunc(p.Columns, func(c Column) bool { return c.Heading == key })
		if i < 0 {
			var all []string
			for _, c := range p.Columns {
				all = append(all, c.Heading)
			}
			return fmt.Errorf("no column %q; the headings are %.300q", key, all)
		}
		p.Key = key
		if c := p.Columns[i]; c.Distinct < c.Cells {
			p.Warnings = append(p.Warnings, fmt.Sprintf("column %q has %d different values in %d rows: rows that "+
				"share one become one entity; choose another key, or --rows to keep each row apart", key, c.Distinct,
				p.Rows))
		}
		return nil
	}
	if p.chooseSharedNames() {
		return nil
	}
	hasNames := slices.ContainsFunc(p.Columns, p.hasNames)
	for _, c := range p.Columns {
		whole := p.tellsApart(c)
		if hasNames && loginHeading.MatchString(c.Heading) {
			continue
		}
		if whole && (c.Type == Entity && c.words <= proseWords*c.Cells || c.areNames()) {
			p.Key = c.Heading
			return nil
		}
		if whole && p.Key == "" && c.Type != Text && keyWords.MatchString(c.Heading) {
			p.Key = c.Heading
		}
	}
	return nil
}

var (
	firstName = regexp.MustCompile(`(?i)^(?:(?:first|given)[ _-]?name|forename)$`)
	lastName  = regexp.MustCompile(`(?i)^(?:(?:last|family)[ _-]?name|surname)$`)
)

// chooseSharedNames takes a name in two columns, or one that several rows have beside a code of each, with that code as
// the key if there is one. It reports whether the names are chosen.
func (p *Proposal) chooseSharedNames() bool {
	find := func(fits func(c Column) bool) int { return slices.IndexFunc(p.Columns, fits) }
	code := p.codes()
	first := find(func(c Column) bool { return firstName.MatchString(c.Heading) && c.Cells > 0 })
	last := find(func(c Column) bool { return lastName.MatchString(c.Heading) && c.Cells > 0 })
	whole := find(func(c Column) bool {
		isPart := firstName.MatchString(c.Heading) || lastName.MatchString(c.Heading)
		return !isPart && p.hasNames(c)
	})
	shared := find(func(c Column) bool {
		return strings.EqualFold(c.Heading, "name") && c.Cells == p.Rows && c.Type == Entity && 2*c.Distinct > c.Cells
	})
	switch {
	case first >= 0 && last >= 0 && whole >= 0 && code < 0:
		p.Key = p.Columns[whole].Heading
		return true
	case first >= 0 && last >= 0 && whole >= 0:
		p.Names = []string{p.Columns[whole].Heading}
	case first >= 0 && last >= 0:
		p.Names = []string{p.Columns[first].Heading, p.Columns[last].Heading}
	case code >= 0 && whole < 0 && shared >= 0:
		p.Names = []string{p.Columns[shared].Heading}
	default:
		return false
	}
	if code >= 0 {
		p.Key = p.Columns[code].Heading
	}
	return true
}
