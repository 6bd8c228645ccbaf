package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// libraryDirs are the loader's default directories. The libraries have the same paths in the image.
var libraryDirs = []string{
	"/lib64", "/lib", "/usr/lib64", "/usr/lib",
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
}

// libraries returns the shared libraries that the program and the libraries in its image need,
// including the loader, sorted. Nothing is executed to find them.
func (i image) libraries(src source, program string) ([]string, error) {
	if !i.cgo {
		return nil, nil
	}
	found := map[string]string{}
	if err := need(program, found); err != nil {
		return nil, err
	}
	for _, f := range i.files {
		if strings.HasSuffix(f.to, ".so") {
			if err := need(filepath.Join(src.root, f.from), found); err != nil {
				return nil, err
			}
		}
	}
	var all []string
	for _, at := range found {
		all = append(all, at)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// need adds the libraries that an ELF file needs to found, by name.
func need(file string, found map[string]string) error {
	f, err := elf.Open(file)
	if err != nil {
		return fmt.Errorf("libraries of %s: %w", file, err)
	}
	defer f.Close()
	names, err := f.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("libraries of %s: %w", file, err)
	}
	if loader := interpreter(f); loader != "" {
		found[filepath.Base(loader)] = loader
	}
	for _, name := range names {
		if found[name] != "" {
			continue
		}
		if found[name], err = locate(name); err != nil {
			return fmt.Errorf("libraries of %s: %w", file, err)
		}
		if err := need(found[name], found); err != nil {
			return err
		}
	}
	return nil
}

// interpreter returns the loader that a program names; libraries name none.
func interpreter(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			path, err := io.ReadAll(p.Open())
			if err != nil {
				return ""
			}
			return strings.TrimRight(string(path), "\x00")
		}
	}
	return ""
}

func locate(name string) (string, error) {
	for _, dir := range libraryDirs {
		at := filepath.Join(dir, name)
		if _, err := os.Stat(at); err == nil {
			return at, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s is in none of %s", name, strings.Join(libraryDirs, ", "))
}
