package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// unreleased is the version of modules that are never released: only a workspace can resolve it.
const unreleased = "v0.0.0"

// check reports every go.mod and go.sum that tidy would change.
func (r *repository) check() error {
	return r.visitFiles(func(file string, got, want []byte) error {
		if bytes.Equal(got, want) {
			return nil
		}
		return fmt.Errorf("%s is out of step: run `go run ./deploy/modules tidy`", file)
	})
}

// tidy brings every go.mod and go.sum up to date.
func (r *repository) tidy() error {
	return r.visitFiles(func(file string, got, want []byte) error {
		if bytes.Equal(got, want) {
			return nil
		}
		fmt.Println("rewrite", file)
		return os.WriteFile(file, want, 0o644)
	})
}

// visitFiles calls visit for go.work and for the go.mod and go.sum of every module, with their text as it
// is and as it should be.
func (r *repository) visitFiles(visit func(file string, got, want []byte) error) error {
	want, err := r.workspace()
	if err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(r.root, "go.work"))
	if err != nil {
		return err
	}
	errs := []error{visit(filepath.Join(r.root, "go.work"), got, want)}
	for _, m := range r.paths() {
		mod, sum, err := r.tidied(m)
		if err != nil {
			return err
		}
		for _, want := range []struct {
			name string
			text []byte
		}{{"go.mod", mod}, {"go.sum", sum}} {
			file := filepath.Join(r.root, r.directories[m], want.name)
			got, err := readIfAny(file)
			if err != nil {
				return err
			}
			errs = append(errs, visit(file, got, want.text))
		}
	}
	return errors.Join(errs...)
}

// workspace returns what go.work should hold: a replacement for the version of each module that the
// others require, since that version may not be published yet.
func (r *repository) workspace() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "go.work"))
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, err
	}
	for _, old := range work.Replace {
		if _, ours := r.directories[old.Old.Path]; ours && old.Old.Version != r.version(old.Old.Path) {
			if err := work.DropReplace(old.Old.Path, old.Old.Version); err != nil {
				return nil, err
			}
		}
	}
	for _, m := range r.paths() {
		if err := work.AddReplace(m, r.version(m), "./"+r.directories[m], ""); err != nil {
			return nil, err
		}
	}
	work.Cleanup()
	return modfile.Format(work.Syntax), nil
}

// tidied returns what go.mod and go.sum of a module should hold.
func (r *repository) tidied(module string) (mod, sum []byte, err error) {
	err = r.standalone(module, func(modPath string) error {
		if err := r.runGo(module, "mod", "tidy", "-modfile="+modPath); err != nil {
			return err
		}
		text, err := os.ReadFile(modPath)
		if err != nil {
			return err
		}
		// tidy leaves the replacements, and v0.0.0-00010101000000-000000000000 for what they brought in.
		file, err := modfile.Parse(modPath, text, nil)
		if err != nil {
			return err
		}
		if err := r.setVersions(file); err != nil {
			return err
		}
		if mod, err = file.Format(); err != nil {
			return err
		}
		sum, err = readIfAny(sumPath(modPath))
		return err
	})
	return mod, sum, err
}

// vet runs go vet in every module with the versions of its own go.mod, not those of the workspace.
func (r *repository) vet() error {
	var errs []error
	for _, m := range r.paths() {
		fmt.Println("go vet", r.directories[m])
		errs = append(errs, r.standalone(m, func(modPath string) error {
			return r.runGo(m, "vet", "-modfile="+modPath, "./...")
		}))
	}
	return errors.Join(errs...)
}

// standalone calls use with a copy of a module's go.mod, its go.sum beside it, in which the other
// modules of the repository are replaced by their directories: their versions may not be published
// yet, and the checksums of what is about to be released cannot be in a go.sum.
func (r *repository) standalone(module string, use func(modPath string) error) error {
	dir := r.directories[module]
	file, err := r.parse(dir)
	if err != nil {
		return err
	}
	if err := r.setVersions(file); err != nil {
		return err
	}
	for _, other := range r.paths() {
		to, err := filepath.Rel(dir, r.directories[other])
		if err != nil {
			return err
		}
		if other == module {
			continue
		}
		if err := file.AddReplace(other, "", "./"+filepath.ToSlash(to), ""); err != nil {
			return err
		}
	}
	scratch, err := os.MkdirTemp("", "triplemesh-modules-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	mod, err := file.Format()
	if err != nil {
		return err
	}
	sum, err := readIfAny(filepath.Join(r.root, dir, "go.sum"))
	if err != nil {
		return err
	}
	modPath := filepath.Join(scratch, "go.mod")
	if err := errors.Join(os.WriteFile(modPath, mod, 0o644), os.WriteFile(sumPath(modPath), sum, 0o644)); err != nil {
		return err
	}
	if err := use(modPath); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// runGo runs the go command in a module, outside the workspace.
func (r *repository) runGo(module string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = filepath.Join(r.root, r.directories[module]), append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}

// sumPath returns the go.sum that belongs to a go.mod given by -modfile.
func sumPath(modPath string) string { return strings.TrimSuffix(modPath, ".mod") + ".sum" }

func readIfAny(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// setVersions requires the modules of the repository at their released versions, and replaces none.
func (r *repository) setVersions(file *modfile.File) error {
	for _, req := range file.Require {
		if _, ours := r.directories[req.Mod.Path]; !ours {
			continue
		}
		if err := file.AddRequire(req.Mod.Path, r.version(req.Mod.Path)); err != nil {
			return err
		}
	}
	for _, old := range file.Replace {
		if _, ours := r.directories[old.Old.Path]; !ours {
			continue
		}
		if err := file.DropReplace(old.Old.Path, old.Old.Version); err != nil {
			return err
		}
	}
	file.Cleanup()
	return nil
}

func (r *repository) version(module string) string {
	if v := r.versions[module]; v != "" {
		return v
	}
	return unreleased
}
