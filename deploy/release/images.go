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

// job is one invocation.
type job struct {
	repository, tag, out string
	push                 bool
	source               source
}

// buildImages builds the container images of the mesh, one tarball each, from the checkout and what
// `triplemesh setup` fetched: without a daemon, base image or network. The same commit gives the same
// digests.
func buildImages(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	j := job{}
	flags.StringVar(&j.repository, "repository", "localhost/triplemesh",
		"registry and path below which the images are named")
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

// make builds an image, writes it, and pushes it if requested.
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
	_, err = fmt.Fprintf(out, "%-50s %5.1f MB, %5.1f MB to pull  %s\n", ref, float64(disk)/1e6, float64(pull)/1e6,
		digest)
	return err
}

// sizes returns an image's compressed and unpacked size in bytes.
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

// trim shortens a command's output for an error message.
func trim(output []byte) string { return strings.TrimSpace(string(output)) }

// image describes one container image.
type image struct {
	name, title string
	// program is the package of the entrypoint.
	program string
	// cgo: the program is linked dynamically, and the image contains its libraries.
	cgo bool
	// console: the program serves the console, which is compiled into it.
	console bool
	// files are copied into the image.
	files []file
	// limit is the maximum unpacked size in bytes; 0 sets none.
	limit int64
	// test images are built only when named.
	test bool
}

// file is a file of the checkout and its place in the image.
type file struct {
	from, to string
	// name, version, licence and source are recorded in the SBOM.
	name, version, licence, source string
}

// small is the limit of the stages that hold no data.
const small = 30_000_000

// images returns the images of the stages, of the command line, and of the test programs.
func images() []image {
	return []image{
		orchestrator(),
		stage("generator", "Drafts pseudo-graphs, relation paths, candidates and answers", 0),
		stage("verifier", "Corrects pseudo-graphs by evidence", small),
		stage("evaluator", "Judges candidate answers", small),
		stage("reflector", "Weighs candidates and verdicts", small),
		retriever(),
		{name: "triplemesh", title: "Command line of the mesh", program: "./cmd/triplemesh", cgo: true, console: true},
		forTests("scripted-llm", "Answers as a model server, by script"),
		forTests("trace-sink", "Keeps traces for a look into them"),
		forTests("load", "Asks a mesh and counts what came of it"),
	}
}

func forTests(name, title string) image {
	return image{name: name, title: title, program: "./tests/cluster/cmd/" + name, test: true}
}

func stage(name, title string, limit int64) image {
	return image{name: name, title: title, program: "./services/" + name + "/cmd/" + name, limit: limit}
}

func orchestrator() image {
	i := stage("orchestrator", "Answers questions by the other stages", 0)
	i.console = true
	return i
}

// retriever contains its encoder, so that a pod is ready without fetching anything, and a rollback
// restores the encoder too.
func retriever() image {
	i := stage("retriever", "Finds triples, paths and entities", 0)
	i.cgo = true
	i.files = []file{
		{
			from: filepath.Join(".cache", "onnxruntime", "libonnxruntime.so"), to: "opt/triplemesh/libonnxruntime.so",
			name: "onnxruntime", licence: "MIT", source: "https://github.com/microsoft/onnxruntime",
		},
		{
			from: filepath.Join(".cache", "encoder", "model.onnx"), to: "opt/triplemesh/encoder/model.onnx",
			name: "all-MiniLM-L6-v2", licence: "Apache-2.0",
			source: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
		},
		{
			from: filepath.Join(".cache", "encoder", "vocab.txt"), to: "opt/triplemesh/encoder/vocab.txt",
			name: "all-MiniLM-L6-v2 vocabulary", licence: "Apache-2.0",
			source: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
		},
	}
	return i
}
