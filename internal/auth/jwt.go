package auth

import (
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// maxChecked bounds the tokens whose signature is remembered to be right.
const maxChecked = 4096

// jwts are the signed tokens of one issuer.
type jwts struct {
	cfg        JWTConfig
	algorithms []jose.SignatureAlgorithm
	keys       *keySet
	// checked are tokens by their hash. A caller sends the same one for many
	// minutes, and to check a signature costs a hundred times what all else
	// does. Tokens with wrong signatures are not among them: anybody can make
	// as many as they like.
	checked *lru.Cache[hash, checkedToken]
}

// checkedToken is a token whose signature by a key is right. Whether it counts
// now, and whether that key still does, is looked at each time.
type checkedToken struct {
	id, algorithm string // of the key
	key           jose.JSONWebKey
	claims        jwt.Claims
	caller        Caller
}

func newJWTs(cfg JWTConfig, keys *keySet) *jwts {
	// It fails for sizes below 1 alone.
	checked, _ := lru.New[hash, checkedToken](maxChecked)
	j := &jwts{cfg: cfg, keys: keys, checked: checked}
	for _, name := range cfg.Algorithms {
		j.algorithms = append(j.algorithms, jose.SignatureAlgorithm(name))
	}
	return j
}

// looksSigned tells a JWT, which has two dots, from a static token, which has
// none.
func looksSigned(token string) bool { return strings.Count(token, ".") == 2 }

// caller checks the signature first: before it, nothing that the token says is
// believed, or told.
func (j *jwts) caller(ctx context.Context, token string) (Caller, *Refusal) {
	sum := sha256.Sum256([]byte(token))
	if known, ok := j.checked.Get(sum); ok {
		keys, refusal := j.keys.find(ctx, known.id, known.algorithm)
		if refusal != nil {
			return Caller{}, refusal
		}
		if slices.ContainsFunc(keys, func(key jose.JSONWebKey) bool { return same(key, known.key) }) {
			if refusal := j.check(known.claims); refusal != nil {
				return Caller{}, refusal
			}
			return known.caller, nil
		}
	}
	signed, err := jwt.ParseSigned(token, j.algorithms)
	if err != nil || len(signed.Headers) != 1 {
		var algorithm *jose.ErrUnexpectedSignatureAlgorithm
		if errors.As(err, &algorithm) {
			return Caller{}, unauthenticated(TokenInvalid, "the token is signed in a way that does not count here: want one of %s", list(j.algorithms))
		}
		return Caller{}, unauthenticated(TokenInvalid, "the token cannot be read: send it as it was given to you")
	}
	header := signed.Headers[0]
	keys, refusal := j.keys.find(ctx, header.KeyID, header.Algorithm)
	if refusal != nil {
		return Caller{}, refusal
	}
	for _, key := range keys {
		var payload json.RawMessage
		if signed.Claims(key.Key, &payload) != nil {
			continue
		}
		claims, caller, refusal := j.callerOf(payload)
		if refusal == nil {
			j.checked.Add(sum, checkedToken{header.KeyID, header.Algorithm, key, claims, caller})
		}
		return caller, refusal
	}
	return Caller{}, unauthenticated(TokenInvalid, "the token's signature is wrong: get a new token from %s", j.cfg.Issuer)
}

// same tells whether two keys of a set, fetched at two times, are one.
func same(a, b jose.JSONWebKey) bool {
	key, ok := a.Key.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b.Key)
}

// callerOf is who a token is for whose signature is right.
func (j *jwts) callerOf(payload json.RawMessage) (claims jwt.Claims, caller Caller, refusal *Refusal) {
	var others map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(payload, &claims), json.Unmarshal(payload, &others)); err != nil {
		return claims, Caller{}, unauthenticated(TokenInvalid, "the token's claims cannot be read: have %s write them as RFC 7519 says", j.cfg.Issuer)
	}
	if refusal := j.check(claims); refusal != nil {
		return claims, Caller{}, refusal
	}
	var name string
	raw, ok := others[j.cfg.TenantClaim]
	if !ok {
		return claims, Caller{}, denied(TenantMissing, "the token names no tenant: have %s put it into the claim %q", j.cfg.Issuer, j.cfg.TenantClaim)
	}
	if err := json.Unmarshal(raw, &name); err != nil {
		return claims, Caller{}, denied(TenantInvalid, "the token's claim %q is no text: have %s put the tenant's name there", j.cfg.TenantClaim, j.cfg.Issuer)
	}
	id, err := tenant.Parse(name)
	if err != nil {
		return claims, Caller{}, denied(TenantInvalid, "the token's claim %q: %v", j.cfg.TenantClaim, err)
	}
	scopes, err := scopesOf(others[j.cfg.ScopeClaim])
	if err != nil {
		return claims, Caller{}, denied(ScopeMissing, "the token's claim %q: %v", j.cfg.ScopeClaim, err)
	}
	return claims, Caller{Tenant: id, Subject: claims.Subject, Scopes: parseScopes(scopes)}, nil
}

// check looks at the claims that every token must have.
func (j *jwts) check(claims jwt.Claims) *Refusal {
	switch {
	case claims.Expiry == nil:
		return unauthenticated(TokenInvalid, "the token never ends (it has no exp): have %s give it an end", j.cfg.Issuer)
	case !subject(claims.Subject):
		return unauthenticated(TokenInvalid, "the token names nobody (its sub must be 1 to 255 printable characters)")
	}
	err := claims.ValidateWithLeeway(jwt.Expected{
		Issuer: j.cfg.Issuer, AnyAudience: jwt.Audience{j.cfg.Audience}, Time: time.Now(),
	}, j.cfg.Leeway)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrExpired):
		return unauthenticated(TokenExpired, "the token ended at %s: get a new one from %s", claims.Expiry.Time().UTC().Format(time.RFC3339), j.cfg.Issuer)
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return unauthenticated(TokenNotYetValid, "the token does not count yet: try again later; if it was made just now, the clocks here and of %s differ by more than %s", j.cfg.Issuer, j.cfg.Leeway)
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return unauthenticated(WrongIssuer, "the token is somebody else's: want one of %s", j.cfg.Issuer)
	case errors.Is(err, jwt.ErrInvalidAudience):
		return unauthenticated(WrongAudience, "the token is for somebody else: want one for the audience %q", j.cfg.Audience)
	}
	return unauthenticated(TokenInvalid, "the token's claims are wrong: %v", err)
}

// scopesOf reads a claim of scopes: text with spaces between them, or a list.
// None is none.
func scopesOf(raw json.RawMessage) ([]string, error) {
	if raw == nil {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return strings.Fields(text), nil
	}
	var names []string
	if err := json.Unmarshal(raw, &names); err != nil {
		return nil, fmt.Errorf("want scopes as text with spaces between them, or as a list of texts")
	}
	return names, nil
}
