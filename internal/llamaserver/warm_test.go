package llamaserver

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

func TestPrefixesAreEvaluatedOnceTheServerIsIdle(t *testing.T) {
	warmed := filepath.Join(t.TempDir(), "warmed")
	cfg := scripted(t, map[string]any{"Busy": 3, "Warmed": warmed})
	cfg.Threads = 1
	cfg.Prefixes = [][]llm.Message{{{Role: llm.RoleSystem, Content: "one"}}, {{Role: llm.RoleSystem, Content: "two"}}}
	start(t, cfg)
	lines := func(n int) func() bool {
		return func() bool {
			b, err := os.ReadFile(warmed)
			return err == nil && bytes.Count(b, []byte("\n")) == n
		}
	}
	const once = "4 one\n5 two\n"
	eventually(t, "both prefixes", lines(2))
	if b, err := os.ReadFile(warmed); err != nil || string(b) != once {
		t.Errorf("got %q, %v; want each after a look that found no slot busy", b, err)
	}
	_, pids := starts(t, cfg)
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the prefixes of the server that was started again", lines(4))
}

func TestPrefixesAreEvaluatedByPortionsThatEndWithAnAnswer(t *testing.T) {
	message := func(role llm.Role, size int) llm.Message {
		return llm.Message{Role: role, Content: strings.Repeat("x", size)}
	}
	system, question := message(llm.RoleSystem, 100), message(llm.RoleUser, portionSize)
	answer := message(llm.RoleAssistant, 10)
	long := []llm.Message{system, question, answer, message(llm.RoleUser, 10), answer, question, answer}
	got := listPortions([][]llm.Message{long, {system}})
	want := [][]llm.Message{long[:3], long, {system}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got portions of %d, want the first example, all of it and the short one", len(got))
	}
}

func TestAServerThatRefusesPromptsServesOn(t *testing.T) {
	var log testkit.Log
	cfg := scripted(t, map[string]any{"Refuse": true})
	cfg.Threads, cfg.Log = 1, slog.New(slog.NewTextHandler(&log, nil))
	cfg.Prefixes = [][]llm.Message{{{Role: llm.RoleSystem, Content: "one"}}}
	s := start(t, cfg)
	eventually(t, "the log line", func() bool { return strings.Contains(log.String(), logWarmFailed) })
	if !s.healthy(context.Background()) {
		t.Error("the server is gone")
	}
}
