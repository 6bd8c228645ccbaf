package terminal

import (
	"fmt"
	"sync"
	"time"
)

// Task is one thing under way.
type Task struct {
	board *Board
	name  string
	unit  Unit
	began time.Time

	// Below the board's lock.
	total, done    int64
	note           string
	pace           pace
	reportedTenths int64     // tenths of it, or lines without a total, that were told
	reportedAt     time.Time // when a line was printed last

	ending   sync.Once
	stop     chan struct{}
	watching sync.WaitGroup
}

// Resume tells what was done before the task began. It counts for how far the
// task is, but not for how fast.
func (t *Task) Resume(done int64) {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	t.done = done
	t.pace.begin(t.board.now(), done)
}

// SetDone tells how far the task is. It never goes back.
func (t *Task) SetDone(done int64) { t.SetProgress(done, 0) }

// SetProgress tells how far the task is, and of what total where that is only known now.
func (t *Task) SetProgress(done, total int64) {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	if total > 0 {
		t.total = total
	}
	if done > t.done {
		t.done = done
		t.pace.mark(t.board.now(), done)
	}
	if !t.board.terminal.Live {
		t.report()
	}
}

// Note is said behind the bar: "3 failed".
func (t *Task) Note(format string, args ...any) {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	t.note = Clean(fmt.Sprintf(format, args...))
}

// Watch asks now and then how far the task is, until it ends.
func (t *Task) Watch(done func() int64) {
	t.watching.Go(func() {
		clock := time.NewTicker(tick)
		defer clock.Stop()
		for {
			select {
			case <-t.stop:
				return
			case <-clock.C:
				t.SetDone(done())
			}
		}
	})
}

// Stop ends the task and says nothing. Ending it twice is fine.
func (t *Task) Stop() { t.end("") }

// Finish ends the task and says how long it took.
func (t *Task) Finish() {
	t.end(fmt.Sprintf("%s: done in %s", t.name, formatDuration(t.board.now().Sub(t.began))))
}

func (t *Task) end(last string) {
	t.ending.Do(func() {
		close(t.stop)
		t.watching.Wait()
		t.board.remove(t, last)
	})
}

// logInterval is how long nothing is printed of a task whose total nobody knows.
const logInterval = 30 * time.Second

// report prints a line at every tenth of the task.
func (t *Task) report() {
	now := t.board.now()
	if t.total == 0 {
		if t.reportedAt.IsZero() {
			t.reportedAt = t.began
		}
		if now.Sub(t.reportedAt) >= logInterval {
			t.reportedAt = now
			t.board.println(t.line())
		}
		return
	}
	if tenth := t.percent() / 10; tenth > t.reportedTenths && t.done < t.total {
		t.reportedTenths = tenth
		t.board.println(t.line())
	}
}

func (t *Task) percent() int64 {
	if t.total == 0 {
		return 0
	}
	return int64(min(100, float64(t.done)*100/float64(t.total)))
}

// remaining returns the remaining time of the task; false if it is unknown.
func (t *Task) remaining() (time.Duration, bool) {
	if t.total == 0 || t.done >= t.total {
		return 0, false
	}
	rate := t.pace.rate(t.board.now())
	if rate <= 0 {
		return 0, false
	}
	return time.Duration(float64(t.total-t.done) / rate * float64(time.Second)), true
}

// pace is how fast work was done lately.
type pace struct{ marks []mark }

type mark struct {
	at   time.Time
	done int64
}

const (
	// window is how long the work of the past counts: long enough to smooth
	// bursts, short enough to follow when a cache has no more to give.
	window = 30 * time.Second
	// minMarkInterval is the least time between two marks that are kept.
	minMarkInterval = 250 * time.Millisecond
	// warmUp is how long work must have gone on before anything is said of its
	// pace: what was said sooner would be wrong.
	warmUp = 2 * time.Second
)

func (p *pace) begin(at time.Time, done int64) { p.marks = []mark{{at, done}} }

func (p *pace) mark(at time.Time, done int64) {
	last := len(p.marks) - 1
	if last > 0 && at.Sub(p.marks[last-1].at) < minMarkInterval {
		p.marks[last] = mark{at, done}
		return
	}
	p.marks = append(p.marks, mark{at, done})
	// The mark before the window stays: with it, slow work has a pace too.
	for len(p.marks) > 2 && at.Sub(p.marks[1].at) > window {
		p.marks = p.marks[1:]
	}
}

// rate returns how much is done in a second; 0 if that is not known. The time
// since the last mark counts, so that work that stands still gets slower.
func (p *pace) rate(now time.Time) float64 {
	if len(p.marks) < 2 {
		return 0
	}
	first, last := p.marks[0], p.marks[len(p.marks)-1]
	end := last.at
	if usual := last.at.Sub(first.at) / time.Duration(len(p.marks)-1); now.Sub(last.at) > 2*usual {
		end = now
	}
	took := end.Sub(first.at)
	if now.Sub(first.at) < warmUp || took <= 0 {
		return 0
	}
	return float64(last.done-first.done) / took.Seconds()
}
