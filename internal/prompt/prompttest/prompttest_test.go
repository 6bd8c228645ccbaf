package prompttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	"github.com/triplemesh/triplemesh/internal/prompt/prompttest"
)

var turns = []llm.Message{{Role: llm.RoleSystem, Content: "Greet."}, {Role: llm.RoleUser, Content: "Name: Bob"}}

// failing is a test that keeps what it is told instead of failing.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper()                        {}
func (f *failing) Errorf(format string, a ...any) { f.said += fmt.Sprintf(format, a...) }
func (f *failing) Fatal(a ...any)                 { f.said += fmt.Sprint(a...) }
func (f *failing) Fatalf(format string, a ...any) { f.Errorf(format, a...) }

func TestGoldenTellsWhatDiffersAndHowToTakeIt(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join("testdata", "x.golden"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, file, want string }{
		{"the same messages pass", "--- system\nGreet.\n--- user\nName: Bob\n", ""},
		{"another message is shown", "--- system\nGreet.\n--- user\nName: Eve\n", "Name: Eve"},
		{"another role is a difference", "--- system\nGreet.\n--- assistant\nName: Bob\n", "-update"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(c.file)
			f := &failing{}
			prompttest.Golden(f, "x.golden", turns)
			if (f.said == "") != (c.want == "") || !strings.Contains(f.said, c.want) {
				t.Errorf("said %q, want %q in it", f.said, c.want)
			}
		})
	}
	f := &failing{}
	if prompttest.Golden(f, "absent.golden", turns); !strings.Contains(f.said, "-update") {
		t.Errorf("a missing file said %q", f.said)
	}
}

func TestContainedFindsTextThatLeftItsPlace(t *testing.T) {
	for _, c := range []struct {
		name, last string
		fails      bool
	}{
		{"a hostile question as it came is found", prompttest.Hostile, true},
		{"a hostile name as it came is found", prompttest.HostileName, true},
		{"a hostile question on one line is none", prompt.Line(prompttest.Hostile), false},
		{"a hostile name on one line is none", prompt.Line(prompttest.HostileName), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &failing{}
			prompttest.Contained(f, []llm.Message{{Role: llm.RoleUser, Content: c.last}})
			if (f.said != "") != c.fails {
				t.Errorf("said %q", f.said)
			}
		})
	}
}
