package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/internal/errinfo"
)

const (
	askMethod  = "/triplemesh.orchestrator.v1.OrchestratorService/Ask"
	listMethod = "/triplemesh.retriever.v1.KnowledgeGraphService/ListKnowledgeGraphs"
	dropMethod = "/triplemesh.retriever.v1.KnowledgeGraphService/DropKnowledgeGraph"
	planMethod = "/triplemesh.generator.v1.GeneratorService/GeneratePseudoGraph"
)

// issuer signs tokens, and answers for its keys without a network.
type issuer struct {
	mu    sync.Mutex
	keys  []jose.JSONWebKey
	err   error         // of the endpoint, while it is down
	hang  chan struct{} // the endpoint answers when it is closed
	asked int
}

// signer is a private key with its id.
type signer struct {
	id  string
	key *ecdsa.PrivateKey
}

func newSigner(t testing.TB, id string) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{id, key}
}

func (s signer) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: s.key.Public(), KeyID: s.id, Use: "sig", Algorithm: "ES256"}
}

// publish replaces the issuer's keys.
func (i *issuer) publish(signers ...signer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = nil
	for _, s := range signers {
		i.keys = append(i.keys, s.public())
	}
}

func (i *issuer) setDown(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.err = err
}

func (i *issuer) times() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

// RoundTrip implements http.RoundTripper.
func (i *issuer) RoundTrip(req *http.Request) (*http.Response, error) {
	i.mu.Lock()
	i.asked++
	hang, err, keys := i.hang, i.err, i.keys
	i.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	return &http.Response{Status: "200 OK", StatusCode: 200, Body: io.NopCloser(strings.NewReader(string(body)))}, err
}

// claims are those of a good token, changed by change.
func claims(change map[string]any) map[string]any {
	now := time.Now()
	all := map[string]any{
		"iss": "https://issuer.test", "aud": []string{"other", "triplemesh"}, "sub": "ana",
		"exp": now.Add(time.Hour).Unix(), "nbf": now.Unix(), "iat": now.Unix(),
		"tenant": "acme", "scope": "openid ask kg:read",
	}
	for name, value := range change {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

func (s signer) sign(t testing.TB, change map[string]any) string {
	t.Helper()
	return signed(t, jose.ES256, jose.JSONWebKey{Key: s.key, KeyID: s.id}, claims(change))
}

func signed(t testing.TB, algorithm jose.SignatureAlgorithm, key any, claims map[string]any) string {
	t.Helper()
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(s).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// jwtConfig is a gate for the issuer's tokens.
func jwtConfig() Config {
	cfg := DefaultConfig()
	cfg.JWT.Issuer, cfg.JWT.Audience, cfg.JWT.JWKSURL = "https://issuer.test", "triplemesh", "https://issuer.test/keys"
	return cfg
}

func open(t testing.TB, cfg Config, i *issuer) *Gate {
	t.Helper()
	g, err := newGate(cfg, nil, slog.New(slog.DiscardHandler), &http.Client{Transport: i})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// presenting is a request with an authorization header, and pairs of other
// metadata.
func presenting(ctx context.Context, authorization string, others ...string) context.Context {
	md := metadata.Pairs(others...)
	if authorization != "" {
		md.Set("authorization", authorization)
	}
	return metadata.NewIncomingContext(ctx, md)
}

// wantRefusal fails unless a refusal has the reason; "" wants none. No refusal
// may repeat a part of the token.
func wantRefusal(t testing.TB, got *Refusal, reason, token string) {
	t.Helper()
	switch {
	case got == nil && reason == "":
		return
	case got == nil:
		t.Errorf("it is let in, want a refusal for %s", reason)
		return
	case errinfo.Name(got.Reason) != reason:
		t.Errorf("it is refused for %s (%s), want %q", got.Reason, got.Text, reason)
	}
	for part := range strings.SplitSeq(token, ".") {
		if len(part) > 8 && strings.Contains(got.Text, part) {
			t.Errorf("the refusal repeats the token: %s", got.Text)
		}
	}
}

var errDown = errors.New("connection refused")

// pem is a public key as some libraries were led to take for a shared secret.
func secretOf(key crypto.PublicKey) []byte {
	b, _ := json.Marshal(jose.JSONWebKey{Key: key})
	return b
}
