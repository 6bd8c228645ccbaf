// Package console serves the console: a page of the browser that asks, checks and looks, built from
// /console at the root of the repository. What was built is committed in dist and is a part of the
// binary, so that it needs neither Node.js nor a network.
package console

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed all:dist
var built embed.FS

// Policy is what the page may do: run its own scripts, ask the host it came
// from, and show pictures it drew itself.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// index is the page; all others are what it loads.
const index = "index.html"

// hashed is the folder of files whose names change with what they hold.
const hashed = "assets/"

// types are the kinds of files there are. The machine's own table is not asked:
// a browser runs a script by the name its server gives it.
var types = map[string]string{
	".html":  "text/html; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".svg":   "image/svg+xml",
	".woff2": "font/woff2",
	".md":    "text/plain; charset=utf-8",
	".txt":   "text/plain; charset=utf-8",
}

// Handler serves the console. The page is at "/"; its views are in the
// fragment, so every other path is a file or not found.
func Handler() http.Handler {
	files, err := fs.Sub(built, "dist")
	if err != nil {
		files = built // the name is one that can be: this is never so
	}
	return &site{files: files}
}

// site serves files.
type site struct {
	files  fs.FS
	packed gzipCache
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the console is only read", http.StatusMethodNotAllowed)
		return
	}
	name := cmp.Or(strings.TrimPrefix(r.URL.Path, "/"), index)
	data, err := fs.ReadFile(s.files, name)
	if err != nil {
		http.Error(w, "there is nothing here; the console is at /", http.StatusNotFound)
		return
	}
	sum := sha256.Sum256(data)
	tag := hex.EncodeToString(sum[:8])
	h := w.Header()
	h.Set("Content-Type", types[path.Ext(name)])
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, hashed) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		if small := s.packed.compress(name, data); len(small) < len(data) {
			data, tag = small, tag+"-gzip"
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// gzipCache holds files as gzip packs them, each from when it is first asked for.
// Safe for concurrent use.
type gzipCache struct {
	mu    sync.Mutex
	files map[string][]byte
}

// compress is a file packed.
func (p *gzipCache) compress(name string, data []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if small, ok := p.files[name]; ok {
		return small
	}
	if p.files == nil {
		p.files = make(map[string][]byte)
	}
	p.files[name] = pack(data)
	return p.files[name]
}

// pack compresses as well as gzip can.
func pack(data []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return data
	}
	if _, err := w.Write(data); err != nil {
		return data
	}
	if err := w.Close(); err != nil {
		return data
	}
	return out.Bytes()
}

// acceptsGzip reads an Accept-Encoding header (RFC 9110 §12.5.3).
func acceptsGzip(header string) bool {
	all := false
	for one := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(one, ";")
		wanted := true
		if q, ok := strings.CutPrefix(strings.TrimSpace(weight), "q="); ok {
			value, err := strconv.ParseFloat(q, 64)
			wanted = err == nil && value > 0
		}
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip":
			return wanted
		case "*":
			all = wanted
		}
	}
	return all
}
