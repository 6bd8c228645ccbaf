package setup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/download"
	"github.com/triplemesh/triplemesh/internal/terminal"
)

// newProvider returns a builder whose index holds nothing, whose sources are unpacked, and whose
// compiler is the stand-in.
func newProvider(t *testing.T) (builder, index, *bytes.Buffer) {
	t.Helper()
	bin, err := filepath.Abs("testdata/bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	x := newIndex(t)
	l := Layout{Cache: t.TempDir()}
	lock, err := takeLock(context.Background(), l.lock(), func() {})
	if err == nil {
		err = os.MkdirAll(filepath.Join(l.serverDir(), "src-"+serverSource().Version), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	var out bytes.Buffer
	return builder{layout: l, pip: pip{x.python()}, lock: lock,
		progress: terminal.NewBoard(terminal.Detect(&out, nil))}, x, &out
}

func TestAPrebuiltServerThatCannotBeFetchedIsBuiltFromSource(t *testing.T) {
	wheels := usableWheels()
	if len(wheels) == 0 {
		t.Skip("no wheel is pinned for this platform")
	}
	tests := []struct {
		name    string
		publish func(x index, wheel Package)
		want    string
	}{
		{"an index without the package", func(x index, wheel Package) {
			x.write(wheel.String()+".error", []byte("ERROR: No matching distribution found"))
		}, "package index"},
		{"an index that sends another file", func(x index, wheel Package) {
			x.write(wheel.String(), []byte("another"))
		},
			wheels[0].Package.SHA256},
		{"an index that stops midway", func(x index, wheel Package) {
			x.write(wheel.String()+".error", []byte("IncompleteRead(10 bytes read, 20 more expected)"))
		}, "IncompleteRead"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, x, out := newProvider(t)
			for _, w := range wheels {
				tt.publish(x, w.Package)
			}
			if err := b.provide(context.Background()); err != nil {
				t.Fatal(err)
			}
			if !b.ready() || !strings.Contains(out.String(), tt.want) ||
				!strings.Contains(out.String(), "building llama-server from source instead") {
				t.Errorf("ready %v, said %q, want %q", b.ready(), out.String(), tt.want)
			}
		})
	}
	t.Run("one whose cache was copied is the same, and one that changed is not", func(t *testing.T) {
		b, _, _ := newProvider(t)
		if err := b.provide(context.Background()); err != nil {
			t.Fatal(err)
		}
		server := b.layout.Server()
		if err := os.Chtimes(server, time.Time{}, time.Unix(1, 0)); err != nil || !b.ready() {
			t.Errorf("copied: got %v, ready %v", err, b.ready())
		}
		data, err := os.ReadFile(server)
		if err != nil {
			t.Fatal(err)
		}
		data[0]++
		if err := os.WriteFile(server, data, 0o700); err != nil || b.ready() {
			t.Errorf("changed: got %v, ready %v", err, b.ready())
		}
	})
	t.Run("one that the user wants built is not fetched", func(t *testing.T) {
		b, x, _ := newProvider(t)
		b.own = true
		if err := b.provide(context.Background()); err != nil || x.calls() != 0 || !b.ready() {
			t.Errorf("got %v, ready %v", err, b.ready())
		}
	})
}

// release packs a server that runs a shell script, with a link to a library as the releases have.
func release(t *testing.T, script string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	put := func(h tar.Header, content string) {
		h.Size = int64(len(content))
		err := w.WriteHeader(&h)
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(tar.Header{Name: "llama-b1/llama-server", Mode: 0o755, Typeflag: tar.TypeReg}, "#!/bin/sh\n"+script)
	put(tar.Header{Name: "llama-b1/libllama.so.0", Mode: 0o644, Typeflag: tar.TypeReg},
		strings.Repeat("library ", 4096))
	put(tar.Header{Name: "llama-b1/libllama.so", Linkname: "libllama.so.0", Typeflag: tar.TypeSymlink}, "")
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAnArchiveIsFetchedOverHTTP(t *testing.T) {
	content := release(t, "exit 0\n")
	tests := []struct {
		name string
		// serve answers the n-th request, from 0.
		serve func(w http.ResponseWriter, r *http.Request, n int32)
		sum   string
		want  string
		asked int32
	}{
		{"whole", func(w http.ResponseWriter, r *http.Request, _ int32) {
			http.ServeContent(w, r, "a.tar.gz", time.Time{}, bytes.NewReader(content))
		}, sum(content), "", 1},
		{"resumed after it broke off twice", func(w http.ResponseWriter, r *http.Request, n int32) {
			if n < 2 {
				w = &cutWriter{ResponseWriter: w, left: len(content) / 3}
			}
			http.ServeContent(w, r, "a.tar.gz", time.Time{}, bytes.NewReader(content))
		}, sum(content), "", 3},
		{"from the start where the server knows no ranges", func(w http.ResponseWriter, _ *http.Request, n int32) {
			if n < 1 {
				w = &cutWriter{ResponseWriter: w, left: len(content) / 3}
			}
			_, _ = w.Write(content)
		}, sum(content), "", 2},
		{"with another checksum", func(w http.ResponseWriter, _ *http.Request, _ int32) {
			_, _ = w.Write(content)
		}, sum([]byte("another")), "checksum mismatch", 1},
		{"not there", func(w http.ResponseWriter, _ *http.Request, _ int32) { w.WriteHeader(http.StatusNotFound) },
			sum(content), "404", 1},
		{"from a server that always fails", func(w http.ResponseWriter, _ *http.Request, _ int32) {
			w.WriteHeader(http.StatusBadGateway)
		}, sum(content), "502", download.Attempts},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				tt.serve(w, r, asked.Add(1)-1)
			}))
			defer server.Close()
			b, _, _ := newProvider(t)
			b.archive = Archive{URL: server.URL + "/a.tar.gz", SHA256: tt.sum}
			err := b.provide(context.Background())
			if n := asked.Load(); n != tt.asked {
				t.Errorf("%d requests, want %d", n, tt.asked)
			}
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || b.ready() {
					t.Fatalf("got %v, ready %v, want %q", err, b.ready(), tt.want)
				}
				return
			}
			if err != nil || !b.ready() {
				t.Fatalf("got %v, ready %v", err, b.ready())
			}
			link := filepath.Join(b.layout.prebuilt(), "llama-b1", "libllama.so")
			if got, err := os.ReadFile(link); err != nil || !strings.HasPrefix(string(got), "library") {
				t.Errorf("the library behind its link: %.20q, %v", got, err)
			}
		})
	}
}

// cutWriter breaks the connection off after some bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Write(b []byte) (int, error) {
	n, _ := w.ResponseWriter.Write(b[:min(w.left, len(b))])
	if w.left -= n; w.left == 0 {
		w.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

func TestAServerThatDoesNotRunTheModelIsReplaced(t *testing.T) {
	install := func(t *testing.T, script string) (builder, string, *bytes.Buffer) {
		b, x, out := newProvider(t)
		wheels := usableWheels()
		if len(wheels) == 0 {
			t.Skip("no wheel is pinned for this platform")
		}
		for _, w := range wheels {
			x.write(w.Package.String()+".error", []byte("ERROR: No matching distribution found"))
		}
		model := filepath.Join(b.layout.Cache, "model")
		dir := b.layout.prebuilt() + ".partial"
		err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(model, nil, 0o644),
			os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\n"+script), 0o755))
		if err == nil {
			err = b.installPrebuilt(context.Background(), `"${0%/*}/prebuilt/run"`,
				buildStamp{Source: wheels[0].Package.SHA256})
		}
		if err != nil {
			t.Fatal(err)
		}
		return b, model, out
	}
	t.Run("a processor without its instructions gets one built from source", func(t *testing.T) {
		b, model, out := install(t, `[ "$1" = --version ] || kill -ILL $$`)
		if err := b.confirm(context.Background(), model); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(b.layout.prebuilt()); err == nil || !b.ready() ||
			!strings.Contains(out.String(), "this processor lacks instructions") {
			t.Errorf("ready %v, said %q", b.ready(), out.String())
		}
	})
	t.Run("one that the user named is an error", func(t *testing.T) {
		b, model, _ := install(t, `[ "$1" = --version ] || exit 3`)
		b.archive = Archive{URL: "https://example.org/a.zip", SHA256: usableWheels()[0].Package.SHA256}
		if err := b.confirm(context.Background(), model); err == nil ||
			!strings.Contains(err.Error(), "--model-server-url") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("without a model it is not tried", func(t *testing.T) {
		b, model, _ := install(t, `[ "$1" = --version ] || exit 3`)
		if err := b.confirm(context.Background(), model+"x"); err != nil || !b.ready() {
			t.Errorf("got %v, ready %v", err, b.ready())
		}
	})
}

func TestArchiveIsValidated(t *testing.T) {
	good := sum(nil)
	for _, a := range []Archive{{URL: "ftp://x/y", SHA256: good}, {URL: "https://x/y"}, {SHA256: good},
		{URL: "https://x/y", SHA256: good[1:]}, {URL: "https://x/y", SHA256: strings.ToUpper(good)}} {
		if err := a.Validate(); err == nil || !strings.Contains(err.Error(), "--model-server") {
			t.Errorf("%+v: got %v, want the flag", a, err)
		}
	}
	for _, a := range []Archive{{}, {URL: "https://x/y", SHA256: good}} {
		if err := a.Validate(); err != nil {
			t.Error(err)
		}
	}
}
