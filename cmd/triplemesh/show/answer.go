// Package show prints runs for people: the answer, what it rests on, and the way it went.
// Everything a run holds was written by a model, a user or a knowledge graph, so control characters
// in it are shown, not sent to the terminal.
package show

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/triplemesh/triplemesh/internal/terminal"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Answer prints the answers, what they rest on, and what went wrong.
func Answer(w io.Writer, run *orchestratorv1.Run, style Style) error {
	p := newPage(w, style)
	if run.GetStandaloneQuestion() != "" {
		p.item(0, "taken as: ", "", run.GetStandaloneQuestion())
		p.print("\n")
	}
	if len(run.GetAnswers()) == 0 && len(run.GetWithheld()) == 0 {
		p.item(0, "", "", noAnswer(run))
	}
	if run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED && len(run.GetAnswers()) > 0 {
		// First, as an answer that is read first is believed.
		p.item(0, "not confirmed by the knowledge graph:", yellow, "")
	}
	for _, a := range run.GetAnswers() {
		p.answer(0, a)
	}
	if text := run.GetText(); text != "" && !saysTheSame(run) {
		if len(run.GetWithheld()) == 0 {
			p.print("\n")
		}
		for line := range strings.Lines(text) {
			p.item(0, "", "", strings.TrimRight(line, "\r\n"))
		}
	}
	p.print("\n")
	word, colour := grounding(run.GetGrounding())
	if run.GetGroundingReason() != "" {
		word += ": "
	}
	p.item(0, word, colour, run.GetGroundingReason())
	if held := run.GetWithheld(); len(held) > 0 {
		p.item(0, "held back: ", dim, joinAnswers(held))
	}
	if run.Confidence != nil {
		p.itemf(0, "confidence: ", "%.2f", run.GetConfidence())
	}
	for _, c := range run.GetConflicts() {
		p.item(0, "conflict: ", yellow, c.GetSubject()+" | "+c.GetRelation())
		for _, t := range c.GetTriples() {
			p.item(2, "", "", evidenceTriple(t))
		}
	}
	if run.GetPartial() {
		p.item(0, "ended early: ", yellow, "what is shown is what there was by then")
	}
	for _, s := range run.GetStages() {
		for _, warning := range s.GetWarnings() {
			p.item(0, stage(s.GetStage())+": ", yellow, warning.GetMessage())
		}
	}
	return p.err
}

// answer is an answer with the triples it rests on.
func (p *page) answer(indent int, a *orchestratorv1.Answer) {
	p.item(indent, "", "", entity(a.GetAnswer(), a.GetId()))
	for _, t := range a.GetEvidence() {
		p.item(indent+2, "", "", evidenceTriple(t))
	}
}

func noAnswer(run *orchestratorv1.Run) string {
	if run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNSPECIFIED {
		return "(stopped before the answer, as asked)"
	}
	return "(no answer)"
}

// ListAnswers returns the answers of a run, separated by commas.
func ListAnswers(run *orchestratorv1.Run) string { return joinAnswers(run.GetAnswers()) }

func joinAnswers(answers []*orchestratorv1.Answer) string {
	names := make([]string, len(answers))
	for i, a := range answers {
		names[i] = a.GetAnswer()
	}
	return strings.Join(names, ", ")
}

// saysTheSame reports whether the text is the answers and nothing more.
func saysTheSame(run *orchestratorv1.Run) bool {
	bare := strings.TrimSpace(run.GetText())
	return strings.EqualFold(strings.TrimRight(bare, "."), strings.TrimRight(ListAnswers(run), "."))
}

func grounding(g orchestratorv1.Grounding) (word, colour string) {
	switch g {
	case orchestratorv1.Grounding_GROUNDING_GROUNDED:
		return "grounded", green
	case orchestratorv1.Grounding_GROUNDING_PARTIAL:
		return "partly grounded", yellow
	case orchestratorv1.Grounding_GROUNDING_RELATED:
		return "related", yellow
	case orchestratorv1.Grounding_GROUNDING_UNGROUNDED:
		return "not grounded", yellow
	case orchestratorv1.Grounding_GROUNDING_ABSTAINED:
		return "abstained", red
	}
	return "no answer asked for", dim
}

// stage returns a stage's name as people type it: "evaluate-question".
func stage(s orchestratorv1.Stage) string {
	return name(s.String(), "STAGE_")
}

// name turns the name of an enum value into words.
func name(value, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(value, prefix)), "_", "-")
}

// Style says what the output is for.
type Style struct {
	// Colour switches ANSI colours on.
	Colour bool
	// Width in columns; 0 takes 80.
	Width int
	// ASCII draws nothing of its own with other characters.
	ASCII bool
}

// Colours, as ANSI numbers.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// page writes lines and keeps the first error, so that those who fill it need not look at each.
type page struct {
	w     io.Writer
	style Style
	err   error
}

func newPage(w io.Writer, s Style) *page {
	s.Width = cmp.Or(s.Width, 80)
	s.Width = max(s.Width, 40)
	return &page{w: terminal.Raw(w), style: s}
}

func (p *page) print(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// paint colours text that is clean already.
func (p *page) paint(colour, text string) string {
	if !p.style.Colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// clean makes text fit for the terminal. Arrows and dashes, which are ours, are
// drawn with ASCII where nothing else is shown.
func (p *page) clean(text string) string {
	if p.style.ASCII {
		text = plain.Replace(text)
	}
	return terminal.Clean(text)
}

var plain = strings.NewReplacer("→", "->", "←", "<-", "—", "--", "⁻¹", "^-1", "“", `"`, "”", `"`, "…", "...",
	"├─", "|-", "└─", "`-", "│", "|")

// heading opens a part of the page.
func (p *page) heading(title, note string) {
	lead, hang := "\n"+p.paint(bold, title), terminal.Columns(title)+2
	if note == "" {
		p.print(lead + "\n")
		return
	}
	for _, line := range terminal.Wrap(p.clean(note), p.style.Width-hang) {
		p.print(lead + "  " + p.paint(dim, line) + "\n")
		lead = strings.Repeat(" ", hang-2)
	}
}

// item writes text after a label, broken at words so that every line fits,
// each further line below the beginning of the text. The label counts with its
// columns and may be coloured.
func (p *page) item(indent int, label, colour, text string) {
	label = p.clean(label)
	hang := indent + terminal.Columns(label)
	lead := strings.Repeat(" ", indent) + p.paint(colour, label)
	for _, line := range terminal.Wrap(p.clean(text), p.style.Width-hang) {
		p.print(lead + line + "\n")
		lead = strings.Repeat(" ", hang)
	}
}

// itemf is item without a colour.
func (p *page) itemf(indent int, label, format string, args ...any) {
	p.item(indent, label, "", fmt.Sprintf(format, args...))
}

// block writes text line by line as it is, such as code.
func (p *page) block(indent int, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		p.item(indent, "", "", strings.TrimRight(line, "\r\n"))
	}
}

// Line returns text made fit for one line of a table: clean, and at most width
// columns.
func Line(text string, width int) string { return terminal.Line(text, width) }

// triple returns a triple on one line, with its validity if it has one.
func triple(t *graphv1.Triple) string {
	s := label(t.GetKgName()) + fmt.Sprintf("%s | %s | %s", t.GetSubject(), t.GetRelation(), t.GetObject())
	if v := t.GetValidity(); v.GetStart() != "" || v.GetEnd() != "" {
		s += fmt.Sprintf(" (%s to %s)", withFallback(v.GetStart(), "?"), withFallback(v.GetEnd(), "now"))
	}
	return s
}

// evidenceTriple returns a triple of the knowledge graph with its provenance if it has one:
// "Ada | knows | Charles  from facts.csv:12".
func evidenceTriple(t *graphv1.Triple) string {
	if t.GetProvenance() == "" {
		return triple(t)
	}
	return triple(t) + "  from " + t.GetProvenance()
}

// entity returns an entity's name, and its id if the name does not show it: "Douglas Adams  (Q42)".
func entity(name, id string) string {
	if id == "" || id == name || strings.HasSuffix(name, "("+id+")") {
		return name
	}
	return name + "  (" + id + ")"
}

// relationPath returns r1 → r2, an inverse hop marked.
func relationPath(path *graphv1.RelationPath) string {
	var steps []string
	for _, s := range path.GetSteps() {
		steps = append(steps, step(s))
	}
	return label(path.GetKgName()) + strings.Join(steps, " → ")
}

func step(s *graphv1.RelationStep) string {
	if s.GetInverse() {
		return s.GetRelation() + "⁻¹"
	}
	return s.GetRelation()
}

// reasoningPath returns e0 —r1→ e1 —r2→ e2; an inverse hop has its arrow on the
// other side.
func reasoningPath(path *graphv1.ReasoningPath) string {
	var b strings.Builder
	b.WriteString(label(path.GetKgName()))
	for i, node := range path.GetEntities() {
		if i > 0 && i <= len(path.GetSteps()) {
			s := path.GetSteps()[i-1]
			if s.GetInverse() {
				fmt.Fprintf(&b, " ←%s— ", s.GetRelation())
			} else {
				fmt.Fprintf(&b, " —%s→ ", s.GetRelation())
			}
		}
		b.WriteString(node)
	}
	return b.String()
}

// label names the knowledge graph that holds something, where several were
// read.
func label(kg string) string {
	if kg == "" {
		return ""
	}
	return "[" + kg + "] "
}

func withFallback(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Trace prints the run's spans as a tree, each with its time and, where a
// model was asked, its tokens.
func Trace(w io.Writer, run *orchestratorv1.Run, style Style) error {
	p := newPage(w, style)
	p.heading("Trace", run.GetTraceId())
	if len(run.GetSpans()) == 0 {
		p.item(2, "", "", "(no spans were collected: the services keep none, or tracing is switched off)")
		return p.err
	}
	t := tree{page: p, children: map[string][]*orchestratorv1.Span{}, known: map[string]bool{}}
	for _, s := range run.GetSpans() {
		t.known[s.GetSpanId()] = true
	}
	for _, s := range run.GetSpans() {
		parent := s.GetParentSpanId()
		// A span whose parent was lost, or that names itself, stands at the top.
		if !t.known[parent] || parent == s.GetSpanId() {
			parent = ""
		}
		t.children[parent] = append(t.children[parent], s)
	}
	for _, spans := range t.children {
		slices.SortStableFunc(spans, func(a, b *orchestratorv1.Span) int {
			return a.GetStartTime().AsTime().Compare(b.GetStartTime().AsTime())
		})
	}
	t.printChildren("", "")
	return p.err
}

type tree struct {
	*page
	children map[string][]*orchestratorv1.Span
	known    map[string]bool
}

// printChildren prints the spans below a parent. Each is printed once: its list is
// taken away, so that spans that name each other as parent cannot go round.
func (t tree) printChildren(parent, indent string) {
	spans := t.children[parent]
	delete(t.children, parent)
	for i, s := range spans {
		branch, next := "├─ ", "│  "
		if i == len(spans)-1 {
			branch, next = "└─ ", "   "
		}
		if parent == "" {
			branch, next = "", ""
		}
		t.line(indent+branch, s)
		t.printChildren(s.GetSpanId(), indent+next)
	}
}

// Columns of the time and of the tokens.
const (
	timeColumns  = 9
	tokenColumns = 13
)

func (t tree) line(branch string, s *orchestratorv1.Span) {
	room := t.style.Width - 2 - timeColumns - tokenColumns - 1
	label := terminal.Cut(t.clean(branch+s.GetService()+" "+spanName(s.GetName())), room)
	label += strings.Repeat(" ", max(0, room-runewidth.StringWidth(label)))
	line := fmt.Sprintf("  %s%*s", label, timeColumns, duration(s.GetDuration().AsDuration()))
	if note := tokens(s.GetAttributes()); note != "" {
		line += t.paint(dim, fmt.Sprintf(" %*s", tokenColumns, terminal.Cut(t.clean(note), tokenColumns)))
	}
	t.print(strings.TrimRight(line, " ") + "\n")
	if s.GetError() != "" {
		t.item(4, "error: ", red, s.GetError())
	}
}

// tokens returns what the model read and wrote, by the names of OpenTelemetry's
// conventions for generative models.
func tokens(attributes map[string]string) string {
	read, wrote := attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]
	if read == "" && wrote == "" {
		return ""
	}
	return withFallback(read, "0") + "→" + withFallback(wrote, "0") + " tok"
}

// spanName leaves the package out of an RPC's name: of
// "triplemesh.retriever.v1.RetrieverService/GroundGraph" the service and the method are enough.
func spanName(name string) string {
	if slash := strings.IndexByte(name, '/'); slash > 0 {
		return name[strings.LastIndexByte(name[:slash], '.')+1:]
	}
	return name
}
