package cli

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// accessFlags say how servers are reached that do not take everybody.
type accessFlags struct {
	tokenFlags
	TLS  bool   `name:"tls" env:"TRIPLEMESH_TLS" help:"Call servers over TLS, believing the authorities that this machine believes. Named with --ca already."`
	CA   string `name:"ca" type:"path" placeholder:"FILE" env:"TRIPLEMESH_CA" help:"Call servers over TLS, believing these authorities, PEM. (TRIPLEMESH_CA)"`
	Cert string `name:"cert" type:"path" placeholder:"FILE" env:"TRIPLEMESH_CERT" help:"Certificate to show to servers that want one, PEM. (TRIPLEMESH_CERT)"`
	Key  string `name:"key" type:"path" placeholder:"FILE" env:"TRIPLEMESH_KEY" help:"Its private key, PEM. (TRIPLEMESH_KEY)"`
}

// secure says that servers are called over TLS.
func (a accessFlags) secure() bool { return a.TLS || a.CA != "" || a.Cert != "" || a.Key != "" }

// credentials reach a stage.
func (a accessFlags) credentials(stage string) (credentials.TransportCredentials, error) {
	if !a.secure() {
		return insecure.NewCredentials(), nil
	}
	secure, err := mtls.Visitor{CAFile: a.CA, CertFile: a.Cert, KeyFile: a.Key}.Credentials(stage)
	if err != nil {
		return nil, exitError{exitUsage, fmt.Errorf("--ca, --cert, --key: %w", err)}
	}
	return secure, nil
}

// dial makes a connection to a stage as the flags say. The caller closes it.
func (p *program) dial(addr, stage string, tel *telemetry.Telemetry) (*grpc.ClientConn, error) {
	cfg := client.DefaultConfig(addr)
	cfg.Throttle = !p.heedless
	var err error
	if cfg.Credentials, err = p.access.credentials(stage); err != nil {
		return nil, err
	}
	conn, err := client.Dial(p.access.say(cfg), tel)
	if err != nil {
		return nil, exitError{exitUsage, err}
	}
	return conn, nil
}

// whyNot is what a server that did not answer may have against the caller;
// empty where there seems to be no server at all.
func (a accessFlags) whyNot(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		return "it speaks no TLS: leave out --tls, --ca and --cert"
	case strings.Contains(text, "certificate required"):
		return "it wants a certificate: name one with --cert and --key"
	case strings.Contains(text, "tls: bad certificate"):
		return "it refuses the certificate of --cert: its log says why"
	case strings.Contains(text, "authentication handshake failed: "):
		_, why, _ := strings.Cut(text, "authentication handshake failed: ")
		return strings.TrimRight(why, `"`)
	case !a.secure() && strings.Contains(text, "server preface"):
		return "it may want TLS: name its authority with --ca, or --tls for one that this machine believes"
	}
	return ""
}

// unreachable says that nobody answers, or why nobody does.
func (p *program) unreachable(addr, stage string, err error) error {
	if code := new(exitError); errors.As(err, code) {
		return err
	}
	if err := checkAddress(addr); err != nil {
		return exitError{exitUsage, err}
	}
	if speaksHTTP(p.ctx, addr) {
		return exitError{exitUnreachable, fmt.Errorf("the %s cannot be asked at %s: that is a port for HTTP, and programs call another, 127.0.0.1:9090 as a rule (`triplemesh doctor` shows them)", stage, addr)}
	}
	if why := p.access.whyNot(err); why != "" {
		return exitError{exitUnreachable, fmt.Errorf("the %s at %s cannot be asked: %s", stage, addr, why)}
	}
	return exitError{exitUnreachable, fmt.Errorf("no %s answers at %s: start a mesh with `triplemesh up` and try again, or use --local to do it in this process", stage, addr)}
}
