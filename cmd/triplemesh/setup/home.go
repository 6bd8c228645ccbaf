package setup

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"text/template"
)

// Home is the pair of directories that triplemesh writes to, as absolute paths that need not exist.
// In a checkout both are below its .cache; an installed binary uses the XDG directories.
// TRIPLEMESH_CACHE and TRIPLEMESH_HOME override either.
type Home struct {
	// Cache holds what `triplemesh setup` fetched and can fetch again.
	Cache string
	// Data holds knowledge graphs and runs, which nothing can bring back.
	Data string
}

// Reports returns the directory of reports that the console shows.
func (h Home) Reports() string { return filepath.Join(h.Data, "reports") }

// HomeOverrides are directories that the user named; empty ones are looked up.
type HomeOverrides struct {
	Cache, Data string
}

// FindHome resolves the home from what the user named, the environment, the checkout around the
// binary or the working directory, and the XDG rules, in that order.
func FindHome(o HomeOverrides) (Home, error) {
	exe, err := os.Executable()
	if err != nil {
		exe = ""
	}
	wd, err := os.Getwd()
	if err != nil {
		wd = ""
	}
	return findHome(o, os.Getenv, filepath.Dir(exe), wd)
}

func findHome(o HomeOverrides, getenv func(string) string, starts ...string) (Home, error) {
	h := Home{
		Cache: firstNonEmpty(o.Cache, getenv("TRIPLEMESH_CACHE")),
		Data:  firstNonEmpty(o.Data, getenv("TRIPLEMESH_HOME")),
	}
	checkout := ""
	for _, start := range starts {
		if checkout = FindCheckout(start); checkout != "" {
			break
		}
	}
	if h.Cache == "" {
		if checkout != "" {
			h.Cache = filepath.Join(checkout, ".cache")
		} else if base := xdg(getenv, "XDG_CACHE_HOME", ".cache"); base != "" {
			h.Cache = filepath.Join(base, "triplemesh")
		}
	}
	if h.Data == "" {
		if checkout != "" {
			h.Data = filepath.Join(checkout, ".cache", "data")
		} else if base := xdg(getenv, "XDG_DATA_HOME", ".local/share"); base != "" {
			h.Data = filepath.Join(base, "triplemesh")
		}
	}
	if h.Cache == "" || h.Data == "" {
		return Home{}, fmt.Errorf("find a place for triplemesh's files: no checkout around and HOME is not set; set " +
			"TRIPLEMESH_CACHE and TRIPLEMESH_HOME")
	}
	var err error
	if h.Cache, err = filepath.Abs(h.Cache); err != nil {
		return Home{}, fmt.Errorf("find the cache directory: %w", err)
	}
	if h.Data, err = filepath.Abs(h.Data); err != nil {
		return Home{}, fmt.Errorf("find the data directory: %w", err)
	}
	return h, nil
}

// FindCheckout returns the triplemesh checkout that dir lies in, or "".
func FindCheckout(dir string) string {
	for dir != "" {
		if isFile(filepath.Join(dir, "go.work")) && isFile(filepath.Join(dir, "cmd", "triplemesh", "go.mod")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	return ""
}

func xdg(getenv func(string) string, name, below string) string {
	if base := getenv(name); filepath.IsAbs(base) {
		return base
	}
	if user := getenv("HOME"); user != "" {
		return filepath.Join(user, below)
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func firstNonEmpty(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// Layout names the files that setup makes below a cache directory.
type Layout struct {
	// Cache is the directory; an absolute path.
	Cache string
}

// EncoderModel returns the ONNX file of all-MiniLM-L6-v2.
func (l Layout) EncoderModel() string { return filepath.Join(l.Cache, "encoder", "model.onnx") }

// EncoderVocab returns the encoder's WordPiece vocabulary.
func (l Layout) EncoderVocab() string { return filepath.Join(l.Cache, "encoder", "vocab.txt") }

// Runtime returns the shared library of ONNX Runtime.
func (l Layout) Runtime() string {
	return filepath.Join(l.Cache, "onnxruntime", "libonnxruntime.so")
}

// Model returns the language model in GGUF.
func (l Layout) Model() string {
	return filepath.Join(l.Cache, "model", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")
}

// Server returns the llama-server that setup built, or a script that runs the prebuilt one.
func (l Layout) Server() string { return filepath.Join(l.Cache, "llama", "llama-server") }

func (l Layout) downloads() string   { return filepath.Join(l.Cache, "downloads") }
func (l Layout) lock() string        { return filepath.Join(l.Cache, "setup.lock") }
func (l Layout) serverDir() string   { return filepath.Join(l.Cache, "llama") }
func (l Layout) prebuilt() string    { return filepath.Join(l.Cache, "llama", "prebuilt") }
func (l Layout) serverStamp() string { return l.Server() + ".json" }

// Choices are what the newcomer chose.
type Choices struct {
	// Model is the endpoint; nil takes the bundled model.
	Model *ModelChoice
	// Graph is the knowledge graph.
	Graph GraphChoice
}

// ModelChoice is a model endpoint.
type ModelChoice struct {
	// URL and Name are as they are configured.
	URL, Name string
	// KeyVariable is the environment variable that holds the key; empty where
	// the endpoint wants none.
	KeyVariable string
	// Tested says that the endpoint was asked, and Schema and LogProbs what it can do.
	Tested, Schema, LogProbs bool
}

// GraphKind is where a knowledge graph comes from.
type GraphKind string

// The kinds.
const (
	SampleGraph   GraphKind = "sample"
	FileGraph     GraphKind = "file"
	Neo4jGraph    GraphKind = "neo4j"
	WeaviateGraph GraphKind = "weaviate"
)

// GraphKinds are all of them, the default first.
var GraphKinds = []GraphKind{SampleGraph, FileGraph, Neo4jGraph, WeaviateGraph}

// GraphChoice is a knowledge graph.
type GraphChoice struct {
	Kind GraphKind
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
	// ModelKeyVariable is where triplemesh looks for a model endpoint's key.
	ModelKeyVariable = "OPENAI_API_KEY"
	// WeaviateKeyVariable is where it looks for Weaviate's.
	WeaviateKeyVariable = "TRIPLEMESH_RETRIEVER_STORE_WEAVIATE_API_KEY"
)

//go:embed triplemesh.yaml.tmpl
var configText string

var configTemplate = template.Must(template.New("triplemesh.yaml").Funcs(template.FuncMap{
	// What Go quotes, YAML reads.
	"quote":       strconv.Quote,
	"modelKey":    func() string { return ModelKeyVariable },
	"weaviateKey": func() string { return WeaviateKeyVariable },
}).Parse(configText))

// WriteConfig writes the configuration.
func WriteConfig(w io.Writer, c Choices) error { return configTemplate.Execute(w, c) }
