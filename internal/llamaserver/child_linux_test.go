package llamaserver

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

func TestTheChildEndsWithAKilledParent(t *testing.T) {
	cfg := scripted(t, map[string]any{})
	cfg.Threads = 1
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), "LLAMA_TEST_PARENT="+string(text))
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the parent said %q, %v", line, err)
	}
	_, pids := starts(t, cfg)
	if hasExited(pids[0]) {
		t.Fatal("the child is gone before its parent")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	eventually(t, "the child's end", func() bool { return hasExited(pids[0]) })
}
