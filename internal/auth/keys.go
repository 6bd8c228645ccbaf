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
)

const (
	// fetchTimeout bounds one fetch of keys.
	fetchTimeout = 5 * time.Second
	// fetchPause is the least time between two fetches, so that tokens with
	// made-up key ids, which anybody can send, do not become a storm at the
	// issuer's. A key in use that was put up within this time of the last fetch
	// is known after it.
	fetchPause = 10 * time.Second
	// failedPause is the same after a fetch that failed.
	failedPause = 2 * time.Second
	// maxWaiting bounds the RPCs that wait for one fetch.
	maxWaiting = 64
	// maxKeysBytes bounds the answer of the endpoint.
	maxKeysBytes = 1 << 20
	// minRSA is the least size of an RSA key in bits, as RFC 7518 has it.
	minRSA = 2048
)

// keySet is an issuer's public keys. They are fetched when somebody needs them:
// in the background once they are older than refresh, and with the RPC waiting
// where none is known that the token names.
type keySet struct {
	cfg  JWTConfig
	http *http.Client
	log  *slog.Logger

	life context.Context
	end  context.CancelFunc

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time     // when the keys were asked for that came
	tried   time.Time     // when keys were asked for last
	failed  bool          // and did not come
	running chan struct{} // closed at the end of the fetch under way; nil for none
	waiting int
	fetches sync.WaitGroup
}

func newKeySet(cfg JWTConfig, client *http.Client, log *slog.Logger) *keySet {
	k := &keySet{cfg: cfg, http: client, log: log}
	k.life, k.end = context.WithCancel(context.Background())
	return k
}

// keysClient is the HTTP client for keys. It follows no redirect: where keys
// are is configured, and nobody else may say so.
func keysClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true // some fetches an hour
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("it redirects: set jwks_url to where the keys are")
	}}
}

// close ends the fetch under way.
func (k *keySet) close() {
	k.end()
	k.fetches.Wait()
}

// warm begins to fetch keys before anybody needs them.
func (k *keySet) warm() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fetch()
}

// find gives the keys that a token may be signed with. It waits for a fetch
// only where none is known.
func (k *keySet) find(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, *Refusal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found := k.match(id, algorithm); len(found) > 0 {
		if time.Since(k.fetched) >= k.cfg.Refresh {
			k.fetch()
		}
		return found, nil
	}
	k.fetch()
	if running := k.running; running != nil {
		if k.waiting >= maxWaiting {
			return nil, k.unavailable("too many wait for them already")
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
			return nil, k.unavailable("they did not come in time")
		}
	}
	if found := k.match(id, algorithm); len(found) > 0 {
		return found, nil
	}
	if !k.fresh() || k.failed {
		// Whether the token is right cannot be found out now. That is no fault
		// of its bearer, whom UNAUTHENTICATED would send for another token.
		return nil, k.unavailable("they could not be fetched")
	}
	return nil, unauthenticated(TokenInvalid, "the token is signed with a key that %s does not have: get a new one from there", k.cfg.Issuer)
}

func (k *keySet) unavailable(why string) *Refusal {
	return &Refusal{codes.Unavailable, KeysUnavailable, fmt.Sprintf(
		"the token cannot be checked: the keys of %s are needed, and %s: try again later; if you run this mesh, see that server.auth.jwt.jwks_url answers", k.cfg.Issuer, why)}
}

// fresh says that the keys still count.
func (k *keySet) fresh() bool {
	return !k.fetched.IsZero() && time.Since(k.fetched) < k.cfg.MaxStale
}

func (k *keySet) match(id, algorithm string) []jose.JSONWebKey {
	if !k.fresh() {
		return nil
	}
	if id == "" && len(k.keys) > 1 {
		return nil // RFC 7517, 4.5: the id is there to choose by
	}
	var found []jose.JSONWebKey
	for _, key := range k.keys {
		if (id == "" || key.KeyID == id) && (key.Algorithm == "" || key.Algorithm == algorithm) {
			found = append(found, key)
		}
	}
	return found
}

// fetch begins a fetch unless one is under way or was just now. The caller
// holds mu.
func (k *keySet) fetch() {
	pause := fetchPause
	if k.failed {
		pause = failedPause
	}
	if k.running != nil || k.life.Err() != nil || !k.tried.IsZero() && time.Since(k.tried) < pause {
		return
	}
	begun, done := time.Now(), make(chan struct{})
	k.tried, k.running = begun, done
	k.fetches.Go(func() {
		keys, err := k.get()
		k.mu.Lock()
		defer k.mu.Unlock()
		defer close(done)
		k.running, k.failed = nil, err != nil
		switch {
		case err == nil:
			k.keys, k.fetched = keys, begun
		case k.life.Err() == nil:
			k.log.Error("the keys that tokens are checked by could not be fetched", "issuer", k.cfg.Issuer,
				"jwks_url", k.cfg.JWKSURL, "last_fetched", k.fetched, "max_stale", k.cfg.MaxStale, "error", err)
		}
	})
}

func (k *keySet) get() (keys []jose.JSONWebKey, err error) {
	ctx, cancel := context.WithTimeout(k.life, fetchTimeout)
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
		return nil, fmt.Errorf("it answers %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeysBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxKeysBytes:
		return nil, fmt.Errorf("its answer is longer than %d bytes", maxKeysBytes)
	}
	return parseKeys(body)
}

// parseKeys reads a JWK set and leaves out what no token can be checked by:
// keys to encrypt with, shared secrets, weak ones, and kinds that are not known.
func parseKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, errors.New("its answer is no set of JSON web keys")
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) != nil || !key.IsPublic() || !key.Valid() || key.Use != "" && key.Use != "sig" || !strong(key) {
			continue
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("of its %d keys none is a public key to check signatures by", len(set.Keys))
	}
	return keys, nil
}

func strong(key jose.JSONWebKey) bool {
	switch key := key.Key.(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() >= minRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}
