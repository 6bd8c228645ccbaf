package bill

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/module"

	"github.com/triplemesh/triplemesh/deploy/licence"
)

// own begins the paths of the modules of this repository.
const own = "github.com/triplemesh/triplemesh/"

// Modules are the Go modules that a program says it was linked from, those of
// this repository left out, and the standard library.
func Modules(program string) ([]Part, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("modules of %s: %w", program, err)
	}
	parts := []Part{standard(info.GoVersion)}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if strings.HasPrefix(dep.Path, own) || strings.HasPrefix(dep.Path, ".") {
			continue
		}
		p, err := linked(dep)
		if err != nil {
			return nil, fmt.Errorf("modules of %s: %w", program, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func standard(version string) Part {
	return Part{Name: "stdlib", Version: version, Licence: "BSD-3-Clause", Source: "https://go.dev", PURL: "pkg:golang/stdlib@" + version}
}

func linked(dep *debug.Module) (Part, error) {
	p := Part{Name: dep.Path, Version: dep.Version, PURL: "pkg:golang/" + dep.Path + "@" + dep.Version}
	dir, err := moduleDir(dep.Path, dep.Version)
	if err != nil {
		return p, err
	}
	if p.Licence, err = licence.Of(dir); err != nil {
		return p, fmt.Errorf("licence of %s: %w", dep.Path, err)
	}
	return p, nil
}

var moduleCache = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	return strings.TrimSpace(string(out)), err
})

// moduleDir is where the module cache has a module.
func moduleDir(path, version string) (string, error) {
	cache, err := moduleCache()
	if err != nil {
		return "", fmt.Errorf("find the module cache: %w", err)
	}
	escapedPath, err := module.EscapePath(path)
	if err != nil {
		return "", err
	}
	escapedVersion, err := module.EscapeVersion(version)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, escapedPath+"@"+escapedVersion)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("%w: run go mod download", err)
	}
	return dir, nil
}

// Compiled are the Go modules of which the packages of programs would be made,
// found without building them. root is the checkout.
func Compiled(root string, programs ...string) ([]Part, error) {
	list := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}"}, programs...)...)
	list.Dir = root
	// What is shipped is for Linux; the list must not depend on where it is made.
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules of %s: %w", strings.Join(programs, ", "), err)
	}
	lines := slices.Sorted(strings.SplitSeq(strings.TrimSpace(string(out)), "\n"))
	var parts []Part
	for _, line := range slices.Compact(lines) {
		path, version, ok := strings.Cut(line, " ")
		if !ok || version == "" || strings.HasPrefix(path, own) {
			continue
		}
		p, err := linked(&debug.Module{Path: path, Version: version})
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}
