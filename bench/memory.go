package bench

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// resident returns how many bytes of memory this process holds: its own, and those
// of mapped files that lie in memory on its behalf. 0 where the system does not
// say.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// watchMemory gives back what can be given, and then watches how much more
// than before is held. stop returns the most.
func watchMemory() (stop func() int64) {
	debug.FreeOSMemory()
	before := resident()
	var most int64
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, resident()-before)
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() int64 {
		close(done)
		group.Wait()
		return max(most, resident()-before)
	}
}
