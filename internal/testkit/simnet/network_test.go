package simnet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit/simnet"
)

// arrival is when a text that a sends now is read by b, and the error instead.
func arrival(a, b net.Conn, text string) (time.Duration, error) {
	began := time.Now()
	go a.Write([]byte(text))
	_, err := io.ReadFull(b, make([]byte, len(text)))
	return time.Since(began), err
}

func TestLinksDoAsTheyAreTold(t *testing.T) {
	for _, c := range []struct {
		name string
		link simnet.Link
		text string
		want time.Duration
		err  error
	}{
		{"a link that is well takes no time", simnet.Link{}, "hello", 0, nil},
		{"latency", simnet.Link{Latency: 30 * time.Millisecond}, "hello", 30 * time.Millisecond, nil},
		{"10 kB/s", simnet.Link{Rate: 10_000}, strings.Repeat("x", 20_000), 2 * time.Second, nil},
		{"a cut after some bytes", simnet.Link{CutAfter: 3}, "hello", 0, syscall.ECONNRESET},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := simnet.New(1)
				defer n.Close()
				a, b := pair(t, n)
				n.Set("a", "b", c.link)
				if took, err := arrival(a, b, c.text); took != c.want || !errors.Is(err, c.err) {
					t.Errorf("it took %v, %v; want %v, %v", took, err, c.want, c.err)
				}
			})
		})
	}
}

func TestTheDarkHoldsWhatIsSentAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(1)
		defer n.Close()
		a, b := pair(t, n)
		n.Set("a", "b", simnet.Link{Dark: true})
		time.AfterFunc(4*time.Second, func() { n.Set("a", "b", simnet.Link{}) })
		if took, err := arrival(b, a, "hello"); took != 0 || err != nil {
			t.Errorf("the other way it took %v, %v", took, err)
		}
		if took, err := arrival(a, b, "hello"); took < 4*time.Second || took > 8*time.Second || err != nil {
			t.Errorf("it took %v, %v; want between 4 s and as long again", took, err)
		}
	})
}

// A reset on a dark link is delivered later; until then writers wait while time
// advances.
func TestAResetInTheDarkIsHeardOfLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(1)
		defer n.Close()
		from, to := n.Boot("a"), n.Boot("b")
		l, err := to.Listen()
		if err != nil {
			t.Fatal(err)
		}
		a, err := from.Dial(t.Context(), "b:80")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := a.Write(make([]byte, 1<<20)) // more than anybody takes
			ended <- err
		}()
		synctest.Wait()
		n.Set("b", "a", simnet.Link{Latency: time.Second})
		to.Kill()
		n.Set("b", "a", simnet.Link{Dark: true})
		time.Sleep(10 * time.Second)
		select {
		case err := <-ended:
			t.Errorf("it heard of the reset in the dark: %v", err)
		default:
		}
		n.Set("b", "a", simnet.Link{})
		if err := <-ended; !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			t.Errorf("got %v, want that nobody is there", err)
		}
	})
}

func TestAProcessThatHangsReadsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(1)
		defer n.Close()
		a, to := n.Boot("a"), n.Boot("b")
		l, err := to.Listen()
		if err != nil {
			t.Fatal(err)
		}
		to.Freeze()
		time.AfterFunc(time.Second, to.Thaw)
		out, err := a.Dial(t.Context(), "b:80") // the kernel takes it
		if err != nil {
			t.Fatal(err)
		}
		in, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if took, err := arrival(out, in, "hello"); took != time.Second || err != nil {
			t.Errorf("it took %v, %v; want 1 s", took, err)
		}
	})
}

func TestAHostThatIsKilledIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(1)
		defer n.Close()
		a, b := pair(t, n)
		killed := n.Boot("b") // the one that was there before
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("who was connected reads %v", err)
		}
		if _, err := b.Write([]byte("x")); err == nil {
			t.Error("the dead write")
		}
		killed.Kill()
		if _, err := n.Boot("c").Dial(t.Context(), "b:80"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("who dials hears %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		n.Set("c", "b", simnet.Link{Dark: true})
		if _, err := n.Boot("c").Dial(ctx, "b:80"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who dials in the dark hears %v", err)
		}
	})
}

// TestTheSameSeedMakesTheSameHistory sends for a while over links that jitter
// and go dark.
func TestTheSameSeedMakesTheSameHistory(t *testing.T) {
	history := func(seed uint64) (log []string) {
		synctest.Test(t, func(t *testing.T) {
			n := simnet.New(seed)
			n.SetAll(simnet.Link{Latency: time.Millisecond, Jitter: 50 * time.Millisecond})
			a, b := pair(t, n)
			for i := range 10 {
				took, err := arrival(a, b, "hello")
				n.Logf("%d arrived after %v, %v", i, took, err)
				if i == 5 {
					n.Set("a", "b", simnet.Link{Dark: true})
					time.AfterFunc(time.Second, func() { n.Set("a", "b", simnet.Link{Jitter: time.Second}) })
				}
			}
			n.Close()
			log = n.Log()
		})
		return log
	}
	one := history(1)
	if again := history(1); !slices.Equal(one, again) {
		t.Errorf("seed 1 went\n%s\nand then\n%s", strings.Join(one, "\n"), strings.Join(again, "\n"))
	}
	if slices.Equal(one, history(2)) {
		t.Error("seed 2 goes as seed 1 does")
	}
}
