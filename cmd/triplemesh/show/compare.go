package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/triplemesh/triplemesh/internal/terminal"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Contestant is what one method made of a question.
type Contestant struct {
	// Method is its name.
	Method string
	// Run is its answer; nil where it failed.
	Run *orchestratorv1.Run
	// Failed says why there is no run.
	Failed string
}

// row is one thing that contestants are compared by.
type row struct {
	name  string
	cells func(*orchestratorv1.Run) []string
}

var rows = []row{
	{"answers", answerLines},
	{"rests on", restLines},
	{"evidence", evidenceLines},
	{"time", func(r *orchestratorv1.Run) []string { return []string{duration(r.GetDuration().AsDuration())} }},
	{"calls", func(r *orchestratorv1.Run) []string {
		u := r.GetUsage()
		if u.GetCachedCalls() > 0 {
			return []string{fmt.Sprintf("%d, of them %d from the cache", u.GetCalls(), u.GetCachedCalls())}
		}
		return []string{fmt.Sprint(u.GetCalls())}
	}},
	{"tokens", func(r *orchestratorv1.Run) []string {
		return []string{fmt.Sprintf("%d read, %d written", r.GetUsage().GetPromptTokens(),
			r.GetUsage().GetCompletionTokens())}
	}},
	{"cost", func(r *orchestratorv1.Run) []string {
		if cost := r.GetUsage().GetCostUsd(); cost > 0 {
			return []string{fmt.Sprintf("%.4f US dollars", cost)}
		}
		return nil
	}},
}

const (
	// labelColumns is for the names of rows, with a gap after them.
	labelColumns = 10
	// cellColumns is the narrowest cell in which a triple can be read.
	cellColumns = 28
	gap         = 3
)

// Compare prints what several methods made of one question: side by side where
// there is room, else one after the other.
func Compare(w io.Writer, all []Contestant, style Style) error {
	p := newPage(w, style)
	room := (p.style.Width - labelColumns - gap*(len(all)-1)) / max(1, len(all))
	if room >= cellColumns {
		p.sideBySide(all, room)
	} else {
		for _, c := range all {
			p.stacked(c)
		}
	}
	p.print("\n")
	p.item(0, "", "", agreement(all))
	return p.err
}

func (p *page) sideBySide(all []Contestant, room int) {
	var names [][]string
	for _, c := range all {
		names = append(names, []string{c.Method})
	}
	p.cells("", names, room, bold)
	for i, r := range rows {
		var cells [][]string
		some := false
		for _, c := range all {
			var cell []string
			switch {
			case c.Run != nil:
				cell = r.cells(c.Run)
			case i == 0:
				cell = []string{"failed: " + c.Failed}
			}
			some = some || len(cell) > 0
			cells = append(cells, cell)
		}
		if some {
			p.cells(r.name, cells, room, "")
		}
	}
}

// cells prints one row; every cell is broken into as many lines as it needs.
func (p *page) cells(name string, cells [][]string, room int, colour string) {
	lines := make([][]string, len(cells))
	height := 0
	for i, cell := range cells {
		for _, text := range cell {
			for j, line := range terminal.Wrap(p.clean(text), room-2) {
				if j > 0 {
					line = "  " + line
				}
				lines[i] = append(lines[i], line)
			}
		}
		height = max(height, len(lines[i]))
	}
	for y := range height {
		line := p.paint(dim, terminal.Pad(name, labelColumns))
		name = ""
		for i := range lines {
			cell := ""
			if y < len(lines[i]) {
				cell = lines[i][y]
			}
			if cell = terminal.Pad(cell, room); colour != "" {
				cell = p.paint(colour, cell)
			}
			line += cell
			if i < len(lines)-1 {
				line += strings.Repeat(" ", gap)
			}
		}
		p.print(strings.TrimRight(line, " ") + "\n")
	}
}

func (p *page) stacked(c Contestant) {
	p.heading(p.clean(c.Method), "")
	if c.Run == nil {
		p.item(2, "failed: ", red, c.Failed)
		return
	}
	for _, r := range rows {
		label := terminal.Pad(r.name, labelColumns)
		for _, text := range r.cells(c.Run) {
			p.item(2, label, dim, text)
			label = strings.Repeat(" ", labelColumns)
		}
	}
}

func answerLines(run *orchestratorv1.Run) (lines []string) {
	for i, a := range run.GetAnswers() {
		if i == shownPaths {
			return append(lines, fmt.Sprintf("and %d more", len(run.GetAnswers())-i))
		}
		lines = append(lines, entity(a.GetAnswer(), a.GetId()))
	}
	switch {
	case len(lines) > 0:
		return lines
	case run.GetText() != "":
		return []string{run.GetText()}
	}
	return []string{noAnswer(run)}
}

func restLines(run *orchestratorv1.Run) []string {
	word, _ := grounding(run.GetGrounding())
	lines := []string{word}
	if run.Confidence != nil {
		lines = append(lines, fmt.Sprintf("confidence %.2f", run.GetConfidence()))
	}
	if run.GetPartial() {
		lines = append(lines, "ended early")
	}
	return lines
}

// evidenceLines returns the first triples that the answers rest on.
func evidenceLines(run *orchestratorv1.Run) (lines []string) {
	const most = 4
	left := 0
	for _, a := range run.GetAnswers() {
		for _, t := range a.GetEvidence() {
			if len(lines) == most {
				left++
				continue
			}
			lines = append(lines, evidenceTriple(t))
		}
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", left))
	}
	return lines
}

// agreement reports whether all that answered gave the same answers, in any order and case.
func agreement(all []Contestant) string {
	var first map[string]bool
	who, same := 0, true
	for _, c := range all {
		if len(c.Run.GetAnswers()) == 0 {
			continue
		}
		set := map[string]bool{}
		for _, a := range c.Run.GetAnswers() {
			set[strings.ToLower(strings.TrimSpace(a.GetAnswer()))] = true
		}
		if who++; who == 1 {
			first = set
			continue
		}
		same = same && len(set) == len(first)
		for answer := range set {
			same = same && first[answer]
		}
	}
	switch {
	case who < 2:
		return "There is nothing to compare: fewer than two methods named an answer."
	case same:
		return "They give the same answers."
	}
	return "They give different answers."
}
