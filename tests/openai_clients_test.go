//go:build openai

package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// openAIMesh starts a mesh with a scripted model, and returns the base URL of its OpenAI API.
func openAIMesh(t *testing.T) string {
	t.Helper()
	m := exec.Command("go", "run", "./scripted", "--http", "127.0.0.1:0", "--nth", "1000",
		"--script", "openai/script.yaml")
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
		stdin.Close() // it exits when its input is closed
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

// pageBlock is a code block of a page, with its language.
var pageBlock = regexp.MustCompile("(?ms)^```(sh|python|js)\n(.*?)^```$")

// openAIEnviron returns the environment of a program that uses the API at url and the Python client.
func openAIEnviron(t *testing.T, url string) []string {
	t.Helper()
	return append(os.Environ(), "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=none", "PYTHONPATH="+testkit.Cache(t, "openai"),
		"PYTHONDONTWRITEBYTECODE=1")
}

func TestExamplesOfTheOpenAIPageAnswer(t *testing.T) {
	page, err := os.ReadFile(testkit.CheckoutFile(t, "docs", "openai.md"))
	if err != nil {
		t.Fatal(err)
	}
	url := openAIMesh(t)
	for language, c := range map[string]struct{ by, says []string }{
		"sh": {[]string{"sh", "-c"}, []string{`"content":"Robert Stam worked at New York University."`,
			"GROUNDING_GROUNDED"}},
		"python": {[]string{"python3", "-c"}, []string{"Robert Stam worked at New York University.\n",
			"Robert Stam | employer | New York University http://", "GROUNDING_GROUNDED"}},
		"js": {[]string{"node", "--input-type=module", "-e"}, []string{"STAGE_REFLECT", "University Yale"}},
	} {
		t.Run(language, func(t *testing.T) {
			ran := false
			for _, b := range pageBlock.FindAllStringSubmatch(string(page), -1) {
				if b[1] != language {
					continue
				}
				ran = true
				code := strings.ReplaceAll(b[2], "http://127.0.0.1:9080/v1", url)
				cmd := exec.CommandContext(t.Context(), c.by[0], append(c.by[1:], code)...)
				cmd.Dir, cmd.Env = "openai", openAIEnviron(t, url)
				out, err := cmd.CombinedOutput()
				for _, want := range c.says {
					if err != nil || !strings.Contains(string(out), want) {
						t.Errorf("%v: it says\n%s\nwant %q in it", err, out, want)
					}
				}
			}
			if !ran {
				t.Error("the page shows nothing of the kind")
			}
		})
	}
}

func TestOfficialOpenAIClients(t *testing.T) {
	url := openAIMesh(t)
	for _, c := range []struct {
		name string
		run  []string
	}{
		{"Python", []string{"python3", "-m", "unittest", "-v", "client_test.py"}},
		{"Node", []string{"node", "--test", "client.test.mjs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), c.run[0], c.run[1:]...)
			cmd.Dir, cmd.Env = "openai", openAIEnviron(t, url)
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Errorf("%q: %v", c.run, err)
			}
		})
	}
}
