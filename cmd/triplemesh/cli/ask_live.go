package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/terminal"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// live shows the running stage, the duration of each finished one, and the answer as it is
// streamed. It shows nothing if standard error is not a terminal.
type live struct {
	t   *terminal.Terminal
	now func() time.Time

	mu     sync.Mutex
	region *terminal.Region
	stage  string
	began  time.Time
	frame  int
	answer strings.Builder
	ended  chan struct{}
}

// liveTick is the redraw interval.
const liveTick = 100 * time.Millisecond

func newLive(t *terminal.Terminal, now func() time.Time) *live {
	return &live{t: t, now: now, region: terminal.NewRegion(t), ended: make(chan struct{})}
}

// live starts the display of a question. The caller must call end.
func (p *Program) live() *live {
	l := newLive(p.terminal(), time.Now)
	if l.t.Live {
		go l.keepDrawing()
	}
	return l
}

func (l *live) keepDrawing() {
	clock := time.NewTicker(liveTick)
	defer clock.Stop()
	for {
		select {
		case <-l.ended:
			return
		case <-clock.C:
			l.mu.Lock()
			l.frame++
			l.draw()
			l.mu.Unlock()
		}
	}
}

// say prints a line above the live region.
func (l *live) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line(terminal.Clean(fmt.Sprintf(format, args...)))
}

// line prints text, already cleaned, that stays on the terminal.
func (l *live) line(text string) {
	if l.t.Live {
		l.region.Clear()
		fmt.Fprintln(l.t.Out, terminal.Cut(text, l.t.Width()-1))
	}
}

func (l *live) started(stage orchestratorv1.Stage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stage, l.began = config.EnumName(stage), l.now()
	l.draw()
}

func (l *live) wrote(delta string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer.WriteString(delta)
}

// forgot discards the answer streamed so far.
func (l *live) forgot() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer.Reset()
}

// finished prints the summary line of a stage.
func (l *live) finished(report *orchestratorv1.StageReport) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mark, colour := l.t.Pick("✓", "+"), "32"
	if len(report.GetWarnings()) > 0 {
		mark, colour = "!", "33"
	}
	text := fmt.Sprintf(" %-18s %8s", config.EnumName(report.GetStage()), seconds(report.GetDuration().AsDuration()))
	if u := report.GetUsage(); u.GetPromptTokens()+u.GetCompletionTokens() > 0 {
		text += fmt.Sprintf("   %d%s%d tokens", u.GetPromptTokens(), l.t.Pick("→", "->"), u.GetCompletionTokens())
		if u.GetCachedCalls() == u.GetCalls() {
			text += ", from the cache"
		}
	}
	if l.t.Live {
		l.region.Clear()
		fmt.Fprintln(l.t.Out, l.paint(colour, mark)+terminal.Cut(text, l.t.Width()-2))
	}
	l.stage = ""
	l.answer.Reset()
}

// printAside clears the live region and runs print.
func (l *live) printAside(print func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.region.Clear()
	return print()
}

// end clears the live region. It is idempotent.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.ended:
	default:
		close(l.ended)
		l.region.Clear()
	}
}

// shownAnswer is the number of answer lines shown while it is streamed.
const shownAnswer = 4

func (l *live) draw() {
	if l.stage == "" {
		return
	}
	frames := []rune(l.t.Pick("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", `|/-\`))
	width := l.t.Width() - 1
	lines := []string{terminal.Cut(fmt.Sprintf("%c %-18s %8s", frames[l.frame%len(frames)], l.stage,
		seconds(l.now().Sub(l.began))), width)}
	if text := terminal.Clean(strings.TrimSpace(l.answer.String())); text != "" {
		all := terminal.Wrap(text, width-2)
		for _, line := range all[max(0, len(all)-shownAnswer):] {
			lines = append(lines, "  "+line)
		}
	}
	l.region.Draw(lines...)
}

func (l *live) paint(colour, text string) string {
	if !l.t.Colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
