package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/wholefile"
)

type tokenCommand struct {
	New    tokenNewCommand    `cmd:"" help:"Make a token, print it once, and put what it is known by into a file."`
	List   tokenListCommand   `cmd:"" help:"List the tokens of a file."`
	Revoke tokenRevokeCommand `cmd:"" help:"Take tokens out of a file."`
}

// Help is printed below the flags.
func (tokenCommand) Help() string {
	return `A mesh takes the tokens of a file with --set server.auth.tokens_file=FILE. It reads the file again when it changes: a new token counts, and a revoked one ends to count, within a second or two.`
}

// tokensFile is the file that the subcommands work on.
type tokensFile struct {
	File string `required:"" type:"path" placeholder:"FILE" env:"TRIPLEMESH_TOKENS_FILE" help:"File of tokens. (TRIPLEMESH_TOKENS_FILE)"`
}

// alone runs a change of the file while nobody else changes one beside it. The
// lock is the directory's, since the file is replaced; it ends with the process.
func (f tokensFile) alone(change func() error) error {
	dir, err := os.Open(filepath.Dir(f.File))
	if err != nil {
		return exitError{exitUsage, err}
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

// read is what the file holds; nothing where there is none and there need not
// be one.
func (f tokensFile) read(must bool) (auth.Tokens, error) {
	data, err := os.ReadFile(f.File)
	if errors.Is(err, os.ErrNotExist) && !must {
		return auth.Tokens{}, nil
	}
	if err != nil {
		return auth.Tokens{}, exitError{exitUsage, fmt.Errorf("%w: `triplemesh token new --file %s` makes one", err, f.File)}
	}
	tokens, err := auth.ParseTokens(data)
	if err != nil {
		return auth.Tokens{}, exitError{exitUsage, fmt.Errorf("%s: %w", f.File, err)}
	}
	return tokens, nil
}

// write replaces the file as a whole: a mesh that reads it sees the old tokens
// or the new ones.
func (f tokensFile) write(tokens auth.Tokens) error {
	data, err := tokens.Format()
	if err == nil {
		// What cannot be read back would lock everybody out.
		_, err = auth.ParseTokens(data)
	}
	if err != nil {
		return exitError{exitUsage, err}
	}
	mode := os.FileMode(0o600) // names of tenants are for whoever runs the mesh
	if info, err := os.Stat(f.File); err == nil {
		mode = info.Mode().Perm()
	}
	return wholefile.WriteBytes(f.File, mode, data)
}

type tokenNewCommand struct {
	tokensFile
	Name    string   `required:"" placeholder:"NAME" help:"Who will have it; the audit log says so."`
	Tenant  string   `required:"" placeholder:"NAME" help:"Whose knowledge graphs and runs it is for."`
	Scope   []string `required:"" placeholder:"SCOPE" help:"What it is for: ask, kg:read, kg:write or admin. May be given again."`
	Expires string   `placeholder:"WHEN" help:"When it ends: a date (2027-01-31), or a time from now (90d, 12h). Never, if left out."`
	JSON    bool     `name:"json" help:"Print it with the rest of the entry as JSON."`
}

// madeToken is an entry with its token.
type madeToken struct {
	Secret string `json:"token"`
	auth.Token
}

// Run makes a token. On standard output is nothing but it.
func (c *tokenNewCommand) Run(p *program) error { return c.alone(func() error { return c.make(p) }) }

func (c *tokenNewCommand) make(p *program) error {
	tokens, err := c.read(false)
	if err != nil {
		return err
	}
	made := madeToken{auth.NewToken(), auth.Token{Name: c.Name, Tenant: c.Tenant, Scopes: c.Scope}}
	made.SHA256 = auth.Hash(made.Secret)
	if made.Expires, err = parseEnd(c.Expires, time.Now()); err != nil {
		return exitError{exitUsage, fmt.Errorf("--expires: %w", err)}
	}
	if slices.ContainsFunc(tokens.Tokens, func(t auth.Token) bool { return t.Name == c.Name }) {
		return exitError{exitUsage, fmt.Errorf("%s has a token named %q: take another name, or `triplemesh token revoke %s --file %s` first", c.File, c.Name, c.Name, c.File)}
	}
	tokens.Tokens = append(tokens.Tokens, made.Token)
	if err := c.write(tokens); err != nil {
		return err
	}
	if c.JSON {
		return printIndented(p.stdout, made)
	}
	fmt.Fprintf(p.stderr, "triplemesh: %s of tenant %s may %s, %s; this is the only time that the token is shown\n",
		show.Line(c.Name, 80), c.Tenant, strings.Join(c.Scope, " "), ends(made.Expires))
	_, err = fmt.Fprintln(p.stdout, made.Secret)
	return err
}

type tokenListCommand struct {
	tokensFile
	JSON bool `name:"json" help:"Print them as JSON."`
}

// Run lists tokens, as far as they can be known.
func (c *tokenListCommand) Run(p *program) error {
	tokens, err := c.read(true)
	if err != nil {
		return err
	}
	if c.JSON {
		return printIndented(p.stdout, append([]auth.Token{}, tokens.Tokens...))
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, t := range tokens.Tokens {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", show.Line(t.Name, 40), t.Tenant, strings.Join(t.Scopes, " "), ends(t.Expires))
	}
	return w.Flush()
}

type tokenRevokeCommand struct {
	tokensFile
	Names []string `arg:"" name:"name" help:"Tokens to revoke, by name."`
}

// Run takes tokens out of the file: all that are named, or none where one is
// not there.
func (c *tokenRevokeCommand) Run(p *program) error {
	return c.alone(func() error { return c.revoke(p) })
}

func (c *tokenRevokeCommand) revoke(p *program) error {
	tokens, err := c.read(true)
	if err != nil {
		return err
	}
	for _, name := range c.Names {
		i := slices.IndexFunc(tokens.Tokens, func(t auth.Token) bool { return t.Name == name })
		if i < 0 {
			return exitError{exitUsage, fmt.Errorf("%s has no token named %q: `triplemesh token list --file %s` shows those it has", c.File, name, c.File)}
		}
		tokens.Tokens = slices.Delete(tokens.Tokens, i, i+1)
	}
	if err := c.write(tokens); err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "triplemesh: revoked: %s\n", show.Line(strings.Join(c.Names, ", "), 200))
	return nil
}
