package console

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// page is a console of a few files.
func page() *site {
	return &site{files: fstest.MapFS{
		"index.html":            {Data: []byte("<!doctype html><title>triplemesh</title>")},
		"favicon.svg":           {Data: []byte("<svg/>")},
		"assets/index-A1b2.js":  {Data: bytes.Repeat([]byte("let a = 1;\n"), 100)},
		"assets/index-C3d4.css": {Data: bytes.Repeat([]byte("a { color: red }\n"), 100)},
	}}
}

func get(h http.Handler, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFilesAreServed(t *testing.T) {
	const forever, asked = "public, max-age=31536000, immutable", "no-cache"
	tests := []struct {
		name, method, path string
		status             int
		kind, cache        string
	}{
		{"the page is at the root", "GET", "/", 200, "text/html; charset=utf-8", asked},
		{"the page has a name too", "GET", "/index.html", 200, "text/html; charset=utf-8", asked},
		{"a script is kept for ever", "GET", "/assets/index-A1b2.js", 200, "text/javascript; charset=utf-8", forever},
		{"a style is kept for ever", "GET", "/assets/index-C3d4.css", 200, "text/css; charset=utf-8", forever},
		{"what has no hash in its name is asked for again", "GET", "/favicon.svg", 200, "image/svg+xml", asked},
		{"the head alone", "HEAD", "/", 200, "text/html; charset=utf-8", asked},
		{"a script of another build is not found", "GET", "/assets/index-old.js", 404, "text/plain; charset=utf-8", ""},
		{"a folder is not listed", "GET", "/assets/", 404, "text/plain; charset=utf-8", ""},
		{"a folder by its name is not listed", "GET", "/assets", 404, "text/plain; charset=utf-8", ""},
		{"a path out of the folder is not found", "GET", "/../console.go", 404, "text/plain; charset=utf-8", ""},
		{"a path out of a folder is not found", "GET", "/assets/../../console.go", 404, "text/plain; charset=utf-8",
			""},
		{"a rooted path is not found", "GET", "//etc/passwd", 404, "text/plain; charset=utf-8", ""},
		{"a post is refused", "POST", "/", 405, "text/plain; charset=utf-8", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp := get(page(), test.method, test.path)
			if resp.StatusCode != test.status {
				t.Fatalf("status %d, want %d", resp.StatusCode, test.status)
			}
			if got := resp.Header.Get("Content-Type"); got != test.kind {
				t.Errorf("content type %q, want %q", got, test.kind)
			}
			if got := resp.Header.Get("Cache-Control"); got != test.cache {
				t.Errorf("cache control %q, want %q", got, test.cache)
			}
			if text := body(t, resp); test.method == "HEAD" && text != "" {
				t.Errorf("a head has the body %q", text)
			}
			if got := resp.Header.Get("Content-Security-Policy"); test.status == 200 && got != Policy {
				t.Errorf("policy %q", got)
			}
		})
	}
}

func TestAPageThatIsKnownIsNotSentAgain(t *testing.T) {
	console := page()
	tag := get(console, "GET", "/").Header.Get("ETag")
	if tag == "" {
		t.Fatal("the page has no tag")
	}
	if resp := get(console, "GET", "/", "If-None-Match", tag); resp.StatusCode != http.StatusNotModified {
		t.Errorf("status %d, want 304", resp.StatusCode)
	}
	changed := &site{files: fstest.MapFS{"index.html": {Data: []byte("another page")}}}
	if resp := get(changed, "GET", "/", "If-None-Match", tag); resp.StatusCode != http.StatusOK {
		t.Errorf("a page that changed has the status %d, want 200", resp.StatusCode)
	}
}

func TestFilesArePackedForThoseWhoUnpack(t *testing.T) {
	tests := []struct {
		name, accepts, path string
		packed              bool
	}{
		{"a browser", "gzip, deflate, br", "/assets/index-A1b2.js", true},
		{"a client that accepts everything", "*", "/assets/index-A1b2.js", true},
		{"a client without the header", "", "/assets/index-A1b2.js", false},
		{"a client that refuses gzip", "br, gzip;q=0, *", "/assets/index-A1b2.js", false},
		{"a client that prefers another encoding", "br;q=1.0, gzip;q=0.5", "/assets/index-A1b2.js", true},
		{"a weight that is none", "gzip;q=much", "/assets/index-A1b2.js", false},
		{"a file that gets no smaller", "gzip", "/favicon.svg", false},
	}
	console := page()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp := get(console, "GET", test.path, "Accept-Encoding", test.accepts)
			if got := resp.Header.Get("Content-Encoding") == "gzip"; got != test.packed {
				t.Fatalf("packed: %v, want %v", got, test.packed)
			}
			if resp.Header.Get("Vary") != "Accept-Encoding" {
				t.Error("a cache is not told that files come in two kinds")
			}
			plain := get(console, "GET", test.path)
			want := body(t, plain)
			got := body(t, resp)
			if test.packed {
				if resp.Header.Get("ETag") == plain.Header.Get("ETag") {
					t.Error("both kinds have one tag")
				}
				r, err := gzip.NewReader(strings.NewReader(got))
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				got = string(data)
			}
			if got != want {
				t.Errorf("got %.40q, want %.40q", got, want)
			}
		})
	}
}
