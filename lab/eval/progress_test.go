package eval

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/results"
)

func testProgress(live bool, tracks ...*track) (*progress, *bytes.Buffer, func(time.Duration)) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	t := &terminal.Terminal{Out: &out, Live: live}
	p := &progress{terminal: t, region: terminal.NewRegion(t), now: func() time.Time { return clock }, tracks: tracks}
	return p, &out, func(d time.Duration) { clock = clock.Add(d) }
}

var (
	good = results.Record{Measures: &results.Measures{}}
	bad  = results.Record{Failure: &results.Failure{}}
)

func TestProgressIsPlainLinesInAPipe(t *testing.T) {
	t.Parallel()
	p, out, wait := testProgress(false, &track{name: "a", total: 40, before: 36})
	p.begin(0)
	for _, r := range []results.Record{good, bad, good, good} {
		wait(10 * time.Second)
		p.add(r)
	}
	p.end()
	const want = `36 of 40 questions are answered already
38/40 questions, 1 failed, about 20s left
40/40 questions, 1 failed
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestProgressIsABarOnATerminal(t *testing.T) {
	t.Parallel()
	p, out, wait := testProgress(true, &track{total: 2})
	p.begin(0)
	wait(3 * time.Second)
	p.add(good)
	p.add(good)
	p.end()
	want := "[" + strings.Repeat("#", 10) + strings.Repeat(".", 10) + "] 1/2 questions, about 3s left" +
		"\r\x1b[K[" + strings.Repeat("#", 20) + "] 2/2 questions" +
		"\r\x1b[K2/2 questions\n"
	if got := out.String(); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestProgressTakesEachMethodAtItsOwnPace(t *testing.T) {
	t.Parallel()
	io := &track{name: "x-io", method: "io", total: 2}
	tog := &track{name: "x-tog", method: "tog", total: 3}
	again := &track{name: "y-tog", method: "tog", total: 4}
	resumed := &track{name: "y-ger", method: "ger", total: 5, before: 3, pace: 7 * time.Second}
	p, out, wait := testProgress(false, io, tog, again, resumed)
	p.begin(0)
	wait(time.Second)
	p.add(good) // left: 1 x 1 s of io and 2 x 7 s of ger
	wait(time.Second)
	p.add(good)
	p.begin(1)
	wait(time.Minute)
	p.add(good) // left: 2 and 4 x 60 s of tog and 2 x 7 s of ger
	p.drop(1)
	p.begin(2)
	wait(30 * time.Second)
	p.add(good) // left: 3 x 30 s of tog and 2 x 7 s of ger
	const want = `[1/4 x-io] 1/2 questions, about 15s left, not counting tog (not timed yet)
[1/4 x-io] 2/2 questions, about 14s left, not counting tog (not timed yet)
[2/4 x-tog] 1/3 questions, about 6m14s left
[3/4 y-tog] 1/4 questions, about 1m44s left
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestProgressFollowsThePaceOfTheLastQuestions(t *testing.T) {
	t.Parallel()
	p, _, wait := testProgress(false, &track{total: 200})
	p.begin(0)
	for range 100 { // from the cache
		p.add(good)
	}
	for range window {
		wait(5 * time.Second)
		p.add(good)
	}
	if left, _ := p.estimate(); left != 80*5*time.Second {
		t.Errorf("80 questions of 5 s take %v", left)
	}
}

func TestProgressTellsOnceThatServicesHaveTooMuchToDo(t *testing.T) {
	t.Parallel()
	p, out, _ := testProgress(false, &track{total: 100})
	p.begin(0)
	for range 3 {
		p.waiting(status.Error(codes.Unavailable, "busy"), time.Second)
	}
	p.add(good)
	p.waiting(status.Error(codes.Unavailable, "busy again"), time.Second)
	if got := out.String(); strings.Count(got, "too much to do") != 2 ||
		!strings.Contains(got, "(busy again); asking again in 1s") {
		t.Errorf("got\n%s", got)
	}
}
