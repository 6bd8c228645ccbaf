package cli

import (
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/mtls"
)

type certsShow struct {
	Files []string `arg:"" name:"file" type:"existingfile" help:"Certificates, PEM."`
	JSON  bool     `name:"json" help:"Print them as JSON."`
}

// Help is printed below the flags.
func (certsShow) Help() string {
	return "With --ca FILE it says of each certificate, too, whether these authorities issued it and it is valid now; the exit code is 1 where one is not."
}

// Run shows certificates, and fails where one is not believed.
func (c *certsShow) Run(p *program) error { return p.showCertificates(c.Files, c.JSON) }

// certificate is what is to know of one.
type certificate struct {
	File string `json:"file"`
	// Identity is whom it names: a stage, or the trust domain of an authority.
	Identity  string    `json:"identity"`
	Authority bool      `json:"authority"`
	Issuer    string    `json:"issuer"`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
	Hosts     []string  `json:"hosts,omitempty"`
	// Believed says whether the authorities of --ca issued it and it is valid
	// now, and Why why not; nil where none are named.
	Believed *bool  `json:"believed,omitempty"`
	Why      string `json:"why,omitempty"`
}

func (p *program) showCertificates(files []string, asJSON bool) error {
	roots, err := readRoots(p.access.CA)
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("--ca: %w", err)}
	}
	var all []certificate
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		parsed, err := mtls.ParseCertificates(file, data)
		if err != nil {
			return exitError{exitUsage, err}
		}
		for i, c := range parsed {
			all = append(all, describe(file, c, parsed[i+1:], roots))
		}
	}
	if asJSON {
		err = printIndented(p.stdout, all)
	} else {
		err = p.printCertificates(all)
	}
	if err == nil && slices.ContainsFunc(all, func(c certificate) bool { return c.Believed != nil && !*c.Believed }) {
		return exitError{exitFailed, errSilent}
	}
	return err
}

func readRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	parsed, err := mtls.ParseCertificates(file, data)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	for _, c := range parsed {
		roots.AddCert(c)
	}
	return roots, nil
}

func describe(file string, c *x509.Certificate, others []*x509.Certificate, roots *x509.CertPool) certificate {
	d := certificate{
		File: file, Identity: mtls.Holder(c), Authority: c.IsCA, Issuer: c.Issuer.String(),
		NotBefore: c.NotBefore, NotAfter: c.NotAfter, Hosts: slices.Clone(c.DNSNames),
	}
	for _, ip := range c.IPAddresses {
		d.Hosts = append(d.Hosts, ip.String())
	}
	if roots == nil {
		return d
	}
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	for _, other := range others {
		options.Intermediates.AddCert(other)
	}
	_, err := c.Verify(options)
	believed := err == nil
	d.Believed = &believed
	if err != nil {
		d.Why = err.Error()
	}
	return d
}

func (p *program) printCertificates(all []certificate) error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "identity\texpires\t\tissuer\thosts\tfile")
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", show.Line(c.Identity, 100), c.NotAfter.Local().Format(time.DateTime),
			validNow(c, time.Now()), show.Line(c.Issuer, 60), show.Line(strings.Join(c.Hosts, " "), 60), c.File)
		if c.Why != "" {
			fmt.Fprintf(w, "  not believed: %s\n", show.Line(c.Why, 200))
		}
	}
	return w.Flush()
}

// validNow says how a certificate stands to the present.
func validNow(c certificate, now time.Time) string {
	left := c.NotAfter.Sub(now)
	switch {
	case now.Before(c.NotBefore):
		return "not valid yet"
	case left <= 0:
		return "expired"
	case left < 48*time.Hour:
		return "in " + left.Round(time.Minute).String()
	}
	return fmt.Sprintf("in %d days", int(left.Hours()/24))
}
