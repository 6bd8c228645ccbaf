package setup

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
		args = append(args, "--only-binary", ":all:", "--python-version", "3.11", "--implementation", "cp", "--abi", "cp311")
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
		return fmt.Errorf("download %s: %s is not installed: install Python 3.8 or newer with pip, or name one with --python", pkg, p.python)
	case strings.Contains(said, "No module named pip"):
		return fmt.Errorf("download %s: %s has no pip: install it (on Debian and Ubuntu: apt install python3-pip), or name another Python with --python", pkg, p.python)
	case strings.Contains(said, "No space left on device"):
		return fmt.Errorf("download %s: the disk is full; %s", pkg, todo)
	case strings.Contains(said, "No matching distribution"), strings.Contains(said, "Failed to establish a new connection"),
		strings.Contains(said, "Temporary failure in name resolution"), strings.Contains(said, "ConnectTimeoutError"):
		return fmt.Errorf("download %s: pip cannot reach a package index that has it (is there a network, a proxy, an index in pip's configuration?); %s\n%s", pkg, todo, lastLines(said, 3))
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
	got, err := fileSum(path)
	if err != nil {
		return "", fmt.Errorf("download %s: %w", pkg, err)
	}
	if got != pkg.SHA256 {
		return "", fmt.Errorf("download %s: SHA-256 of %s: got %s, want %s: the index in pip's configuration serves another file, or something on the way changed it", pkg, files[0].Name(), got, pkg.SHA256)
	}
	return path, nil
}

// String is the requirement, as pip writes it.
func (p Package) String() string { return p.Name + "==" + p.Version }

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// folderSize is how many bytes lie below dir, for progress; files that vanish
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
