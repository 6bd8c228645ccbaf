package tests

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// TestStoppedReplicasCostNoQuestion stops a process with a replica of every stage, as a debugger or
// a swapping machine does: its connections stay open, but it does not respond. Questions are in
// flight there.
func TestStoppedReplicasCostNoQuestion(t *testing.T) {
	model := scripted(t)
	well := start(t, options{model: model, targets: callees()})
	data, dir := graphs(t), t.TempDir()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "OPENAI_BASE_URL=" + model.URL(), "TRIPLEMESH_LLM_MODEL=scripted",
		"TRIPLEMESH_RETRIEVER_RANKER=off",
		"TRIPLEMESH_LLM_CACHE_DIR=", "TRIPLEMESH_LLM_CACHE_MEMORY_ENTRIES=0",
		"TRIPLEMESH_REFLECTOR_REFLECTION_MODE=model",
		"TRIPLEMESH_RETRIEVER_STORE_DIR=" + filepath.Join(data, "kg"),
		"TRIPLEMESH_RETRIEVER_ENCODER_LIBRARY=" + testkit.Cache(t, "onnxruntime", "libonnxruntime.so"),
		"TRIPLEMESH_RETRIEVER_ENCODER_FILE=" + testkit.Cache(t, "encoder", "model.onnx"),
		"TRIPLEMESH_RETRIEVER_ENCODER_VOCABULARY=" + testkit.Cache(t, "encoder", "vocab.txt"),
	}
	set, addr := map[string]string{}, ""
	for _, name := range callees() {
		addr = testkit.FreeAddr(t)
		env = append(env, "TRIPLEMESH_"+strings.ToUpper(name)+"_SERVER_ADDR="+addr)
		set["orchestrator."+name+".addr"] = addr + "," + well.mesh.Addr(name)
		set["orchestrator."+name+".patience"] = patient
	}
	stopped := launch(t, dir, triplemesh(t), addr, env, "up", "--target="+strings.Join(callees(), ","))
	m := start(t, options{data: t.TempDir(), targets: []string{"orchestrator"}, set: set})
	for _, method := range []string{"pg-akv", "ger"} {
		for range questionsPerFault() {
			askExpectingWhole(t, m.orchestrator, method)
		}
	}
	go func() {
		time.Sleep(50 * time.Millisecond) // while questions are in flight
		_ = stopped.cmd.Process.Signal(syscall.SIGSTOP)
	}()
	for _, method := range []string{"pg-akv", "ger"} {
		cost, _ := stream(t, m.orchestrator, method, 4*questionsPerFault())
		t.Logf("%s: %s", method, cost)
	}
	if err := stopped.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	cost, _ := stream(t, m.orchestrator, "pg-akv", questionsPerFault())
	t.Logf("after it continues: %s", cost)
}
