// Package cli is the command line of triplemesh: one file for each command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/home"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"
	"github.com/triplemesh/triplemesh/internal/config"
)

// Exit codes.
const (
	exitAnswered    = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNoAnswer    = 3
	exitUnreachable = 4
)

// commands are what a user can type.
type commands struct {
	Cache  string            `placeholder:"DIR" type:"path" help:"Where fetched files are. (TRIPLEMESH_CACHE; in a checkout its .cache, else the user's cache directory)"`
	Data   string            `placeholder:"DIR" type:"path" help:"Where knowledge graphs and runs are. (TRIPLEMESH_HOME; in a checkout .cache/data, else the user's data directory)"`
	Config string            `placeholder:"FILE" type:"path" env:"TRIPLEMESH_CONFIG" help:"Configuration file, YAML, one for all services."`
	Set    map[string]string `placeholder:"KEY=VALUE" mapsep:"none" help:"One setting, such as verifier.mode=edits. May be given again."`
	accessFlags
	NoColor bool `help:"Print no colours. (NO_COLOR does the same)"`

	Ask        askCommand        `cmd:"" help:"Answer a question."`
	Check      checkCommand      `cmd:"" help:"Check a text that somebody else wrote: which of its claims does a knowledge graph support, which does it contradict?"`
	Up         upCommand         `cmd:"" help:"Run the services, and a model server if no model endpoint is configured."`
	Init       initCommand       `cmd:"" help:"Choose a model and a knowledge graph, try both, and write a configuration."`
	Setup      setupCommand      `cmd:"" help:"Fetch the encoder, the model and its server. What is there is not fetched again."`
	KG         kgCommand         `cmd:"" name:"kg" help:"Load, list, switch and remove knowledge graphs."`
	MCP        mcpCommand        `cmd:"" name:"mcp" help:"Let other language models use a mesh, over the Model Context Protocol."`
	Methods    methodsCommand    `cmd:"" help:"List the ways to answer."`
	Runs       runsCommand       `cmd:"" help:"List answered questions, or show one."`
	Quota      quotaCommand      `cmd:"" help:"Tell who you are to a mesh, what you may do, and how much of it is used."`
	Eval       evalCommand       `cmd:"" help:"Measure a method on questions with known answers."`
	Calibrate  calibrateCommand  `cmd:"" help:"Find the thresholds for a knowledge graph and an encoder, and write them into the configuration."`
	Export     exportCommand     `cmd:"" help:"Write examples to fine-tune a model with."`
	Bench      benchCommand      `cmd:"" help:"Measure the retrieval engine beside its peers, or a mesh under load."`
	Certs      certsCommand      `cmd:"" help:"Make certificates for a mesh, and look at them."`
	Token      tokenCommand      `cmd:"" help:"Make, list and revoke the tokens of those who may call a mesh."`
	Doctor     doctorCommand     `cmd:"" help:"Look what is there, what is missing, and how to mend it."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
	Completion completionCommand `cmd:"" help:"Print the completion code for a shell."`
}

const about = `Answers questions with a language model and a knowledge graph, and shows what each part of an answer rests on.

Exit codes: 0 answered or done; 1 failed; 2 wrong usage; 3 no answer; 4 no server there.`

// program is what every command works with.
type program struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
	env            []string
	version        string
	home           home.Home
	sources        config.Sources
	access         accessFlags
	heedless       bool // asks on, however much is refused
	colour         bool
	noColour       bool
}

// exitError ends the program with a code of its own.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string { return e.err.Error() }
func (e exitError) Unwrap() error { return e.err }

// errSilent ends the program with a code after everything has been said.
var errSilent = errors.New("")

// Main runs one command line and returns the exit code. The first SIGINT or
// SIGTERM ends what is under way in good order, the second at once.
func Main(version string, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, version, args, env, stdin, stdout, stderr)
}

func run(ctx context.Context, version string, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c commands
	exited := -1
	// Whatever is printed may hold what others wrote.
	stdout, stderr = terminal.Cleaner(stdout), terminal.Cleaner(stderr)
	parser, err := kong.New(&c, kong.Name("triplemesh"), kong.Description(about),
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { exited = code }),
		kong.UsageOnError(), kong.ShortUsageOnError(),
		kong.Vars{"formats": formatNames(), "stages": "pseudo-graph, ground-graph, verify, answer (pg-akv); link, paths, candidates, evaluate-question, evaluate-answers, reflect (ger); triplemesh methods lists those of every method"})
	if err != nil {
		fmt.Fprintln(stderr, "triplemesh:", err)
		return exitFailed
	}
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "COMP_LINE=") }) {
		kongcompletion.Register(parser)
		return exitAnswered
	}
	chosen, err := parser.Parse(twoDashes(args))
	if exited >= 0 { // --help
		return exited
	}
	if err != nil {
		parser.FatalIfErrorf(err)
		return exitUsage
	}
	p := &program{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, env: env, version: config.Version(version), noColour: c.NoColor}
	p.sources = config.Sources{File: c.Config, Env: env, Set: c.Set}
	p.access = c.accessFlags
	p.colour = !c.NoColor && terminal.Of(stdout, env).Colour
	if p.home, err = home.Find(home.Overrides{Cache: c.Cache, Data: c.Data}); err == nil {
		err = chosen.Run(p)
	}
	return p.report(err)
}

// report says what went wrong and returns the exit code for it.
func (p *program) report(err error) int {
	if err == nil {
		return exitAnswered
	}
	code := exitFailed
	var exit exitError
	var answer interface{ GRPCStatus() *status.Status }
	switch {
	case errors.As(err, &exit):
		code = exit.code
	case errors.As(err, &answer) && answer.GRPCStatus().Code() == codes.InvalidArgument:
		code = exitUsage
	}
	if errors.Is(err, errSilent) {
		return code
	}
	if p.ctx.Err() != nil && (errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled) {
		fmt.Fprintln(p.stderr, "triplemesh: interrupted")
		return exitFailed
	}
	fmt.Fprintln(p.stderr, "triplemesh:", advice(err))
	return code
}

var oneDash = regexp.MustCompile(`^-[a-z][a-z-]+(=|$)`)

// twoDashes takes long flags with one dash too, as Go's own tools do.
func twoDashes(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if oneDash.MatchString(a) {
			out[i] = "-" + a
		}
	}
	return out
}
