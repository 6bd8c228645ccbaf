//go:build openai

package openai

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// mesh starts one with a scripted model, and returns the base URL of its door.
func mesh(t *testing.T) string {
	t.Helper()
	m := exec.Command("go", "run", "../scripted", "--http", "127.0.0.1:0", "--nth", "1000", "--script", "script.yaml")
	m.Stderr = t.Output()
	stdin, err := m.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := m.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close() // it ends with its input
		if err := m.Wait(); err != nil {
			t.Errorf("the mesh ended with: %v", err)
		}
	})
	var at struct{ HTTP string }
	if err := json.NewDecoder(stdout).Decode(&at); err != nil {
		t.Fatalf("the mesh serves nowhere: %v", err)
	}
	return "http://" + at.HTTP + "/v1"
}

func TestOfficialClients(t *testing.T) {
	url := mesh(t)
	python := testkit.Cache(t, "openai")
	for _, c := range []struct {
		name string
		run  []string
	}{
		{"Python", []string{"python3", "-m", "unittest", "-v", "client_test.py"}},
		{"Node", []string{"node", "--test", "client.test.mjs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), c.run[0], c.run[1:]...)
			cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=none", "PYTHONPATH="+python, "PYTHONDONTWRITEBYTECODE=1")
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Errorf("%q: %v", c.run, err)
			}
		})
	}
}
