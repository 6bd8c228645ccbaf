package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/retriever/load"
)

type initCommand struct {
	Yes    bool   `short:"y" help:"${init_yes}"`
	Out    string `type:"path" default:"triplemesh.yaml" placeholder:"FILE" help:"${init_out}"`
	Force  bool   `help:"Overwrite an existing file."`
	NoTest bool   `help:"Test neither the model nor the knowledge graph."`

	ModelURL string `group:"Model" name:"model-url" placeholder:"URL" help:"${init_model_url}"`
	Model    string `group:"Model" placeholder:"NAME" help:"${init_model}"`
	KeyEnv   string `group:"Model" name:"key-env" placeholder:"VARIABLE" help:"${init_key_env}"`

	Graph string `group:"Graph" enum:",sample,file,neo4j,weaviate" default:"" placeholder:"KIND" help:"${init_graph}"`
	Name  string `group:"Graph" placeholder:"NAME" help:"Name for the knowledge graph: a lower-case word."`
	File  string `group:"Graph" type:"path" placeholder:"FILE" help:"${init_file}"`

	URI          string `group:"Graph" name:"neo4j-uri" placeholder:"URI" help:"${init_uri}"`
	Database     string `group:"Graph" name:"neo4j-database" placeholder:"NAME" help:"${init_database}"`
	User         string `group:"Graph" name:"neo4j-user" placeholder:"NAME" help:"Who reads it."`
	PasswordFile string `group:"Graph" name:"neo4j-password-file" type:"path" placeholder:"FILE" help:"${password}"`

	HTTP           string `group:"Graph" name:"weaviate-http" placeholder:"URL" help:"${init_http}"`
	GRPC           string `group:"Graph" name:"weaviate-grpc" placeholder:"ADDR" help:"${init_grpc}"`
	WeaviateKeyEnv string `group:"Graph" name:"weaviate-key-env" placeholder:"VARIABLE" help:"${init_weaviate_key}"`
}

func (initCommand) Help() string {
	return "Asks which model is to answer and which knowledge graph it is to read, tries both, and writes a " +
		"commented configuration. Exit codes: 0 written; 1 something does not work, or nothing was written; 2 wrong " +
		"usage."
}

// tryFor is how long a model or a server may take to answer a few words: a local
// model may have to be read from disk first.
const tryFor = 2 * time.Minute

// Run asks, tries, writes, and says what to do next.
func (c *initCommand) Run(p *Program) error {
	d := &dialogue{in: p.stdin, out: p.Stdout, silent: c.Yes}
	choices, err := c.choose(p, d)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := setup.WriteConfig(&text, choices); err != nil {
		return err
	}
	if err := c.write(d, text.Bytes()); err != nil {
		return err
	}
	// A file that cannot be loaded would be a fault of this command.
	_, err = mesh.ReadPlan(mesh.Options{Home: p.Home, Sources: config.Sources{File: c.Out}})
	if err != nil {
		return err
	}
	return c.next(p.Stdout, choices)
}

func (c *initCommand) choose(p *Program, d *dialogue) (choices setup.Choices, err error) {
	if choices.Model, err = c.chooseModel(p, d); err != nil {
		return choices, err
	}
	choices.Graph, err = c.chooseGraph(p, d)
	return choices, err
}

// write puts the file in place, whole or not at all.
func (c *initCommand) write(d *dialogue, text []byte) error {
	if _, err := os.Lstat(c.Out); err == nil && !c.Force {
		if c.Yes {
			return usageError("%s exists; name another file with --out, or use --force", c.Out)
		}
		over, err := d.yes(fmt.Sprintf("%s exists. Overwrite it?", c.Out), false)
		if err != nil {
			return err
		}
		if !over {
			return ExitError{ExitFailed, fmt.Errorf("%s was left as it is", c.Out)}
		}
	}
	if err := config.ReplaceFile(c.Out, 0o644, text); err != nil {
		return fmt.Errorf("write %s: %w", c.Out, err)
	}
	return nil
}

// try lets the user mend what does not work, or keep it all the same. again is
// true if the questions must be asked again.
func (c *initCommand) try(p *Program, d *dialogue, what string, test func(context.Context) (string,
	error)) (again bool, err error) {
	if c.NoTest {
		return false, nil
	}
	d.say("  trying %s …", what)
	ctx, cancel := context.WithTimeout(p.Ctx, tryFor)
	defer cancel()
	found, err := test(ctx)
	switch {
	case err == nil:
		d.say("  works: %s", found)
		return false, nil
	case p.Ctx.Err() != nil:
		return false, p.Ctx.Err()
	case c.Yes:
		return false, ExitError{ExitFailed,
			fmt.Errorf("%s does not work, nothing was written (--no-test writes all the same): %w", what, err)}
	}
	d.say("  does not work: %v", err)
	keep, err := d.yes("Keep it all the same?", false)
	return !keep, err
}

// next says what to run.
func (c *initCommand) next(out io.Writer, choices setup.Choices) error {
	file := c.Out
	if wd, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(wd, c.Out); err == nil && filepath.IsLocal(short) {
			file = short
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s is written. Next:\n\n", c.Out)
	fetch := "  triplemesh setup"
	if choices.Model != nil {
		fetch += " --no-model --no-model-server"
	}
	fmt.Fprintf(&b, "%-62s # what is missing here, once\n", fetch)
	if m := choices.Model; m != nil && m.KeyVariable != "" && m.KeyVariable != setup.ModelKeyVariable {
		fmt.Fprintf(&b, "  export %s=\"$%s\"\n", setup.ModelKeyVariable, m.KeyVariable)
	}
	g := choices.Graph
	if g.KeyVariable != "" && g.KeyVariable != setup.WeaviateKeyVariable {
		fmt.Fprintf(&b, "  export %s=\"$%s\"\n", setup.WeaviateKeyVariable, g.KeyVariable)
	}
	fmt.Fprintf(&b, "%-62s # the services, until Ctrl-C\n", "  triplemesh --config "+setup.QuoteShell(file)+" up")
	load := "  triplemesh kg load " + g.Name
	if g.Path != "" {
		load += " " + setup.QuoteShell(g.Path)
	}
	fmt.Fprintf(&b, "%-62s # in another terminal\n  triplemesh ask --kg %s \"…\"\n", load, g.Name)
	_, err := out.Write(b.Bytes())
	return err
}

// samplePath is where the bundled facts are.
func samplePath() (string, error) {
	exe, _ := os.Executable()
	wd, _ := os.Getwd()
	for _, start := range []string{filepath.Dir(exe), wd} {
		if checkout := setup.FindCheckout(start); checkout != "" {
			return filepath.Join(checkout, "examples", "wikidata", "triples.tsv.gz"), nil
		}
	}
	return "", errors.New("the sample is in triplemesh's own checkout (examples/wikidata/triples.tsv.gz), which is " +
		"not around: choose a file")
}

// tryFile reads the beginning of a file.
func tryFile(path string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		format, err := load.ProbeFile(ctx, path)
		return "facts as " + format, err
	}
}

// dialogue asks questions, a line each. A silent one takes the defaults.
type dialogue struct {
	in     io.Reader
	out    io.Writer
	silent bool
}

// errNoMore is the end of input in the middle of the questions.
var errNoMore = usageError("the input ended before the last question, nothing was written: for scripts there are " +
	"--yes and flags (triplemesh init --help)")

func (d *dialogue) say(format string, args ...any) {
	fmt.Fprintf(d.out, format+"\n", args...)
}

// ask asks for a word. An empty line takes the default.
func (d *dialogue) ask(question, otherwise string) (string, error) {
	if d.silent {
		return otherwise, nil
	}
	if otherwise != "" {
		question += " [" + otherwise + "]"
	}
	fmt.Fprintf(d.out, "%s: ", question)
	line, err := d.line()
	if err != nil {
		return "", err
	}
	if line == "" {
		return otherwise, nil
	}
	return line, nil
}

// must asks until the answer is fit.
func (d *dialogue) must(question, otherwise string, fit func(string) error) (string, error) {
	for {
		answer, err := d.ask(question, otherwise)
		if err != nil {
			return "", err
		}
		err = fit(answer)
		if err == nil {
			return answer, nil
		}
		if d.silent {
			return "", ExitError{ExitUsage, err}
		}
		d.say("  %v", err)
	}
}

// choose asks for one of several, by its number or its name.
func (d *dialogue) choose(question string, names, about []string) (string, error) {
	if d.silent {
		return names[0], nil
	}
	d.say("%s", question)
	for i, name := range names {
		d.say("  %d  %-9s %s", i+1, name, about[i])
	}
	return d.must("Number or name", "1", func(answer string) error {
		if matchName(names, answer) == "" {
			return fmt.Errorf("%q is none of them%s", answer, didYouMean(answer, names))
		}
		return nil
	})
}

// matchName returns the one of the names that an answer means; empty where it means none.
func matchName(names []string, answer string) string {
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(names) {
		return names[n-1]
	}
	for _, name := range names {
		if strings.EqualFold(name, answer) {
			return name
		}
	}
	return ""
}

func (d *dialogue) yes(question string, otherwise bool) (bool, error) {
	hint := "no"
	if otherwise {
		hint = "yes"
	}
	answer, err := d.must(question+" yes or no", hint, func(answer string) error {
		if _, ok := truth[strings.ToLower(answer)]; !ok {
			return errors.New("yes or no")
		}
		return nil
	})
	return truth[strings.ToLower(answer)], err
}

var truth = map[string]bool{"yes": true, "y": true, "no": false, "n": false}

// longestLine bounds what is read for an answer, in bytes.
const longestLine = 4096

// line reads up to a line feed and no further: what follows is for the next question.
func (d *dialogue) line() (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < longestLine; {
		n, err := d.in.Read(one)
		if n == 1 {
			if one[0] == '\n' {
				return strings.TrimSpace(string(line)), nil
			}
			line = append(line, one[0])
		}
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return strings.TrimSpace(string(line)), nil
		}
		if errors.Is(err, io.EOF) {
			return "", errNoMore
		}
		if err != nil {
			return "", fmt.Errorf("read the answer: %w", err)
		}
	}
	return "", usageError("the answer is longer than %d bytes", longestLine)
}
