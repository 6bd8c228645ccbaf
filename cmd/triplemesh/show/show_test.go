package show

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/mattn/go-runewidth"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type printer func(io.Writer, *orchestratorv1.Run, Style) error

// printAll prints everything there is to print of a run.
func printAll(w io.Writer, run *orchestratorv1.Run, style Style) error {
	return errors.Join(Answer(w, run, style), Explain(w, run, style), Trace(w, run, style))
}

// printCompared prints a run beside one of another method.
func printCompared(w io.Writer, run *orchestratorv1.Run, style Style) error {
	return Compare(w, []Contestant{{Method: run.GetMethod(), Run: run}, {Method: "ger", Run: gerRun()}}, style)
}

func TestGolden(t *testing.T) {
	tests := []struct {
		name  string
		file  string
		print printer
		run   *orchestratorv1.Run
		style Style
	}{
		{"a pg-akv run", "pgakv.txt", printAll, pgakvRun(), Style{}},
		{"a ger run", "ger.txt", printAll, gerRun(), Style{}},
		{"the hits of rag", "rag.txt", Explain, ragRun(), Style{}},
		{"the samples of sc", "sc.txt", Explain, scRun(), Style{}},
		{"the hops of tog", "tog.txt", Explain, togRun(), Style{}},
		{"the plan of rog and what was followed", "rog.txt", Explain, rogRun(), Style{}},
		{"the choice of auto, and both of its parts", "auto.txt", Explain, autoRun(), Style{}},
		{"auto without a draft", "undrafted.txt", Explain, undraftedRun(), Style{}},
		{"an answer of the model's own", "io.txt", printAll, ioRun(), Style{}},
		{"an answer that the knowledge graph names but does not say", "related.txt", printAll, relatedRun(), Style{}},
		{"a question without an answer", "abstained.txt", Answer, abstainedRun(), Style{}},
		{"a question to two knowledge graphs that contradict each other", "several.txt", printAll,
			severalRun(), Style{}},
		{"an answer that was withheld", "withheld.txt", printAll, withheldRun(), Style{}},
		{"a run that was stopped early on purpose", "until.txt", Answer, &orchestratorv1.Run{Question: "?"}, Style{}},
		{"colours", "colour.txt", printAll, pgakvRun(), Style{Colour: true}},
		{"a narrow terminal", "narrow.txt", printAll, gerRun(), Style{Width: 48}},
		{"the changes of pg-akv", "changes_pgakv.txt", Changes, pgakvRun(), Style{}},
		{"the changes of ger", "changes_ger.txt", Changes, gerRun(), Style{}},
		{"the changes of both parts of auto", "changes_auto.txt", Changes, autoRun(), Style{}},
		{"the facts that auto found without a draft", "changes_undrafted.txt", Changes, undraftedRun(), Style{}},
		{"ASCII alone", "ascii.txt", printAll, gerRun(), Style{ASCII: true}},
		{"two methods side by side", "compare.txt", printCompared, pgakvRun(), Style{}},
		{"two methods one after the other", "compare_narrow.txt", printCompared, pgakvRun(), Style{Width: 50}},
		{"names from right to left, and wide ones", "rtl.txt", Answer, rtlRun(), Style{}},
		{"an empty run", "empty.txt", printAll, &orchestratorv1.Run{}, Style{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := tt.print(&b, tt.run, tt.style); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", tt.file)
			if *update {
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("got\n%s\nwant\n%s", b.Bytes(), want)
			}
		})
	}
}

func TestEveryLineFits(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		for _, run := range []*orchestratorv1.Run{pgakvRun(), gerRun(), ioRun(), severalRun(), withheldRun(),
			hostileRun()} {
			var b bytes.Buffer
			if err := printAll(&b, run, Style{Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				// The table of costs has a width of its own.
				if strings.Contains(line, "  stage  ") || runewidth.StringWidth(strings.TrimSpace(line)) < 66 &&
					width < 66 {
					continue
				}
				if got := runewidth.StringWidth(strings.TrimRight(line, "\n")); got > max(width, 66) {
					t.Errorf("%d columns of %d: %q", got, width, line)
				}
			}
		}
	}
}

func TestNothingReachesTheTerminalButText(t *testing.T) {
	var b bytes.Buffer
	if err := printAll(&b, hostileRun(), Style{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("the output holds %q", r)
		}
	}
	for _, want := range []string{`\u001b[2J`, `\u202e`, `\u0007`, `\u009b`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not shown", want)
		}
	}
}

func TestSpansThatNameEachOtherDoNotGoRound(t *testing.T) {
	run := &orchestratorv1.Run{Spans: []*orchestratorv1.Span{
		{SpanId: "a", ParentSpanId: "b", Name: "first"},
		{SpanId: "b", ParentSpanId: "a", Name: "second"},
		{SpanId: "c", ParentSpanId: "c", Name: "third"},
		{SpanId: "d", ParentSpanId: "lost", Name: "fourth"},
	}}
	var b bytes.Buffer
	if err := Trace(&b, run, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"third", "fourth"} {
		if strings.Count(b.String(), name) != 1 {
			t.Errorf("%s is not there once:\n%s", name, b.String())
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAClosedPipeIsTold(t *testing.T) {
	for _, print := range []printer{Answer, Explain, Trace} {
		if err := print(broken{}, pgakvRun(), Style{}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
	}
}

func hostileRun() *orchestratorv1.Run {
	evil := "evil \x1b[2J\x07 \u202etxt \u009b31m name"
	t := &graphv1.Triple{Subject: evil, Relation: evil, Object: evil, Provenance: evil}
	return &orchestratorv1.Run{
		Answers: []*orchestratorv1.Answer{{Answer: evil, Id: evil + "/1", Evidence: []*graphv1.Triple{t}}}, Text: evil,
		GroundingReason: evil, TraceId: evil, Id: evil,
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
			Cypher: evil, PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{t}},
			Dropped: []*graphv1.DroppedSubject{{Subject: evil}},
		}},
		Spans: []*orchestratorv1.Span{{SpanId: "1", Name: evil, Service: evil, Error: evil,
			Attributes: map[string]string{"gen_ai.usage.input_tokens": evil}}},
	}
}
