package http_test

import (
	"net/http"
	"strings"
	"testing"

	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
)

func TestHosts(t *testing.T) {
	r := start(t, func(c *web.Config) { c.AllowedHosts = []string{"Mesh.example.org", "*.corp.example"} }, reading)
	for host, want := range map[string]int{
		"127.0.0.1:9080": 200, "localhost": 200, "LOCALHOST:80": 200, "localhost.:80": 200, "console.localhost": 200,
		"[::1]:9080": 200, "10.1.2.3": 200, "mesh.example.org:443": 200, "a.corp.example": 200, "a.b.corp.example": 200,
		"evil.example": 421, "mesh.example.org.evil.example": 421, "corp.example": 421, "evilcorp.example": 421,
		"127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "notlocalhost": 421,
	} {
		resp, body := r.do(t, http.MethodGet, "/", "", "Host: "+host)
		if resp.StatusCode != want {
			t.Errorf("Host %s is answered %d: %s", host, resp.StatusCode, body)
		}
	}
	resp, body := r.do(t, http.MethodGet, "/", "", "Host: <script>")
	if resp.StatusCode < 400 || strings.Contains(resp.Header.Get("Content-Type"), "html") &&
		strings.Contains(body, "<script>") {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
}

func TestOrigins(t *testing.T) {
	const app, other = "https://app.example.org", "https://evil.example"
	r := start(t, func(c *web.Config) { c.AllowedOrigins = []string{app} }, reading)
	for _, test := range []struct {
		name, method string
		headers      []string
		status       int
		allowed      string
	}{
		{"a program has none", http.MethodPost, nil, 200, ""},
		{"its own", http.MethodPost, []string{"Origin: " + r.url, "Sec-Fetch-Site: same-origin"}, 200, ""},
		{"an allowed one", http.MethodPost, []string{"Origin: " + app, "Sec-Fetch-Site: cross-site"}, 200, app},
		{"another", http.MethodPost, []string{"Origin: " + other, "Sec-Fetch-Site: cross-site"}, 403, ""},
		{"another, of an old browser", http.MethodPost, []string{"Origin: " + other}, 403, ""},
		{"another that deletes", http.MethodDelete, []string{"Origin: " + other}, 403, ""},
		{"that of a frame in a sandbox", http.MethodPost, []string{"Origin: null", "Sec-Fetch-Site: cross-site"}, 403,
			""},
		{"another that only reads is not shown the answer", http.MethodGet,
			[]string{"Origin: " + other, "Sec-Fetch-Site: cross-site"}, 200, ""},
		{"an allowed one that reads", http.MethodGet, []string{"Origin: " + app, "Sec-Fetch-Site: cross-site"}, 200,
			app},
		{"one that has an allowed one's name in it", http.MethodPost, []string{"Origin: " + app + ".evil.example",
			"Sec-Fetch-Site: cross-site"}, 403, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			resp, body := r.do(t, test.method, "/", "", test.headers...)
			if resp.StatusCode != test.status || resp.Header.Get("Access-Control-Allow-Origin") != test.allowed {
				t.Errorf("got %d %q: %s", resp.StatusCode, resp.Header.Get("Access-Control-Allow-Origin"), body)
			}
			if resp.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Error("browsers may send along what they keep")
			}
		})
	}
	t.Run("an allowed one asks first", func(t *testing.T) {
		resp, _ := r.do(t, http.MethodOptions, "/", "", "Origin: "+app, "Access-Control-Request-Method: DELETE",
			"Access-Control-Request-Headers: authorization")
		if resp.StatusCode != http.StatusNoContent || !strings.Contains(resp.Header.Get("Access-Control-Allow-Headers"),
			"Authorization") ||
			!strings.Contains(resp.Header.Get("Access-Control-Allow-Methods"), "DELETE") {
			t.Errorf("got %d %v", resp.StatusCode, resp.Header)
		}
	})
	t.Run("another asks first", func(t *testing.T) {
		resp, _ := r.do(t, http.MethodOptions, "/", "", "Origin: "+other, "Access-Control-Request-Method: DELETE")
		if resp.Header.Get("Access-Control-Allow-Origin") != "" ||
			resp.Header.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("got %v", resp.Header)
		}
	})
}
