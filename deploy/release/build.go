package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// source is the checkout that programs and images are built from.
type source struct {
	root, version, revision string
	// platform is what to build for; zero means this machine.
	platform v1.Platform
	// cc is a C compiler that takes -target, such as "python3 -m ziglang cc"; empty means this
	// machine's own, which builds for this machine only.
	cc string
}

// target returns the platform to build for.
func (s source) target() v1.Platform {
	if s.platform.OS == "" {
		return v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}
	}
	return s.platform
}

// targets are the targets of Zig's C compiler by platform. The oldest glibc is that of ONNX Runtime's
// wheels.
var targets = map[string]string{
	"linux/amd64": "x86_64-linux-gnu.2.28", "linux/arm64": "aarch64-linux-gnu.2.28",
}

// environment returns the variables of a build for the target, with cgo if wanted.
func (s source) environment(cgo bool) ([]string, error) {
	p := s.target()
	env := append(os.Environ(), "GOOS="+p.OS, "GOARCH="+p.Architecture, "CGO_ENABLED=0")
	switch {
	case !cgo:
	case s.cc != "":
		target := targets[p.String()]
		if target == "" {
			return nil, fmt.Errorf("build for %s with cgo: unknown target of the C compiler", p)
		}
		env = append(env, "CGO_ENABLED=1", "CC="+s.cc+" -target "+target)
	case p.OS == runtime.GOOS && p.Architecture == runtime.GOARCH:
		env = append(env, "CGO_ENABLED=1")
	default:
		return nil, fmt.Errorf("build for %s with cgo: this machine's C compiler builds for this machine only; "+
			"install one for Linux on both architectures (pip install ziglang==0.17.0) and set "+
			"-cc 'python3 -m ziglang cc', or build on that platform", p)
	}
	return env, nil
}

// compile builds a program reproducibly: the binary contains neither paths nor times of the build.
func (s source) compile(program, to string, cgo bool) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "netgo,osusergo",
		"-ldflags", "-s -w -buildid= -X github.com/triplemesh/triplemesh/internal/config.built="+s.version,
		"-o", to, program)
	var err error
	if cmd.Env, err = s.environment(cgo); err != nil {
		return err
	}
	cmd.Dir = s.root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s for %s: %w: %s", program, s.target(), err, trim(output))
	}
	return nil
}

// nonroot is the user that images run as, as in distroless images.
const nonroot = "65532"

// epoch is the modification time of every file: a digest must not depend on the build time.
var epoch = time.Unix(0, 0).UTC()

// build returns an image and its bill of materials (SPDX).
func (i image) build(src source) (_ v1.Image, bill []byte, err error) {
	dir, err := os.MkdirTemp("", "triplemesh-image-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, i.name)
	if err := src.compile(i.program, program, i.cgo); err != nil {
		return nil, nil, err
	}
	libraries, err := i.libraries(src, program)
	if err != nil {
		return nil, nil, err
	}
	bill, err = i.bill(src, program, libraries)
	if err != nil {
		return nil, nil, err
	}
	built, err := i.assemble(src, program, libraries, bill)
	return built, bill, err
}

// assemble puts the files that change least in the lowest layer, so that an upgrade pulls only the
// program.
func (i image) assemble(src source, program string, libraries []string, bill []byte) (v1.Image, error) {
	base, err := baseFiles()
	if err != nil {
		return nil, err
	}
	var carried entries
	for _, lib := range libraries {
		carried.addFile(lib, lib)
	}
	for _, f := range i.files {
		carried.addFile(f.to, filepath.Join(src.root, f.from))
	}
	var own entries
	own.addFile(i.name, program)
	own.addData("var/lib/db/sbom/"+i.name+".spdx.json", bill)

	built := v1.Image(empty.Image)
	for _, layer := range []entries{base, carried, own} {
		if len(layer) == 0 {
			continue
		}
		l, err := layer.layer()
		if err != nil {
			return nil, err
		}
		if built, err = mutate.AppendLayers(built, l); err != nil {
			return nil, err
		}
	}
	return mutate.ConfigFile(built, i.config(src, built))
}

func (i image) config(src source, built v1.Image) *v1.ConfigFile {
	config, err := built.ConfigFile()
	if err != nil {
		// An image in memory always has one.
		config = &v1.ConfigFile{}
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", src.target().Architecture
	config.Created = v1.Time{Time: epoch}
	config.Config = v1.Config{
		Entrypoint: []string{"/" + i.name},
		User:       nonroot + ":" + nonroot,
		WorkingDir: "/",
		Env:        []string{"PATH=/"},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "triplemesh " + i.name,
			"org.opencontainers.image.description": i.title,
			"org.opencontainers.image.version":     src.version,
			"org.opencontainers.image.revision":    src.revision,
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.source":      "https://github.com/triplemesh/triplemesh",
		},
	}
	return config
}

// bill returns the SPDX bill of an image: the Go modules that the program was linked from, the
// console's packages if it serves the console, the files of the image, and the libraries of the
// build machine.
func (i image) bill(src source, program string, libraries []string) ([]byte, error) {
	parts, err := linkedModules(program)
	if err != nil {
		return nil, err
	}
	if i.console {
		packages, err := consolePackages(src.root)
		if err != nil {
			return nil, err
		}
		parts = append(parts, packages...)
	}
	for _, f := range i.files {
		p, err := part{Name: f.name, Version: f.version, Licence: f.licence,
			Source: f.source}.Sum(filepath.Join(src.root, f.from))
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	for _, lib := range libraries {
		name := filepath.Base(lib)
		p, err := part{Name: name, Licence: systemLicence(name)}.Sum(lib)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return billOfMaterials{Name: i.name, Version: src.version, Parts: parts}.JSON()
}

// systemLicence returns the licence of a system library, empty if unknown.
func systemLicence(name string) string {
	for prefix, id := range map[string]string{
		"ld-linux": "LGPL-2.1-or-later", "libc.so": "LGPL-2.1-or-later", "libm.so": "LGPL-2.1-or-later",
		"libdl.so": "LGPL-2.1-or-later", "libpthread.so": "LGPL-2.1-or-later", "librt.so": "LGPL-2.1-or-later",
		"libresolv.so": "LGPL-2.1-or-later", "libgcc_s.so": gccException, "libstdc++.so": gccException,
	} {
		if strings.HasPrefix(name, prefix) {
			return id
		}
	}
	return ""
}

const gccException = "GPL-3.0-or-later WITH GCC-exception-3.1"
