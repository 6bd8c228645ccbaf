package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// source is what images are built from.
type source struct{ root, version, revision string }

// nonroot is the user that images run as, as in distroless images.
const nonroot = "65532"

// epoch is the time of every file: a digest must not tell when it was made.
var epoch = time.Unix(0, 0).UTC()

// build makes an image and its bill of materials (SPDX).
func (i image) build(src source) (_ v1.Image, bill []byte, err error) {
	dir, err := os.MkdirTemp("", "triplemesh-image-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, i.name)
	if err := i.compile(src, program); err != nil {
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

// compile builds the program so that neither the place nor the time of the
// build is in it.
func (i image) compile(src source, to string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "netgo,osusergo",
		"-ldflags", "-s -w -buildid= -X github.com/triplemesh/triplemesh/internal/config.built="+src.version, "-o", to, i.program)
	cmd.Dir = src.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if i.cgo {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w: %s", i.program, err, trim(output))
	}
	return nil
}

// assemble puts what changes least in the lowest layer, so that an upgrade
// pulls the program alone.
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
	config.OS, config.Architecture = "linux", runtime.GOARCH
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
