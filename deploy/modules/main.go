// Command modules keeps the versions of the repository's modules in step with versions.yaml.
package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
	"sigs.k8s.io/yaml"
)

// repository is a checkout: its modules and the versions under which they are released.
type repository struct {
	root string
	// directories are slash-separated and relative to root, by module path.
	directories map[string]string
	// versions of the released modules, by module path.
	versions map[string]string
}

// versionFile is versions.yaml.
type versionFile struct {
	Sets map[string]struct {
		Version string   `json:"version"`
		Modules []string `json:"modules"`
	} `json:"module-sets"`
	Excluded []string `json:"excluded-modules"`
}

// open reads go.work, every go.mod and versions.yaml. Each module of the workspace must be in
// versions.yaml, and each module of versions.yaml in the workspace.
func open(root string) (*repository, error) {
	r := &repository{root: root, directories: map[string]string{}, versions: map[string]string{}}
	text, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, err
	}
	for _, use := range work.Use {
		mod, err := r.parse(use.Path)
		if err != nil {
			return nil, err
		}
		r.directories[mod.Module.Mod.Path] = path.Clean(use.Path)
	}
	if text, err = os.ReadFile(filepath.Join(root, "versions.yaml")); err != nil {
		return nil, err
	}
	var file versionFile
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, fmt.Errorf("versions.yaml: %w", err)
	}
	listed := slices.Clone(file.Excluded)
	for _, set := range file.Sets {
		for _, m := range set.Modules {
			r.versions[m] = set.Version
			listed = append(listed, m)
		}
	}
	var errs []error
	for m := range r.directories {
		if !slices.Contains(listed, m) {
			errs = append(errs, fmt.Errorf("versions.yaml: %s is missing", m))
		}
	}
	for _, m := range listed {
		if r.directories[m] == "" {
			errs = append(errs, fmt.Errorf("go.work: %s is missing", m))
		}
	}
	return r, errors.Join(errs...)
}

// paths returns the paths of all modules, sorted.
func (r *repository) paths() []string { return slices.Sorted(maps.Keys(r.directories)) }

// parse reads the go.mod of a directory relative to the root.
func (r *repository) parse(dir string) (*modfile.File, error) {
	name := filepath.Join(r.root, dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, text, nil)
}

const usage = `usage: go run ./deploy/modules COMMAND

  check        fail if a go.mod disagrees with versions.yaml, replaces a module of the repository, or is not tidy
  vet          run go vet in every module with the versions of its own go.mod
  tidy         rewrite every go.mod: versions from versions.yaml, requirements by go mod tidy
  released     print the directories of the released modules, which prefix their tags
  proxy DIR    write the released modules into DIR as a module proxy; use it by GOPROXY=file://DIR`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	repo, err := open(".")
	if err != nil {
		return err
	}
	switch {
	case len(args) == 1 && args[0] == "check":
		return repo.check()
	case len(args) == 1 && args[0] == "vet":
		return repo.vet()
	case len(args) == 1 && args[0] == "tidy":
		return repo.tidy()
	case len(args) == 1 && args[0] == "released":
		for _, m := range slices.Sorted(maps.Keys(repo.versions)) {
			fmt.Println(repo.directories[m])
		}
		return nil
	case len(args) == 2 && args[0] == "proxy":
		return repo.writeProxy(args[1])
	}
	return errors.New(usage)
}

// writeProxy writes the released modules as files of the GOPROXY protocol.
func (r *repository) writeProxy(dir string) error {
	for path, version := range r.versions {
		if err := r.pack(filepath.Join(dir, filepath.FromSlash(path), "@v"), path, version); err != nil {
			return fmt.Errorf("pack %s@%s: %w", path, version, err)
		}
	}
	return nil
}

// pack writes one version of a module: the list of versions, its .info, its .mod and its .zip.
func (r *repository) pack(to, path, version string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	source := filepath.Join(r.root, r.directories[path])
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf("{\"Version\":%q}\n", version),
		version + ".mod":  string(mod),
	} {
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(to, version+".zip"))
	if err != nil {
		return err
	}
	if err := zip.CreateFromDir(archive, module.Version{Path: path, Version: version}, source); err != nil {
		archive.Close()
		return err
	}
	return archive.Close()
}
