package eval

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/results"
)

// progress tells how the evaluations of a command get on: as a bar that is
// redrawn on a terminal, as a line now and then elsewhere. Safe for concurrent
// use.
type progress struct {
	terminal *terminal.Terminal
	region   *terminal.Region
	now      func() time.Time

	mu      sync.Mutex
	tracks  []*track // one for each evaluation, in their order
	current *track
	told    bool // whether it was told that services have too much to do
}

// track is how one evaluation gets on.
type track struct {
	name, method string
	total        int           // questions
	before       int           // of them, answered by an earlier process
	asked        int           // of them, asked by this one
	failures     int           // of those asked
	pace         time.Duration // for one question, by earlier answers; 0 if there are none
	marks        []time.Time   // when it began, and the last questions ended
}

// plainLines is about how many lines an evaluation takes if there is no
// terminal.
const plainLines = 20

// window is how many of the last questions tell the pace. A few, so that it
// follows when the cache has no more answers.
const window = 20

// barColumns is the width of a bar.
const barColumns = 20

func newProgress(t *terminal.Terminal) *progress {
	return &progress{terminal: t, region: terminal.NewRegion(t), now: time.Now}
}

// expect says which evaluations there will be. What earlier processes answered
// tells how long a question takes: its time by the orchestrator's clock, shared
// by those that are asked at the same time.
func (p *progress) expect(evaluations []*evaluation, parallel int) {
	for _, e := range evaluations {
		t := &track{name: e.name, method: e.manifest.Method, total: len(e.questions)}
		var took time.Duration
		timed := 0
		for _, q := range e.questions {
			record, _ := e.journal.Record(q.ID)
			if record.Measures == nil {
				continue
			}
			t.before++
			if record.Measures.CachedCalls == 0 {
				timed++
				took += time.Duration(record.Measures.Milliseconds * float64(time.Millisecond))
			}
		}
		if timed > 0 {
			t.pace = took / time.Duration(timed*parallel)
		}
		p.tracks = append(p.tracks, t)
	}
}

// begin starts the i-th evaluation.
func (p *progress) begin(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tracks[i]
	p.current, t.marks = t, []time.Time{p.now()}
	if t.before > 0 {
		p.sayf("%s%d of %d questions are answered already", p.place(), t.before, t.total)
	}
}

// drop leaves the rest of the i-th evaluation out of what is to be done.
func (p *progress) drop(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tracks[i].total = p.tracks[i].before + p.tracks[i].asked
}

// add counts a question that was asked.
func (p *progress) add(r results.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.current
	t.asked++
	if t.marks = append(t.marks, p.now()); len(t.marks) > window+1 {
		t.marks = t.marks[1:]
	}
	if r.Failure != nil {
		t.failures++
	}
	p.told = false
	done := t.before + t.asked
	if p.terminal.Live {
		p.draw()
		return
	}
	if every := max(1, t.total/plainLines); done%every == 0 || done == t.total {
		p.sayf("%s%s", p.place(), p.line())
	}
}

// waiting tells once, until a question is answered again, that the services
// have too much to do.
func (p *progress) waiting(err error, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told {
		return
	}
	p.told = true
	p.sayf("%sthe services have too much to do (%s); asking again in %v, and so on for up to %v", p.place(),
		status.Convert(err).Message(), pause, patience)
}

// note tells something beside the progress.
func (p *progress) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sayf(format, args...)
}

// end leaves what the bar said last.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal.Live && p.current != nil {
		p.sayf("%s%s", p.place(), p.line())
	}
}

// draw puts the evaluation under way on a line that fits the terminal.
func (p *progress) draw() {
	t := p.current
	line := terminal.Bar(p.terminal, int64(t.before+t.asked), int64(t.total), barColumns) + " " + p.place() + p.line()
	p.region.Draw(terminal.Line(line, p.terminal.Width()-1))
}

func (p *progress) sayf(format string, args ...any) {
	p.region.Clear()
	_, _ = io.WriteString(p.terminal.Out, terminal.Text(fmt.Sprintf(format, args...))+"\n")
}

// place says which evaluation is under way, if there are several.
func (p *progress) place() string {
	if len(p.tracks) < 2 || p.current == nil {
		return ""
	}
	return fmt.Sprintf("[%d/%d %s] ", slices.Index(p.tracks, p.current)+1, len(p.tracks), p.current.name)
}

func (p *progress) line() string {
	t := p.current
	line := fmt.Sprintf("%d/%d questions", t.before+t.asked, t.total)
	if t.failures > 0 {
		line += fmt.Sprintf(", %d failed", t.failures)
	}
	left, unknown := p.estimate()
	if left > 0 {
		line += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	if len(unknown) > 0 {
		line += fmt.Sprintf(", not counting %s (not timed yet)", strings.Join(unknown, " and "))
	}
	return line
}

// estimate returns how long all questions that are left take. Each evaluation has a pace
// of its own, for methods differ by more than tenfold: that of its last
// questions by the clock of this process; if it has not begun, that of
// another evaluation of the same method, or of answers of its own that an
// earlier process got. Methods of which nothing is known are named, not
// guessed.
func (p *progress) estimate() (sum time.Duration, unknown []string) {
	for _, t := range p.tracks {
		left := t.total - t.before - t.asked
		if left <= 0 {
			continue
		}
		pace := p.estimatePace(t)
		if pace == 0 && !slices.Contains(unknown, t.method) {
			unknown = append(unknown, t.method)
		}
		sum += pace * time.Duration(left)
	}
	return sum, unknown
}

func (p *progress) estimatePace(t *track) time.Duration {
	if pace := t.measured(); pace > 0 {
		return pace
	}
	for _, other := range slices.Backward(p.tracks) {
		if other.method == t.method && other.measured() > 0 {
			return other.measured()
		}
	}
	return t.pace
}

// measured returns the pace of the last questions; 0 before the first.
func (t *track) measured() time.Duration {
	n := len(t.marks) - 1
	if n < 1 {
		return 0
	}
	return max(t.marks[n].Sub(t.marks[0])/time.Duration(n), 1)
}
