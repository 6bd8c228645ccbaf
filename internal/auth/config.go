package auth

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Modes of Config.
const (
	// ModeAuto asks callers who they are as soon as it is configured how they
	// can say so.
	ModeAuto = ""
	// ModeOn asks them even so, for stages that only other stages call, by
	// certificates.
	ModeOn = "on"
	// ModeOff asks nobody.
	ModeOff = "off"
)

// Config says how callers prove who they are. The zero Config asks nobody: all
// act for the tenant "default" and may do everything.
type Config struct {
	// Mode is ModeAuto, ModeOn or ModeOff.
	Mode string `koanf:"mode" help:"on or off; empty for on as soon as tokens, jwt or a mesh token is configured"`
	// TokensFile holds the hashes of static tokens, as `triplemesh token new`
	// writes them. It is read again when it changes.
	TokensFile string `koanf:"tokens_file" help:"file of static tokens, as triplemesh token new writes it"`
	// JWT says whose signed tokens count.
	JWT JWTConfig `koanf:"jwt"`
	// MeshTokenFile holds secrets, one a line, by which stages know each other
	// where there is no mTLS. All count; the first is the one that a stage
	// sends, so that a secret can be changed without a moment of refusals: add
	// it below, everywhere, then move it to the top. It is read again when it
	// changes.
	MeshTokenFile string `koanf:"mesh_token_file" help:"file of secrets by which stages know each other, where there is no mTLS"`
	// InsecureMeshToken lets a stage send that secret over plain connections
	// beyond its own machine.
	InsecureMeshToken bool `koanf:"insecure_mesh_token" help:"send the mesh token over plain connections to other machines too"`
	// MeshToken is such a secret for stages in one process; it is never written
	// down.
	MeshToken string `koanf:"-"`
	// OpenReflection lets everybody see which services there are.
	OpenReflection bool `koanf:"open_reflection" help:"let everybody list the services, by gRPC reflection"`
}

// JWTConfig says whose signed tokens count. With an empty Issuer none do.
type JWTConfig struct {
	// Issuer must be the token's "iss".
	Issuer string `koanf:"issuer" help:"who signs the tokens: their iss"`
	// JWKSURL is where the issuer's public keys are.
	JWKSURL string `koanf:"jwks_url" help:"where the issuer's public keys are, https"`
	// InsecureJWKS allows a JWKSURL that is not https beyond this machine.
	// Whoever sits between can then sign tokens.
	InsecureJWKS bool `koanf:"insecure_jwks" help:"take keys over plain http from other machines too"`
	// Audience must be among the token's "aud".
	Audience string `koanf:"audience" help:"whom the tokens are for: one of their aud"`
	// TenantClaim is the claim that holds the tenant's name.
	TenantClaim string `koanf:"tenant_claim" help:"claim that names the tenant"`
	// ScopeClaim is the claim that holds the scopes: text with spaces between
	// them, or a list.
	ScopeClaim string `koanf:"scope_claim" help:"claim that holds the scopes"`
	// Algorithms are those that count, of RS*, PS*, ES* and EdDSA.
	Algorithms []string `koanf:"algorithms" help:"signature algorithms that count"`
	// Refresh is the age at which keys are fetched anew.
	Refresh time.Duration `koanf:"refresh" help:"age at which keys are fetched anew"`
	// MaxStale is the age at which keys that could not be fetched anew count no
	// longer.
	MaxStale time.Duration `koanf:"max_stale" help:"age at which keys that cannot be fetched anew count no longer"`
	// Leeway is by how much clocks may differ.
	Leeway time.Duration `koanf:"leeway" help:"by how much clocks may differ"`
}

// asymmetric are the algorithms by which a key that checks a signature cannot
// make one. HS* are none: whoever knows the public key could sign by it.
var asymmetric = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// DefaultConfig asks nobody, and has what JWTs are checked by once an issuer is
// named.
func DefaultConfig() Config {
	return Config{JWT: JWTConfig{
		TenantClaim: "tenant",
		ScopeClaim:  "scope",
		Algorithms:  []string{"RS256", "PS256", "ES256", "EdDSA"},
		Refresh:     15 * time.Minute,
		MaxStale:    24 * time.Hour,
		Leeway:      30 * time.Second,
	}}
}

// On says that callers must prove who they are.
func (c Config) On() bool {
	switch c.Mode {
	case ModeOn:
		return true
	case ModeOff:
		return false
	}
	return c.TokensFile != "" || c.JWT.Issuer != "" || c.MeshTokenFile != ""
}

// Validate says which setting cannot be used.
func (c Config) Validate() error {
	if c.Mode != ModeAuto && c.Mode != ModeOn && c.Mode != ModeOff {
		return fmt.Errorf("mode %q: want on or off, or nothing", c.Mode)
	}
	return nil
}

// Validate says which setting cannot be used.
func (c JWTConfig) Validate() error {
	if c.Issuer == "" {
		if c.JWKSURL != "" || c.Audience != "" {
			return errors.New("issuer is empty: name who signs the tokens, their iss")
		}
		return nil
	}
	var errs []error
	if err := c.validateURL(); err != nil {
		errs = append(errs, err)
	}
	for _, text := range []struct{ key, value string }{
		{"audience", c.Audience}, {"tenant_claim", c.TenantClaim}, {"scope_claim", c.ScopeClaim},
	} {
		if text.value == "" {
			errs = append(errs, fmt.Errorf("%s is empty: a token is not taken without it", text.key))
		}
	}
	if len(c.Algorithms) == 0 {
		errs = append(errs, errors.New("algorithms is empty: no token would count"))
	}
	for _, name := range c.Algorithms {
		if !slices.Contains(asymmetric, jose.SignatureAlgorithm(name)) {
			errs = append(errs, fmt.Errorf("algorithms: %q: want some of %s", name, list(asymmetric)))
		}
	}
	if c.Refresh <= 0 || c.MaxStale < c.Refresh {
		errs = append(errs, fmt.Errorf("refresh %s, max_stale %s: want more than 0, and max_stale no less than refresh", c.Refresh, c.MaxStale))
	}
	if c.Leeway < 0 {
		errs = append(errs, fmt.Errorf("leeway %s: want 0 or more", c.Leeway))
	}
	return errors.Join(errs...)
}

func (c JWTConfig) validateURL() error {
	u, err := url.Parse(c.JWKSURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("jwks_url: want the https address of the issuer's keys")
	case u.Scheme == "http" && !c.InsecureJWKS && !loopback(u.Hostname()):
		return errors.New("jwks_url is plain http: whoever sits between could sign tokens; want https, or set insecure_jwks")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func list[S ~string](names []S) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}
