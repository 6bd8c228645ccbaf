package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// gather copies, for each target, the inputs from Go's cache into testdata that reach code of their
// package which neither the seeds nor the inputs in testdata reach. Inputs in testdata stay: they
// may have found a bug. Inputs of more than largest bytes stay in the cache.
func gather(ctx context.Context, packages []suite, scratch string, largest int64, out io.Writer) error {
	var files, bytes int64
	for _, s := range packages {
		binary := filepath.Join(scratch, "cover.test")
		if err := s.build(binary, "-covermode=set"); err != nil {
			return err
		}
		for _, target := range s.targets {
			c := corpus{suite: s, target: target, binary: binary, profile: filepath.Join(scratch, "cover.out")}
			kept, tried, err := c.gather(ctx, largest)
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(out, "%s %s: %d of %d inputs taken\n", s.dir, target, kept, tried)
			n, size := sum(c.dir())
			files, bytes = files+n, bytes+size
		}
	}
	_, err := fmt.Fprintf(out, "%d inputs of %d bytes are in testdata\n", files, bytes)
	return err
}

// corpus is the inputs of one target.
type corpus struct {
	suite
	target          string
	binary, profile string
}

// dir is the directory of the committed inputs.
func (c corpus) dir() string { return filepath.Join(c.suite.dir, "testdata", "fuzz", c.target) }

func (c corpus) gather(ctx context.Context, largest int64) (kept, tried int, err error) {
	reached, err := c.run(ctx, ".*")
	if err != nil {
		return 0, 0, err
	}
	names, err := c.copy(largest)
	// Remove the inputs that were not chosen, also after an error.
	var chosen []string
	defer func() {
		for _, name := range names {
			if !slices.Contains(chosen, name) {
				_ = os.Remove(filepath.Join(c.dir(), name))
			}
		}
	}()
	if err == nil {
		chosen, err = c.choose(ctx, names, reached)
	}
	return len(chosen), len(names), err
}

// copy puts the cached inputs beside the committed ones, and returns the names of the new ones,
// smallest first.
func (c corpus) copy(largest int64) (names []string, err error) {
	cached, err := os.ReadDir(filepath.Join(c.cache, c.target))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.dir(), 0o755); err != nil {
		return nil, err
	}
	sizes := map[string]int{}
	for _, entry := range cached {
		to := filepath.Join(c.dir(), entry.Name())
		if _, err := os.Stat(to); err == nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(c.cache, c.target, entry.Name()))
		if err != nil {
			return names, err
		}
		if int64(len(data)) > largest {
			continue
		}
		names = append(names, entry.Name())
		sizes[entry.Name()] = len(data)
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return names, err
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if sizes[a] != sizes[b] {
			return sizes[a] - sizes[b]
		}
		return strings.Compare(a, b)
	})
	return names, nil
}

// choose picks the inputs that reach blocks which are not in reached, and adds those to it. It
// discards a group of inputs that adds nothing in one run.
func (c corpus) choose(ctx context.Context, names []string, reached map[string]bool) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	now, err := c.run(ctx, "^("+strings.Join(names, "|")+")$")
	if err != nil {
		return nil, err
	}
	adds := false
	for block := range now {
		adds = adds || !reached[block]
	}
	if !adds {
		return nil, nil
	}
	if len(names) == 1 {
		for block := range now {
			reached[block] = true
		}
		return names, nil
	}
	first, err := c.choose(ctx, names[:len(names)/2], reached)
	if err != nil {
		return nil, err
	}
	second, err := c.choose(ctx, names[len(names)/2:], reached)
	return slices.Concat(first, second), err
}

// run runs the inputs whose names match, and returns the blocks of code that they reach.
func (c corpus) run(ctx context.Context, names string) (map[string]bool, error) {
	command := exec.CommandContext(ctx, c.binary, "-test.run=^"+c.target+"$/"+names, "-test.coverprofile="+c.profile)
	command.Dir = c.suite.dir
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run the inputs of %s %s: %w\n%s", c.suite.dir, c.target, err, output)
	}
	profile, err := os.ReadFile(c.profile)
	return blocks(string(profile)), err
}

// blocks returns the blocks of a coverage profile that were reached: lines such as
// "path/file.go:12.34,15.2 3 1" without the count.
func blocks(profile string) map[string]bool {
	reached := map[string]bool{}
	for line := range strings.Lines(profile) {
		if block, isReached := strings.CutSuffix(strings.TrimSpace(line), " 1"); isReached {
			reached[block] = true
		}
	}
	return reached
}

func sum(dir string) (files, bytes int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			files, bytes = files+1, bytes+info.Size()
		}
	}
	if files == 0 {
		_ = os.Remove(dir)
	}
	return files, bytes
}
