package http_test

import (
	"flag"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
)

// idle is how many streams are open at once. With 10000 the test is what the
// figures of docs/http.md were measured by; it needs 20000 open files.
var idle = flag.Int("idle", 500, "streams that are open at once and say nothing")

// TestIdleStreams opens streams of which nothing comes, and connections on which
// nothing is asked, each up to its bound and beyond.
func TestIdleStreams(t *testing.T) {
	begun := make(chan struct{}, *idle)
	stream := answering(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		begun <- struct{}{}
		<-r.Context().Done()
	})
	stream.Endless = func(*http.Request) bool { return true }
	var costs []string
	for _, test := range []struct {
		name   string
		ask    string
		status string // of one too many
		set    func(*web.Config)
	}{
		{"streams of events", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "503",
			func(c *web.Config) { c.MaxStreams, c.MaxConnections = *idle, 2**idle }},
		{"connections on which nothing is asked", "", "503",
			func(c *web.Config) { c.MaxConnections, c.HeaderTimeout = *idle, time.Minute }},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := memory()
			r := start(t, test.set, stream)
			conns := make([]raw, *idle)
			for i := range conns {
				conns[i] = r.raw(t)
				conns[i].say(t, test.ask)
				if test.ask != "" {
					<-begun
				}
			}
			one := r.raw(t)
			one.say(t, test.ask)
			if resp, body := one.answer(t); !strings.HasPrefix(resp.Status, test.status) ||
				resp.Header.Get("Retry-After") != "1" {
				t.Errorf("one too many is answered %s %v %s", resp.Status, resp.Header, body)
			}
			each := (memory() - before) / int64(*idle)
			costs = append(costs, fmt.Sprintf("%d KiB for each of %d %s", each>>10, *idle, test.name))
			// Some 40 KiB were measured; what grows without end grows past this.
			if each > 128<<10 {
				t.Errorf("each takes %d bytes", each)
			}
			for _, c := range conns {
				c.Close()
			}
		})
	}
	testkit.Measured(t, "%s, both ends included", strings.Join(costs, ", "))
}

// memory is what is in use, stacks too, once the garbage is out.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
