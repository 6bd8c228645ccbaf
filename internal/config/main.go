package config

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"syscall"
)

// Exit codes of Main.
const (
	exitOK      = 0
	exitRuntime = 1
	exitUsage   = 2
)

// Main is the whole main of a stage's binary: it reads the configuration from
// the flags, the environment and the file that --config or TRIPLEMESH_CONFIG
// names, and runs until SIGINT or SIGTERM ends the context. A second signal
// kills. It exits with 0 after an orderly end, 2 where flags or configuration
// are wrong, and 1 where run failed.
func Main[C any](stage string, defaults C, run func(context.Context, C) error) {
	os.Exit(command[C]{stage, defaults, run, os.Args[1:], os.Environ(), os.Stdout, os.Stderr}.main())
}

// command is one invocation of a stage's binary.
type command[C any] struct {
	stage          string
	defaults       C
	run            func(context.Context, C) error
	args, env      []string
	stdout, stderr io.Writer
}

func (c command[C]) main() int {
	src := Sources{Env: c.env, Set: map[string]string{}}
	printOnly := false
	err := c.flags(&src, &printOnly).Parse(c.args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		c.usage()
		return exitOK
	case err != nil:
		return c.fail(exitUsage, err)
	case printOnly:
		if err := Print(c.stdout, c.stage, c.defaults, src); err != nil {
			return c.fail(exitUsage, err)
		}
		return exitOK
	}
	cfg, err := Load(c.stage, c.defaults, src)
	if err != nil {
		return c.fail(exitUsage, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if err := c.run(ctx, cfg); err != nil && !(ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		return c.fail(exitRuntime, err)
	}
	return exitOK
}

func (c command[C]) fail(code int, err error) int {
	fmt.Fprintf(c.stderr, "%s: %v\n", c.stage, err)
	if code == exitUsage {
		fmt.Fprintf(c.stderr, "%s --help lists the settings\n", c.stage)
	}
	return code
}

func (c command[C]) settings() []setting {
	return settingsOf(reflect.ValueOf(&c.defaults).Elem(), "")
}
