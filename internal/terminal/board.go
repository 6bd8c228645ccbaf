package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Board shows the tasks that are under way. Safe for concurrent use.
type Board struct {
	terminal *Terminal
	now      func() time.Time

	mu     sync.Mutex
	tasks  []*Task
	region *Region
	// drawing ends the goroutine that draws; nil if none does.
	drawing chan struct{}
}

// tick is how often bars are drawn: often enough to look alive, and whatever the work's own pace.
const tick = 200 * time.Millisecond

// NewBoard makes an empty board.
func NewBoard(t *Terminal) *Board { return newBoard(t, time.Now) }

func newBoard(t *Terminal, now func() time.Time) *Board {
	return &Board{terminal: t, now: now, region: NewRegion(t)}
}

// Live says that bars are drawn, and not lines printed.
func (b *Board) Live() bool { return b.terminal.Live }

// Start adds a task of a total in a unit; 0 where nobody knows it yet. The name
// may be anybody's text.
func (b *Board) Start(name string, unit Unit, total int64) *Task {
	t := &Task{board: b, name: Clean(name), unit: unit, total: total, stop: make(chan struct{}), began: b.now()}
	t.pace.begin(t.began, 0)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tasks = append(b.tasks, t)
	if b.terminal.Live && b.drawing == nil {
		b.drawing = make(chan struct{})
		go b.keepDrawing(b.drawing)
	}
	return t
}

// Println prints a line beside the tasks.
func (b *Board) Println(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.println(fmt.Sprintf(format, args...))
}

func (b *Board) println(line string) {
	b.region.Clear()
	_, _ = io.WriteString(b.terminal.Out, Text(line)+"\n")
	b.draw()
}

// Write prints lines beside the tasks, such as those of a log.
func (b *Board) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.println(strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// Close takes away every bar that is left.
func (b *Board) Close() {
	b.mu.Lock()
	tasks := slices.Clone(b.tasks)
	b.mu.Unlock()
	for _, t := range tasks {
		t.Stop()
	}
}

func (b *Board) keepDrawing(end chan struct{}) {
	clock := time.NewTicker(tick)
	defer clock.Stop()
	for {
		select {
		case <-end:
			return
		case <-clock.C:
			b.mu.Lock()
			if b.drawing == end {
				b.draw()
			}
			b.mu.Unlock()
		}
	}
}

// draw puts every task on a line of its own.
func (b *Board) draw() {
	if !b.terminal.Live || len(b.tasks) == 0 {
		return
	}
	names := 0
	for _, t := range b.tasks {
		names = max(names, Columns(t.name))
	}
	var lines []string
	for _, t := range b.tasks {
		lines = append(lines, t.bar(names, b.terminal.Width()-1))
	}
	b.region.Draw(lines...)
}

// remove takes a task off the board and prints its last line.
func (b *Board) remove(t *Task, last string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tasks = slices.DeleteFunc(b.tasks, func(other *Task) bool { return other == t })
	if len(b.tasks) == 0 && b.drawing != nil {
		close(b.drawing)
		b.drawing = nil
	}
	b.region.Clear()
	if last != "" {
		b.println(last)
	}
	b.draw()
}
