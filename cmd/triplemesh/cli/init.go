package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/home"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/initial"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/probe"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/wholefile"
)

type initCommand struct {
	Yes    bool   `short:"y" help:"Ask nothing: take what the flags say, and the defaults for all else. What does not work ends it."`
	Out    string `type:"path" default:"triplemesh.yaml" placeholder:"FILE" help:"Configuration file to write. (default: triplemesh.yaml)"`
	Force  bool   `help:"Write over a file that is there."`
	NoTest bool   `help:"Try neither the model nor the knowledge graph."`

	ModelURL string `group:"Model" name:"model-url" placeholder:"URL" help:"An OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1; otherwise the bundled model."`
	Model    string `group:"Model" placeholder:"NAME" help:"Model, as the endpoint knows it; otherwise the first that it lists."`
	KeyEnv   string `group:"Model" name:"key-env" placeholder:"VARIABLE" help:"Environment variable that holds the endpoint's key. The key itself is written nowhere."`

	Graph string `group:"Knowledge graph" enum:",sample,file,neo4j,weaviate" default:"" placeholder:"KIND" help:"sample (facts of Wikidata), file, neo4j or weaviate."`
	Name  string `group:"Knowledge graph" placeholder:"NAME" help:"Name for the knowledge graph: a lower-case word."`
	File  string `group:"Knowledge graph" type:"path" placeholder:"FILE" help:"File of facts: .tsv, .csv, .nt, .nq, .ttl, .jsonld, …"`

	URI          string `group:"Knowledge graph" name:"neo4j-uri" placeholder:"URI" help:"Neo4j server, such as bolt://127.0.0.1:7687."`
	Database     string `group:"Knowledge graph" name:"neo4j-database" placeholder:"NAME" help:"Its database; otherwise the user's own."`
	User         string `group:"Knowledge graph" name:"neo4j-user" placeholder:"NAME" help:"Who reads it."`
	PasswordFile string `group:"Knowledge graph" name:"neo4j-password-file" type:"path" placeholder:"FILE" help:"File with nothing but the password."`

	HTTP           string `group:"Knowledge graph" name:"weaviate-http" placeholder:"URL" help:"Weaviate's HTTP address, such as http://127.0.0.1:8080."`
	GRPC           string `group:"Knowledge graph" name:"weaviate-grpc" placeholder:"ADDR" help:"Weaviate's gRPC address, such as 127.0.0.1:50051."`
	WeaviateKeyEnv string `group:"Knowledge graph" name:"weaviate-key-env" placeholder:"VARIABLE" help:"Environment variable that holds Weaviate's key."`
}

// Help is printed below the flags.
func (initCommand) Help() string {
	return "Asks which model is to answer and which knowledge graph it is to read, tries both, and writes a commented configuration. Exit codes: 0 written; 1 something does not work, or nothing was written; 2 wrong usage."
}

// tryFor is how long a model or a server may take to answer a few words: a local
// model may have to be read from disk first.
const tryFor = 2 * time.Minute

// Run asks, tries, writes, and says what to do next.
func (c *initCommand) Run(p *program) error {
	d := &dialogue{in: p.stdin, out: p.stdout, silent: c.Yes}
	choices, err := c.choose(p, d)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := initial.Write(&text, choices); err != nil {
		return err
	}
	if err := c.write(d, text.Bytes()); err != nil {
		return err
	}
	// A file that cannot be loaded would be a fault of this command.
	_, err = mesh.ReadPlan(mesh.Options{Home: p.home, Sources: config.Sources{File: c.Out}})
	if err != nil {
		return err
	}
	return c.next(p.stdout, choices)
}

func (c *initCommand) choose(p *program, d *dialogue) (choices initial.Choices, err error) {
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
			return exitError{exitUsage, fmt.Errorf("%s is there already: name another file with --out, or use --force", c.Out)}
		}
		over, err := d.yes(fmt.Sprintf("%s is there already. Write over it?", c.Out), false)
		if err != nil {
			return err
		}
		if !over {
			return exitError{exitFailed, fmt.Errorf("%s was left as it is", c.Out)}
		}
	}
	if err := wholefile.WriteBytes(c.Out, 0o644, text); err != nil {
		return fmt.Errorf("write %s: %w", c.Out, err)
	}
	return nil
}

// try lets the user mend what does not work, or keep it all the same. again is
// true where the questions are to be asked anew.
func (c *initCommand) try(p *program, d *dialogue, what string, test func(context.Context) (string, error)) (again bool, err error) {
	if c.NoTest {
		return false, nil
	}
	d.say("  trying %s …", what)
	ctx, cancel := context.WithTimeout(p.ctx, tryFor)
	defer cancel()
	found, err := test(ctx)
	switch {
	case err == nil:
		d.say("  works: %s", found)
		return false, nil
	case p.ctx.Err() != nil:
		return false, p.ctx.Err()
	case c.Yes:
		return false, exitError{exitFailed, fmt.Errorf("%s does not work, nothing was written (--no-test writes all the same): %w", what, err)}
	}
	d.say("  does not work: %v", err)
	keep, err := d.yes("Keep it all the same?", false)
	return !keep, err
}

// next says what to run.
func (c *initCommand) next(out io.Writer, choices initial.Choices) error {
	file := c.Out
	if wd, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(wd, c.Out); err == nil && filepath.IsLocal(short) {
			file = short
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s is written. Next:\n\n", c.Out)
	setup := "  triplemesh setup"
	if choices.Model != nil {
		setup += " --no-model --no-model-server"
	}
	fmt.Fprintf(&b, "%-62s # what is missing here, once\n", setup)
	if m := choices.Model; m != nil && m.KeyVariable != "" && m.KeyVariable != initial.ModelKey {
		fmt.Fprintf(&b, "  export %s=\"$%s\"\n", initial.ModelKey, m.KeyVariable)
	}
	g := choices.Graph
	if g.KeyVariable != "" && g.KeyVariable != initial.WeaviateKey {
		fmt.Fprintf(&b, "  export %s=\"$%s\"\n", initial.WeaviateKey, g.KeyVariable)
	}
	fmt.Fprintf(&b, "%-62s # the services, until Ctrl-C\n", "  triplemesh --config "+quoted(file)+" up")
	load := "  triplemesh kg load " + g.Name
	if g.Path != "" {
		load += " " + quoted(g.Path)
	}
	fmt.Fprintf(&b, "%-62s # in another terminal\n  triplemesh ask --kg %s \"…\"\n", load, g.Name)
	_, err := out.Write(b.Bytes())
	return err
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./@%+=:,-]+$`)

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + string(bytes.ReplaceAll([]byte(word), []byte("'"), []byte(`'\''`))) + "'"
}

// samplePath is where the bundled facts are.
func samplePath() (string, error) {
	exe, _ := os.Executable()
	wd, _ := os.Getwd()
	for _, start := range []string{filepath.Dir(exe), wd} {
		if checkout := home.Checkout(start); checkout != "" {
			return filepath.Join(checkout, "examples", "wikidata", "triples.tsv.gz"), nil
		}
	}
	return "", errors.New("the sample is in triplemesh's own checkout (examples/wikidata/triples.tsv.gz), which is not around: choose a file")
}

// tryFile reads the beginning of a file.
func tryFile(path string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		format, err := probe.File(ctx, path)
		return "facts as " + format, err
	}
}
