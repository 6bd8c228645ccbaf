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

	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// maxChecked bounds the cache of verified signatures.
const maxChecked = 4096

// jwts verifies the tokens of one issuer.
type jwts struct {
	cfg        JWTConfig
	algorithms []jose.SignatureAlgorithm
	keys       *keySet
	// checked caches tokens with a valid signature by their hash: a caller sends the same one for many
	// minutes, and verifying a signature costs a hundred times as much as everything else. Invalid
	// tokens are not cached, as their number is unbounded.
	checked *lru.Cache[hash, checkedToken]
}

// checkedToken is a token with a valid signature by a key. Its claims and the key are checked again
// for each request.
type checkedToken struct {
	id, algorithm string // of the key
	key           jose.JSONWebKey
	claims        jwt.Claims
	caller        Caller
}

func newJWTs(cfg JWTConfig, keys *keySet) *jwts {
	// This fails only for sizes below 1.
	checked, _ := lru.New[hash, checkedToken](maxChecked)
	j := &jwts{cfg: cfg, keys: keys, checked: checked}
	for _, name := range cfg.Algorithms {
		j.algorithms = append(j.algorithms, jose.SignatureAlgorithm(name))
	}
	return j
}

// isJWT reports whether a token is a JWT, which has two dots; a static token has none.
func isJWT(token string) bool { return strings.Count(token, ".") == 2 }

// caller verifies the signature before anything that the token contains is used or reported.
func (j *jwts) caller(ctx context.Context, token string) (Caller, *Refusal) {
	sum := sha256.Sum256([]byte(token))
	if cached, ok := j.checked.Get(sum); ok {
		keys, refusal := j.keys.lookup(ctx, cached.id, cached.algorithm)
		if refusal != nil {
			return Caller{}, refusal
		}
		if slices.ContainsFunc(keys, func(key jose.JSONWebKey) bool { return sameKey(key, cached.key) }) {
			if refusal := j.check(cached.claims); refusal != nil {
				return Caller{}, refusal
			}
			return cached.caller, nil
		}
	}
	signed, err := jwt.ParseSigned(token, j.algorithms)
	if err != nil || len(signed.Headers) != 1 {
		if _, ok := errors.AsType[*jose.ErrUnexpectedSignatureAlgorithm](err); ok {
			return Caller{}, unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
				"the token's signature algorithm is not accepted: want one of %s", joinNames(j.algorithms))
		}
		return Caller{}, unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
			"the token cannot be parsed: send it unchanged")
	}
	header := signed.Headers[0]
	keys, refusal := j.keys.lookup(ctx, header.KeyID, header.Algorithm)
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
	return Caller{}, unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
		"the token's signature is wrong: get a new token from %s", j.cfg.Issuer)
}

// sameKey reports whether two fetched keys are equal.
func sameKey(a, b jose.JSONWebKey) bool {
	key, ok := a.Key.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b.Key)
}

// callerOf returns the caller of a token with a valid signature.
func (j *jwts) callerOf(payload json.RawMessage) (claims jwt.Claims, caller Caller, refusal *Refusal) {
	var others map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(payload, &claims), json.Unmarshal(payload, &others)); err != nil {
		return claims, Caller{}, unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
			"the token's claims cannot be read: have %s write them as RFC 7519 says", j.cfg.Issuer)
	}
	if refusal := j.check(claims); refusal != nil {
		return claims, Caller{}, refusal
	}
	var name string
	raw, ok := others[j.cfg.TenantClaim]
	if !ok {
		return claims, Caller{}, denied(errorsv1.ErrorReason_ERROR_REASON_TENANT_MISSING,
			"the token names no tenant: have %s put it into the claim %q", j.cfg.Issuer, j.cfg.TenantClaim)
	}
	if err := json.Unmarshal(raw, &name); err != nil {
		return claims, Caller{}, denied(errorsv1.ErrorReason_ERROR_REASON_TENANT_INVALID,
			"the token's claim %q is no text: have %s put the tenant's name there", j.cfg.TenantClaim, j.cfg.Issuer)
	}
	id, err := ParseTenant(name)
	if err != nil {
		return claims, Caller{}, denied(errorsv1.ErrorReason_ERROR_REASON_TENANT_INVALID,
			"the token's claim %q: %v", j.cfg.TenantClaim, err)
	}
	scopes, err := scopesOf(others[j.cfg.ScopeClaim])
	if err != nil {
		return claims, Caller{}, denied(errorsv1.ErrorReason_ERROR_REASON_SCOPE_MISSING,
			"the token's claim %q: %v", j.cfg.ScopeClaim, err)
	}
	return claims, Caller{Tenant: id, Subject: claims.Subject, Scopes: parseScopes(scopes)}, nil
}

// check validates the claims that every token must have.
func (j *jwts) check(claims jwt.Claims) *Refusal {
	switch {
	case claims.Expiry == nil:
		return unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
			"the token never expires (it has no exp): have %s set one", j.cfg.Issuer)
	case !isValidSubject(claims.Subject):
		return unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
			"the token has no subject (its sub must be 1 to 255 printable characters)")
	}
	err := claims.ValidateWithLeeway(jwt.Expected{
		Issuer: j.cfg.Issuer, AnyAudience: jwt.Audience{j.cfg.Audience}, Time: time.Now(),
	}, j.cfg.Leeway)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrExpired):
		return unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_EXPIRED,
			"the token expired at %s: get a new one from %s",
			claims.Expiry.Time().UTC().Format(time.RFC3339), j.cfg.Issuer)
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_NOT_YET_VALID,
			"the token is not valid yet: try again later; if it was just issued, "+
				"the clocks here and of %s differ by more than %s", j.cfg.Issuer, j.cfg.Leeway)
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return unauthenticated(errorsv1.ErrorReason_ERROR_REASON_WRONG_ISSUER,
			"the token has another issuer: want one of %s", j.cfg.Issuer)
	case errors.Is(err, jwt.ErrInvalidAudience):
		return unauthenticated(errorsv1.ErrorReason_ERROR_REASON_WRONG_AUDIENCE,
			"the token has another audience: want one for %q", j.cfg.Audience)
	}
	return unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID, "the token's claims are wrong: %v", err)
}

// scopesOf parses a claim of scopes: text with spaces between them, or a list. It may be missing.
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
