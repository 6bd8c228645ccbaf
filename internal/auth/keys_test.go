package auth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/errinfo"
)

// admit asks the gate for a token and returns the reason of the refusal.
func admit(t testing.TB, g *Gate, token string) string {
	t.Helper()
	if _, refusal := g.Admit(presenting(t.Context(), "Bearer "+token), askMethod); refusal != nil {
		return errinfo.Name(refusal.Reason)
	}
	return ""
}

func TestKeysThroughTheDays(t *testing.T) {
	one, two := newSigner(t, "one"), newSigner(t, "two")
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{}
		i.publish(one)
		g := open(t, jwtConfig(), i) // refresh after 15 minutes, no later than a day
		token := func(s signer) string { return s.sign(t, nil) }
		for _, step := range []struct {
			name   string
			change func()
			wait   time.Duration
			by     signer
			want   string
			asked  int // the endpoint, all in all
		}{
			{"the first token has the keys fetched", func() {}, 0, one, "", 1},
			{"the next does not", func() {}, time.Minute, one, "", 1},
			{"a key that nobody has is asked for once", func() {}, 0, two, "TOKEN_INVALID", 2},
			{"and not again at once", func() {}, time.Second, two, "TOKEN_INVALID", 2},
			{"a new key is found soon", func() { i.publish(one, two) }, fetchPause, two, "", 3},
			{"old keys are fetched again beside the request", func() {}, 15 * time.Minute, one, "", 4},
			{"a key that was taken down counts until then", func() { i.publish(two) }, time.Minute, one, "", 4},
			{"and is dropped with the next fetch, which this request begins", func() {}, 15 * time.Minute, one, "", 5},
			{"so that it counts no more", func() {}, time.Minute, one, "TOKEN_INVALID", 6},
			{"while the endpoint is down, the last keys count", func() { i.setDown(errDown) }, 23 * time.Hour, two,
				"",
				7},
			{"and of what is not known it cannot be said that it is wrong", func() {}, time.Minute, one,
				"KEYS_UNAVAILABLE", 8},
			{"past a day nothing counts", func() {}, 2 * time.Hour, two, "KEYS_UNAVAILABLE", 9},
			{"nor a moment later, without asking again", func() {}, time.Second, two, "KEYS_UNAVAILABLE", 9},
			{"until the endpoint is back", func() { i.setDown(nil) }, failedPause, two, "", 10},
		} {
			step.change()
			time.Sleep(step.wait)
			got := admit(t, g, token(step.by))
			synctest.Wait() // for the fetch in the background
			if got != step.want || i.times() != step.asked {
				t.Errorf("%s: got %q after %d fetches, want %q after %d", step.name, got, i.times(),
					step.want, step.asked)
			}
		}
	})
}

func TestAStormOfUnknownKeysIsOneFetch(t *testing.T) {
	one := newSigner(t, "one")
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{hang: make(chan struct{})}
		i.publish(one)
		g := open(t, jwtConfig(), i)
		var calls sync.WaitGroup
		var mu sync.Mutex
		reasons := map[string]int{}
		const storm = maxWaiting + 10
		token := newSigner(t, "made up").sign(t, nil)
		for range storm {
			calls.Go(func() {
				reason := admit(t, g, token)
				mu.Lock()
				defer mu.Unlock()
				reasons[reason]++
			})
		}
		synctest.Wait()
		if reasons["KEYS_UNAVAILABLE"] != storm-maxWaiting {
			t.Errorf("of %d callers %v are turned away at once, want all that there is no place for", storm, reasons)
		}
		close(i.hang)
		calls.Wait()
		if i.times() != 1 || reasons["TOKEN_INVALID"] != maxWaiting {
			t.Errorf("%d fetches and %v, want 1 and the others refused", i.times(), reasons)
		}
	})
}

func TestASlowEndpoint(t *testing.T) {
	one := newSigner(t, "one")
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{}
		i.publish(one)
		g := open(t, jwtConfig(), i)
		if got := admit(t, g, one.sign(t, nil)); got != "" {
			t.Fatal(got)
		}
		i.hang = make(chan struct{})
		time.Sleep(time.Hour)
		begin := time.Now()
		if got := admit(t, g, one.sign(t, nil)); got != "" || time.Since(begin) > 0 {
			t.Errorf("a known key: got %q after %s, want no wait", got, time.Since(begin))
		}
		// Who waits for it waits no longer than their own deadline, and no
		// longer than a fetch may take.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, refusal := g.Admit(presenting(ctx, "Bearer "+newSigner(t, "two").sign(t, nil)), askMethod)
		if refusal == nil || refusal.Code != codes.Unavailable || time.Since(begin) != time.Second {
			t.Errorf("got %v after %s, want UNAVAILABLE after a second", refusal, time.Since(begin))
		}
		if got := admit(t, g, newSigner(t, "two").sign(t, nil)); got != "KEYS_UNAVAILABLE" ||
			time.Since(begin) != fetchTimeout {
			t.Errorf("got %q after %s, want the end of the fetch", got, time.Since(begin))
		}
	})
}

func TestAnEndpointThatIsDownFromTheBeginning(t *testing.T) {
	one := newSigner(t, "one")
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{err: errDown}
		i.publish(one)
		g := open(t, jwtConfig(), i)
		g.Start()
		synctest.Wait()
		if got := admit(t, g, one.sign(t, nil)); got != "KEYS_UNAVAILABLE" {
			t.Errorf("got %q, want it said that it is not known", got)
		}
		i.setDown(nil)
		time.Sleep(failedPause)
		if got := admit(t, g, one.sign(t, nil)); got != "" {
			t.Errorf("once it is up: got %q", got)
		}
	})
}

func TestAnswersOfTheEndpoint(t *testing.T) {
	one := newSigner(t, "one")
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Skip("this library makes no weak keys to refuse:", err)
	}
	set := func(keys ...jose.JSONWebKey) string {
		b, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	good := set(one.public())
	for _, c := range []struct {
		name   string
		status int
		body   string
		ok     bool
	}{
		{"keys", 200, good, true},
		{"keys beside a kind that is not known", 200, strings.Replace(good, `[`, `[{"kty":"XYZ","kid":"new"},`, 1),
			true},
		{"an error page", 500, good, false},
		{"a redirect", 302, good, false},
		{"HTML", 200, "<html>", false},
		{"nothing", 200, "", false},
		{"half an answer", 200, good[:len(good)/2], false},
		{"no keys", 200, `{"keys":[]}`, false},
		{"an answer that does not end", 200, good + strings.Repeat(" ", maxKeysBytes), false},
		{"a shared secret", 200, set(jose.JSONWebKey{Key: []byte("0123456789abcdef0123456789abcdef"), KeyID: "one"}),
			false},
		{"a private key", 200, set(jose.JSONWebKey{Key: one.key, KeyID: "one"}), false},
		{"a key to encrypt with", 200, set(jose.JSONWebKey{Key: one.key.Public(), KeyID: "one", Use: "enc"}), false},
		{"a weak key", 200, set(jose.JSONWebKey{Key: small.Public(), KeyID: "one"}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			defer endpoint.Close()
			cfg := jwtConfig()
			cfg.JWT.JWKSURL = endpoint.URL
			g, err := NewGate(cfg, nil, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			want := "KEYS_UNAVAILABLE"
			if c.ok {
				want = ""
			}
			if got := admit(t, g, one.sign(t, nil)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
