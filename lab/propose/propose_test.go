package propose_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/lab/propose"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// reader reads a fact off every sentence of three words, "Ada knows Bob.", and
// remembers what it was asked.
type reader struct {
	mu    sync.Mutex
	asked []string
	// fail answers in its place where it returns an error.
	fail func(text string) error
}

func (r *reader) Propose(_ context.Context, p propose.Passage) (*orchestratorv1.ProposeTriplesResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, p.Text)
	if r.fail != nil {
		if err := r.fail(p.Text); err != nil {
			return nil, err
		}
	}
	resp := &orchestratorv1.ProposeTriplesResponse{Usage: &llmv1.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 5}}
	for sentence := range strings.SplitSeq(p.Text, ".") {
		words := strings.Fields(sentence)
		if len(words) != 3 {
			continue
		}
		start := len([]rune(p.Text[:strings.Index(p.Text, strings.TrimSpace(sentence))]))
		resp.Triples = append(resp.Triples, &orchestratorv1.ProposedTriple{
			Triple: &graphv1.Triple{Subject: words[0], Relation: words[1], Object: words[2]},
			Span: &graphv1.TextSpan{Start: uint32(start),
				End: uint32(start + len([]rune(strings.TrimSpace(sentence))))},
		})
	}
	if strings.Contains(p.Text, "mumble") {
		resp.Warnings = []*llmv1.Warning{{Message: "not a word was understood"}}
	}
	return resp, nil
}

// reading is a run over texts, and what it warned of.
type reading struct {
	t      *testing.T
	run    propose.Run
	reader *reader
	warned []string
	told   int
}

func newReading(t *testing.T) *reading {
	r := &reading{t: t, reader: &reader{}}
	r.run = propose.Run{
		Proposer: r.reader, Sheet: filepath.Join(t.TempDir(), "proposed.tsv"), Parallel: 2,
		Told: func(done, _ int) { r.told = done },
		Warn: func(place, what string) { r.warned = append(r.warned, place+": "+what) },
	}
	return r
}

// readTexts reads texts named a.md, b.md and so on.
func (r *reading) readTexts(texts ...string) (propose.Outcome, error) {
	r.t.Helper()
	r.reader.asked = nil
	var all []propose.Text
	for i, content := range texts {
		all = append(all, propose.Text{File: string(rune('a'+i)) + ".md", Content: content})
	}
	return r.run.Read(r.t.Context(), all)
}

func (r *reading) must(texts ...string) propose.Outcome {
	r.t.Helper()
	out, err := r.readTexts(texts...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *reading) rows() []propose.Row {
	r.t.Helper()
	sheet, err := propose.OpenSheet(r.run.Sheet)
	if err != nil {
		r.t.Fatal(err)
	}
	return sheet.Rows()
}

// facts returns the rows in short, sorted: passages come back in any order.
func (r *reading) facts() string {
	var all []string
	for _, row := range r.rows() {
		all = append(all, strings.TrimSpace(row.Subject+" "+row.Relation+" "+row.Object+" "+string(row.Mark)))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// change puts a text in the place of another in the sheet, as an editor does.
func (r *reading) change(before, after string) {
	r.t.Helper()
	text, err := os.ReadFile(r.run.Sheet)
	if err != nil {
		r.t.Fatal(err)
	}
	if !strings.Contains(string(text), before) {
		r.t.Fatalf("%q does not stand in\n%s", before, text)
	}
	if err := os.WriteFile(r.run.Sheet, []byte(strings.Replace(string(text), before, after, 1)), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func TestFactsAreReadWithWhereTheyStand(t *testing.T) {
	r := newReading(t)
	out := r.must("# People\n\nIt is late.\nÄnne knows Bob. And so on and on.", "Bob likes tea.")
	if out.Passages != 4 || out.Asked != 4 || out.Proposed != 3 || out.Rows != 3 || out.Open != 3 || out.Tokens != 60 ||
		r.told != 4 {
		t.Errorf("it came to %+v, told of %d", out, r.told)
	}
	for _, row := range r.rows() {
		if row.Subject != "Änne" {
			continue
		}
		if row.Sentence != "Änne knows Bob." || row.File != "a.md" || row.Line != 4 || row.Start != 22 ||
			row.End != 36 || row.Mark != propose.Open {
			t.Errorf("got %+v", row)
		}
		return
	}
	t.Errorf("nobody knows Bob: %s", r.facts())
}

func TestNoPassageIsAskedAboutTwice(t *testing.T) {
	r := newReading(t)
	r.must("Ada knows Bob.", "Nothing to tell here at all.")
	if out := r.must("Ada knows Bob.", "Nothing to tell here at all."); out.Asked != 0 || out.Passages != 2 ||
		out.Rows != 1 {
		t.Errorf("the second time it came to %+v", out)
	}
	if out := r.must("Ada knows Bob.", "Nothing to tell here at all.", "Bob knows Cleo."); out.Asked != 1 ||
		out.Rows != 2 || r.reader.asked[0] != "Bob knows Cleo." {
		t.Errorf("with a file more it asked %q", r.reader.asked)
	}
	if r.must("Nothing to tell here at all.", "Ada knows Bob."); len(r.reader.asked) != 0 {
		t.Errorf("under other names it asked %q", r.reader.asked)
	}
	r.run.Model = "another"
	if r.must("Ada knows Bob."); len(r.reader.asked) != 1 {
		t.Errorf("of another model it asked %q", r.reader.asked)
	}
	if got := r.facts(); got != "Ada knows Bob; Bob knows Cleo" {
		t.Errorf("the sheet has %s", got)
	}
}

func TestTheSameWordsElsewhereMayMeanSomethingElse(t *testing.T) {
	r := newReading(t)
	if out := r.must("# Ada\n\nShe knows Bob.", "# Cleo\n\nShe knows Bob."); out.Asked != 2 {
		t.Errorf("asked about %d passages", out.Asked)
	}
}

func TestAReviewIsNotTouched(t *testing.T) {
	r := newReading(t)
	r.must("Ada knows Bob.", "Bob knows Cleo.", "Cleo knows Dan.")
	r.change("\tBob\tknows\tCleo", "y\tRobert\tknows\tCleo")
	text, _ := os.ReadFile(r.run.Sheet)
	lines := slices.DeleteFunc(strings.Split(string(text), "\n"),
		func(l string) bool { return strings.Contains(l, "Cleo\tknows") })
	if err := os.WriteFile(r.run.Sheet, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	r.must("Ada knows Bob.", "Bob knows Cleo.", "Cleo knows Dan.", "Dan knows Eve. BOB knows Cleo.")
	if got := r.facts(); got != "Ada knows Bob; Dan knows Eve; Robert knows Cleo y" {
		t.Errorf("the sheet has %s", got)
	}
	for _, row := range r.rows() {
		if row.Subject == "Robert" && row.Also != "d.md:1" {
			t.Errorf("what stands twice is also in %q", row.Also)
		}
	}
}

func TestASheetIsReviewedWhileItIsWritten(t *testing.T) {
	r := newReading(t)
	r.run.Parallel = 1
	r.must("Ada knows Bob.")
	r.reader.fail = func(string) error { r.change("\tAda\tknows", "n\tAda\tknows"); return nil }
	r.must("Ada knows Bob.", "Bob knows Cleo.")
	if got := r.facts(); got != "Ada knows Bob n; Bob knows Cleo" {
		t.Errorf("the sheet has %s", got)
	}
}

func TestAnInterruptedRunGoesOn(t *testing.T) {
	r := newReading(t)
	r.run.Parallel = 1
	down := status.Error(codes.Unavailable, "down")
	r.reader.fail = func(text string) error {
		if strings.HasPrefix(text, "Bob") {
			return down
		}
		return nil
	}
	out, err := r.readTexts("Ada knows Bob.", "Bob knows Cleo.", "Cleo knows Dan.")
	if !errors.Is(err, down) || out.Rows != 1 || len(r.reader.asked) != 2 {
		t.Fatalf("came to %+v, asked %q, error %v", out, r.reader.asked, err)
	}
	r.reader.fail = nil
	if out := r.must("Ada knows Bob.", "Bob knows Cleo.", "Cleo knows Dan."); out.Asked != 2 ||
		out.Rows != 3 || r.told != 3 {
		t.Errorf("then it came to %+v, told of %d", out, r.told)
	}
	// As if the process had died between the sheet and the record.
	if err := os.WriteFile(r.run.Sheet+".asked", []byte("half a li"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := r.must("Ada knows Bob."); out.Asked != 1 || out.Rows != 3 || out.Proposed != 0 {
		t.Errorf("without its record it came to %+v", out)
	}
}

func TestWhoeverRemovesTheSheetBeginsAnew(t *testing.T) {
	r := newReading(t)
	r.must("Ada knows Bob.")
	if err := os.Remove(r.run.Sheet); err != nil {
		t.Fatal(err)
	}
	if out := r.must("Ada knows Bob."); out.Asked != 1 || out.Rows != 1 {
		t.Errorf("it came to %+v", out)
	}
}

func TestOnePassageThatIsRefusedIsNoEnd(t *testing.T) {
	r := newReading(t)
	r.reader.fail = func(text string) error {
		if strings.HasPrefix(text, "Ada") {
			return status.Error(codes.InvalidArgument, "that is no text")
		}
		return nil
	}
	out := r.must("Ada knows Bob.", "Bob knows Cleo. But mumble mumble mumble.")
	slices.Sort(r.warned)
	if out.Asked != 2 || len(r.warned) != 2 || !strings.Contains(r.warned[0], "a.md:1: ") ||
		r.warned[1] != "b.md:1: not a word was understood" {
		t.Errorf("it came to %+v and warned of %q", out, r.warned)
	}
	if out := r.must("Ada knows Bob."); out.Passages != 1 || len(r.reader.asked) != 1 {
		t.Error("what was refused is not asked about again")
	}
}

func TestAFileThatIsNoSheetIsNotWrittenOver(t *testing.T) {
	r := newReading(t)
	if err := os.WriteFile(r.run.Sheet, []byte("my\tdiary\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.readTexts("Ada knows Bob."); err == nil || !strings.Contains(err.Error(),
		"is no sheet of proposals") ||
		len(r.reader.asked) != 0 {
		t.Errorf("error %v, asked %q", err, r.reader.asked)
	}
}

func TestNamesThatAreAlikeAreSuggestedAcrossFiles(t *testing.T) {
	r := newReading(t)
	r.must("Robertson knows Bob. Robertson likes tea.", "Robertsen knows Cleo.")
	for _, row := range r.rows() {
		if want := map[string]string{"Robertsen": "Robertson"}[row.Subject]; row.SubjectLike != want {
			t.Errorf("%s is like %q, want %q", row.Subject, row.SubjectLike, want)
		}
	}
	if out := r.must("Robertson knows Bob. Robertson likes tea.", "Robertsen knows Cleo."); out.Alike != 1 ||
		out.Open != 3 {
		t.Errorf("it came to %+v", out)
	}
}

// backwards answers of two passages the second first.
type backwards struct {
	reader
	second chan struct{}
}

func (b *backwards) Propose(ctx context.Context, p propose.Passage) (*orchestratorv1.ProposeTriplesResponse, error) {
	if strings.HasPrefix(p.Text, "Ada") {
		<-b.second
	} else {
		defer close(b.second)
	}
	return b.reader.Propose(ctx, p)
}

func TestProposalsStandInTheOrderOfTheTexts(t *testing.T) {
	r := newReading(t)
	b := &backwards{second: make(chan struct{})}
	r.run.Proposer = b
	r.must("Ada knows Bob.", "Bob knows Cleo.")
	if rows := r.rows(); len(rows) != 2 || rows[0].Subject != "Ada" {
		t.Errorf("got %+v", rows)
	}
	down := status.Error(codes.Unavailable, "down")
	b.second = make(chan struct{})
	b.fail = func(text string) error {
		if strings.HasPrefix(text, "Ada") {
			return down
		}
		return nil
	}
	if out, err := r.readTexts("Ada likes Bob.", "Bob likes Cleo."); !errors.Is(err, down) || out.Asked != 1 ||
		out.Rows != 3 {
		t.Errorf("what came behind one that failed: %+v, %v", out, err)
	}
}
