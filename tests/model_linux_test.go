package tests

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// modelPatience is the time limit of a question to the bundled model on a busy machine.
const modelPatience = 4 * time.Minute

// bundled starts a mesh without a configured model endpoint: it starts llama-server.
func bundled(t *testing.T) *running {
	t.Helper()
	cache := t.TempDir() // holds the log and the thread count
	for _, name := range []string{"encoder", "onnxruntime"} {
		if err := os.Symlink(testkit.Cache(t, name), filepath.Join(cache, name)); err != nil {
			t.Fatal(err)
		}
	}
	// Reuse the thread count if it has been measured before.
	if err := os.Mkdir(filepath.Join(cache, "llama"), 0o755); err != nil {
		t.Fatal(err)
	}
	server := testkit.Cache(t, "llama", "llama-server")
	if chosen, err := os.ReadFile(filepath.Join(filepath.Dir(server), "threads.json")); err == nil {
		if err := os.WriteFile(filepath.Join(cache, "llama", "threads.json"), chosen, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return start(t, options{cache: cache, set: map[string]string{
		"llm.base_url": "-", "llm.model": "-", "llm.retry_delay": "-", "llm.max_retry_delay": "-",
		"reflector.reflection.mode":      "weigh",
		"triplemesh.model_server.binary": server,
		"triplemesh.model_server.model":  testkit.Cache(t, "model", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
	}})
}

func TestTheBundledModelAnswersAndComesBackWhenItIsKilled(t *testing.T) {
	m := bundled(t)
	ask := func(method string) (*orchestratorv1.Run, error) {
		req := question(method)
		req.Options = &orchestratorv1.AskOptions{Spans: true}
		resp, err := m.orchestrator.Ask(timeoutContext(t, modelPatience), req)
		return resp.GetRun(), err
	}
	run, err := ask("pg-akv")
	if err != nil {
		t.Fatal(err)
	}
	if names(run) != employer || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED ||
		run.GetUsage().GetPromptTokens() == 0 {
		t.Errorf("by pg-akv the answer is %s, %v, for %v", names(run), run.GetGrounding(), run.GetUsage())
	}
	if run, err = ask("ger"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(names(run), yale) && !strings.Contains(names(run), tisch) {
		t.Errorf("by ger the answer is %s", names(run))
	}
	for _, v := range run.GetGer().GetAnswerVerdicts() {
		if v.Probability == nil {
			t.Errorf("the verdict on %s has no probability although llama-server gives logprobs", v.GetAnswer())
		}
	}

	before := llamaServers(t)
	if len(before) != 1 {
		t.Fatalf("%d llama-servers run", len(before))
	}
	stream, err := m.orchestrator.AskStream(timeoutContext(t, modelPatience),
		&orchestratorv1.AskStreamRequest{Request: question("cot")})
	if err != nil {
		t.Fatal(err)
	}
	killed, streamed := false, ""
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if code := status.Code(err); code != codes.Unavailable {
				t.Errorf("the question ended in %v, want UNAVAILABLE", err)
			}
			break
		}
		if event.GetAnswerRestarted() {
			streamed = ""
		}
		streamed += event.GetAnswerDelta()
		if event.GetAnswerDelta() != "" && !killed {
			killed = true
			if err := syscall.Kill(before[0], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		if run := event.GetRun(); run != nil {
			// The answer may have been restarted in time, and is complete then.
			cut := run.GetPartial() || len(warnings(run)) > 0
			if !cut && (streamed == "" || streamed != run.GetText()) {
				t.Errorf("a cut answer has no warning: of %q, %q was streamed", run.GetText(), streamed)
			}
		}
	}
	if !killed {
		t.Error("there was no answer to cut")
	}

	// The stages wait some seconds for a restarting server; on a busy machine that may not be
	// enough.
	for ctx := timeoutContext(t, modelPatience); ; {
		resp, err := m.orchestrator.Ask(ctx, question("pg-akv"))
		if err == nil && !resp.GetRun().GetPartial() {
			if names(resp.GetRun()) != employer {
				t.Errorf("after the restart the answer is %s", names(resp.GetRun()))
			}
			break
		}
		if err != nil && status.Code(err) != codes.Unavailable {
			t.Fatalf("after the kill: %v", err)
		}
	}
	after := llamaServers(t)
	if len(after) != 1 || after[0] == before[0] {
		t.Errorf("llama-server was process %v and is %v", before, after)
	}
	m.stop()
	if left := llamaServers(t); len(left) != 0 {
		t.Errorf("%v outlived the mesh", left)
	}
}

// llamaServers returns the pids of llama-servers that are children of this process.
func llamaServers(t *testing.T) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has exited
		}
		pid, rest, _ := strings.Cut(string(text), " (")
		name, rest, _ := strings.Cut(rest, ") ")
		fields := strings.Fields(rest) // state, parent, …
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(os.Getpid()) ||
			!strings.HasPrefix(name, "llama-server") {
			continue
		}
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, n)
	}
	return pids
}
