package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/mtls"
)

// certsCommand is a small certificate authority (CA) in a directory:
//
//	DIR/ca.crt, ca.key             the CA
//	DIR/STAGE/tls.crt, tls.key     a stage's certificate
//	DIR/STAGE/ca.crt               the CAs that the stage trusts
//
// A stage's files have the names that Kubernetes and cert-manager give them, so
// that such a directory can be used as a Secret unchanged.
type certsCommand struct {
	Init  certsInit  `cmd:"" help:"Create a CA."`
	Issue certsIssue `cmd:"" help:"Issue the certificate of a stage, or of all stages."`
	Show  certsShow  `cmd:"" help:"Show the identity, issuer and expiry of certificates."`
}

const (
	caFile    = "ca.crt"
	caKeyFile = "ca.key"
	certFile  = "tls.crt"
	keyFile   = "tls.key"
)

// withCerts returns set with the TLS settings for the certificates of a directory; set wins.
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
	Dir         string `required:"" type:"path" placeholder:"DIR" help:"${certs_init_dir}"`
	TrustDomain string `default:"triplemesh.local" placeholder:"NAME" help:"${certs_init_trust_domain}"`
	Rotate      bool   `help:"${certs_init_rotate}"`
	Force       bool   `help:"Replace the existing CA; certificates it issued are no longer trusted."`
	JSON        bool   `name:"json" help:"Print the authority as JSON."`
}

func (certsInit) Help() string {
	return "The CA's key is stored unencrypted: use it for trials, or if you have no other CA. With " +
		"--rotate, running services trust both CAs within a second; then triplemesh certs issue --all " +
		"--force renews their certificates."
}

// Run creates a CA and adds it to the trusted CAs of existing stage directories.
func (c *certsInit) Run(p *Program) error {
	path := filepath.Join(c.Dir, caFile)
	before, err := os.ReadFile(path)
	switch {
	case c.Force && c.Rotate:
		return usageError("--force and --rotate exclude each other: one discards the old CA, the other keeps " +
			"trusting it")
	case err == nil && !c.Force && !c.Rotate:
		return usageError("%s has a CA already; use --rotate to replace it gradually, --force to discard it", c.Dir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case c.Rotate && err != nil:
		return usageError("%s has no CA to rotate; remove --rotate", c.Dir)
	}
	made, pair, err := mtls.NewAuthority(c.TrustDomain)
	if err != nil {
		return usageError("--trust-domain: %w", err)
	}
	believed := slices.Clone(made.Cert())
	if c.Rotate {
		old, err := mtls.FirstCertificate(before)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		believed = append(believed, old...)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	// The trusted CAs are distributed before any certificate is issued.
	if err := config.ReplaceFile(filepath.Join(c.Dir, caKeyFile), 0o600, pair.Key); err != nil {
		return err
	}
	stages, err := filepath.Glob(filepath.Join(c.Dir, "*", caFile))
	if err != nil {
		return err
	}
	for _, file := range append(stages, path) {
		if err := config.ReplaceFile(file, 0o644, believed); err != nil {
			return err
		}
	}
	return p.showCertificates([]string{path}, c.JSON)
}

type certsIssue struct {
	Dir   string        `required:"" type:"path" placeholder:"DIR" help:"${certs_issue_dir}"`
	Stage []string      `placeholder:"NAME" help:"Stage that the certificate identifies. Repeatable."`
	All   bool          `help:"Issue certificates for all six stages."`
	DNS   []string      `name:"dns" placeholder:"HOST" help:"${certs_issue_dns}"`
	For   time.Duration `default:"2160h" placeholder:"TIME" help:"${certs_issue_for}"`
	Force bool          `help:"Replace existing certificates."`
	JSON  bool          `name:"json" help:"Print the certificates as JSON."`
}

// Run issues the certificates, or none if one of them exists and --force is not set.
func (c *certsIssue) Run(p *Program) error {
	names := slices.Clone(c.Stage)
	if c.All {
		names = append(names, mesh.StageNames()...)
	}
	if len(names) == 0 {
		return usageError("no stage named; use --stage NAME or --all")
	}
	issuer, believed, err := openAuthority(c.Dir)
	if err != nil {
		return err
	}
	pairs := make([]mtls.KeyPair, len(names))
	for i, name := range names {
		path := filepath.Join(c.Dir, name, certFile)
		if _, err := os.Stat(path); err == nil && !c.Force {
			return usageError("%s exists; replace it with --force", path)
		}
		if pairs[i], err = issuer.Issue(mtls.CertificateRequest{
			Stage: name, To: time.Now().Add(c.For),
			Hosts: append([]string{"localhost", name, "127.0.0.1", "::1"}, c.DNS...),
		}); err != nil {
			return ExitError{ExitUsage, err}
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
			config.ReplaceFile(filepath.Join(dir, caFile), 0o644, believed),
			config.ReplaceFile(filepath.Join(dir, keyFile), 0o600, pairs[i].Key),
			config.ReplaceFile(files[i], 0o644, pairs[i].Cert),
		); err != nil {
			return err
		}
	}
	return p.showCertificates(files, c.JSON)
}

// openAuthority reads the CA of a directory and the trusted CAs.
func openAuthority(dir string) (issuer *mtls.Authority, believed []byte, err error) {
	if believed, err = os.ReadFile(filepath.Join(dir, caFile)); errors.Is(err, os.ErrNotExist) {
		return nil, nil, usageError("%s has no CA; create one with `triplemesh certs init --dir %s`", dir, dir)
	}
	if err != nil {
		return nil, nil, err
	}
	key, err := os.ReadFile(filepath.Join(dir, caKeyFile))
	if err != nil {
		return nil, nil, err
	}
	if issuer, err = mtls.ParseAuthority(mtls.KeyPair{Cert: believed, Key: key}); err != nil {
		return nil, nil, fmt.Errorf("%s and %s in %s: %w", caFile, caKeyFile, dir, err)
	}
	return issuer, believed, nil
}

type certsShow struct {
	Files []string `arg:"" name:"file" type:"existingfile" help:"Certificates, PEM."`
	JSON  bool     `name:"json" help:"Print them as JSON."`
}

func (certsShow) Help() string {
	return "With --ca FILE it also verifies each certificate against these CAs; the exit code is 1 if one is not " +
		"trusted."
}

// Run shows certificates and fails if one is not trusted.
func (c *certsShow) Run(p *Program) error { return p.showCertificates(c.Files, c.JSON) }

func (p *Program) showCertificates(files []string, asJSON bool) error {
	roots, err := mtls.ReadRoots(p.Access.CA)
	if err != nil {
		return usageError("--ca: %w", err)
	}
	var all []mtls.Certificate
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		described, err := mtls.Describe(file, data, roots)
		if err != nil {
			return ExitError{ExitUsage, err}
		}
		all = append(all, described...)
	}
	if asJSON {
		err = printIndented(p.Stdout, all)
	} else {
		err = p.printCertificates(all)
	}
	refused := func(c mtls.Certificate) bool { return c.Believed != nil && !*c.Believed }
	if err == nil && slices.ContainsFunc(all, refused) {
		return ExitError{ExitFailed, errSilent}
	}
	return err
}

func (p *Program) printCertificates(all []mtls.Certificate) error {
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "identity\texpires\t\tissuer\thosts\tfile")
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", show.Line(c.Identity, 100), c.NotAfter.Local().Format(time.DateTime),
			c.ValidNow(time.Now()), show.Line(c.Issuer, 60), show.Line(strings.Join(c.Hosts, " "), 60), c.File)
		if c.Why != "" {
			fmt.Fprintf(w, "untrusted: %s\n", show.Line(c.Why, 200))
		}
	}
	return w.Flush()
}
