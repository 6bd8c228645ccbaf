package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"google.golang.org/grpc/codes"

	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

const (
	// fetchTimeout bounds one fetch of keys.
	fetchTimeout = 5 * time.Second
	// fetchPause is the least time between two fetches, so that tokens with made-up key ids do not
	// flood the issuer. A new key is known at most this long after its first use.
	fetchPause = 10 * time.Second
	// failedPause is the same after a failed fetch.
	failedPause = 2 * time.Second
	// maxWaiting bounds the RPCs that wait for one fetch.
	maxWaiting = 64
	// maxKeysBytes bounds the response of the endpoint.
	maxKeysBytes = 1 << 20
	// minRSA is the least size of an RSA key in bits (RFC 7518 §3.3).
	minRSA = 2048
)

// keySet is a cache of an issuer's public keys. They are refreshed in the background once they are
// older than cfg.Refresh; an RPC waits for a fetch only if its token names an unknown key.
type keySet struct {
	cfg  JWTConfig
	http *http.Client
	log  *slog.Logger

	ctx    context.Context
	cancel context.CancelFunc

	mu        sync.Mutex
	keys      []jose.JSONWebKey
	fetched   time.Time     // the start of the last successful fetch
	attempted time.Time     // the start of the last fetch
	failed    bool          // the last fetch failed
	inFlight  chan struct{} // closed at the end of the current fetch; nil for none
	waiting   int
	fetches   sync.WaitGroup
}

func newKeySet(cfg JWTConfig, client *http.Client, log *slog.Logger) *keySet {
	k := &keySet{cfg: cfg, http: client, log: log}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// keysClient returns the HTTP client for keys. It follows no redirects: only the configuration
// decides where keys come from.
func keysClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true // some fetches an hour
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("redirects are not followed; set jwks_url to the address of the keys")
	}}
}

// close cancels the current fetch.
func (k *keySet) close() {
	k.cancel()
	k.fetches.Wait()
}

// prefetch starts a fetch before the first token arrives.
func (k *keySet) prefetch() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fetch()
}

// lookup returns the keys that a token may be signed with. It waits for a fetch only if none is
// known.
func (k *keySet) lookup(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, *Refusal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found := k.match(id, algorithm); len(found) > 0 {
		if time.Since(k.fetched) >= k.cfg.Refresh {
			k.fetch()
		}
		return found, nil
	}
	k.fetch()
	if running := k.inFlight; running != nil {
		if k.waiting >= maxWaiting {
			return nil, k.unavailable("too many requests wait for them")
		}
		k.waiting++
		k.mu.Unlock()
		select {
		case <-running:
		case <-ctx.Done():
		}
		k.mu.Lock()
		k.waiting--
		if ctx.Err() != nil {
			return nil, k.unavailable("they did not arrive in time")
		}
	}
	if found := k.match(id, algorithm); len(found) > 0 {
		return found, nil
	}
	if !k.isFresh() || k.failed {
		// UNAUTHENTICATED would make a caller with a valid token ask for another.
		return nil, k.unavailable("they could not be fetched")
	}
	return nil, unauthenticated(errorsv1.ErrorReason_ERROR_REASON_TOKEN_INVALID,
		"the token is signed with a key that %s does not have: get a new one from there", k.cfg.Issuer)
}

func (k *keySet) unavailable(why string) *Refusal {
	return &Refusal{codes.Unavailable, errorsv1.ErrorReason_ERROR_REASON_KEYS_UNAVAILABLE, fmt.Sprintf(
		"the token cannot be checked: the keys of %s are needed, and %s: try again later; if you run this mesh, "+
			"check that server.auth.jwt.jwks_url answers", k.cfg.Issuer, why)}
}

// isFresh reports whether the keys are younger than cfg.MaxStale.
func (k *keySet) isFresh() bool {
	return !k.fetched.IsZero() && time.Since(k.fetched) < k.cfg.MaxStale
}

func (k *keySet) match(id, algorithm string) []jose.JSONWebKey {
	if !k.isFresh() {
		return nil
	}
	if id == "" && len(k.keys) > 1 {
		return nil // with several keys the id selects one (RFC 7517 §4.5)
	}
	var found []jose.JSONWebKey
	for _, key := range k.keys {
		if (id == "" || key.KeyID == id) && (key.Algorithm == "" || key.Algorithm == algorithm) {
			found = append(found, key)
		}
	}
	return found
}

// fetch starts a fetch unless one is in flight or was recent. The caller must hold mu.
func (k *keySet) fetch() {
	pause := fetchPause
	if k.failed {
		pause = failedPause
	}
	if k.inFlight != nil || k.ctx.Err() != nil || !k.attempted.IsZero() && time.Since(k.attempted) < pause {
		return
	}
	begun, done := time.Now(), make(chan struct{})
	k.attempted, k.inFlight = begun, done
	k.fetches.Go(func() {
		keys, err := k.download()
		k.mu.Lock()
		defer k.mu.Unlock()
		defer close(done)
		k.inFlight, k.failed = nil, err != nil
		switch {
		case err == nil:
			k.keys, k.fetched = keys, begun
		case k.ctx.Err() == nil:
			k.log.Error(logKeyFetchFailed, "issuer", k.cfg.Issuer,
				"jwks_url", k.cfg.JWKSURL, "last_fetched", k.fetched, "max_stale", k.cfg.MaxStale, "error", err)
		}
	})
}

func (k *keySet) download() (keys []jose.JSONWebKey, err error) {
	ctx, cancel := context.WithTimeout(k.ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.cfg.JWKSURL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := k.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP status %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeysBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxKeysBytes:
		return nil, fmt.Errorf("the response is longer than %d bytes", maxKeysBytes)
	}
	return parseKeys(body)
}

// parseKeys parses a JWK set and skips keys that cannot verify a token: encryption keys, shared
// secrets, weak and unknown ones.
func parseKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, errors.New("the response is not a set of JSON web keys")
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) != nil || !key.IsPublic() || !key.Valid() || key.Use != "" && key.Use != "sig" ||
			!isStrong(key) {
			continue
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("none of the %d keys is a public key for signatures", len(set.Keys))
	}
	return keys, nil
}

func isStrong(key jose.JSONWebKey) bool {
	switch key := key.Key.(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() >= minRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}
