package config

import (
	"flag"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

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
	return fmt.Errorf("unknown flag --%s; the nearest is --%s", name, nearest(name, known))
}

func (c command[C]) usage() {
	w := c.stdout
	fmt.Fprintf(w, "Usage: %s [--config FILE] [--print-config] [--KEY VALUE]...\n\n", c.stage)
	fmt.Fprintf(w, "Runs the %s until it is interrupted. Each key is a flag, a variable (%s) and,\n", c.stage, envName(c.stage+".key"))
	fmt.Fprintf(w, "below %s:, a key of the YAML file; flags win over variables, and those over the file.\n", c.stage)
	fmt.Fprintf(w, "Keys below %s hold for all stages where no stage is named.\n\n", strings.Join(shared, ", "))
	fmt.Fprintf(w, "  --config FILE    the file; also TRIPLEMESH_CONFIG\n  --print-config   print the settings and where each comes from, and end\n\nKeys and defaults:\n")
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
