package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

type tokenCommand struct {
	New    tokenNewCommand    `cmd:"" help:"Create a token, print it once, and add its hash to a file."`
	List   tokenListCommand   `cmd:"" help:"List the tokens of a file."`
	Revoke tokenRevokeCommand `cmd:"" help:"Remove tokens from a file."`
}

func (tokenCommand) Help() string {
	return "A mesh accepts the tokens of a file with --set server.auth.tokens_file=FILE. It reloads the file when it " +
		"changes: new and revoked tokens take effect within two seconds."
}

// tokensFile is the file of tokens that the subcommands read and change.
type tokensFile struct {
	File string `required:"" type:"path" placeholder:"FILE" env:"TRIPLEMESH_TOKENS_FILE" help:"${tokens_file_file}"`
}

// withLock runs change under an exclusive lock on the directory, since the file itself is
// replaced. The lock ends with the process.
func (f tokensFile) withLock(change func() error) error {
	dir, err := os.Open(filepath.Dir(f.File))
	if err != nil {
		return ExitError{ExitUsage, err}
	}
	defer dir.Close()
	for {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", dir.Name(), err)
	}
	return change()
}

// load returns the tokens of the file. A missing file is an error if must is set, otherwise empty.
func (f tokensFile) load(must bool) (auth.Tokens, error) {
	data, err := os.ReadFile(f.File)
	if errors.Is(err, os.ErrNotExist) && !must {
		return auth.Tokens{}, nil
	}
	if err != nil {
		return auth.Tokens{}, usageError("%w; create it with `triplemesh token new --file %s`", err, f.File)
	}
	tokens, err := auth.ParseTokens(data)
	if err != nil {
		return auth.Tokens{}, usageError("%s: %w", f.File, err)
	}
	return tokens, nil
}

// write replaces the file atomically.
func (f tokensFile) write(tokens auth.Tokens) error {
	data, err := tokens.Format()
	if err == nil {
		// A file that does not parse would lock out every caller.
		_, err = auth.ParseTokens(data)
	}
	if err != nil {
		return ExitError{ExitUsage, err}
	}
	mode := os.FileMode(0o600) // tenant names are private to the operator
	if info, err := os.Stat(f.File); err == nil {
		mode = info.Mode().Perm()
	}
	return config.ReplaceFile(f.File, mode, data)
}

type tokenNewCommand struct {
	tokensFile
	Name    string   `required:"" placeholder:"NAME" help:"Name of the holder, as written to the audit log."`
	Tenant  string   `required:"" placeholder:"NAME" help:"Tenant whose knowledge graphs and runs it may access."`
	Scope   []string `required:"" placeholder:"SCOPE" help:"${token_new_scope}"`
	Expires string   `placeholder:"WHEN" help:"${token_new_expires}"`
	JSON    bool     `name:"json" help:"Print the entry with the token as JSON."`
}

// madeToken is an entry with its secret.
type madeToken struct {
	Secret string `json:"token"`
	auth.Token
}

// Run creates a token and prints only the token to standard output.
func (c *tokenNewCommand) Run(p *Program) error { return c.withLock(func() error { return c.make(p) }) }

func (c *tokenNewCommand) make(p *Program) error {
	tokens, err := c.load(false)
	if err != nil {
		return err
	}
	made := madeToken{auth.NewToken(), auth.Token{Name: c.Name, Tenant: c.Tenant, Scopes: c.Scope}}
	made.SHA256 = auth.Hash(made.Secret)
	if made.Expires, err = auth.ParseExpiry(c.Expires, time.Now()); err != nil {
		return usageError("--expires: %w", err)
	}
	if slices.ContainsFunc(tokens.Tokens, func(t auth.Token) bool { return t.Name == c.Name }) {
		return usageError("%s has a token named %q; choose another name, or run `triplemesh token revoke %s --file "+
			"%s` first",
			c.File, c.Name, c.Name, c.File)
	}
	tokens.Tokens = append(tokens.Tokens, made.Token)
	if err := c.write(tokens); err != nil {
		return err
	}
	if c.JSON {
		return printIndented(p.Stdout, made)
	}
	fmt.Fprintf(p.Stderr, "triplemesh: created %s of tenant %s with scopes %s, valid %s; the token is shown only "+
		"once\n",
		show.Line(c.Name, 80), c.Tenant, strings.Join(c.Scope, " "), ends(made.Expires))
	_, err = fmt.Fprintln(p.Stdout, made.Secret)
	return err
}

type tokenListCommand struct {
	tokensFile
	JSON bool `name:"json" help:"Print them as JSON."`
}

func (c *tokenListCommand) Run(p *Program) error {
	tokens, err := c.load(true)
	if err != nil {
		return err
	}
	if c.JSON {
		return printIndented(p.Stdout, append([]auth.Token{}, tokens.Tokens...))
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, t := range tokens.Tokens {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", show.Line(t.Name, 40), t.Tenant, strings.Join(t.Scopes, " "),
			ends(t.Expires))
	}
	return w.Flush()
}

type tokenRevokeCommand struct {
	tokensFile
	Names []string `arg:"" name:"name" help:"Tokens to revoke, by name."`
}

// Run removes all named tokens, or none if one does not exist.
func (c *tokenRevokeCommand) Run(p *Program) error {
	return c.withLock(func() error { return c.revoke(p) })
}

func (c *tokenRevokeCommand) revoke(p *Program) error {
	tokens, err := c.load(true)
	if err != nil {
		return err
	}
	for _, name := range c.Names {
		i := slices.IndexFunc(tokens.Tokens, func(t auth.Token) bool { return t.Name == name })
		if i < 0 {
			return usageError("%s has no token named %q; `triplemesh token list --file %s` lists its tokens",
				c.File, name, c.File)
		}
		tokens.Tokens = slices.Delete(tokens.Tokens, i, i+1)
	}
	if err := c.write(tokens); err != nil {
		return err
	}
	fmt.Fprintf(p.Stderr, "triplemesh: revoked: %s\n", show.Line(strings.Join(c.Names, ", "), 200))
	return nil
}

// ends returns the expiry of a token as text.
func ends(at time.Time) string {
	switch {
	case at.IsZero():
		return "indefinitely"
	case !at.After(time.Now()):
		return "expired " + at.Local().Format(time.DateTime)
	}
	return "until " + at.Local().Format(time.DateTime)
}

// AccessFlags are the TLS and token flags of calls.
type AccessFlags struct {
	TokenFlags
	TLS  bool   `name:"tls" env:"TRIPLEMESH_TLS" help:"${access_tls}"`
	CA   string `name:"ca" type:"path" placeholder:"FILE" env:"TRIPLEMESH_CA" help:"${access_ca}"`
	Cert string `name:"cert" type:"path" placeholder:"FILE" env:"TRIPLEMESH_CERT" help:"${access_cert}"`
	Key  string `name:"key" type:"path" placeholder:"FILE" env:"TRIPLEMESH_KEY" help:"${access_key}"`
}

// usesTLS reports whether servers are called over TLS.
func (a AccessFlags) usesTLS() bool { return a.TLS || a.CA != "" || a.Cert != "" || a.Key != "" }

func (a AccessFlags) credentials(stage string) (credentials.TransportCredentials, error) {
	if !a.usesTLS() {
		return insecure.NewCredentials(), nil
	}
	secure, err := mtls.Visitor{CAFile: a.CA, CertFile: a.Cert, KeyFile: a.Key}.Credentials(stage)
	if err != nil {
		return nil, usageError("--ca, --cert, --key: %w", err)
	}
	return secure, nil
}

// Dial opens a connection to a stage with the credentials of the flags. The caller closes it.
func (p *Program) Dial(addr, stage string, tel *telemetry.Telemetry) (*grpc.ClientConn, error) {
	cfg := client.DefaultConfig(addr)
	cfg.Throttle = !p.Unthrottled
	var err error
	if cfg.Credentials, err = p.Access.credentials(stage); err != nil {
		return nil, err
	}
	conn, err := client.Dial(p.Access.configure(cfg), tel)
	if err != nil {
		return nil, ExitError{ExitUsage, err}
	}
	return conn, nil
}

// explainRefusal explains a failed probe; it returns "" if no server seems to listen.
func (a AccessFlags) explainRefusal(err error) string {
	text := err.Error()
	switch {
	case errors.Is(err, mesh.ErrNotServing):
		return text
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		return "it does not use TLS; remove --tls, --ca and --cert"
	case strings.Contains(text, "certificate required"):
		return "it requires a client certificate; set --cert and --key"
	case strings.Contains(text, "tls: bad certificate"):
		return "it rejected the certificate of --cert; see its log"
	case strings.Contains(text, "authentication handshake failed: "):
		_, why, _ := strings.Cut(text, "authentication handshake failed: ")
		return strings.TrimRight(why, `"`)
	case !a.usesTLS() && strings.Contains(text, "server preface"):
		return "it may require TLS; set --ca to its CA, or --tls if this machine trusts the CA"
	}
	return ""
}

// unreachable returns the error for a server that failed its probe, with the likely reason.
func (p *Program) unreachable(addr, stage string, err error) error {
	if code := new(ExitError); errors.As(err, code) {
		return err
	}
	if err := checkAddress(addr); err != nil {
		return ExitError{ExitUsage, err}
	}
	if speaksHTTP(p.Ctx, addr) {
		return ExitError{exitUnreachable,
			fmt.Errorf("connect to the %s at %s: this is an HTTP port; use the gRPC port, 127.0.0.1:9090 "+
				"by default (`triplemesh doctor` shows the ports)", stage, addr)}
	}
	if why := p.Access.explainRefusal(err); why != "" {
		return ExitError{exitUnreachable, fmt.Errorf("connect to the %s at %s: %s", stage, addr, why)}
	}
	return ExitError{exitUnreachable,
		fmt.Errorf("no %s answers at %s: start a mesh with `triplemesh up` and try again, or use --local to do it in "+
			"this process", stage, addr)}
}

// TokenFlags identify the caller to servers that require a token.
type TokenFlags struct {
	Token         string `name:"token" placeholder:"TOKEN" env:"TRIPLEMESH_TOKEN" help:"${token_token}"`
	TokenFile     string `name:"token-file" type:"path" placeholder:"FILE" help:"File whose first line is that token."`
	InsecureToken bool   `name:"insecure-token" help:"${token_insecure_token}"`
}

// configure adds the token to the configuration of a connection.
func (f TokenFlags) configure(cfg client.Config) client.Config {
	cfg.InsecureToken = f.InsecureToken
	if cfg.TokenFile = f.TokenFile; cfg.TokenFile == "" {
		cfg.Token = f.Token
	}
	return cfg
}

// checkAddress returns an error if addr is not host:port.
func checkAddress(addr string) error {
	if _, rest, isURL := strings.Cut(addr, "://"); isURL {
		return fmt.Errorf("%q is a URL; give only host and port, such as %s", addr,
			cmp.Or(strings.TrimRight(rest, "/"), "127.0.0.1:9090"))
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("%q is not an address; give host and port, such as %s:9090", addr,
			cmp.Or(strings.Trim(addr, ":"), "127.0.0.1"))
	}
	return nil
}

// speaksHTTP reports whether an HTTP/1 server listens at addr.
func speaksHTTP(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	// A transport of net/http logs what a gRPC server writes before it is asked.
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok && conn.SetDeadline(deadline) != nil {
		return false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://"+addr+"/", nil)
	if err != nil || req.Write(conn) != nil {
		return false
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return false
	}
	// Go's TLS servers answer plain HTTP with 400.
	return resp.Body.Close() == nil && resp.StatusCode != http.StatusBadRequest
}

// isListening reports whether anything listens at an address.
func isListening(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	return err == nil && conn.Close() == nil
}
