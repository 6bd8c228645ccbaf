package show

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

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
			return a.GetStart().AsTime().Compare(b.GetStart().AsTime())
		})
	}
	t.below("", "")
	return p.err
}

type tree struct {
	*page
	children map[string][]*orchestratorv1.Span
	known    map[string]bool
}

// below prints the spans below a parent. Each is printed once: its list is
// taken away, so that spans that name each other as parent cannot go round.
func (t tree) below(parent, indent string) {
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
		t.below(s.GetSpanId(), indent+next)
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

// tokens is what the model read and wrote, by the names of OpenTelemetry's
// conventions for generative models.
func tokens(attributes map[string]string) string {
	read, wrote := attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]
	if read == "" && wrote == "" {
		return ""
	}
	return orElse(read, "0") + "→" + orElse(wrote, "0") + " tok"
}

// spanName leaves the package out of an RPC's name: of
// "triplemesh.retriever.v1.RetrieverService/GroundGraph" the service and the
// method are enough.
func spanName(name string) string {
	if slash := strings.IndexByte(name, '/'); slash > 0 {
		return name[strings.LastIndexByte(name[:slash], '.')+1:]
	}
	return name
}
