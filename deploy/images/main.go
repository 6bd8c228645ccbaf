// Command images builds the container images of the mesh, one tarball each,
// from nothing but the checkout and what `triplemesh setup` fetched: no daemon,
// no base image, no network. The same commit gives the same digests.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// job is one invocation.
type job struct {
	repository, tag, out string
	push                 bool
	source               source
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	j := job{}
	flags.StringVar(&j.repository, "repository", "localhost/triplemesh", "registry and path below which the images are named")
	flags.StringVar(&j.tag, "tag", "dev", "tag of the images")
	flags.StringVar(&j.out, "out", filepath.Join(".cache", "images"), "directory of the tarballs and their SBOMs")
	flags.BoolVar(&j.push, "push", false, "push to the repository too, by the credentials of `docker login`")
	flags.StringVar(&j.source.root, "root", ".", "the checkout")
	flags.StringVar(&j.source.version, "version", "unknown", "version written into labels and SBOMs")
	flags.StringVar(&j.source.revision, "revision", "", "commit written into labels")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := os.MkdirAll(j.out, 0o755); err != nil {
		return err
	}
	for _, i := range images() {
		if wanted := slices.Contains(flags.Args(), i.name); !wanted && (flags.NArg() > 0 || i.test) {
			continue
		}
		if err := j.make(i, out); err != nil {
			return fmt.Errorf("%s: %w", i.name, err)
		}
	}
	return nil
}

// make builds an image, writes it, and pushes it where asked to.
func (j job) make(i image, out io.Writer) error {
	ref, err := name.NewTag(j.repository + "/" + i.name + ":" + j.tag)
	if err != nil {
		return err
	}
	built, bill, err := i.build(j.source)
	if err != nil {
		return err
	}
	pull, disk, err := sizes(built)
	if err != nil {
		return err
	}
	if i.limit > 0 && disk > i.limit {
		return fmt.Errorf("%d bytes, its limit is %d", disk, i.limit)
	}
	if err := os.WriteFile(filepath.Join(j.out, i.name+".spdx.json"), bill, 0o644); err != nil {
		return err
	}
	if err := tarball.WriteToFile(filepath.Join(j.out, i.name+".tar"), ref, built); err != nil {
		return err
	}
	if j.push {
		if err := remote.Write(ref, built, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return fmt.Errorf("push: %w", err)
		}
	}
	digest, err := built.Digest()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%-50s %5.1f MB, %5.1f MB to pull  %s\n", ref, float64(disk)/1e6, float64(pull)/1e6, digest)
	return err
}

// sizes are an image's bytes as they travel and as they lie unpacked.
func sizes(i v1.Image) (pull, disk int64, err error) {
	layers, err := i.Layers()
	if err != nil {
		return 0, 0, err
	}
	for _, l := range layers {
		size, err := l.Size()
		if err != nil {
			return 0, 0, err
		}
		pull += size
		r, err := l.Uncompressed()
		if err != nil {
			return 0, 0, err
		}
		n, err := io.Copy(io.Discard, r)
		if err != nil {
			return 0, 0, err
		}
		disk += n
		if err := r.Close(); err != nil {
			return 0, 0, err
		}
	}
	return pull, disk, nil
}

// trim is a command's output as an error shows it.
func trim(output []byte) string { return strings.TrimSpace(string(output)) }
