package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAnswersAreReadOffTheFacts(t *testing.T) {
	model := script(0)
	for _, test := range []struct{ task, prompt, want string }{
		{"pseudo-graph", "Who employs Robert Stam?", "CREATE"},
		{"answer", "Robert Stam | employer | New York University", "{New York University}"},
		{"answer", "Robert Stam | employer | University of Ljubljana", "{University of Ljubljana}"},
		{"answer", "nothing", "{Google}"},
		{"no such task", "Who?", "no rule"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions",
			strings.NewReader(`{"model": "scripted", "messages": [{"role": "user", "content": "`+test.prompt+`"}]}`))
		r.Header.Set("User-Agent", "triplemesh/"+test.task)
		model.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s of %q: got %s, want %s", test.task, test.prompt, w.Body, test.want)
		}
	}
}
