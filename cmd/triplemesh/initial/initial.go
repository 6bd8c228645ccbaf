// Package initial writes the configuration that a newcomer begins with: short,
// commented, and without any secret.
package initial

import (
	_ "embed"
	"io"
	"strconv"
	"text/template"
)

// Choices are what the newcomer chose.
type Choices struct {
	// Model is the endpoint; nil takes the bundled model.
	Model *Model
	// Graph is the knowledge graph.
	Graph Graph
}

// Model is a model endpoint.
type Model struct {
	// URL and Name are as they are configured.
	URL, Name string
	// KeyVariable is the environment variable that holds the key; empty where
	// the endpoint wants none.
	KeyVariable string
	// Tested says that the endpoint was asked, and Schema and LogProbs what it
	// can do.
	Tested, Schema, LogProbs bool
}

// Kind is where a knowledge graph comes from.
type Kind string

// The kinds.
const (
	Sample   Kind = "sample"
	File     Kind = "file"
	Neo4j    Kind = "neo4j"
	Weaviate Kind = "weaviate"
)

// Kinds are all of them, the one for whoever does not know first.
var Kinds = []Kind{Sample, File, Neo4j, Weaviate}

// Graph is a knowledge graph.
type Graph struct {
	Kind Kind
	// Name is the knowledge graph's.
	Name string
	// Path is the file with the facts, where they are in one.
	Path string

	// URI, Database, User and PasswordFile reach Neo4j.
	URI, Database, User, PasswordFile string
	// HTTP and GRPC reach Weaviate. KeyVariable is the environment variable that
	// holds its key; empty where it wants none.
	HTTP, GRPC, KeyVariable string
}

const (
	// ModelKey is where triplemesh looks for a model endpoint's key.
	ModelKey = "OPENAI_API_KEY"
	// WeaviateKey is where it looks for Weaviate's.
	WeaviateKey = "TRIPLEMESH_RETRIEVER_STORE_WEAVIATE_API_KEY"
)

//go:embed triplemesh.yaml.tmpl
var text string

var page = template.Must(template.New("triplemesh.yaml").Funcs(template.FuncMap{
	// What Go quotes, YAML reads.
	"quote":       strconv.Quote,
	"modelKey":    func() string { return ModelKey },
	"weaviateKey": func() string { return WeaviateKey },
}).Parse(text))

// Write writes the configuration.
func Write(w io.Writer, c Choices) error { return page.Execute(w, c) }
