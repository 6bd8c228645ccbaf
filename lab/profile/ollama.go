package profile

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	ollamaPort = "11434"
	// ollamaTimeout is how long an Ollama on this machine may take to list its models.
	ollamaTimeout = time.Second
	// ollamaBytes bounds its list.
	ollamaBytes = 1 << 20
)

// OfferOllama says how to use an Ollama that runs at host, as OLLAMA_HOST has it, in place of the
// bundled model. One that does not answer is not mentioned.
func OfferOllama(ctx context.Context, host string, tell func(format string, args ...any)) {
	base, ok := ollamaURL(host)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ollamaTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/tags", nil)
	if err != nil {
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	var list struct{ Models []struct{ Name string } }
	if json.NewDecoder(io.LimitReader(resp.Body, ollamaBytes)).Decode(&list) != nil || len(list.Models) == 0 {
		return
	}
	tell("Ollama runs at %s: to use its %q instead of the bundled model, press Ctrl-C and run\n"+
		"  triplemesh setup --no-model --no-model-server\n  OPENAI_BASE_URL=%s/v1 triplemesh up --set llm.model=NAME",
		base, list.Models[0].Name, base)
}

// ollamaURL completes what OLLAMA_HOST may hold: nothing, a host, host:port or a URL.
func ollamaURL(host string) (string, bool) {
	if host = strings.TrimSpace(host); !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	name, port := u.Hostname(), u.Port()
	if ip := net.ParseIP(name); name == "" || ip != nil && ip.IsUnspecified() {
		name = "127.0.0.1"
	}
	if port == "" && u.Scheme == "http" {
		port = ollamaPort
	} else if port == "" {
		port = "443"
	}
	return u.Scheme + "://" + net.JoinHostPort(name, port), true
}
