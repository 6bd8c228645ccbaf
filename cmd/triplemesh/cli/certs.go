package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/mtls/authority"
	"github.com/triplemesh/triplemesh/internal/wholefile"
)

// certsCommand is a small certificate authority in a directory:
//
//	DIR/ca.crt, ca.key             the authority
//	DIR/STAGE/tls.crt, tls.key     a stage's certificate
//	DIR/STAGE/ca.crt               whom the stage believes
//
// A stage's files have the names that Kubernetes and cert-manager give them, so
// that such a directory can be a Secret as it is.
type certsCommand struct {
	Init  certsInit  `cmd:"" help:"Make an authority."`
	Issue certsIssue `cmd:"" help:"Make the certificate of a stage, or of all."`
	Show  certsShow  `cmd:"" help:"Show whom certificates name, who issued them, and when they expire."`
}

const (
	caFile    = "ca.crt"
	caKeyFile = "ca.key"
	certFile  = "tls.crt"
	keyFile   = "tls.key"
)

// withCerts adds the settings that secure a mesh by the certificates of a
// directory to those that are set; they win.
func withCerts(set map[string]string, dir string) map[string]string {
	all := map[string]string{
		"server.tls.cert_file": filepath.Join(dir, "{stage}", certFile),
		"server.tls.key_file":  filepath.Join(dir, "{stage}", keyFile),
		"server.tls.ca_file":   filepath.Join(dir, caFile),
	}
	maps.Copy(all, set)
	return all
}

type certsInit struct {
	Dir         string `required:"" type:"path" placeholder:"DIR" help:"Where the authority and its certificates are kept."`
	TrustDomain string `default:"triplemesh.local" placeholder:"NAME" help:"What the mesh is called: all identities are of it. (default: ${default})"`
	Rotate      bool   `help:"Let a new authority take over from the one that is there: both are believed until the next time."`
	Force       bool   `help:"Replace the authority that is there: nothing it issued is believed any more."`
	JSON        bool   `name:"json" help:"Print the authority as JSON."`
}

// Help is printed below the flags.
func (certsInit) Help() string {
	return `The authority's key is not protected: it is for trying out, and for who has no other authority. With --rotate, running services believe both authorities within a second; then triplemesh certs issue --all --force renews their certificates.`
}

// Run makes an authority, and tells the stages that are there to believe it.
func (c *certsInit) Run(p *program) error {
	path := filepath.Join(c.Dir, caFile)
	before, err := os.ReadFile(path)
	switch {
	case c.Force && c.Rotate:
		return exitError{exitUsage, errors.New("--force and --rotate: one forgets the old authority, the other believes it; choose one")}
	case err == nil && !c.Force && !c.Rotate:
		return exitError{exitUsage, fmt.Errorf("there is an authority in %s: --rotate lets a new one take over, --force forgets it", c.Dir)}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case c.Rotate && err != nil:
		return exitError{exitUsage, fmt.Errorf("there is no authority in %s to take over from: leave out --rotate", c.Dir)}
	}
	made, pair, err := authority.New(c.TrustDomain)
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("--trust-domain: %w", err)}
	}
	believed := slices.Clone(made.Cert())
	if c.Rotate {
		old, err := authority.First(before)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		believed = append(believed, old...)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	// Whom to believe comes first, everywhere, before anything is issued.
	if err := wholefile.WriteBytes(filepath.Join(c.Dir, caKeyFile), 0o600, pair.Key); err != nil {
		return err
	}
	stages, err := filepath.Glob(filepath.Join(c.Dir, "*", caFile))
	if err != nil {
		return err
	}
	for _, file := range append(stages, path) {
		if err := wholefile.WriteBytes(file, 0o644, believed); err != nil {
			return err
		}
	}
	return p.showCertificates([]string{path}, c.JSON)
}

type certsIssue struct {
	Dir   string        `required:"" type:"path" placeholder:"DIR" help:"Where triplemesh certs init made the authority."`
	Stage []string      `placeholder:"NAME" help:"Whom the certificate names. May be given again."`
	All   bool          `help:"Make those of all six stages."`
	DNS   []string      `name:"dns" placeholder:"HOST" help:"Another name or IP address of the server, beside localhost, for clients that go by host names. May be given again."`
	For   time.Duration `default:"2160h" placeholder:"TIME" help:"How long it is valid, such as 24h. (default: ${default}, 90 days)"`
	Force bool          `help:"Replace certificates that are there."`
	JSON  bool          `name:"json" help:"Print the certificates as JSON."`
}

// Run makes the certificates asked for; none where one of them would replace
// another.
func (c *certsIssue) Run(p *program) error {
	names := slices.Clone(c.Stage)
	if c.All {
		names = append(names, mesh.StageNames()...)
	}
	if len(names) == 0 {
		return exitError{exitUsage, errors.New("whose? name a stage with --stage, or --all")}
	}
	issuer, believed, err := openAuthority(c.Dir)
	if err != nil {
		return err
	}
	pairs := make([]authority.Pair, len(names))
	for i, name := range names {
		path := filepath.Join(c.Dir, name, certFile)
		if _, err := os.Stat(path); err == nil && !c.Force {
			return exitError{exitUsage, fmt.Errorf("%s is there: --force replaces it", path)}
		}
		if pairs[i], err = issuer.Issue(authority.Request{
			Stage: name, To: time.Now().Add(c.For),
			Hosts: append([]string{"localhost", name, "127.0.0.1", "::1"}, c.DNS...),
		}); err != nil {
			return exitError{exitUsage, err}
		}
	}
	var files []string
	for i, name := range names {
		dir := filepath.Join(c.Dir, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		files = append(files, filepath.Join(dir, certFile))
		if err := errors.Join(
			wholefile.WriteBytes(filepath.Join(dir, caFile), 0o644, believed),
			wholefile.WriteBytes(filepath.Join(dir, keyFile), 0o600, pairs[i].Key),
			wholefile.WriteBytes(files[i], 0o644, pairs[i].Cert),
		); err != nil {
			return err
		}
	}
	return p.showCertificates(files, c.JSON)
}

// openAuthority reads the authority of a directory, and all that are believed
// there.
func openAuthority(dir string) (issuer *authority.Authority, believed []byte, err error) {
	if believed, err = os.ReadFile(filepath.Join(dir, caFile)); errors.Is(err, os.ErrNotExist) {
		return nil, nil, exitError{exitUsage, fmt.Errorf("there is no authority in %s: `triplemesh certs init --dir %s` makes one", dir, dir)}
	}
	if err != nil {
		return nil, nil, err
	}
	key, err := os.ReadFile(filepath.Join(dir, caKeyFile))
	if err != nil {
		return nil, nil, err
	}
	if issuer, err = authority.Parse(authority.Pair{Cert: believed, Key: key}); err != nil {
		return nil, nil, fmt.Errorf("%s and %s in %s: %w", caFile, caKeyFile, dir, err)
	}
	return issuer, believed, nil
}
