package setup

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Progress tells how far several tasks are. On a terminal it redraws one line;
// elsewhere it prints a line at every tenth of a task, so that a log stays
// short.
type Progress struct {
	w        io.Writer
	terminal bool

	mu    sync.Mutex
	tasks []*Task
	drawn bool
}

// NewProgress reports to w. terminal says whether w is one.
func NewProgress(w io.Writer, terminal bool) *Progress {
	return &Progress{w: w, terminal: terminal}
}

// Task is one thing under way. Its total is in bytes, or 0 for a share.
type Task struct {
	p           *Progress
	name        string
	total, done int64
	tenth       int64
	stop        chan struct{}
	watching    sync.WaitGroup
	started     time.Time
}

// Start adds a task. A total of 0 means that Set is told per cent.
func (p *Progress) Start(name string, total int64) *Task {
	t := &Task{p: p, name: name, total: total, stop: make(chan struct{}), started: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tasks = append(p.tasks, t)
	if !p.terminal {
		fmt.Fprintf(p.w, "%s%s\n", name, sizeNote(total))
	}
	return t
}

// Watch asks how far the task is four times a second until it stops.
func (t *Task) Watch(done func() int64) {
	t.watching.Add(1)
	go func() {
		defer t.watching.Done()
		clock := time.NewTicker(tick)
		defer clock.Stop()
		for {
			select {
			case <-t.stop:
				return
			case <-clock.C:
				t.Set(done())
			}
		}
	}()
}

// Set tells how far the task is.
func (t *Task) Set(done int64) {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.done = max(done, t.done)
	if t.p.terminal {
		t.p.draw()
		return
	}
	if tenth := t.percent() / 10; tenth > t.tenth && tenth < 10 {
		t.tenth = tenth
		fmt.Fprintf(t.p.w, "%s: %d %%\n", t.name, tenth*10)
	}
}

// Stop ends the task without saying that it is done. Stopping twice is fine.
func (t *Task) Stop() { t.end("") }

// Done ends the task and says so.
func (t *Task) Done() {
	t.end(fmt.Sprintf("%s: done in %s", t.name, time.Since(t.started).Round(time.Second)))
}

func (t *Task) end(line string) {
	select {
	case <-t.stop:
		return
	default:
		close(t.stop)
	}
	t.watching.Wait()
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	for i, other := range t.p.tasks {
		if other == t {
			t.p.tasks = append(t.p.tasks[:i], t.p.tasks[i+1:]...)
			break
		}
	}
	t.p.clear()
	if line != "" {
		fmt.Fprintln(t.p.w, line)
	}
	if t.p.terminal {
		t.p.draw()
	}
}

// Say prints a line beside the tasks.
func (p *Progress) Say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

func (t *Task) percent() int64 {
	if t.total == 0 {
		return min(100, t.done)
	}
	return min(100, t.done*100/t.total)
}

const (
	// tick is how often progress is looked at.
	tick = 250 * time.Millisecond
	// barWidth is in columns.
	barWidth = 16
)

// draw puts every task on one line of at most 80 columns.
func (p *Progress) draw() {
	var parts []string
	for _, t := range p.tasks {
		full := int(t.percent()) * barWidth / 100
		parts = append(parts, fmt.Sprintf("%s %s%s %d %%", t.name, strings.Repeat("█", full), strings.Repeat("░", barWidth-full), t.percent()))
	}
	line := []rune(strings.Join(parts, "  "))
	if len(line) > 79 {
		line = append(line[:78], '…')
	}
	p.clear()
	if len(line) > 0 {
		fmt.Fprint(p.w, string(line))
		p.drawn = true
	}
}

func (p *Progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

func sizeNote(total int64) string {
	if total == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", byteSize(total))
}

// byteSize writes a number of bytes for people.
func byteSize(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%d MB", (n+5e5)/1e6)
	}
	return fmt.Sprintf("%d kB", (n+999)/1e3)
}
