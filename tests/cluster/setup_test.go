//go:build cluster

package cluster

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

var (
	rate      = flag.Float64("rate", 20, "questions a second in the tests under load")
	questions = flag.Int("questions", 1200, "questions of each test under load")
	cores     = flag.Float64("cores", .05, "cores that each retriever may use where throughput is measured")
	build     = flag.Bool("build", true, "build the images and put them into the cluster first")
	loader    = flag.String("loader", "",
		"program that puts an image's tarball into the cluster's nodes, called with its path")
	repository = flag.String("repository", "localhost/triplemesh",
		"registry and path that the cluster takes the images from; other than the default, they are pushed there")
	killer = flag.String("killer", "", "program that kills a container without warning, called with its id; "+
		"without it pods are deleted with no time to end")
	programs = flag.String("programs", "",
		"program that builds programs of others and puts their images into the nodes, called with their names")
	manifests = flag.String("kustomization", "mesh",
		"kustomization that is applied: mesh, or mesh-host-path where there is no storage class")
)

const ownRepository = "localhost/triplemesh"

// stages are the Deployments of the mesh.
var stages = []string{"orchestrator", "generator", "retriever", "verifier", "evaluator", "reflector"}

// others are added by the tests.
var others = []string{"scripted-llm", "trace-sink"}

// inRepository sets the image repository of this run in a manifest.
func inRepository(manifest string) string {
	return strings.ReplaceAll(manifest, ownRepository+"/", *repository+"/")
}

// images builds the images and loads them into the cluster.
func images(t *testing.T) {
	if *loader == "" && *repository == ownRepository {
		t.Fatal("the cluster could not find the images: name a registry that it reads by REGISTRY, or by -loader a " +
			"program that puts a tarball into its nodes")
	}
	root := filepath.Dir(testkit.CheckoutFile(t, "go.work"))
	out := t.TempDir()
	args := []string{"-C", root, "run", "./deploy/release", "images", "-out", out, "-repository", *repository}
	if *repository != ownRepository {
		args = append(args, "-push")
	}
	args = append(args, stages...)
	args = append(append(args, others...), "load")
	sizes, err := run("", "go", args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + sizes)
	if *loader == "" {
		return
	}
	tars, err := filepath.Glob(filepath.Join(out, "*.tar"))
	if err != nil || len(tars) == 0 {
		t.Fatalf("no image was built: %v", err)
	}
	for _, tar := range tars {
		if _, err := run("", *loader, tar); err != nil {
			t.Fatal(err)
		}
	}
}

// deploy applies the overlay and waits until all pods are ready.
func deploy(t *testing.T) {
	applyKustomization(t, *manifests)
	waitForRollout(t, append(append([]string{}, others...), stages...)...)
}

func applyKustomization(t *testing.T, directory string) {
	t.Helper()
	rendered, err := run("", "kubectl", "kustomize", directory)
	if err != nil {
		t.Fatal(err)
	}
	applyAnywhere(t, inRepository(rendered))
}

// applyAnywhere applies objects that name their namespaces.
func applyAnywhere(t *testing.T, manifest string) {
	t.Helper()
	if _, err := run(manifest, "kubectl", "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// needPrograms puts programs of others into the nodes.
func needPrograms(t *testing.T, names ...string) {
	t.Helper()
	if *programs == "" {
		t.Skipf("without -programs there are no images of %s", strings.Join(names, ", "))
	}
	if _, err := run("", *programs, names...); err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	if _, err := run("", "kubectl", "version"); err != nil {
		fmt.Fprintln(os.Stderr, "no cluster answers; `make k8s-test` starts one, or name yours by KUBECONFIG:", err)
		os.Exit(1)
	}
	code := m.Run()
	fmt.Println(figures())
	os.Exit(code)
}
