package setup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/terminal"
)

func TestPins(t *testing.T) {
	l := Layout{Cache: t.TempDir()}
	if got := model(l).Size(); got != 1_117_320_768 {
		t.Errorf("the model has %d bytes", got)
	}
	hex := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/arm64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		lib, ok := onnxRuntime(l, goos, goarch)
		if !ok {
			t.Fatalf("no library is pinned for %s", system)
		}
		for _, a := range []Asset{encoderModel(l), encoderVocab(l), lib, model(l)} {
			if !hex.MatchString(a.SHA256) {
				t.Errorf("%s: sum %q", a.Name, a.SHA256)
			}
			for _, p := range a.Parts {
				if !hex.MatchString(p.Package.SHA256) || p.Package.Size == 0 || p.Size == 0 {
					t.Errorf("%s: %+v is not pinned", a.Name, p)
				}
			}
		}
	}
	if lib, ok := onnxRuntime(l, "darwin", "amd64"); ok {
		t.Errorf("macOS on amd64 has the library %+v", lib)
	}
}

func TestX86Flags(t *testing.T) {
	tests := []struct{ name, cpuinfo, on, off string }{
		{"a server with AVX-512 never gets AMX", "processor\t: 0\nflags\t\t: sse4_2 avx avx2 fma f16c bmi2 avx512f " +
			"avx512cd avx512vl avx512dq avx512bw avx512vbmi avx512_vnni amx_tile amx_int8\n", "GGML_AVX512_VNNI",
			"AMX"},
		{"half of AVX-512 is none", "flags : avx avx2 avx512f\n", "GGML_AVX2", "GGML_AVX512=ON"},
		{"an old processor gets no AVX", "flags : sse4_2\n", "GGML_SSE42", "GGML_AVX=ON"},
		{"an unreadable file switches all off", "", "", "=ON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(x86Flags(tt.cpuinfo), " ")
			if tt.on != "" && !strings.Contains(got, tt.on+"=ON") {
				t.Errorf("want %s on: %s", tt.on, got)
			}
			if strings.Contains(got, tt.off) {
				t.Errorf("want no %s: %s", tt.off, got)
			}
		})
	}
}

func TestLockIsTakenByOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := takeLock(context.Background(), path, func() { t.Error("waited for nobody") })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := takeLock(ctx, path, cancel); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want it to wait until it was called off", err)
	}
	held.Close()
	again, err := takeLock(context.Background(), path, func() {})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestNeedSpace(t *testing.T) {
	if err := needSpace(t.TempDir(), 1); err != nil {
		t.Error(err)
	}
	if err := needSpace(t.TempDir(), 1<<60); err == nil || !strings.Contains(err.Error(), "--cache") {
		t.Errorf("got %v, want an error that says where else to go", err)
	}
}

func TestBuild(t *testing.T) {
	bin, err := filepath.Abs("testdata/bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	start := func(t *testing.T) (builder, *bytes.Buffer) {
		l := Layout{Cache: t.TempDir()}
		if err := os.MkdirAll(filepath.Join(l.serverDir(), "src-"+serverSource().Version), 0o755); err != nil {
			t.Fatal(err)
		}
		lock, err := takeLock(context.Background(), l.lock(), func() {})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { lock.Close() })
		var out bytes.Buffer
		return builder{layout: l, progress: terminal.NewBoard(terminal.Detect(&out, nil)), lock: lock}, &out
	}
	t.Run("a finished build is remembered", func(t *testing.T) {
		b, out := start(t)
		for range 2 {
			if err := b.build(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(out.String(), "done in"); n != 1 || !b.ready() {
			t.Errorf("built %d times, ready %v", n, b.ready())
		}
	})
	t.Run("a server that was touched is built again", func(t *testing.T) {
		b, _ := start(t)
		if err := b.build(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(b.layout.Server(), []byte("x"), 0o755); err != nil {
			t.Fatal(err)
		}
		if b.ready() {
			t.Error("it still counts as ready")
		}
	})
	t.Run("a build left in pieces starts over", func(t *testing.T) {
		b, out := start(t)
		leaveBroken(t, b)
		if err := b.build(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "from the start") {
			t.Errorf("said %q", out.String())
		}
	})
	t.Run("a failure shows the end of the log", func(t *testing.T) {
		b, _ := start(t)
		leaveBroken(t, b)
		err := b.compile(context.Background(), "src", filepath.Join(b.layout.serverDir(), "build"))
		if err == nil || !strings.Contains(err.Error(), "file truncated") ||
			!strings.Contains(err.Error(), "build.log") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no compiler names what to install", func(t *testing.T) {
		b, _ := start(t)
		t.Setenv("PATH", t.TempDir())
		if err := b.build(context.Background()); err == nil || !strings.Contains(err.Error(), "apt install") {
			t.Errorf("got %v", err)
		}
	})
}

func leaveBroken(t *testing.T, b builder) {
	t.Helper()
	dir := filepath.Join(b.layout.serverDir(), "build")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "bad"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestRunWithEverythingSkippedFetchesNothing(t *testing.T) {
	x := newIndex(t)
	var out bytes.Buffer
	o := Options{Cache: filepath.Join(t.TempDir(), "cache"), Python: x.python(), Out: terminal.Detect(&out, nil),
		SkipEncoder: true, SkipRuntime: true, SkipModel: true, SkipServer: true}
	if err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if x.calls() != 0 || !strings.Contains(out.String(), "everything is there") {
		t.Errorf("said %q", out.String())
	}
}

func TestLookNamesTheMend(t *testing.T) {
	for _, s := range Inspect(t.TempDir()) {
		if !s.OK && s.Mend == "" {
			t.Errorf("%s is missing and nothing says how to mend it", s.Name)
		}
	}
}
