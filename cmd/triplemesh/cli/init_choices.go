package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/lab/profile"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store/weaviate"
)

// chooseModel asks for a model and tries it. nil is the bundled one.
func (c *initCommand) chooseModel(p *Program, d *dialogue) (*setup.ModelChoice, error) {
	if c.ModelURL == "" {
		answer, err := d.choose("Which model is to answer?", []string{"bundled", "endpoint"}, []string{
			"Qwen2.5-Coder-1.5B on this machine, which needs no account (1.1 GB to fetch)",
			"an OpenAI-compatible one: OpenAI, vLLM, Ollama, llama-server …",
		})
		if err != nil || matchName([]string{"bundled", "endpoint"}, answer) == "bundled" {
			return nil, err
		}
	}
	for {
		m, key, err := c.askModel(p, d)
		if err != nil {
			return nil, err
		}
		again, err := c.try(p, d, "the model", func(ctx context.Context) (string, error) {
			can, err := profile.Probe(ctx, profile.Endpoint{BaseURL: m.URL, Model: m.Name, APIKey: key})
			m.Tested, m.Schema, m.LogProbs = err == nil, can.Schema, can.LogProbs
			return fmt.Sprintf("a few words in %s; JSON schema: %s; probabilities of tokens: %s", seconds(can.Took),
				yesNo(can.Schema), yesNo(can.LogProbs)), err
		})
		if err != nil || !again {
			return m, err
		}
		c.ModelURL, c.Model, c.KeyEnv = "", "", ""
	}
}

func (c *initCommand) askModel(p *Program, d *dialogue) (m *setup.ModelChoice, key string, err error) {
	m = &setup.ModelChoice{URL: c.ModelURL, Name: c.Model, KeyVariable: c.KeyEnv}
	if m.URL == "" {
		m.URL, err = d.must("Its address, with /v1 where it has one", envOr(p.env, "OPENAI_BASE_URL",
			"http://127.0.0.1:11434/v1"), webAddress)
	} else {
		err = webAddress(m.URL)
	}
	if err != nil {
		return nil, "", err
	}
	if m.KeyVariable, err = askVariable(p, d, m.KeyVariable, setup.ModelKeyVariable); err != nil {
		return nil, "", err
	}
	if key, err = secret(p.env, m.KeyVariable); err != nil {
		return nil, "", err
	}
	if m.Name == "" {
		m.Name, err = c.askModelName(p, d, profile.Endpoint{BaseURL: m.URL, APIKey: key})
	}
	return m, key, err
}

// askVariable asks which environment variable holds a key, unless that was said
// already. The usual one is proposed where it is set.
func askVariable(p *Program, d *dialogue, said, usual string) (string, error) {
	if said != "" {
		return said, nil
	}
	const none = "none"
	otherwise := none
	if envOr(p.env, usual, "") != "" {
		otherwise = usual
	}
	name, err := d.must("Environment variable that holds its key, or none", otherwise, func(name string) error {
		if strings.EqualFold(name, none) {
			return nil
		}
		_, err := secret(p.env, name)
		return err
	})
	if strings.EqualFold(name, none) {
		return "", err
	}
	return name, err
}

func (c *initCommand) askModelName(p *Program, d *dialogue, e profile.Endpoint) (string, error) {
	ctx, cancel := context.WithTimeout(p.Ctx, probeTimeout)
	defer cancel()
	models, _ := profile.ListModels(ctx, e) // what is wrong with it, the test will tell
	first := ""
	if len(models) > 0 {
		first = models[0]
		const most = 10
		d.say("  it has %s", show.Line(strings.Join(models[:min(most, len(models))], ", "), 300))
	}
	return d.must("Name of the model at the endpoint", first, func(name string) error {
		if name == "" {
			return errors.New("name the model (--model): the endpoint lists none")
		}
		return nil
	})
}

// chooseGraph asks for a knowledge graph and tries it.
func (c *initCommand) chooseGraph(p *Program, d *dialogue) (g setup.GraphChoice, err error) {
	for {
		if g, err = c.askGraph(p, d); err != nil {
			return g, err
		}
		what, test := "the file", tryFile(g.Path)
		switch g.Kind {
		case setup.Neo4jGraph:
			what, test = "Neo4j", func(ctx context.Context) (string, error) {
				password, err := passwordIn(g.PasswordFile)
				if err != nil {
					return "", err
				}
				return probeNeo4j(ctx, g, password)
			}
		case setup.WeaviateGraph:
			what, test = "Weaviate", func(ctx context.Context) (string, error) {
				key, err := secret(p.env, g.KeyVariable)
				if err != nil {
					return "", err
				}
				version, err := weaviate.Probe(ctx, g.HTTP, g.GRPC, key)
				return "version " + show.Line(version, 40), err
			}
		}
		again, err := c.try(p, d, what, test)
		if err != nil || !again {
			return g, err
		}
		c.Graph, c.File, c.URI, c.User, c.PasswordFile, c.HTTP, c.GRPC, c.WeaviateKeyEnv = "", "", "",
			"", "", "", "", ""
	}
}

// probeNeo4j asks a server how much a graph holds. Without a password there is no user either.
func probeNeo4j(ctx context.Context, g setup.GraphChoice, password string) (string, error) {
	if password == "" {
		g.User = ""
	}
	size, err := neo4j.Probe(ctx, neo4j.Config{URI: g.URI, User: g.User, Password: password, Database: g.Database,
		Timeout: 10 * time.Second})
	if err != nil {
		return "", err
	}
	if size.Relationships == 0 {
		return "", fmt.Errorf("it holds %d nodes and no relationships, which would be the facts: name another database",
			size.Nodes)
	}
	return fmt.Sprintf("%d nodes and %d relationships", size.Nodes, size.Relationships), nil
}

// kind returns what the flags say of the kind of knowledge graph; empty where they say nothing.
func (c *initCommand) kind() setup.GraphKind {
	switch {
	case c.Graph != "":
		return setup.GraphKind(c.Graph)
	case c.File != "":
		return setup.FileGraph
	case c.URI != "":
		return setup.Neo4jGraph
	case c.HTTP != "" || c.GRPC != "":
		return setup.WeaviateGraph
	}
	return ""
}

func (c *initCommand) askGraph(p *Program, d *dialogue) (setup.GraphChoice, error) {
	g := setup.GraphChoice{Kind: c.kind(), Name: c.Name}
	if g.Kind == "" {
		var names []string
		for _, kind := range setup.GraphKinds {
			names = append(names, string(kind))
		}
		answer, err := d.choose("Which knowledge graph is to be asked?", names, []string{
			"facts of Wikidata, to try things out", "a file of yours: TSV, CSV, RDF, JSON-LD, a dump of Wikidata",
			"a graph that a Neo4j keeps", "a new one, kept in a Weaviate cluster",
		})
		if err != nil {
			return g, err
		}
		g.Kind = setup.GraphKind(matchName(names, answer))
	}
	var err error
	switch g.Kind {
	case setup.SampleGraph:
		g.Path, err = samplePath()
	case setup.FileGraph:
		err = c.askFile(d, &g)
	case setup.Neo4jGraph:
		err = c.askNeo4j(d, &g)
	case setup.WeaviateGraph:
		err = c.askWeaviate(p, d, &g)
	}
	if err != nil {
		return g, err
	}
	if g.Name == "" && g.Kind == setup.SampleGraph {
		g.Name = "wikidata"
		return g, nil
	}
	if g.Name != "" {
		return g, graphName(g.Name)
	}
	g.Name, err = d.must("Name for the knowledge graph", nameFor(g), graphName)
	return g, err
}

func (c *initCommand) askFile(d *dialogue, g *setup.GraphChoice) (err error) {
	if g.Path = c.File; g.Path == "" {
		g.Path, err = d.must("File", "", func(path string) error {
			if path == "" {
				return errors.New("name a file (--file)")
			}
			return load.CheckTextFile(path, false)
		})
	}
	if err == nil {
		g.Path, err = filepath.Abs(g.Path)
	}
	return err
}

func (c *initCommand) askNeo4j(d *dialogue, g *setup.GraphChoice) (err error) {
	g.URI, g.Database, g.User, g.PasswordFile = c.URI, c.Database, c.User, c.PasswordFile
	if g.URI == "" {
		if g.URI, err = d.ask("Its address", "bolt://127.0.0.1:7687"); err != nil {
			return err
		}
	}
	if u, err := url.Parse(g.URI); err != nil || u.User != nil {
		return usageError("a Neo4j server is named without user and password: those are asked for on their own")
	}
	if g.User == "" && g.PasswordFile == "" && !c.Yes {
		if g.User, err = d.ask("User, or none where it asks for none", "neo4j"); err != nil {
			return err
		}
		if strings.EqualFold(g.User, "none") {
			g.User = ""
			return nil
		}
	}
	if g.User != "" && g.PasswordFile == "" {
		g.PasswordFile, err = d.must("File with nothing but the password", "", func(path string) error {
			_, err := passwordIn(path)
			return err
		})
	}
	if err == nil && g.PasswordFile != "" {
		g.PasswordFile, err = filepath.Abs(g.PasswordFile)
	}
	if (g.User == "") != (g.PasswordFile == "") {
		err = errors.Join(err, usageError("--neo4j-user and --neo4j-password-file belong together"))
	}
	return err
}

func (c *initCommand) askWeaviate(p *Program, d *dialogue, g *setup.GraphChoice) (err error) {
	g.HTTP, g.GRPC, g.KeyVariable = c.HTTP, c.GRPC, c.WeaviateKeyEnv
	if g.HTTP == "" {
		g.HTTP, err = d.must("Its HTTP address", "http://127.0.0.1:8080", webAddress)
	} else {
		err = webAddress(g.HTTP)
	}
	if err != nil {
		return err
	}
	if g.GRPC == "" {
		host := "127.0.0.1"
		if u, err := url.Parse(g.HTTP); err == nil {
			host = u.Hostname()
		}
		if g.GRPC, err = d.ask("Its gRPC address", host+":50051"); err != nil {
			return err
		}
	}
	if g.KeyVariable, err = askVariable(p, d, g.KeyVariable, setup.WeaviateKeyVariable); err == nil {
		_, err = secret(p.env, g.KeyVariable)
	}
	return err
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// secret reads an environment variable; no name is no secret.
func secret(env []string, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if !variable.MatchString(name) {
		// It may be the key itself, which must not be repeated.
		return "", usageError("want the name of an environment variable, such as OPENAI_API_KEY, and not the key " +
			"itself: that is written nowhere")
	}
	value := envOr(env, name, "")
	if value == "" {
		return "", usageError("the environment variable %s is not set: export %s=… and run this again", name, name)
	}
	return value, nil
}

// passwordIn reads a file with nothing but a password.
func passwordIn(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}

func webAddress(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return usageError("the address must be of the form http://HOST:PORT/v1, without user and password")
	}
	return nil
}

func graphName(name string) error {
	if !goodName.MatchString(name) {
		return usageError(
			"a knowledge graph's name is a lower-case letter and then letters, digits, - or _, 63 at most")
	}
	return nil
}

var notInNames = regexp.MustCompile(`[^a-z0-9_-]+`)

// nameFor makes a name out of where a knowledge graph comes from.
func nameFor(g setup.GraphChoice) string {
	base, _, _ := strings.Cut(filepath.Base(g.Path), ".")
	if g.Path == "" {
		base = cmp.Or(g.Database, "mine")
	}
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(base), "-"), "-0123456789_")
	if !goodName.MatchString(name) {
		return "mine"
	}
	return name
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
