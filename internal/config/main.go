package config

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
)

// Exit codes of Main.
const (
	exitOK      = 0
	exitRuntime = 1
	exitUsage   = 2
)

// Main is the whole main of a stage's binary: it reads the configuration from the flags, the
// environment and the file that --config or TRIPLEMESH_CONFIG names, and runs until SIGINT or
// SIGTERM ends the context. A second signal kills. It exits with 0 after an orderly end, 2 where
// flags or configuration are wrong, and 1 where run failed.
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
	return listSettings(reflect.ValueOf(&c.defaults).Elem(), "")
}

// flagSet is a parser of flags that suggests the nearest for an unknown one.
type flagSet struct{ *flag.FlagSet }

func (c command[C]) flags(src *Sources, printOnly *bool) flagSet {
	fs := flag.NewFlagSet(c.stage, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&src.File, "config", lookup(c.env, "TRIPLEMESH_CONFIG"), "")
	fs.BoolVar(printOnly, "print-config", false, "")
	for _, s := range c.settings() {
		set := func(text string) error {
			src.Set[s.key] = text
			return nil
		}
		if s.value.Kind() == reflect.Bool {
			fs.BoolFunc(s.key, "", set)
		} else {
			fs.Func(s.key, "", set)
		}
	}
	return flagSet{fs}
}

// Parse refuses words that are no flags, too.
func (f flagSet) Parse(args []string) error {
	err := f.FlagSet.Parse(args)
	if err == nil && f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: every setting is a flag", f.Arg(0))
	}
	if err == nil || err == flag.ErrHelp {
		return err
	}
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err
	}
	var known []string
	f.VisitAll(func(fl *flag.Flag) { known = append(known, fl.Name) })
	return fmt.Errorf("unknown flag --%s; the nearest is --%s", name, nearestKey(name, known))
}

func (c command[C]) usage() {
	w := c.stdout
	fmt.Fprintf(w, "Usage: %s [--config FILE] [--print-config] [--KEY VALUE]...\n\n", c.stage)
	fmt.Fprintf(w, "Runs the %s until it is interrupted. Each key is a flag, a variable (%s) and,\n", c.stage,
		envName(c.stage+".key"))
	fmt.Fprintf(w, "below %s:, a key of the YAML file; flags win over variables, and those over the file.\n", c.stage)
	fmt.Fprintf(w, "Keys below %s hold for all stages where no stage is named.\n\n", strings.Join(sharedSections, ", "))
	fmt.Fprintf(w, "  --config FILE    the file; also TRIPLEMESH_CONFIG\n  --print-config   print the settings and "+
		"where each comes from, and end\n\nKeys and defaults:\n")
	for _, s := range c.settings() {
		value, err := encode(s.value, s.secret)
		if err != nil {
			continue
		}
		line := "  --" + s.key
		if value.Value != "" && value.ShortTag() != "!!null" {
			line += " " + value.Value
		}
		if s.help != "" {
			line += "\n        " + s.help
		}
		fmt.Fprintln(w, line)
	}
}

func lookup(env []string, name string) string {
	i := slices.IndexFunc(env, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
	if i < 0 {
		return ""
	}
	return env[i][len(name)+1:]
}

// built is what the linker was told, by
// -X github.com/triplemesh/triplemesh/internal/config.built=VERSION.
var built string

// Version returns the given version if it is not empty, else the one set by the linker, else that of
// the module (go install), else the commit of the build.
func Version(told string) string {
	if version := cmp.Or(told, built); version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if version := info.Main.Version; version != "" && version != "(devel)" {
			return version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return s.Value[:12]
			}
		}
	}
	return "unknown"
}
