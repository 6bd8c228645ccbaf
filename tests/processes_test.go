package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// six starts every stage as a process, configured only by flags and environment; the orchestrator
// is the last one. more adds environment variables by stage.
func six(t testing.TB, bin, data, dir string, model *testkit.LLM, more map[string][]string) []*process {
	t.Helper()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"OPENAI_BASE_URL=" + model.URL(), "TRIPLEMESH_LLM_MODEL=scripted", "TRIPLEMESH_RETRIEVER_RANKER=off",
		"TRIPLEMESH_LLM_CACHE_MEMORY_ENTRIES=0",
		"TRIPLEMESH_RETRIEVER_STORE_DIR=" + filepath.Join(data, "kg"),
		"TRIPLEMESH_RETRIEVER_ENCODER_LIBRARY=" + testkit.Cache(t, "onnxruntime", "libonnxruntime.so"),
	}
	var all []*process
	toOrchestrator := []string{"--runs.file=" + filepath.Join(data, "runs.db")}
	for _, name := range slices.Backward(mesh.StageNames()) {
		addr := testkit.FreeAddr(t)
		args := []string{"--server.addr=" + addr}
		switch name {
		case "retriever":
			args = append(args, "--encoder.file="+testkit.Cache(t, "encoder", "model.onnx"), "--encoder.vocabulary="+
				testkit.Cache(t, "encoder", "vocab.txt"))
		case "orchestrator":
			args = append(append(args, "--http.addr=127.0.0.1:0"), toOrchestrator...)
		}
		all = append(all, launch(t, dir, filepath.Join(bin, name), addr, slices.Concat(env, more[name]), args...))
		toOrchestrator = append(toOrchestrator, "--"+name+".addr="+addr)
	}
	return all
}

func TestSixProcessesAnswerTogetherAndEndInOrder(t *testing.T) {
	bin, data, dir := binaries(t), graphs(t), t.TempDir()
	model := scripted(t)
	all := six(t, bin, data, dir, model, nil)
	orchestrator := all[len(all)-1]

	ask := func(extra ...string) *exec.Cmd {
		cmd := exec.CommandContext(timeoutContext(t, patience), filepath.Join(bin, "triplemesh"),
			append([]string{"ask", employerQuestion, "--server", orchestrator.addr, "--kg", wikidata + "@1"},
				extra...)...)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	t.Run("triplemesh ask prints the run", func(t *testing.T) {
		checkJSON(t, run(t, ask("--json")))
		if out := run(t, ask("--explain", "--trace")); !strings.Contains(out, employer) ||
			!strings.Contains(out, "retriever") {
			t.Errorf("it printed %s", out)
		}
	})
	t.Run("grpcurl asks and lists", func(t *testing.T) {
		grpcurl := testkit.Cache(t, "bin", "grpcurl")
		out := run(t, exec.CommandContext(timeoutContext(t, patience), grpcurl, "-plaintext", "-d", `{"question": "`+
			employerQuestion+`", "kg": {"name": "wikidata", "snapshot": 1}}`,
			orchestrator.addr, "triplemesh.orchestrator.v1.OrchestratorService/Ask"))
		resp := &orchestratorv1.AskResponse{}
		if err := protojson.Unmarshal([]byte(out), resp); err != nil || names(resp.GetRun()) != employer {
			t.Errorf("it printed %s: %v", out, err)
		}
		for _, p := range all {
			if out := run(t, exec.CommandContext(timeoutContext(t, patience), grpcurl, "-plaintext", p.addr,
				"list")); !strings.Contains(out, "triplemesh."+p.name+".v1.") ||
				!strings.Contains(out, "grpc.health.v1.Health") {
				t.Errorf("the %s lists %s", p.name, out)
			}
		}
	})
	t.Run("a question under way is answered before the end", func(t *testing.T) {
		reached, open := make(chan struct{}), make(chan struct{})
		model.On(testkit.Task("answer")).ReplyFunc(func(testkit.Request) string {
			close(reached)
			<-open
			return "{" + employer + "}"
		})
		answered := make(chan string, 1)
		go func() { answered <- run(t, ask("--json")) }()
		select {
		case <-reached:
		case out := <-answered:
			t.Fatalf("the answer came before the model's response: %s", out)
		}
		orchestrator.terminate(t)
		close(open)
		checkJSON(t, <-answered)
		orchestrator.checkEnded(t)
	})
	for _, p := range all[:len(all)-1] {
		p.terminate(t)
	}
	for _, p := range all[:len(all)-1] {
		p.checkEnded(t)
	}
	checkHolds(t, data, "kg", "runs.db", "runs.db.feedback")
	checkHolds(t, filepath.Join(data, "kg"), wikidata, rivers, idle)
	checkHolds(t, dir)
}

// checkJSON checks a run as printed by the command line.
func checkJSON(t *testing.T, out string) {
	t.Helper()
	printed := &orchestratorv1.Run{}
	if err := protojson.Unmarshal([]byte(out), printed); err != nil || names(printed) != employer {
		t.Errorf("it printed %q: %v", out, err)
	}
}

func TestAStageThatCannotStartSaysWhyAndEndsWithACode(t *testing.T) {
	bin := binaries(t)
	for _, c := range []struct {
		name, stage string
		args        []string
		code        int
		says        string
	}{
		{"no encoder is 1", "retriever", []string{"--server.addr=" + testkit.FreeAddr(t)}, 1, "triplemesh setup"},
		{"no model endpoint is 2", "verifier", nil, 2, "OPENAI_BASE_URL"},
		{"an unknown flag is 2", "evaluator", []string{"--colour=red"}, 2, "--help"},
		{"a command line without a server is 4", "triplemesh", []string{"ask", "?", "--server", testkit.FreeAddr(t)}, 4,
			"triplemesh up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(timeoutContext(t, patience), filepath.Join(bin, c.stage), c.args...)
			cmd.Dir = t.TempDir()
			cmd.Env = []string{"HOME=" + cmd.Dir}
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.says) {
				t.Errorf("it exited with %v and printed %s; want %d and %q", err, out, c.code, c.says)
			}
		})
	}
}
