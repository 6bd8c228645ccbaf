package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// pty opens a pseudo-terminal: what is written to tty is read from screen.
func pty(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	t.Cleanup(func() { screen.Close() })
	var unlock, number int32
	for request, to := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request,
			uintptr(unsafe.Pointer(to))); errno != 0 {
			t.Fatal(errno)
		}
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	return screen, tty
}

// onATerminal runs a command line on a terminal and returns what is seen there.
func onATerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	screen, tty := pty(t)
	seen := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // ends with an error once the other end is closed
		seen <- string(text)
	}()
	dirs := []string{"--cache", t.TempDir(), "--data", t.TempDir()}
	run(t.Context(), "v1", append(dirs, args...), env, strings.NewReader(""), tty, tty)
	tty.Close()
	return <-seen
}

const evil = "\x1b]8;;http://evil\x07click\x1b]8;;\x07 \x1b[2J \u009b31m a\u202eb <script>"

// harmless leaves out the codes by which triplemesh itself draws.
func harmless(seen string) string {
	for _, own := range []string{"\r\x1b[K", "\x1b[J", "\x1b[1A", "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m",
		"\x1b[32m", "\x1b[33m", "\r"} {
		seen = strings.ReplaceAll(seen, own, "")
	}
	return seen
}

func TestHostileTextDoesNotSteerATerminal(t *testing.T) {
	hostile := answeredRun()
	hostile.Question, hostile.Text, hostile.GroundingReason = evil, evil, evil
	hostile.Answers = []*orchestratorv1.Answer{{Answer: evil}}
	s := serve(t, &services{run: hostile, runs: map[string]*orchestratorv1.Run{"io": hostile}})
	failing := serve(t, &services{err: status.Error(codes.NotFound, evil)})
	whole := serve(t, &services{run: hostile})
	utf8 := []string{"TERM=xterm", "LANG=C.UTF-8"}
	for name, args := range map[string][]string{
		"an answer":              {"ask", "Who?", "--server", whole.addr, "--explain", "--trace"},
		"stages":                 {"ask", "Who?", "--server", whole.addr, "--watch"},
		"methods side by side":   {"ask", "Who?", "--server", s.addr, "--compare=io,pg-akv"},
		"JSON":                   {"ask", "Who?", "--server", whole.addr, "--json"},
		"an error":               {"ask", "Who?", "--server", failing.addr},
		"a run":                  {"runs", "01RUN", "--server", whole.addr},
		"a list of runs":         {"runs", "--server", whole.addr},
		"a wrong command":        {evil},
		"a wrong flag":           {"--" + evil},
		"a wrong file":           {"kg", "load", "x", evil},
		"a wrong name":           {"kg", "load", evil, "x"},
		"a wrong address":        {"ask", "Who?", "--server", evil},
		"a wrong setting":        {"up", "--set", evil + "=x", "--print-config"},
		"a wrong value":          {"up", "--set", "verifier.mode=" + evil, "--print-config"},
		"a load with a bad line": {"kg", "load", "mars", "/dev/null", "--retriever", whole.addr},
	} {
		t.Run(name, func(t *testing.T) {
			seen := onATerminal(t, utf8, args...)
			if rest := harmless(seen); seen == "" || strings.ContainsAny(rest, "\x1b\x07\u009b\u202e") {
				t.Errorf("the terminal gets %q", rest)
			}
		})
	}
}

func TestATerminalSeesTheStages(t *testing.T) {
	s := serve(t, &services{run: answeredRun()})
	for _, tt := range []struct {
		name string
		env  []string
		sees string
		not  string
	}{
		{"in Unicode and colours", []string{"TERM=xterm", "LANG=C.UTF-8"}, "\x1b[32m✓\x1b[0m verify", ""},
		{"without colours", []string{"TERM=xterm", "LANG=C.UTF-8", "NO_COLOR=1"}, "✓ verify", "\x1b[32m"},
		{"in ASCII", []string{"TERM=xterm", "LANG=C", "NO_COLOR=1"}, "+ verify", "✓"},
		{"not on a dumb terminal", []string{"TERM=dumb", "LANG=C.UTF-8"}, "Ada", "\x1b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := onATerminal(t, tt.env, "ask", "Who?", "--server", s.addr)
			if !strings.Contains(seen, tt.sees) || tt.not != "" && strings.Contains(seen, tt.not) {
				t.Errorf("the terminal gets %q", seen)
			}
		})
	}
}

func TestDroppingAsksOnATerminal(t *testing.T) {
	drop := func(answer string, args ...string) (seen string, dropped bool) {
		s := serve(t, &services{kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 2, true)}})
		screen, tty := pty(t)
		out := make(chan string)
		go func() {
			text, _ := io.ReadAll(screen) // ends with an error once the other end is closed
			out <- string(text)
		}()
		if _, err := screen.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"--cache", t.TempDir(), "--data", t.TempDir(), "kg", "drop", "mars",
			"--retriever", s.addr}, args...)
		run(t.Context(), "v1", args, nil, tty, tty, tty)
		tty.Close()
		return <-out, s.dropped != nil
	}
	if seen, dropped := drop("no\n"); dropped || !strings.Contains(seen, "drop mars for good?") {
		t.Errorf("after no: dropped %v, %q", dropped, seen)
	}
	if seen, dropped := drop("yes\n"); !dropped {
		t.Errorf("after yes it is kept: %q", seen)
	}
	if seen, dropped := drop("", "--yes"); !dropped || strings.Contains(seen, "for good?") {
		t.Errorf("with --yes: dropped %v, %q", dropped, seen)
	}
}
