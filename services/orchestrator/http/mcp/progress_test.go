package mcp

import (
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressIsRepeatedWhileNothingArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := []func() (string, error){
			func() (string, error) { return "drafting", nil },
			func() (string, error) { time.Sleep(25 * time.Second); return "", nil },
			func() (string, error) { return "", io.EOF },
		}
		var reported []string
		err := follow(func(m moment) { reported = append(reported, m.message) }, func() (string, error) {
			next := events[0]
			events = events[1:]
			return next()
		}, func(e string) moment { return moment{message: e} })
		if want := []string{"drafting", "drafting (10s so far)", "drafting (20s so far)"}; err != nil ||
			!slices.Equal(reported, want) {
			t.Errorf("reported %q, %v; want %q", reported, err, want)
		}
	})
}

func TestBrokenStreamReturnsItsError(t *testing.T) {
	broken := errors.New("broken")
	err := follow(func(moment) {}, func() (int, error) { return 0, broken }, func(int) moment { return moment{} })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
