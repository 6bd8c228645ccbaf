package llamaserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var fakeServer string

// The test binary plays two parts: the tests, and, with a configuration in its
// environment, a parent that can be killed.
func TestMain(m *testing.M) {
	if text := os.Getenv("LLAMA_TEST_PARENT"); text != "" {
		var cfg Config
		if err := json.Unmarshal([]byte(text), &cfg); err != nil {
			panic(err)
		}
		s := New(cfg)
		if err := errors.Join(s.Start(context.Background()), s.Await()); err != nil {
			panic(err)
		}
		fmt.Println("ready")
		select {}
	}
	dir, err := os.MkdirTemp("", "fakeserver")
	if err != nil {
		panic(err)
	}
	fakeServer = filepath.Join(dir, "fakeserver")
	if out, err := exec.Command("go", "build", "-o", fakeServer, "./testdata/fakeserver").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build the stand-in: %v\n%s", err, out))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// scripted returns a configuration whose server does what the script says.
func scripted(t *testing.T, script map[string]any) Config {
	t.Helper()
	dir := t.TempDir()
	script["Started"] = filepath.Join(dir, "started")
	b, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Binary: fakeServer, Model: filepath.Join(dir, "tiny.gguf"), StateDir: dir,
		StartTimeout: 30 * time.Second}
	if err := os.WriteFile(cfg.Model, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// starts lists the threads and process ids of every start so far.
func starts(t *testing.T, cfg Config) (threads []string, pids []int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(cfg.StateDir, "started"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		pid, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		threads, pids = append(threads, fields[0]), append(pids, pid)
	}
	return threads, pids
}

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	s := New(cfg)
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if err := s.Await(); err != nil {
		t.Fatal(err)
	}
	return s
}

func hasExited(pid int) bool { return syscall.Kill(pid, 0) != nil }

// eventually waits for what other processes do, which no channel tells.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("in vain: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestStopEndsTheChild(t *testing.T) {
	cfg := scripted(t, map[string]any{})
	cfg.Threads = 1
	s := start(t, cfg)
	if !strings.HasPrefix(s.BaseURL(), "http://127.0.0.1:") || s.ModelName() != "tiny" || s.Threads() != 1 {
		t.Errorf("got %s, %s, %d threads", s.BaseURL(), s.ModelName(), s.Threads())
	}
	_, pids := starts(t, cfg)
	s.Stop()
	s.Stop()
	if !hasExited(pids[0]) {
		t.Error("the child lives on")
	}
}

func TestTheChildSeesNoKeys(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	cfg := scripted(t, map[string]any{})
	cfg.Threads = 1
	start(t, cfg)
	b, err := os.ReadFile(filepath.Join(cfg.StateDir, "started"))
	if err != nil || strings.Contains(string(b), "secret") {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestThreadsOfTheChildSleepWhileTheyWait(t *testing.T) {
	for _, c := range []struct{ name, set, want string }{
		{"by default", "", "passive"},
		{"unless the environment says otherwise", "active", "active"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.set != "" {
				t.Setenv("OMP_WAIT_POLICY", c.set)
			}
			cfg := scripted(t, map[string]any{})
			cfg.Threads = 1
			start(t, cfg)
			b, err := os.ReadFile(filepath.Join(cfg.StateDir, "started"))
			if err != nil || !strings.HasSuffix(strings.TrimSpace(string(b)), " "+c.want) {
				t.Errorf("got %q, %v, want %s", b, err, c.want)
			}
		})
	}
}

func TestAChildKilledInMidAnswerComesBackAtTheSameAddress(t *testing.T) {
	cfg := scripted(t, map[string]any{})
	cfg.Threads = 1
	s := start(t, cfg)
	resp, err := http.Get(s.BaseURL() + "/endless")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	if line, err := body.ReadString('\n'); err != nil || line != "first\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	_, pids := starts(t, cfg)
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if rest, err := body.ReadString('\n'); err == nil {
		t.Errorf("the answer went on: %q", rest)
	}
	eventually(t, "a second start", func() bool {
		_, pids := starts(t, cfg)
		return len(pids) == 2 && s.healthy(context.Background())
	})
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	tests := []struct {
		name   string
		script map[string]any
		change func(*Config)
		want   string
	}{
		{"a missing binary", map[string]any{}, func(c *Config) { c.Binary += "x" }, "triplemesh setup"},
		{"a missing model", map[string]any{}, func(c *Config) { c.Model += "x" }, "triplemesh setup"},
		{"a server that ends at once shows its last words", map[string]any{"Exit": "unknown model architecture"}, nil,
			"unknown model architecture"},
		{"a server that never gets well", map[string]any{"Sick": true},
			func(c *Config) { c.StartTimeout = 100 * time.Millisecond }, "did not answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := scripted(t, tt.script)
			cfg.Threads = 1
			if tt.change != nil {
				tt.change(&cfg)
			}
			s := New(cfg)
			err := s.Start(context.Background())
			if err == nil {
				err = s.Await()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want it to hold %q", err, tt.want)
			}
			s.Stop()
		})
	}
}

func TestMoreThreadsAreKeptThatAreNearlyAsFast(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fewer  choice
		rate   float64
		yields bool
	}{
		{"the first ones", choice{}, 0, true},
		{"faster", choice{Threads: 1, TokensPerSecond: 10}, 11, true},
		{"nearly as fast", choice{Threads: 1, TokensPerSecond: 10}, 9.8, true},
		{"slower", choice{Threads: 1, TokensPerSecond: 10}, 8, false},
		{"nothing is written", choice{Threads: 1}, 0, false},
	} {
		if got := tt.fewer.yields(tt.rate); got != tt.yields {
			t.Errorf("%s: yields %v, want %v", tt.name, got, tt.yields)
		}
	}
}

func TestChooseThreads(t *testing.T) {
	cpus := identify(Config{}).CPUs
	if cpus < 2 {
		t.Skip("one processor leaves nothing to choose")
	}
	slowWithTwo := map[string]any{"Pause": map[string]int{"1": 2, "2": 60}}
	t.Run("the fastest number is kept", func(t *testing.T) {
		cfg := scripted(t, slowWithTwo)
		if s := start(t, cfg); s.Threads() != 1 {
			t.Errorf("chose %d threads", s.Threads())
		}
		if threads, _ := starts(t, cfg); !slices.Equal(threads, []string{"1", "2", "1"}) {
			t.Errorf("started with %v", threads)
		}
	})
	t.Run("the fastest number is remembered", func(t *testing.T) {
		cfg := scripted(t, map[string]any{"Pause": map[string]int{"1": 60, "2": 2}})
		start(t, cfg)
		start(t, cfg)
		if threads, _ := starts(t, cfg); len(threads) < 3 || !slices.Equal(threads[:3], []string{"1", "2", "2"}) {
			t.Errorf("started with %v", threads)
		}
	})
	t.Run("a choice of another machine is made again", func(t *testing.T) {
		cfg := scripted(t, slowWithTwo)
		keep(t, cfg, choice{Machine: machine{CPU: "another"}, Threads: 2, TokensPerSecond: 1})
		if s := start(t, cfg); s.Threads() != 1 {
			t.Errorf("chose %d threads", s.Threads())
		}
	})
	t.Run("a machine that has become slow is tested again", func(t *testing.T) {
		cfg := scripted(t, slowWithTwo)
		keep(t, cfg, choice{Machine: identify(cfg), Threads: 2, TokensPerSecond: 1e6})
		if s := start(t, cfg); s.Threads() != 1 {
			t.Errorf("chose %d threads", s.Threads())
		}
	})
	t.Run("a machine that was slow in the self-test is tested again", func(t *testing.T) {
		cfg := scripted(t, slowWithTwo)
		keep(t, cfg, choice{Machine: identify(cfg), Threads: 2, TokensPerSecond: 1e-6})
		if s := start(t, cfg); s.Threads() != 1 {
			t.Errorf("chose %d threads", s.Threads())
		}
	})
	t.Run("a choice file that cannot be read is no choice", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "threads.json")
		if err := os.WriteFile(path, []byte(`{"threads": 4`), 0o644); err != nil {
			t.Fatal(err)
		}
		if c, ok := readChoice(path, machine{}); ok {
			t.Errorf("got %+v", c)
		}
	})
}

func keep(t *testing.T, cfg Config, c choice) {
	t.Helper()
	b, err := json.Marshal(c)
	if err == nil {
		err = os.WriteFile(New(cfg).choicePath(), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestCandidates(t *testing.T) {
	for cpus, want := range map[int][]int{1: {1}, 2: {1, 2}, 6: {1, 2, 4, 6}, 8: {1, 2, 4, 8}} {
		if got := candidates(cpus); !slices.Equal(got, want) {
			t.Errorf("%d processors: got %v, want %v", cpus, got, want)
		}
	}
}
