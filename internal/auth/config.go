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
	// ModeAuto requires authentication if a way to authenticate is configured.
	ModeAuto = ""
	// ModeOn requires it always, for stages that only other stages call, by certificates.
	ModeOn = "on"
	// ModeOff disables it.
	ModeOff = "off"
)

// Config is how callers authenticate. With the zero Config they do not: all act for the tenant
// "default" and may do everything.
type Config struct {
	// Mode is ModeAuto, ModeOn or ModeOff.
	Mode string `koanf:"mode" help:"on or off; empty for on as soon as tokens, jwt or a mesh token is configured"`
	// TokensFile holds the hashes of static tokens, as `triplemesh token new` writes them. It is
	// reloaded when it changes.
	TokensFile string `koanf:"tokens_file" help:"file of static tokens, as triplemesh token new writes it"`
	// JWT is the issuer of accepted JWTs.
	JWT JWTConfig `koanf:"jwt"`
	// MeshTokenFile holds the shared secrets of the stages, one per line, for meshes without mTLS. All
	// are accepted and the first one is sent, so that a secret can be rotated: append the new one
	// everywhere, then move it to the top. The file is reloaded when it changes.
	MeshTokenFile string `koanf:"mesh_token_file" help:"file of the stages' shared secrets, for a mesh without mTLS"`
	// InsecureMeshToken allows sending that secret over plain connections to other machines.
	InsecureMeshToken bool `koanf:"insecure_mesh_token" help:"send the mesh token over plain connections, too"`
	// MeshToken is such a secret for stages in one process, never stored.
	MeshToken string `koanf:"-"`
	// OpenReflection allows gRPC reflection without authentication.
	OpenReflection bool `koanf:"open_reflection" help:"allow gRPC reflection without authentication"`
}

// JWTConfig is the issuer of accepted JWTs. With an empty Issuer none are accepted.
type JWTConfig struct {
	// Issuer must be the token's "iss".
	Issuer string `koanf:"issuer" help:"issuer of the tokens (iss)"`
	// JWKSURL is the address of the issuer's public keys.
	JWKSURL string `koanf:"jwks_url" help:"https address of the issuer's public keys"`
	// InsecureJWKS allows a plain http JWKSURL on another machine, at the risk that keys are forged in
	// transit.
	InsecureJWKS bool `koanf:"insecure_jwks" help:"allow keys over plain http from other machines"`
	// Audience must be among the token's "aud".
	Audience string `koanf:"audience" help:"required audience of the tokens (aud)"`
	// TenantClaim is the claim that holds the tenant's name.
	TenantClaim string `koanf:"tenant_claim" help:"claim that names the tenant"`
	// ScopeClaim is the claim with the scopes: text with spaces between them, or a list.
	ScopeClaim string `koanf:"scope_claim" help:"claim that holds the scopes"`
	// Algorithms are the accepted ones of RS*, PS*, ES* and EdDSA.
	Algorithms []string `koanf:"algorithms" help:"accepted signature algorithms"`
	// Refresh is the age at which keys are refreshed.
	Refresh time.Duration `koanf:"refresh" help:"age at which keys are refreshed"`
	// MaxStale is the age at which keys that could not be refreshed expire.
	MaxStale time.Duration `koanf:"max_stale" help:"age at which keys that cannot be refreshed expire"`
	// Leeway is the accepted difference of clocks.
	Leeway time.Duration `koanf:"leeway" help:"accepted difference of clocks"`
}

// asymmetric are the accepted algorithms. HS* are not among them: the public key could sign.
var asymmetric = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// DefaultConfig has no authentication, and the defaults for JWTs.
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

// Enabled reports whether callers must authenticate.
func (c Config) Enabled() bool {
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
			errs = append(errs, fmt.Errorf("algorithms: %q: want some of %s", name, joinNames(asymmetric)))
		}
	}
	if c.Refresh <= 0 || c.MaxStale < c.Refresh {
		errs = append(errs, fmt.Errorf("refresh %s, max_stale %s: want more than 0, and max_stale no less than refresh",
			c.Refresh, c.MaxStale))
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
		return errors.New("jwks_url is plain http: an attacker on the network could replace the keys; want https, " +
			"or set insecure_jwks")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func joinNames[S ~string](names []S) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}
