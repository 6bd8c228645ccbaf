//go:build soak

package tests

import (
	"bufio"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// vitals are the measures of one window that must not grow.
type vitals map[string]float64

// The measures in display order, each with the relative growth over the whole time that counts as
// noise on a shared machine.
var measures = []struct {
	name  string
	share float64
}{
	{"heap after collection, MB", 0.02},
	{"resident, MB", 0.03},
	{"mapped files, MB", 0.01},
	{"goroutines", 0.01},
	{"open files", 0.01},
	{"p50, ms", 0.1},
	{"p99, ms", 0.1},
	{"processor time a call, ms", 0.05},
	{"allocated a call, kB", 0.02},
	{"run database, MB", 0.02},
	{"files of data and scratch", 0},
	{"metric series", 0.05}, // rare outcomes appear late
	// Repeated lines are limited to so many a second, however often the event happens.
	{"log a second, kB", 0.1},
	{"audit a call, bytes", 0.02},
}

// The measures of the reference work: how fast the machine is at the moment, and how busy.
const (
	workTook   = "processor time of the reference work, ms"
	workLasted = "time of the reference work, ms"
)

// paces has for each measure that depends on the machine how fast that is: it is judged at one pace.
var paces = map[string]string{"p50, ms": workLasted, "p99, ms": workLasted, "processor time a call, ms": workTook}

// usage is the resource usage up to a point in time.
type usage struct {
	at        time.Time
	calls     int64
	processor time.Duration // without the reference work
	allocated uint64
	logged    int64
}

// look measures an idle mesh.
func (s *soak) look(window int) vitals {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	work, lasted, worked := s.reference.take()
	now := usage{at: time.Now(), calls: s.calls(), processor: processor() - worked, allocated: memory.TotalAlloc,
		logged: s.log.bytes.Load()}
	settle()
	v := vitals{}
	runtime.GC()
	runtime.GC() // pools survive one collection
	runtime.ReadMemStats(&memory)
	v["heap after collection, MB"] = float64(memory.HeapAlloc) / 1e6
	v["goroutines"] = float64(runtime.NumGoroutine())
	v["resident, MB"], v["mapped files, MB"] = s.memory()
	for _, n := range s.open() {
		v["open files"] += float64(n)
	}

	took := s.takeLatencies()
	v["p50, ms"], v["p99, ms"] = quantile(took, .5), quantile(took, .99)
	v[workTook], v[workLasted] = work.Seconds()*1e3, lasted.Seconds()*1e3
	calls := float64(max(1, now.calls-s.before.calls))
	v["processor time a call, ms"] = (now.processor - s.before.processor).Seconds() * 1e3 / calls
	v["allocated a call, kB"] = float64(now.allocated-s.before.allocated) / 1e3 / calls
	v["log a second, kB"] = float64(now.logged-s.before.logged) / 1e3 / now.at.Sub(s.before.at).Seconds()
	v["audit a call, bytes"] = float64(s.size(s.audit)) / calls
	if err := os.Truncate(s.audit, 0); err != nil {
		s.t.Errorf("take the audit file: %v", err)
	}
	v["run database, MB"] = float64(s.size(filepath.Join(s.data, "runs.db"))) / 1e6
	v["files of data and scratch"] = float64(s.files(s.data) + s.files(s.scratch))
	v["metric series"] = s.series()
	// The cost of measuring does not count.
	runtime.ReadMemStats(&memory)
	_, _, worked = s.reference.take()
	s.before = usage{at: time.Now(), calls: now.calls, processor: processor() - worked, allocated: memory.TotalAlloc,
		logged: s.log.bytes.Load()}
	return v
}

// settle waits until the goroutines of departed callers have ended.
func settle() {
	for same, before := 0, 0; same < 5; {
		time.Sleep(20 * time.Millisecond)
		now := runtime.NumGoroutine()
		if now >= before && before > 0 {
			same++
		} else {
			same = 0
		}
		before = now
	}
}

// memory returns the kernel's figures for the process.
func (s *soak) memory() (resident, mapped float64) {
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for isFile := false; lines.Scan(); {
		line := lines.Text()
		var kb float64
		switch {
		case strings.HasPrefix(line, "Rss:"):
			fmt.Sscanf(line, "Rss: %f", &kb)
			resident += kb / 1e3
		case strings.HasPrefix(line, "Size:"):
			if fmt.Sscanf(line, "Size: %f", &kb); isFile {
				mapped += kb / 1e3
			}
		case strings.Contains(line, "-") && !strings.Contains(strings.Fields(line)[0], ":"):
			isFile = strings.Contains(line, " /")
		}
	}
	return resident, mapped
}

// open counts the process's open files by kind.
func (s *soak) open() map[string]int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		s.t.Fatal(err)
	}
	open := map[string]int{}
	for _, e := range entries {
		// Not the descriptor used to read the directory.
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil {
			kind, _, _ := strings.Cut(filepath.Base(to), ":")
			open[kind]++
		}
	}
	return open
}

// files counts the files of a directory.
func (s *soak) files(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return nil
	})
	return n
}

func (s *soak) size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		s.t.Errorf("look at a file: %v", err)
		return 0
	}
	return info.Size()
}

// series counts the lines of a scrape of all services.
func (s *soak) series() (n float64) {
	resp, err := http.Get("http://" + s.metrics + "/metrics")
	if err != nil {
		s.t.Errorf("scrape: %v", err)
		return 0
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "#") {
			n++
		}
	}
	return n
}

func (s *soak) calls() int64 {
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	return s.tally.calls
}

func (s *soak) takeLatencies() []time.Duration {
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	took := slices.Clone(s.tally.took)
	s.tally.took = s.tally.took[:0]
	slices.Sort(took)
	return took
}

// quantile of sorted latencies, in milliseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(float64(len(sorted)-1)*q)].Seconds() * 1e3
}

// processor returns the CPU time of all threads so far.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// report reports the trend of each measure after the first quarter, and fails for those that grow.
func (s *soak) report(all []vitals, took time.Duration) {
	judged := all[len(all)/4:]
	var table strings.Builder
	for _, m := range measures {
		var values, pace []float64
		for _, v := range judged {
			values, pace = append(values, v[m.name]), append(pace, v[paces[m.name]])
		}
		if paces[m.name] != "" {
			values = AtOnePace(values, pace)
		}
		got := Estimate(values)
		grows := got.Grows(m.share)
		fmt.Fprintf(&table, "| %s | %.4g | %v | %+.2f %% | %.0f %% | %v |\n", m.name, got.Level, got, got.Drift()*100,
			m.share*100, grows)
		if grows {
			s.t.Errorf("%s grows: by %v a window, %.1f %% over %d windows; a share of %.1f %% is noise", m.name, got,
				got.Drift()*100, got.Count, m.share*100)
		}
	}
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	// Model failures end questions, and on a shared machine questions may take so long that others
	// are rejected.
	for _, code := range slices.Sorted(maps.Keys(s.tally.failed)) {
		if code != codes.Unavailable && code != codes.ResourceExhausted {
			s.t.Errorf("%d calls ended with %v", s.tally.failed[code], code)
		}
	}
	testkit.Measured(s.t, "%d questions in %d calls within %v: %.0f calls a second; %d callers went away; failed by "+
		"faults of the model, or refused: %v; judged: the last %d windows.\n\n"+
		"| measure | median | slope a window [95 %%] | drift | allowed | grows |\n|---|---:|---:|---:|---:|---|\n%s",
		s.tally.questions, s.tally.calls, took.Round(time.Second), float64(s.tally.calls)/took.Seconds(), s.tally.gone,
		s.tally.failed, len(judged), table.String())
}

// byteCounter counts the bytes of a log.
type byteCounter struct{ bytes atomic.Int64 }

func (c *byteCounter) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return len(p), nil
}
