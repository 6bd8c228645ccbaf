package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
)

// sampleLines is how many statements of a file are looked at.
const sampleLines = 200

// DetectFormat reads the beginning of a file of triples. It returns the format that its name tells.
func DetectFormat(ctx context.Context, path string) (format string, err error) {
	if err := errors.Join(CheckTextFile(path, false), CheckNotEmpty(path)); err != nil {
		return "", err
	}
	kind, ok := source.FormatByName(path)
	if !ok {
		return "", fmt.Errorf("%s: its name tells no format: rename it (.tsv, .csv, .nt, .nq, .ttl, .jsonld, .json "+
			"of Wikidata, also with .gz, .bz2 or .zst), or name the format: triplemesh kg load NAME FILE --format tsv",
			path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	statements, bad, err := load.Probe(ctx, filepath.Base(path), kind, f, sampleLines)
	// The cause is text only: a line error in the chain would be printed in place of this one.
	switch {
	case statements > 0: // a bad line now and then is passed over
		return kind.String(), nil
	case bad != nil:
		return "", fmt.Errorf("%s holds no facts as %s: %s", path, kind, bad.Error())
	case err != nil:
		return "", fmt.Errorf("%s holds no facts as %s: %s", path, kind, err.Error())
	}
	return "", fmt.Errorf("%s holds no facts as %s: was it downloaded whole?", path, kind)
}

// CheckNotEmpty tells that there is nothing in a file.
func CheckNotEmpty(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return fmt.Errorf("%s is empty: was it downloaded whole?", path)
	}
	return nil
}

// CheckTextFile looks at the first bytes of a file, and tells what is no text of facts:
// a folder, a web page, a program or a picture. A named format
// takes what is packed otherwise than the name says.
func CheckTextFile(path string, named bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: there is no such file%s", path, FindSibling(path))
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder: name the files in it, or have facts proposed out of its texts by "+
			"`triplemesh kg propose`", path)
	case !info.Mode().IsRegular():
		return nil // a pipe can be read only once
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := source.Unpack(filepath.Base(path), f)
	if err != nil {
		if named {
			return nil
		}
		return err
	}
	defer plain.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(plain, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return checkText(path, head[:n])
}

// checkText says what else than facts a text is.
func checkText(path string, head []byte) error {
	start := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))))
	for _, page := range []string{"<!doctype html", "<html", "<head", "<script"} {
		if bytes.HasPrefix(start, []byte(page)) {
			return fmt.Errorf("%s is a web page, not facts: download the file itself, not the page that shows it", path)
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return fmt.Errorf("%s is a zip archive: unpack it, and name the files in it", path)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return fmt.Errorf("%s is text in UTF-16: save it in UTF-8", path)
	case bytes.IndexByte(head, 0) >= 0:
		return fmt.Errorf("%s is no text but binary data: name a file of facts, such as .tsv, .csv, .nt or .ttl", path)
	case bytes.HasPrefix(start, []byte("<?xml")):
		return fmt.Errorf("%s is XML, which is not read: make N-Triples or Turtle of it, by `rapper` or `riot`", path)
	}
	// The last character may be cut.
	for cut := range min(utf8.UTFMax, len(head)+1) {
		if utf8.Valid(head[:len(head)-cut]) {
			return nil
		}
	}
	return fmt.Errorf("%s is not in UTF-8: save it so (iconv -f LATIN1 -t UTF-8)", path)
}

// FindSibling asks whether another file of the folder was meant; empty where none is near.
func FindSibling(path string) string {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if near := config.NearestWord(filepath.Base(path), names); near != "" {
		return " (did you mean " + filepath.Join(filepath.Dir(path), near) + "?)"
	}
	return ""
}

// ProbeWeaviate asks a cluster for its version at its HTTP address, and whether its
// gRPC address, host:port, can be reached. key is a secret; empty sends none.
func ProbeWeaviate(ctx context.Context, base, grpc, key string) (version string, err error) {
	base = strings.TrimRight(base, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/meta", nil)
	if err != nil {
		return "", errors.New("the address of Weaviate is not a URL of the form http://HOST:8080")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("connect to %s: %w; is Weaviate running, and is this its HTTP address (port "+
			"8080 as a rule)?", req.URL.Redacted(), errors.Unwrap(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", req.URL.Redacted(), err)
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return "", fmt.Errorf("%s refuses the key (%s): name the environment variable that holds a right one",
			base, resp.Status)
	}
	var meta struct {
		Version string `json:"version"`
	}
	if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &meta) != nil || meta.Version == "" {
		return "", fmt.Errorf("%s answers (%s), but not as Weaviate does: is this its HTTP address?",
			req.URL.Redacted(), resp.Status)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", grpc)
	if err != nil {
		return "", fmt.Errorf("weaviate %s answers over HTTP, but no gRPC server answers at %s (%w): name its gRPC "+
			"address (port 50051 as a rule), and publish that port where it runs in a container", meta.Version, grpc,
			err)
	}
	return meta.Version, conn.Close()
}

// ProbeNeo4j asks a server how much a graph holds. password is a secret; without one
// nobody is said to ask.
func ProbeNeo4j(ctx context.Context, uri, user, password, database string) (string, error) {
	if password == "" {
		user = ""
	}
	size, err := neo4j.Probe(ctx, neo4j.Config{URI: uri, User: user, Password: password, Database: database,
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

// ModelEndpoint is a model endpoint.
type ModelEndpoint struct {
	// BaseURL and Model are as they would be configured.
	BaseURL, Model string
	// APIKey is a secret; empty sends none.
	APIKey string
}

// ModelCapabilities is what an endpoint can do.
type ModelCapabilities struct {
	// Took is the time of a short answer.
	Took time.Duration
	// Schema says that answers can be held to a JSON schema, LogProbs that tokens come with their
	// probabilities. triplemesh does without either, less well.
	Schema, LogProbs bool
	// Models are those that the endpoint lists; empty where it lists none.
	Models []string
}

// ProbeModel has an endpoint answer a few words, and tries what triplemesh makes use of.
func ProbeModel(ctx context.Context, e ModelEndpoint) (ModelCapabilities, error) {
	models, listed := fetchModels(ctx, e, e.BaseURL)
	m := ModelCapabilities{Models: models}
	began := time.Now()
	resp, err := completeOnce(ctx, e, llm.Capabilities{}, llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Content: "Say yes."}}, MaxTokens: 16, TopLogProbs: 1,
	})
	m.Took, m.LogProbs = time.Since(began), len(resp.Tokens) > 0
	switch {
	case errors.Is(err, llm.ErrUnusable): // it answered, if only by thinking
	case err != nil:
		return m, e.explain(ctx, err, models, listed)
	}
	resp, err = completeOnce(ctx, e, llm.Capabilities{JSONSchema: "yes"}, llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Content: "Is water wet?"}}, MaxTokens: 64,
		Schema: &llm.Schema{Name: "verdict", JSON: json.RawMessage(schema)},
	})
	var said struct {
		Wet *bool `json:"wet"`
	}
	m.Schema = err == nil && json.Unmarshal([]byte(resp.Text), &said) == nil && said.Wet != nil
	return m, ctx.Err()
}

const schema = `{"type": "object", "properties": {"wet": {"type": "boolean"}}, ` +
	`"required": ["wet"], "additionalProperties": false}`

// ListModels names the models of an endpoint. It costs nothing there. The error is
// that of an endpoint that cannot be asked; one that lists none has none.
func ListModels(ctx context.Context, e ModelEndpoint) ([]string, error) {
	models, err := fetchModels(ctx, e, e.BaseURL)
	if err == nil && len(models) > 0 && !slices.Contains(models, e.Model) {
		return models, e.unknown(models)
	}
	if err != nil {
		return nil, e.explain(ctx, err, models, err)
	}
	return models, nil
}

// unknown says that an endpoint lists other models. Some take any name all the same.
func (e ModelEndpoint) unknown(models []string) error {
	near := ""
	if n := config.NearestWord(e.Model, models); n != "" {
		near = "; did you mean " + n + "?"
	}
	const most = 12
	shown := strings.Join(models[:min(most, len(models))], ", ")
	if len(models) > most {
		shown += fmt.Sprintf(" and %d more", len(models)-most)
	}
	return &UnknownModelError{fmt.Sprintf("%s has no model %s%s It has %s: set llm.model", e.BaseURL, e.Model,
		sentence(near), shown)}
}

func sentence(question string) string {
	if question == "" {
		return "."
	}
	return question
}

// UnknownModelError is the error of a model that an endpoint does not list.
type UnknownModelError struct{ what string }

// Error implements error.
func (e *UnknownModelError) Error() string { return e.what }

// explain says what is wrong with an endpoint, as far as its list of models tells.
func (e ModelEndpoint) explain(ctx context.Context, err error, models []string, listed error) error {
	base := strings.TrimRight(e.BaseURL, "/")
	if listed != nil && !strings.HasSuffix(base, "/v1") {
		if _, err := fetchModels(ctx, e, base+"/v1"); err == nil {
			return fmt.Errorf("%s is no endpoint, but %s/v1 is: set llm.base_url (OPENAI_BASE_URL) to that",
				e.BaseURL, base)
		}
	}
	var said *llm.Error
	refused := errors.As(err, &said) && (said.Status() == http.StatusUnauthorized ||
		said.Status() == http.StatusForbidden)
	if len(models) > 0 && !slices.Contains(models, e.Model) && !refused {
		return e.unknown(models)
	}
	return err
}

// completeOnce asks once.
func completeOnce(ctx context.Context, e ModelEndpoint, can llm.Capabilities, req llm.Request) (llm.Response, error) {
	cfg := llm.DefaultConfig()
	cfg.BaseURL, cfg.APIKey, cfg.Model, cfg.Capabilities = e.BaseURL, e.APIKey, e.Model, can
	cfg.Retries, cfg.Cache = 0, llm.CacheConfig{}
	client, err := llm.New(cfg, telemetry.Discard())
	if err != nil {
		return llm.Response{}, err
	}
	req.Task, req.Ledger = "probe", llm.NewLedger(nil)
	return client.Complete(ctx, req)
}

// mostModels is how long a list is read, in bytes.
const mostModels = 4 << 20

// fetchModels asks for the models at a base URL.
func fetchModels(ctx context.Context, e ModelEndpoint, base string) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/models", nil)
	if err != nil {
		return nil, errors.New("the model endpoint is not a URL of the form http://HOST:PORT/v1")
	}
	if e.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.APIKey)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no model server answers at %s (%w): is it running? Else set llm.base_url "+
			"(OPENAI_BASE_URL) to where it is", req.URL.Redacted(), errors.Unwrap(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostModels))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the models at %s: %w", req.URL.Redacted(), err)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%s refuses the key (%s): set OPENAI_API_KEY to one that it knows", base, resp.Status)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s: is it an OpenAI-compatible endpoint? Most want /v1 at the end of "+
			"llm.base_url (OPENAI_BASE_URL)", req.URL.Redacted(), resp.Status)
	}
	var all struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &all) != nil {
		return nil, fmt.Errorf("%s answers with something else than a list of models: is it an OpenAI-compatible "+
			"endpoint? Most want /v1 at the end of llm.base_url (OPENAI_BASE_URL)", req.URL.Redacted())
	}
	var names []string
	for _, m := range all.Data {
		names = append(names, m.ID)
	}
	return names, nil
}
