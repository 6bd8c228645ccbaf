package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/lab/results"
)

// Table is a table of a report, for HTML and Markdown alike. The first cell of
// a row names the row.
type Table struct {
	// Caption says what the table holds.
	Caption string
	// Note says how to read it.
	Note string
	// Columns are the heads.
	Columns []Column
	// Rows have a cell for each column.
	Rows [][]Cell
}

// Column is the head of a column.
type Column struct {
	// Name is what stands there.
	Name string
	// Note explains it where the pointer rests on it.
	Note string
	// Text says that the column holds words, not numbers.
	Text bool
}

// Cell is one cell.
type Cell struct {
	// Text is what it says; empty where a figure does not apply.
	Text string
	// Below stands under it, smaller: an interval, a p-value.
	Below string
	// Best says that no other in its column is better.
	Best bool
	// Quiet says that it matters less.
	Quiet bool
	// Heat is 1 to 10 for a background by value; 0 has none.
	Heat int
	// Mark draws the interval.
	Mark template.HTML
}

// words makes a row of texts.
func words(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}

// figures returns all figures by key.
func figures() map[string]results.Figure {
	out := make(map[string]results.Figure)
	for _, f := range results.Figures() {
		out[f.Key] = f
	}
	return out
}

// show writes a value in its unit, as tables have it.
func show(unit results.Unit, v float64) string {
	switch unit {
	case results.Share:
		return strconv.FormatFloat(v*100, 'f', 1, 64)
	case results.Milliseconds:
		return seconds(v)
	case results.Dollars:
		return dollars(v)
	}
	return amount(v)
}

func amount(v float64) string {
	if math.Abs(v) >= 100 {
		return thousands(math.Round(v))
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func seconds(ms float64) string {
	switch {
	case ms >= 100_000:
		return thousands(math.Round(ms/1000)) + " s"
	case ms >= 10_000:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
	}
	return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
}

func dollars(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) < 0.01:
		return "$" + strconv.FormatFloat(v, 'g', 2, 64)
	}
	return "$" + strconv.FormatFloat(v, 'f', 3, 64)
}

// thousands writes a whole number in groups of three.
func thousands(v float64) string {
	digits := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	var b strings.Builder
	if v < 0 {
		b.WriteString("−")
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// pValue writes the p-value of a test.
func pValue(p float64) string {
	switch {
	case p < 0.001:
		return "p < 0.001"
	case p < 0.1:
		return fmt.Sprintf("p = %.3f", p)
	}
	return fmt.Sprintf("p = %.2f", p)
}

// points writes a difference of shares in percentage points, with its sign.
func points(v float64) string {
	text := strconv.FormatFloat(math.Abs(v)*100, 'f', 1, 64)
	switch {
	case text == "0.0":
		return text
	case v < 0:
		return "−" + text
	}
	return "+" + text
}
