package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/lab/score"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// View is one run as a page shows it: sections of rows, cut to a readable size. The page only lays them
// out, so that what is shown is decided, and tested, here. Its field names are short, since a page holds
// thousands.
type View struct {
	// Text is the answer as text.
	Text string `json:"x,omitempty"`
	// Answers are the answers with their evidence.
	Answers []Row `json:"a,omitempty"`
	// Facts are a name and a value each: what the answer rests on, what it cost.
	Facts [][2]string `json:"f,omitempty"`
	// Sections are the graphs, in the order in which they were made.
	Sections []DetailSection `json:"g,omitempty"`
}

// DetailSection is one graph of a run, or one list.
type DetailSection struct {
	// Title names it.
	Title string `json:"t"`
	// Note says what it is.
	Note string `json:"n,omitempty"`
	// Code is text that is shown as it was written, such as Cypher.
	Code string `json:"c,omitempty"`
	// Rows are its lines.
	Rows []Row `json:"r,omitempty"`
}

// Kind is how a row looks.
type Kind string

// The kinds of rows.
const (
	Plain   Kind = ""
	Keep    Kind = "keep"
	Replace Kind = "replace"
	Add     Kind = "add"
	Delete  Kind = "delete"
	Right   Kind = "right"
	Wrong   Kind = "wrong"
	Unsure  Kind = "unsure"
	Subject Kind = "subject"
	Quiet   Kind = "quiet"
)

// Row is one line of a section: a label, a score and a text, a triple or a
// path.
type Row struct {
	Kind  Kind     `json:"k,omitempty"`
	Label string   `json:"l,omitempty"`
	Score *float32 `json:"s,omitempty"`
	Text  string   `json:"x,omitempty"`
	// Triple is a subject, a relation and an object.
	Triple []string `json:"t,omitempty"`
	// Path is entity, relation, entity, …; a relation that is walked from object
	// to subject begins with "←".
	Path []string `json:"p,omitempty"`
	// Gold says which part of the row names a right answer.
	Gold Part `json:"y,omitempty"`
	// Rows stand below the row.
	Rows []Row `json:"r,omitempty"`
}

// Part is a part of a row: one bit each.
type Part int

// The parts of a row.
const (
	Begin Part = 1 << iota
	End
	Whole = Begin | End
)

// The longest lists and names that are shown.
const (
	maxHits       = 20
	maxSubjects   = 12
	maxDropped    = 6
	maxPerSubject = 10
	maxEdits      = 40
	maxFixed      = 60
	maxPaths      = 20
	maxCandidates = 30
	maxEvidence   = 3
	maxName       = 240
	maxText       = 4000
)

// names knows the right answers of a question.
type names struct {
	right map[string]bool
	known map[string]bool
}

func newNames(answers []string) *names {
	n := &names{right: make(map[string]bool), known: make(map[string]bool)}
	for _, a := range answers {
		n.right[score.Normalise(a)] = true
	}
	return n
}

// gold returns a part where a name is a right answer, else none.
func (n *names) gold(part Part, name string) Part {
	if len(name) > maxText {
		return 0
	}
	right, seen := n.known[name]
	if !seen {
		right = n.right[score.Normalise(name)]
		n.known[name] = right
	}
	if right {
		return part
	}
	return 0
}

// triple makes the row of a triple.
func (n *names) triple(t *graphv1.Triple) Row {
	relation := clip(t.GetRelation(), maxName)
	if v := t.GetValidity(); v.GetStart() != "" || v.GetEnd() != "" {
		relation += fmt.Sprintf(" (%s to %s)", withFallback(clip(v.GetStart(), 40), "?"),
			withFallback(clip(v.GetEnd(), 40), "now"))
	}
	row := Row{Triple: []string{clip(t.GetSubject(), maxName), relation, clip(t.GetObject(), maxName)}}
	row.Label = clip(t.GetKgName(), 64)
	row.Gold = n.gold(Begin, t.GetSubject()) | n.gold(End, t.GetObject())
	return row
}

func (n *names) scoredTriple(t *graphv1.ScoredTriple) Row {
	row := n.triple(t.GetTriple())
	row.Score = round(t.GetScore())
	return row
}

// path makes the row of a reasoning path.
func (n *names) path(p *graphv1.ReasoningPath) Row {
	row := Row{Label: clip(p.GetKgName(), 64)}
	for i, entity := range p.GetEntities() {
		if i > 0 && i <= len(p.GetSteps()) {
			row.Path = append(row.Path, step(p.GetSteps()[i-1]))
		}
		row.Path = append(row.Path, clip(entity, maxName))
	}
	if entities := p.GetEntities(); len(entities) > 0 {
		row.Gold = n.gold(Begin, entities[0]) | n.gold(End, entities[len(entities)-1])
	}
	return row
}

func step(s *graphv1.RelationStep) string {
	if s.GetInverse() {
		return "←" + clip(s.GetRelation(), maxName)
	}
	return clip(s.GetRelation(), maxName)
}

// relationPath makes the row of a relation path.
func relationPath(p *graphv1.RelationPath) Row {
	steps := make([]string, len(p.GetSteps()))
	for i, s := range p.GetSteps() {
		steps[i] = step(s)
	}
	row := Row{Text: strings.Join(steps, " → "), Label: clip(p.GetKgName(), 64)}
	if p.GetScore() != 0 {
		row.Score = round(p.GetScore())
	}
	return row
}

// first makes rows of the first of a list, and says how many more there are.
func first[T any](list []T, most int, row func(T) Row) []Row {
	rows := make([]Row, 0, min(len(list), most+1))
	for i, item := range list {
		if i == most {
			rows = append(rows, Row{Kind: Quiet, Text: fmt.Sprintf("and %d more", len(list)-i)})
			break
		}
		rows = append(rows, row(item))
	}
	return rows
}

// clip shortens a text to about a number of bytes, and says how long it was.
func clip(s string, most int) string {
	if len(s) <= most {
		return strings.ToValidUTF8(s, "�")
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d characters)", strings.ToValidUTF8(s[:cut], "�"), utf8.RuneCountInString(s))
}

func withFallback(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// round keeps two decimals: pages are smaller for it.
func round(v float32) *float32 {
	scaled := v * 100
	if scaled < 0 {
		scaled -= 0.5
	} else {
		scaled += 0.5
	}
	if scaled > -1e6 && scaled < 1e6 {
		v = float32(int(scaled)) / 100
	}
	return &v
}

// Clip shortens a text that has no length of its own to what a page can show.
func Clip(s string) string { return clip(s, maxText) }
