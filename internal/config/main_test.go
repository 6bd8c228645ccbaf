package config

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestMainRunsAndExits(t *testing.T) {
	path := file(t, "verifier: {mode: edits}")
	for _, test := range []struct {
		name   string
		args   []string
		env    []string
		run    func(context.Context, stageConfig) error
		code   int
		stdout string
		stderr string
	}{
		{name: "an orderly end", code: 0},
		{name: "flags in both forms reach run", args: []string{"--llm.model", "big", "--server.limit=3", "--strict"},
			run: func(_ context.Context, c stageConfig) error {
				if c.LLM.Model != "big" || c.Server.Limit != 3 || !c.Strict {
					return errors.New("flags are lost")
				}
				return nil
			}},
		{name: "a file named by a flag reaches run", args: []string{"--config", path}, run: wantMode("edits")},
		{name: "a file named by the environment reaches run", env: []string{"TRIPLEMESH_CONFIG=" + path},
			run: wantMode("edits")},
		{name: "a failing run", run: func(context.Context, stageConfig) error { return errors.New("no store") },
			code: 1, stderr: "verifier: no store\n"},
		{name: "a run that ends as cancelled for reasons of its own",
			run: func(context.Context, stageConfig) error { return context.Canceled }, code: 1, stderr: "cancel"},
		{name: "an unknown flag", args: []string{"--llm.modle=x"}, code: 2, stderr: "--llm.model"},
		{name: "a flag without its value", args: []string{"--llm.model"}, code: 2, stderr: "llm.model"},
		{name: "a word that is no flag", args: []string{"serve"}, code: 2, stderr: `"serve"`},
		{name: "a wrong value", args: []string{"--threshold=high"}, code: 2, stderr: "--help"},
		{name: "help", args: []string{"--help"}, code: 0,
			stdout: "--server.addr localhost:9093\n        where to listen"},
		{name: "printing", args: []string{"--print-config", "--mode=edits"}, run: never, code: 0,
			stdout: "mode: edits # flag --mode"},
		{name: "printing what is wrong", args: []string{"--print-config", "--mode=wrong"}, run: never, code: 2,
			stdout: "mode: wrong", stderr: "mode is wrong"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.run == nil {
				test.run = func(context.Context, stageConfig) error { return nil }
			}
			var stdout, stderr strings.Builder
			code := command[stageConfig]{"verifier", defaults(), test.run, test.args, test.env, &stdout, &stderr}.main()
			if code != test.code {
				t.Errorf("got exit code %d, want %d; %s", code, test.code, stderr.String())
			}
			if !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("got output\n%s\nand errors\n%s\nwant %q and %q in them", stdout.String(), stderr.String(),
					test.stdout, test.stderr)
			}
		})
	}
}

func wantMode(want mode) func(context.Context, stageConfig) error {
	return func(_ context.Context, c stageConfig) error {
		if c.Mode != want {
			return errors.New("the file is lost: mode " + string(c.Mode))
		}
		return nil
	}
}

func never(context.Context, stageConfig) error { return errors.New("it ran") }

func TestASignalEndsTheRun(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var stderr strings.Builder
		code := command[stageConfig]{"verifier", defaults(), func(ctx context.Context, _ stageConfig) error {
			if err := syscall.Kill(os.Getpid(), signal); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}, nil, nil, &strings.Builder{}, &stderr}.main()
		if code != 0 {
			t.Errorf("%s: got exit code %d, want 0; %s", signal, code, stderr.String())
		}
	}
}

func TestTheNearestKeyIsFound(t *testing.T) {
	known := []string{"server.addr", "llm.model", "mode", "llm.api_key"}
	for word, want := range map[string]string{"server.adr": "server.addr", "model": "llm.model",
		"apikey": "llm.api_key", "": "server.addr", "llm.modle": "llm.model"} {
		if got := nearestKey(word, known); got != want {
			t.Errorf("nearest to %q: got %s, want %s", word, got, want)
		}
	}
}
