package profile

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOllamaURL(t *testing.T) {
	for host, want := range map[string]string{
		"": "http://127.0.0.1:11434", "0.0.0.0": "http://127.0.0.1:11434", "box:80": "http://box:80",
		"https://box": "https://box:443", "http://[::1]:5": "http://[::1]:5", "ftp://box": "", "http://a b": "",
	} {
		if got, ok := ollamaURL(host); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", host, got, ok, want)
		}
	}
}

func TestAnOllamaThatRunsIsOffered(t *testing.T) {
	tests := []struct{ name, list, want string }{
		{"with a model", `{"models": [{"name": "qwen3:8b"}]}`, `"qwen3:8b"`},
		{"not without a model", `{"models": []}`, ""},
		{"not if something else answers", `<html>`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, tt.list)
			}))
			defer server.Close()
			told := ""
			OfferOllama(context.Background(), server.URL, func(format string, args ...any) {
				told += fmt.Sprintf(format, args...)
			})
			if (told == "") != (tt.want == "") || !strings.Contains(told, tt.want) ||
				told != "" && !strings.Contains(told, "OPENAI_BASE_URL="+server.URL+"/v1") {
				t.Errorf("told %q, want %q", told, tt.want)
			}
		})
	}
	OfferOllama(context.Background(), "127.0.0.1:1", func(string, ...any) { t.Error("nothing listens there") })
}
