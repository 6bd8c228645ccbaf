package progress

import (
	"fmt"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"
)

// Task is one thing under way.
type Task struct {
	board *Board
	name  string
	unit  Unit
	began time.Time

	// Below the board's lock.
	total, done int64
	note        string
	left        func() (time.Duration, bool)
	pace        pace
	told        int64     // tenths of it, or lines without a total, that were told
	toldAt      time.Time // when a line was printed last

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

// Set tells how far the task is. It never goes back.
func (t *Task) Set(done int64) { t.SetOf(done, 0) }

// SetOf tells how far the task is, and of what total where that is only known
// now.
func (t *Task) SetOf(done, total int64) {
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
		t.tell()
	}
}

// Note is said behind the bar: "3 failed".
func (t *Task) Note(format string, args ...any) {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	t.note = terminal.Clean(fmt.Sprintf(format, args...))
}

// Left replaces what the task's own pace says of the time that is left, for
// those who know better. False is that nobody knows. It is called with the
// board locked.
func (t *Task) Left(left func() (time.Duration, bool)) {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	t.left = left
}

// Watch asks now and then how far the task is, until it ends.
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

// Stop ends the task and says nothing. Ending it twice is fine.
func (t *Task) Stop() { t.end("") }

// Done ends the task and says how long it took.
func (t *Task) Done() {
	t.end(fmt.Sprintf("%s: done in %s", t.name, span(t.board.now().Sub(t.began))))
}

func (t *Task) end(last string) {
	t.ending.Do(func() {
		close(t.stop)
		t.watching.Wait()
		t.board.remove(t, last)
	})
}

// quiet is how long nothing is printed of a task whose total nobody knows.
const quiet = 30 * time.Second

// tell prints a line at every tenth of the task.
func (t *Task) tell() {
	now := t.board.now()
	if t.total == 0 {
		if t.toldAt.IsZero() {
			t.toldAt = t.began
		}
		if now.Sub(t.toldAt) >= quiet {
			t.toldAt = now
			t.board.say(t.line())
		}
		return
	}
	if tenth := t.percent() / 10; tenth > t.told && t.done < t.total {
		t.told = tenth
		t.board.say(t.line())
	}
}

func (t *Task) percent() int64 {
	if t.total == 0 {
		return 0
	}
	return int64(min(100, float64(t.done)*100/float64(t.total)))
}

// remaining is how long the task goes on; false where that is not known.
func (t *Task) remaining() (time.Duration, bool) {
	if t.left != nil {
		return t.left()
	}
	if t.total == 0 || t.done >= t.total {
		return 0, false
	}
	rate := t.pace.rate(t.board.now())
	if rate <= 0 {
		return 0, false
	}
	return time.Duration(float64(t.total-t.done) / rate * float64(time.Second)), true
}
