package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// bench is a board with a clock of its own.
type bench struct {
	*Board
	t       *testing.T
	out     bytes.Buffer
	clock   time.Time
	columns int
}

func newBench(t *testing.T, live, unicode bool) *bench {
	b := &bench{t: t, clock: time.Unix(0, 0), columns: 100}
	b.Board = newBoard(&Terminal{Out: &b.out, Live: live, Unicode: unicode,
		Columns: func() int { return b.columns }}, func() time.Time { return b.clock })
	if live {
		b.drawing = make(chan struct{}) // drawn by the test alone
	}
	return b
}

func (b *bench) wait(d time.Duration) { b.clock = b.clock.Add(d) }

// shows compares what was written since the last time.
func (b *bench) shows(want string) {
	b.t.Helper()
	b.draw()
	if got := b.out.String(); got != want {
		b.t.Errorf("it writes\n%q, want\n%q", got, want)
	}
	b.out.Reset()
}

func TestABarHasARateAndTheTimeLeft(t *testing.T) {
	b := newBench(t, true, true)
	task := b.Start("fetch model", Bytes, 1_000_000_000)
	b.shows("fetch model  " + strings.Repeat("░", 20) + "    0 %  0 kB of 1.0 GB")
	b.wait(time.Second)
	task.SetDone(100_000_000)
	b.shows("\r\x1b[Kfetch model  " + strings.Repeat("█", 2) + strings.Repeat("░", 18) + "   10 %  100 MB of 1.0 GB")
	b.wait(3 * time.Second)
	task.SetDone(400_000_000)
	b.shows("\r\x1b[Kfetch model  " + strings.Repeat("█", 8) + strings.Repeat("░", 12) +
		"   40 %  400 MB of 1.0 GB  100 MB/s  about 6 s left")
	task.Finish()
	b.shows("\r\x1b[Kfetch model: done in 4 s\n")
}

func TestBarsStandBelowEachOther(t *testing.T) {
	b := newBench(t, true, false)
	one, two := b.Start("one", Percent, 100), b.Start("a\x1b[2Jb", "things", 0)
	two.SetDone(7)
	two.Note("%d failed", 2)
	one.SetDone(50)
	b.shows("one          [##########..........]   50 %\n" + `a\u001b[2Jb  7 things  2 failed`)
	b.Println("beside\x07")
	b.shows("\r\x1b[1A\x1b[J" + `beside\u0007` + "\n" + "one          [##########..........]   50 %\n" +
		`a\u001b[2Jb  7 things  2 failed`)
	one.Stop()
	one.Stop()
	b.shows("\r\x1b[1A\x1b[J" + `a\u001b[2Jb  7 things  2 failed`)
	b.Close()
	b.shows("\r\x1b[K")
}

func TestNarrowWindowsKeepWhatMatters(t *testing.T) {
	b := newBench(t, true, true)
	task := b.Start("encode", "triples", 1000)
	b.wait(10 * time.Second)
	task.SetDone(250)
	for _, test := range []struct {
		columns int
		want    string
	}{
		{81, "encode  █████░░░░░░░░░░░░░░░   25 %  250 of 1000 triples  25/s  about 30 s left"},
		{70, "encode   25 %  250 of 1000 triples  25/s  about 30 s left"},
		{55, "encode   25 %  250 of 1000 triples  about 30 s left"},
		{40, "encode   25 %  about 30 s left"},
		{20, "encode   25 %  abo…"},
	} {
		if got := task.bar(6, test.columns-1); got != test.want || Columns(got) > test.columns-1 {
			t.Errorf("in %d columns it is %q, want %q", test.columns, got, test.want)
		}
	}
	b.Close()
}

func TestALogHasALineAtEveryTenth(t *testing.T) {
	b := newBench(t, false, true)
	task := b.Start("mars: encoding", "triples", 200)
	for range 25 {
		b.wait(time.Second)
		task.SetDone(task.done + 2)
	}
	task.SetDone(200)
	task.Finish()
	b.shows(`mars: encoding: 10 %, 20 of 200 triples, 2.0/s, about 2 min left
mars: encoding: 20 %, 40 of 200 triples, 2.0/s, about 1 min left
mars: encoding: done in 25 s
`)
}

func TestALogOfAnUnknownTotalHasALineNowAndThen(t *testing.T) {
	b := newBench(t, false, true)
	task := b.Start("mars: reading", "lines", 0)
	for range 7 {
		b.wait(10 * time.Second)
		task.SetDone(task.done + 5)
	}
	task.Stop()
	b.shows("mars: reading: 15 lines, 30.0/min\nmars: reading: 30 lines, 30.0/min\n")
}

func TestThePaceIsHonest(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	t.Run("nothing is said of the first moments", func(t *testing.T) {
		var p pace
		p.begin(start, 0)
		p.mark(at(1), 1000)
		if r := p.rate(at(1)); r != 0 {
			t.Errorf("got %v", r)
		}
	})
	t.Run("what was done before does not count", func(t *testing.T) {
		var p pace
		p.begin(start, 1_000_000)
		p.mark(at(4), 1_000_040)
		if r := p.rate(at(4)); r != 10 {
			t.Errorf("got %v", r)
		}
	})
	t.Run("a pace that changed is followed", func(t *testing.T) {
		var p pace
		p.begin(start, 0)
		done := int64(0)
		for s := 1; s <= 100; s++ {
			step := int64(100)
			if s > 50 {
				step = 1
			}
			done += step
			p.mark(at(float64(s)), done)
		}
		if r := p.rate(at(100)); r != 1 {
			t.Errorf("got %v", r)
		}
	})
	t.Run("work that stands still gets slower", func(t *testing.T) {
		var p pace
		p.begin(start, 0)
		p.mark(at(2), 20)
		p.mark(at(4), 40)
		if r := p.rate(at(40)); r != 1 {
			t.Errorf("got %v", r)
		}
	})
	t.Run("marks in quick succession are one", func(t *testing.T) {
		var p pace
		p.begin(start, 0)
		for i := range 1000 {
			p.mark(at(float64(i)/1000), int64(i))
		}
		if len(p.marks) > 12 {
			t.Errorf("%d are kept", len(p.marks))
		}
	})
}

func TestOfWhatNothingIsKnownTheTimeIsTold(t *testing.T) {
	b := newBench(t, true, true)
	b.Start("mars: writing", "triples", 0)
	b.wait(12 * time.Second)
	b.shows("mars: writing  10 s")
	b.Close()
}

func TestTimesAreAsExactAsTheyDeserve(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1 s", 7400 * time.Millisecond: "7 s", 33 * time.Second: "35 s", 58 * time.Second: "1 min",
		40 * time.Minute: "40 min", 130 * time.Minute: "2 h 10 min", 3 * time.Hour: "3 h",
		26*time.Hour + 25*time.Minute: "26 h",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%v is told as %q, want %q", d, got, want)
		}
	}
}

func TestBarsAreDrawnWhileTheWorkGoesOn(t *testing.T) {
	out := &watched{wrote: make(chan string, 100)}
	b := NewBoard(&Terminal{Out: out, Live: true})
	task := b.Start("work", Percent, 100)
	task.Watch(func() int64 { return 42 })
	for text := range out.wrote {
		if strings.Contains(text, "42 %") {
			break
		}
	}
	task.Finish()
	b.Close()
}

type watched struct{ wrote chan string }

func (w *watched) Write(p []byte) (int, error) {
	select {
	case w.wrote <- string(p):
	default:
	}
	return len(p), nil
}
