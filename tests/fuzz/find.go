package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// suite is a package with fuzz targets.
type suite struct {
	dir     string // from the root of the repository
	cache   string // Go's directory of generated inputs for this package
	targets []string
}

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// find lists the fuzz targets under root whose "dir.Name" matches only, by package.
func find(root, only string) ([]suite, error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("read -only: %w", err)
	}
	targets := map[string][]string{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "node_modules" || name == "testdata" || name != "." &&
			strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		for _, match := range declaration.FindAllSubmatch(source, -1) {
			if name := string(match[1]); wanted.MatchString(dir + "." + name) {
				targets[dir] = append(targets[dir], name)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for fuzz targets: %w", err)
	}
	return suites(targets)
}

func suites(targets map[string][]string) ([]suite, error) {
	if len(targets) == 0 {
		return nil, nil
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("ask Go for its cache: %w", err)
	}
	var all []suite
	for dir, names := range targets {
		slices.Sort(names)
		list := exec.Command("go", "list", ".")
		list.Dir = dir
		path, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("ask Go for the path of %s: %w", dir, err)
		}
		all = append(all, suite{
			dir:     dir,
			cache:   filepath.Join(strings.TrimSpace(string(cache)), "fuzz", strings.TrimSpace(string(path))),
			targets: names,
		})
	}
	slices.SortFunc(all, func(a, b suite) int { return strings.Compare(a.dir, b.dir) })
	return all, nil
}

// build compiles the tests of s into the file at path, with more arguments for go test.
func (s suite) build(path string, arguments ...string) error {
	command := exec.Command("go", append([]string{"test", "-c", "-o", path}, append(arguments, ".")...)...)
	command.Dir = s.dir
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the tests of %s: %w\n%s", s.dir, err, output)
	}
	return nil
}
