// Package cli is the command line of triplemesh: one file for each command.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/calibrate"
	"github.com/triplemesh/triplemesh/lab/claims"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/eval"
	"github.com/triplemesh/triplemesh/lab/feedback"
	"github.com/triplemesh/triplemesh/lab/report"
	"github.com/triplemesh/triplemesh/lab/sft"
	"github.com/triplemesh/triplemesh/lab/train"
)

// Exit codes.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	exitNoAnswer    = 3
	exitUnreachable = 4
	// 5 is exitBudget.
	exitUngrounded = 6
)

// GlobalFlags are the flags of every command.
type GlobalFlags struct {
	Cache  string            `placeholder:"DIR" type:"path" help:"${cache_help}"`
	Data   string            `placeholder:"DIR" type:"path" help:"${data_help}"`
	Config string            `placeholder:"FILE" type:"path" env:"TRIPLEMESH_CONFIG" help:"${config_help}"`
	Set    map[string]string `placeholder:"KEY=VALUE" mapsep:"none" help:"${set_help}"`
	AccessFlags
	NoColor     bool             `help:"Print no colours. (NO_COLOR does the same)"`
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// commands are the commands of triplemesh.
type commands struct {
	GlobalFlags

	Ask        askCommand        `cmd:"" help:"Answer a question."`
	Check      checkCommand      `cmd:"" help:"${cmd_check}"`
	Up         upCommand         `cmd:"" help:"${cmd_up}"`
	Init       initCommand       `cmd:"" help:"${cmd_init}"`
	Setup      setupCommand      `cmd:"" help:"${cmd_setup}"`
	KG         kgCommand         `cmd:"" name:"kg" help:"Load, list, switch and remove knowledge graphs."`
	MCP        mcpCommand        `cmd:"" name:"mcp" help:"${cmd_mcp}"`
	Methods    methodsCommand    `cmd:"" help:"List the answering methods."`
	Runs       runsCommand       `cmd:"" help:"List answered questions, or show one."`
	Feedback   feedbackCommand   `cmd:"" help:"${cmd_feedback}"`
	Quota      quotaCommand      `cmd:"" help:"${cmd_quota}"`
	Eval       evalCommand       `cmd:"" help:"Measure a method on questions with known answers."`
	Calibrate  calibrateCommand  `cmd:"" help:"${cmd_calibrate}"`
	Train      trainCommand      `cmd:"" help:"${cmd_train}"`
	Export     exportCommand     `cmd:"" help:"Write examples to fine-tune a model with."`
	Certs      certsCommand      `cmd:"" help:"Create and show certificates for a mesh."`
	Token      tokenCommand      `cmd:"" help:"Create, list and revoke access tokens of a mesh."`
	Doctor     doctorCommand     `cmd:"" help:"Check the installation and the mesh, and say how to fix what is wrong."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
	Completion completionCommand `cmd:"" help:"Print the completion code for a shell."`
	Help       helpCommand       `cmd:"" help:"Show the help of a command."`
}

const about = "Answers questions with a language model and a knowledge graph, and shows the evidence for each part " +
	"of an answer.\n\nExit codes: 0 answered or done; 1 failed; 2 wrong usage; 3 no answer; 4 no server reachable; 6 " +
	"the knowledge graph does not say, the answer is the model's own."

// Program holds what every command needs: streams, environment, directories and settings.
type Program struct {
	name           string
	Ctx            context.Context
	stdin          io.Reader
	Stdout, Stderr io.Writer
	env            []string
	version        string
	Home           setup.Home
	Sources        config.Sources
	Access         AccessFlags
	Unthrottled    bool // disables client-side throttling
	waits          bool // a mesh may start later than this program, which is asked much later
	color          bool
	noColor        bool
	exited         *int // the exit code, when kong printed a help; otherwise -1
}

// ExitError ends the program with its exit code.
type ExitError struct {
	Code int
	Err  error
}

func (e ExitError) Error() string { return e.Err.Error() }
func (e ExitError) Unwrap() error { return e.Err }

// usageError returns an error that ends the program with ExitUsage.
func usageError(format string, args ...any) error {
	return ExitError{ExitUsage, fmt.Errorf(format, args...)}
}

// errSilent ends the program without a message; the output already states the reason.
var errSilent = errors.New("")

// NotifyContext returns a context that the first SIGINT or SIGTERM cancels. The second one kills
// the process.
func NotifyContext() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Main runs one command line and returns the exit code.
func Main(version string, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := NotifyContext()
	defer stop()
	return run(ctx, version, args, env, stdin, stdout, stderr)
}

func run(ctx context.Context, version string, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c commands
	vars := kong.Vars{}
	for _, texts := range []map[string]string{calibrate.HelpTexts, claims.HelpTexts, dataset.HelpTexts, eval.HelpTexts,
		feedback.HelpTexts, report.HelpTexts, report.ScorecardHelpTexts, sft.HelpTexts,
		train.HelpTexts} {
		maps.Copy(vars, texts)
	}
	return App{Name: "triplemesh", About: about, Flags: &c.GlobalFlags, Commands: &c, Vars: vars}.Run(ctx, version,
		args,
		env, stdin, stdout, stderr)
}

// App is a program that has the global flags of triplemesh and its own commands.
type App struct {
	Name, About string
	// Flags are part of Commands, whose Run methods take a *Program.
	Flags    *GlobalFlags
	Commands any
	// Vars are further help texts.
	Vars kong.Vars
}

// Run runs one command line and returns the exit code.
func (a App) Run(ctx context.Context, version string, args, env []string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	exited := -1
	// The output may contain untrusted text, such as names in a knowledge graph.
	stdout, stderr = terminal.Cleaner(stdout), terminal.Cleaner(stderr)
	parser, err := kong.New(a.Commands, kong.Name(a.Name), kong.Description(a.About),
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { exited = code }),
		kong.UsageOnError(), kong.ShortUsageOnError(), kong.ValueFormatter(formatHelp), helpTexts, a.Vars,
		kong.Vars{"version": versionText(a.Name, config.Version(version))})
	if err != nil {
		fmt.Fprintln(stderr, a.Name+":", err)
		return ExitFailed
	}
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "COMP_LINE=") }) {
		kongcompletion.Register(parser)
		return ExitOK
	}
	chosen, err := parser.Parse(twoDashes(args))
	if exited >= 0 { // --help
		return exited
	}
	if err != nil {
		parser.FatalIfErrorf(err)
		return ExitUsage
	}
	p := &Program{name: a.Name, Ctx: ctx, stdin: stdin, Stdout: stdout, Stderr: stderr, env: env,
		version: config.Version(version), noColor: a.Flags.NoColor, exited: &exited}
	p.Sources = config.Sources{File: a.Flags.Config, Env: env, Set: a.Flags.Set}
	p.Access = a.Flags.AccessFlags
	p.color = !a.Flags.NoColor && terminal.Detect(stdout, env).Colour
	if p.Home, err = setup.FindHome(setup.HomeOverrides{Cache: a.Flags.Cache, Data: a.Flags.Data}); err == nil {
		err = chosen.Run(p)
	}
	return p.report(err)
}

// report prints the error and returns its exit code.
func (p *Program) report(err error) int {
	if err == nil {
		return ExitOK
	}
	code := ExitFailed
	var exit ExitError
	var answer interface{ GRPCStatus() *status.Status }
	switch {
	case errors.As(err, &exit):
		code = exit.Code
	case errors.As(err, &answer) && answer.GRPCStatus().Code() == codes.InvalidArgument:
		code = ExitUsage
	}
	if errors.Is(err, errSilent) {
		return code
	}
	if p.Ctx.Err() != nil && (errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled) {
		fmt.Fprintln(p.Stderr, p.name+": interrupted")
		return ExitFailed
	}
	fmt.Fprintln(p.Stderr, p.name+":", advice(err))
	return code
}

var oneDash = regexp.MustCompile(`^-[a-z][a-z-]+(=|$)`)

// twoDashes accepts long flags with a single dash too, like Go's own tools.
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

type versionCommand struct{}

// Run prints the version, Go's, and the platform.
func (versionCommand) Run(p *Program) error {
	_, err := fmt.Fprintln(p.Stdout, versionText(p.name, p.version))
	return err
}

func versionText(name, version string) string {
	return fmt.Sprintf("%s %s (%s, %s/%s)", name, version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Command, such as ask or kg load."`
}

func (c *helpCommand) Run(ctx *kong.Context, p *Program) error {
	if _, err := ctx.Kong.Parse(append(c.Command, "--help")); err != nil && *p.exited < 0 {
		return ExitError{ExitUsage, err}
	}
	return nil
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return `bash:  source <(triplemesh completion bash)      in ~/.bashrc
zsh:   source <(triplemesh completion zsh)       in ~/.zshrc
fish:  triplemesh completion fish | source       in ~/.config/fish/config.fish`
}

func (c completionCommand) Run(ctx *kong.Context) error {
	return (&kongcompletion.Completion{Shell: c.Shell, Code: true}).Run(ctx)
}

// printIndented prints a value as indented JSON.
func printIndented(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func printJSON(out io.Writer, m proto.Message) error {
	text, err := protojson.MarshalOptions{Multiline: true, Indent: "  "}.Marshal(m)
	if err != nil {
		return fmt.Errorf("print as JSON: %w", err)
	}
	_, err = fmt.Fprintln(out, string(text))
	return err
}

// maxColumns is how many columns of a wide terminal are used: longer lines are hard to read.
const maxColumns = 100

// style returns the style that fits standard output.
func (p *Program) style() show.Style {
	t := terminal.Detect(p.Stdout, p.env)
	return show.Style{Colour: p.color, ASCII: !t.Unicode, Width: min(t.Width(), maxColumns)}
}

// terminal returns standard error, where transient output is drawn.
func (p *Program) terminal() *terminal.Terminal {
	t := terminal.Detect(p.Stderr, p.env)
	t.Colour = t.Colour && !p.noColor
	return t
}

// Board shows the progress of long work.
func (p *Program) Board() *terminal.Board { return terminal.NewBoard(p.terminal()) }

// StatusLine is one line on standard error that is redrawn during a wait. It draws nothing if
// standard error is not a terminal.
type StatusLine struct {
	t *terminal.Terminal
	*terminal.Region
}

// StatusLine returns a line that is redrawn in place on a terminal.
func (p *Program) StatusLine() *StatusLine {
	t := p.terminal()
	return &StatusLine{t, terminal.NewRegion(t)}
}

// Set replaces the text of the line, cut to the width of the terminal.
func (s *StatusLine) Set(format string, args ...any) {
	s.Draw(terminal.Line(fmt.Sprintf(format, args...), s.t.Width()-1))
}
