//go:build cluster

package cluster

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

const (
	release = "mesh"
	// firstAnswer is the time limit from `helm install` to a verified answer.
	firstAnswer = 5 * time.Minute
)

// TestAChart installs the Helm chart on a bare node with the bundled model in a pod of llama.cpp, and
// upgrades it and rolls it back under load.
func TestAChart(t *testing.T) {
	needPrograms(t, "curl", "llama-server")
	if *build && !t.Run("the images are built and put into the cluster", images) {
		t.FailNow()
	}
	needVolumes(t, 3)
	t.Cleanup(func() { deleteMesh(t) })
	if !t.Run("a question is answered within minutes of helm install", installs) {
		t.FailNow()
	}
	t.Run("no question fails while the release is upgraded and rolled back", upgrades)
	t.Run("the volumes of the mesh survive helm uninstall", func(t *testing.T) {
		helm(t, "uninstall", release, "--wait")
		kubectl(t, "get", "pvc", "triplemesh-kg", "triplemesh-runs")
	})
}

// helm runs helm in the namespace of the mesh.
func helm(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run("", testkit.CheckoutFile(t, ".cache", "bin", "helm"), append(args, "--namespace", namespace)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func chart(t *testing.T, path ...string) string {
	t.Helper()
	return testkit.CheckoutFile(t, append([]string{"deploy", "helm", "triplemesh"}, path...)...)
}

func installs(t *testing.T) {
	values, err := json.Marshal(map[string]any{
		"image": map[string]string{"repository": *repository, "tag": tag},
		"patches": map[string]any{"ConfigMap/model-server": map[string]any{
			"data": map[string]string{"url": serveModel(t)},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "values.json")
	if err := os.WriteFile(file, values, 0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	helm(t, "install", release, chart(t), "--create-namespace", "--values", chart(t, "values", "local.yaml"),
		"--values", file)
	waitForRollout(t, append([]string{"model-server"}, stages...)...)
	ready := time.Since(begun)
	out := helm(t, "test", release, "--timeout", firstAnswer.String())
	if !strings.Contains(out, "Succeeded") {
		t.Errorf("helm test says %s", out)
	}
	answered := time.Since(begun)
	figure("chart with the bundled model on a bare node", "all pods ready %.0f s after helm install, helm test "+
		"answered after %.0f s", ready.Seconds(), answered.Seconds())
	if answered > firstAnswer {
		t.Errorf("the first answer came after %s, want at most %s", answered, firstAnswer)
	}
}

// upgrades moves a release to other images and settings and back as long as there is load, at least
// once.
func upgrades(t *testing.T) {
	if *build && !t.Run("the images of the next version are built", func(t *testing.T) { putImages(t, nextTag, stages) }) {
		t.FailNow()
	}
	for _, file := range []string{"scripted-llm.yaml", "load.yaml"} {
		manifest, err := os.ReadFile(filepath.Join("mesh", file))
		if err != nil {
			t.Fatal(err)
		}
		apply(t, inRepository(string(manifest)))
	}
	waitForRollout(t, "scripted-llm")
	helm(t, "upgrade", release, chart(t), "--reuse-values", "--values", "chart.yaml", "--wait")
	loadSnapshots(t)
	l := begin(t, "-rate", rateFlag(), "-count", countFlag(1))
	moves := 0
	for l.goesOn() || moves == 0 {
		helm(t, "upgrade", release, chart(t), "--reuse-values", "--set", "image.tag="+nextTag,
			"--set", "settings.telemetry.log_repeats=50", "--wait")
		helm(t, "rollback", release, "--wait")
		moves++
	}
	what := "chart upgraded to other images and settings, and rolled back"
	r := l.report(what)
	figure(what, "%d times each", moves)
	noneFailed(t, r)
}

// serveModel serves the bundled model on the node's address, in place of the site that publishes it.
func serveModel(t *testing.T) string {
	t.Helper()
	const file = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
	model := testkit.CheckoutFile(t, ".cache", "model", file)
	address, err := run("", "kubectl", "get", "nodes", "-o",
		`jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}`)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(filepath.Dir(model))), ReadHeaderTimeout: time.Minute}
	t.Cleanup(func() { server.Close() })
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String() + "/" + file
}
