package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/triplemesh/triplemesh/lab/propose"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
	"github.com/triplemesh/triplemesh/services/retriever/source/sparql"
)

// input is a source of a load.
type input struct {
	// name is the file name sent to the retriever.
	name   string
	format retrieverv1.Format
	// open starts reading. Servers are read from this process, so that credentials do not leave it.
	open func(context.Context) (io.ReadCloser, error)
	// columns are those proposed for a CSV file; nil for all else.
	columns *retrieverv1.Columns
}

// input resolves an argument of load: a file, standard input or a server.
func (c *kgLoad) input(arg string, stdin io.Reader, env []string, note func(error)) (input, error) {
	if arg == "-" {
		return input{name: "stdin.tsv", format: formats[c.Format], open: func(context.Context) (io.ReadCloser,
			error) {
			return io.NopCloser(stdin), nil
		}}, nil
	}
	scheme, _, isURL := strings.Cut(arg, "://")
	switch {
	case isURL && (scheme == "sparql+http" || scheme == "sparql+https"):
		return c.sparql(strings.TrimPrefix(arg, "sparql+"), env, note)
	case isURL && (strings.HasPrefix(scheme, "neo4j") || strings.HasPrefix(scheme, "bolt")):
		return c.neo4j(arg, env, note)
	case isURL && !fileThere(arg):
		return input{}, fmt.Errorf("%s: unsupported source; name a file, a Neo4j server (neo4j://…, "+
			"bolt://…) or a SPARQL endpoint (sparql+https://…)", redacted(arg))
	}
	if err := load.CheckTextFile(arg, c.Format != ""); err != nil {
		return input{}, err
	}
	if c.Format == "" && isSheet(arg) {
		return proposals(arg, note)
	}
	return input{name: filepath.Base(arg), format: formats[c.Format], open: func(context.Context) (io.ReadCloser,
		error) {
		return os.Open(arg)
	}}, nil
}

// isSheet reports whether a file was written by kg propose.
func isSheet(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 1<<10)
	n, _ := io.ReadFull(f, head)
	return propose.IsSheet(head[:n])
}

// proposals reads the accepted triples of a sheet written by kg propose. An invalid sheet, or one
// without accepted triples, is rejected before the load starts.
func proposals(path string, note func(error)) (input, error) {
	reviewed, err := accepted(path, io.Discard)
	if err != nil {
		return input{}, err
	}
	if reviewed.Accepted == 0 {
		return input{}, fmt.Errorf("%s: no triple is accepted yet; write y into the first column, or run "+
			"`triplemesh kg review %s`", path, path)
	}
	if left := reviewed.Rejected + reviewed.Open; left > 0 {
		note(fmt.Errorf("%s: %d rejected and %d not reviewed; %d are accepted", path, reviewed.Rejected, reviewed.Open,
			reviewed.Accepted))
	}
	return piped(filepath.Base(path), retrieverv1.Format_FORMAT_TSV, func(_ context.Context, w io.Writer) error {
		_, err := accepted(path, w)
		return err
	}), nil
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// redacted returns a URL without its password.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the address"
	}
	return u.Redacted()
}

// neo4j reads a graph from a Neo4j server.
func (c *kgLoad) neo4j(uri string, env []string, note func(error)) (input, error) {
	if u, err := url.Parse(uri); err != nil || u.User != nil {
		return input{}, errors.New("remove user and password from the Neo4j address; they are read from NEO4J_USER " +
			"and NEO4J_PASSWORD")
	}
	config := neo4j.Config{
		URI: uri, User: envOr(env, "NEO4J_USER", "neo4j"), Password: envOr(env, "NEO4J_PASSWORD", ""),
		Database: c.Database, Names: map[string]string{}, Labels: c.Labels, Types: c.Types, Properties: c.Properties,
		Bad: c.bad(note), Unnamed: func(label string, nodes int, properties []string) {
			note(fmt.Errorf("names of nodes labelled %s (%d); if one of %s names them, add --name-property %s=PROPERTY",
				label, nodes, strings.Join(properties, ", "), label))
		},
	}
	for _, property := range c.NameProperty {
		if label, name, ok := strings.Cut(property, "="); ok {
			config.Names[label] = name
		} else {
			config.Name = property
		}
	}
	if config.Password == "" {
		config.User = ""
	}
	return piped("neo4j.nq", retrieverv1.Format_FORMAT_N_QUADS, func(ctx context.Context, w io.Writer) error {
		out := rdf.NewWriter(w)
		if _, err := neo4j.Read(ctx, config, out); err != nil {
			return err
		}
		return out.Flush()
	}), nil
}

// sparql reads all statements of an endpoint.
func (c *kgLoad) sparql(endpoint string, env []string, note func(error)) (input, error) {
	if u, err := url.Parse(endpoint); err != nil || u.User != nil {
		return input{}, errors.New("remove user and password from the SPARQL endpoint; they are read from " +
			"SPARQL_USER and SPARQL_PASSWORD")
	}
	config := sparql.Config{
		Endpoint: endpoint, User: envOr(env, "SPARQL_USER", ""), Password: envOr(env, "SPARQL_PASSWORD", ""),
		Graph: c.Graph, Where: c.Where, Language: c.Language, Bad: c.bad(note),
	}
	return piped("sparql.nt", retrieverv1.Format_FORMAT_N_TRIPLES, func(ctx context.Context, w io.Writer) error {
		_, err := sparql.Copy(ctx, config, w)
		return err
	}), nil
}

// bad handles records that cannot become triples: an error with --strict, otherwise a note.
func (c *kgLoad) bad(note func(error)) func(error) error {
	return func(err error) error {
		if c.Strict {
			return err
		}
		note(err)
		return nil
	}
}

// piped returns an input of what write writes.
func piped(name string, format retrieverv1.Format, write func(context.Context, io.Writer) error) input {
	return input{name: name, format: format, open: func(ctx context.Context) (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { _ = w.CloseWithError(write(ctx, w)) }()
		return r, nil
	}}
}

func envOr(env []string, name, otherwise string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok && value != "" {
			return value
		}
	}
	return otherwise
}
