// Package home knows where triplemesh keeps its files.
//
// There is one rule. In a checkout everything lies in the checkout's .cache
// and nothing outside is touched. An installed binary uses the XDG
// directories: fetched files in the cache home, knowledge graphs and runs in
// the data home. TRIPLEMESH_CACHE and TRIPLEMESH_HOME override either.
package home

import (
	"fmt"
	"os"
	"path/filepath"
)

// Home is the pair of directories that triplemesh writes to. Both are
// absolute paths; neither need exist yet.
type Home struct {
	// Cache holds what `triplemesh setup` fetched and can fetch again.
	Cache string
	// Data holds knowledge graphs and runs, which nothing can bring back.
	Data string
}

// Reports is the directory of reports that the console shows.
func (h Home) Reports() string { return filepath.Join(h.Data, "reports") }

// Overrides are directories that the user named; empty ones are looked up.
type Overrides struct {
	Cache, Data string
}

// Find resolves the home from what the user named, the environment, the
// checkout around the binary or the working directory, and the XDG rules, in
// that order.
func Find(o Overrides) (Home, error) {
	exe, err := os.Executable()
	if err != nil {
		exe = ""
	}
	wd, err := os.Getwd()
	if err != nil {
		wd = ""
	}
	return find(o, os.Getenv, filepath.Dir(exe), wd)
}

func find(o Overrides, getenv func(string) string, starts ...string) (Home, error) {
	h := Home{
		Cache: first(o.Cache, getenv("TRIPLEMESH_CACHE")),
		Data:  first(o.Data, getenv("TRIPLEMESH_HOME")),
	}
	checkout := ""
	for _, start := range starts {
		if checkout = Checkout(start); checkout != "" {
			break
		}
	}
	if h.Cache == "" {
		if checkout != "" {
			h.Cache = filepath.Join(checkout, ".cache")
		} else if base := xdg(getenv, "XDG_CACHE_HOME", ".cache"); base != "" {
			h.Cache = filepath.Join(base, "triplemesh")
		}
	}
	if h.Data == "" {
		if checkout != "" {
			h.Data = filepath.Join(checkout, ".cache", "data")
		} else if base := xdg(getenv, "XDG_DATA_HOME", ".local/share"); base != "" {
			h.Data = filepath.Join(base, "triplemesh")
		}
	}
	if h.Cache == "" || h.Data == "" {
		return Home{}, fmt.Errorf("find a place for triplemesh's files: no checkout around and HOME is not set; set TRIPLEMESH_CACHE and TRIPLEMESH_HOME")
	}
	var err error
	if h.Cache, err = filepath.Abs(h.Cache); err != nil {
		return Home{}, fmt.Errorf("find the cache directory: %w", err)
	}
	if h.Data, err = filepath.Abs(h.Data); err != nil {
		return Home{}, fmt.Errorf("find the data directory: %w", err)
	}
	return h, nil
}

// Checkout returns the triplemesh checkout that dir lies in, or "".
func Checkout(dir string) string {
	for dir != "" {
		if isFile(filepath.Join(dir, "go.work")) && isFile(filepath.Join(dir, "cmd", "triplemesh", "go.mod")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	return ""
}

func xdg(getenv func(string) string, name, below string) string {
	if base := getenv(name); filepath.IsAbs(base) {
		return base
	}
	if user := getenv("HOME"); user != "" {
		return filepath.Join(user, below)
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
