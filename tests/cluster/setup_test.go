//go:build cluster

package cluster

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

var (
	rate       = flag.Float64("rate", 20, "questions a second in the tests under load")
	questions  = flag.Int("questions", 1200, "questions of each test under load")
	cores      = flag.Float64("cores", .25, "cores that each retriever may use where throughput is measured")
	build      = flag.Bool("build", true, "build the images and put them into the cluster first")
	repository = flag.String("repository", "localhost/triplemesh",
		"registry and path that the cluster takes the images from; other than the default, they are pushed there")
	node = flag.String("node", "",
		"directory of the programs that act on the cluster's only node; without it, tests that need them are left out")
	manifests = flag.String("kustomization", "mesh",
		"kustomization that is applied: mesh, or mesh-host-path where there is no storage class")
)

const (
	ownRepository = "localhost/triplemesh"
	tag           = "dev"
)

// stages are the Deployments of the mesh.
var stages = []string{"orchestrator", "generator", "retriever", "verifier", "evaluator", "reflector"}

// others are added by the tests.
var others = []string{"scripted-llm", "trace-sink"}

// inRepository sets the image repository of this run in a manifest.
func inRepository(manifest string) string {
	return strings.ReplaceAll(manifest, ownRepository+"/", *repository+"/")
}

// needImages has the images of this tree in the cluster, once for all tests.
func needImages(t *testing.T) {
	t.Helper()
	if !*build {
		return
	}
	if !t.Run("the images are built and put into the cluster", images) {
		t.FailNow()
	}
	*build = false
}

// images builds the images and loads them into the cluster.
func images(t *testing.T) {
	if *node == "" && *repository == ownRepository {
		t.Fatal("the cluster could not find the images: name a registry that it reads by REGISTRY, or by -node " +
			"programs that act on its node")
	}
	dir := buildImages(t, *repository, tag, slices.Concat(stages, others, []string{"load"}))
	if *node == "" {
		return
	}
	tars, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil || len(tars) == 0 {
		t.Fatalf("no image was built: %v", err)
	}
	for _, tar := range tars {
		if _, err := run("", onNode("load.sh"), tar); err != nil {
			t.Fatal(err)
		}
	}
}

// buildImages returns the directory of the images' tarballs. They are pushed where the repository is a
// registry's.
func buildImages(t *testing.T, repository, tag string, names []string) string {
	t.Helper()
	root := filepath.Dir(testkit.CheckoutFile(t, "go.work"))
	dir := t.TempDir()
	args := []string{"-C", root, "run", "./deploy/release", "images", "-out", dir, "-tag", tag,
		"-repository", repository}
	if repository != ownRepository {
		args = append(args, "-push")
	}
	sizes, err := run("", "go", append(args, names...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + sizes)
	return dir
}

// onNode returns the path of a program that acts on the node.
func onNode(program string) string { return "./" + filepath.Join(*node, program) }

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

// needPrograms puts programs of others into the node.
func needPrograms(t *testing.T, names ...string) {
	t.Helper()
	if *node == "" {
		t.Skipf("without -node there are no images of %s", strings.Join(names, ", "))
	}
	if _, err := run("", onNode("programs.sh"), names...); err != nil {
		t.Fatal(err)
	}
}

// needVolumes makes volumes of the default storage class until the test ends.
func needVolumes(t *testing.T, n int) {
	t.Helper()
	set := func(n int) {
		if _, err := run("", onNode("volumes.sh"), fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	set(n)
	t.Cleanup(func() { set(0) })
}

// deleteMesh deletes the namespace, and the volumes that were bound to its claims.
func deleteMesh(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"delete", "namespace", namespace, "--ignore-not-found", "--timeout=" + patience.String()},
		{"delete", "persistentvolume", "-l", "app.kubernetes.io/part-of=triplemesh", "--ignore-not-found"},
	} {
		if _, err := run("", "kubectl", args...); err != nil {
			t.Error(err)
		}
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
