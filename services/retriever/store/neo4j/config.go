package neo4j

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Config names the graphs that are read in place.
type Config struct {
	// Graphs are those that Neo4j keeps, by the names of their knowledge graphs.
	// All others are kept as files.
	Graphs map[string]Graph `koanf:"graphs"`
}

// Graph is a graph in a Neo4j 5 and how it is understood.
type Graph struct {
	// URI is the server's: bolt://HOST:7687, or neo4j:// for a cluster. With +s the connection is
	// encrypted, with +ssc with a self-signed certificate: neo4j+s://.
	URI string `koanf:"uri"`
	// Database is its name; empty means the user's own.
	Database string `koanf:"database"`
	// User is the database user, PasswordFile a file with nothing but the password; both are
	// empty if the server requires no authentication.
	User         string `koanf:"user"`
	PasswordFile string `koanf:"password_file"`
	// Tenant owns the knowledge graph; empty means "default".
	Tenant string `koanf:"tenant"`

	// NameProperty is the property that names a node; empty means "name". A
	// node without it is a mediator.
	NameProperty string `koanf:"name_property"`
	// NameProperties are those of some labels: {Film: title}.
	NameProperties map[string]string `koanf:"name_properties"`
	// AliasProperties are properties with further names.
	AliasProperties []string `koanf:"alias_properties"`
	// Labels are those of the nodes that count, Types those of the relationships; empty means all.
	Labels []string `koanf:"labels"`
	Types  []string `koanf:"types"`
	// StartProperty and EndProperty of a relationship say when it holds; empty
	// takes "start" and "end".
	StartProperty string `koanf:"start_property"`
	EndProperty   string `koanf:"end_property"`
	// IncludeProperties makes triples of nodes' other properties and of their labels too.
	IncludeProperties bool `koanf:"include_properties"`

	// Vectors says where the vectors of triples are: "embedded", the default, is
	// among this retriever's files, "neo4j" in nodes and an index of their own
	// beside the graph, which takes a user who may write.
	Vectors string `koanf:"vectors"`

	// StatementTimeout ends a statement that takes longer; 0 means 10 s.
	StatementTimeout time.Duration `koanf:"statement_timeout"`
	// MaxConnections is the number of connections that may be open at once; 0 means 16.
	MaxConnections int `koanf:"max_connections"`
}

// Where vectors are.
const (
	vectorsInFiles = "embedded"
	vectorsInNeo4j = "neo4j"
)

func (g Graph) withDefaults() Graph {
	for _, s := range []struct {
		to   *string
		text string
	}{{&g.Tenant, auth.DefaultTenant().String()}, {&g.NameProperty, "name"}, {&g.StartProperty, "start"},
		{&g.EndProperty, "end"}, {&g.Vectors, vectorsInFiles}} {
		if *s.to == "" {
			*s.to = s.text
		}
	}
	g.StatementTimeout = cmp.Or(g.StatementTimeout, 10*time.Second)
	g.MaxConnections = cmp.Or(g.MaxConnections, 16)
	return g
}

// Validate names the first setting that cannot be.
func (c Config) Validate() error {
	for _, kg := range slices.Sorted(maps.Keys(c.Graphs)) {
		if err := store.CheckName(kg); err != nil {
			return fmt.Errorf("graphs.%s: %w", kg, err)
		}
		if err := c.Graphs[kg].withDefaults().validate(); err != nil {
			return fmt.Errorf("graphs.%s.%w", kg, err)
		}
	}
	return nil
}

func (g Graph) validate() error {
	u, err := url.Parse(g.URI)
	schemes := []string{"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"}
	switch {
	case err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme):
		// What was given may hold a password.
		return fmt.Errorf("uri: want one of %s:// and a host, as in neo4j+s://graph.example.org:7687",
			strings.Join(schemes, "://, "))
	case u.User != nil:
		return errors.New("uri names a user or a password: these are user and password_file")
	case (g.User == "") != (g.PasswordFile == ""):
		return errors.New("user and password_file belong together: both or none is set")
	case g.Vectors != vectorsInFiles && g.Vectors != vectorsInNeo4j:
		return fmt.Errorf("vectors is %q; want %q or %q", g.Vectors, vectorsInFiles, vectorsInNeo4j)
	case g.StatementTimeout < 0 || g.StatementTimeout > time.Hour:
		return fmt.Errorf("statement_timeout is %v; want up to an hour", g.StatementTimeout)
	case g.MaxConnections < 0 || g.MaxConnections > 10_000:
		return fmt.Errorf("max_connections is %d; want 1 to 10000", g.MaxConnections)
	}
	if _, err := auth.ParseTenant(g.Tenant); err != nil {
		return fmt.Errorf("tenant: %w", err)
	}
	for setting, values := range map[string][]string{
		"labels": g.Labels, "types": g.Types, "alias_properties": g.AliasProperties,
		"name_property": {g.NameProperty}, "start_property": {g.StartProperty}, "end_property": {g.EndProperty},
		"name_properties": slices.Concat(slices.Collect(maps.Keys(g.NameProperties)),
			slices.Collect(maps.Values(g.NameProperties))),
	} {
		for _, v := range values {
			if err := checkSymbol(v); err != nil {
				return fmt.Errorf("%s: %w", setting, err)
			}
		}
	}
	return nil
}

// checkSymbol refuses what no label, type or property is called.
func checkSymbol(name string) error {
	switch {
	case name == "":
		return errors.New("a name is empty")
	case !utf8.ValidString(name) || len(name) > 1000:
		return fmt.Errorf("%.40q is not UTF-8 or longer than 1000 bytes", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%.40q has a control character", name)
	}
	return nil
}

// password reads the file each time a driver is made.
func (g Graph) password() (string, error) {
	if g.PasswordFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(g.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("read password_file: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// source is how the graph is read when it is indexed.
func (g Graph) source(password string) neo4j.Config {
	return neo4j.Config{
		URI: g.URI, User: g.User, Password: password, Database: g.Database,
		Labels: g.Labels, Types: g.Types, Name: g.NameProperty, Names: g.NameProperties, Aliases: g.AliasProperties,
		Properties: g.IncludeProperties, Start: g.StartProperty, End: g.EndProperty,
	}
}
