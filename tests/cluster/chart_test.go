//go:build cluster

package cluster

import (
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

const (
	release = "mesh"
	// Two versions of chart and images.
	version, nextVersion = "0.1.0-installed", "0.1.0-upgraded"
)

// TestAChart installs the Helm chart on a bare node from a registry, with the bundled model in a pod of
// llama.cpp, and upgrades it and rolls it back under load.
func TestAChart(t *testing.T) {
	needPrograms(t, "curl", "llama-server", "cert-manager", "traefik", "types")
	deleteMesh(t)
	needImages(t)
	needVolumes(t, 3)
	t.Cleanup(func() { deleteMesh(t) })
	t.Run("the API server accepts the objects of every values file", isAccepted)
	address := publish(t)
	chart := []string{"oci://" + address + "/charts/triplemesh", "--plain-http"}
	if !t.Run("a question is answered after helm install", func(t *testing.T) { installs(t, address, chart) }) {
		t.FailNow()
	}
	t.Run("no question fails while the release is upgraded and rolled back", func(t *testing.T) { upgrades(t, chart) })
	t.Run("the volumes of the mesh survive helm uninstall", func(t *testing.T) {
		helm(t, "uninstall", release, "--wait")
		kubectl(t, "get", "pvc", "triplemesh-kg", "triplemesh-runs")
	})
}

// publish pushes both versions to a registry of this machine, and returns its address.
func publish(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	dir := t.TempDir()
	for _, v := range []string{version, nextVersion} {
		buildImages(t, address+"/triplemesh", "v"+v, append([]string{"triplemesh"}, stages...))
		helm(t, "package", testkit.CheckoutFile(t, "deploy", "helm", "triplemesh"), "--version", v,
			"--app-version", "v"+v, "--destination", dir)
		helm(t, "push", filepath.Join(dir, "triplemesh-"+v+".tgz"), "oci://"+address+"/charts", "--plain-http")
	}
	return address
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

// isAccepted has the API server check every object without storing it.
func isAccepted(t *testing.T) {
	if _, err := run("", "kubectl", "create", "namespace", namespace); err != nil {
		t.Fatal(err)
	}
	defer kubectl(t, "delete", "namespace", namespace)
	chart := testkit.CheckoutFile(t, "deploy", "helm", "triplemesh")
	files, err := filepath.Glob(filepath.Join(chart, "values", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the chart has no values files: %v", err)
	}
	for _, file := range files {
		objects := helm(t, "template", release, chart, "--values", file)
		out, err := run(objects, "kubectl", "apply", "--namespace", namespace, "--dry-run=server", "-f", "-")
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		t.Logf("%s: %d objects", filepath.Base(file), strings.Count(out, "\n")+1)
	}
}

func installs(t *testing.T, address string, chart []string) {
	values, err := json.Marshal(map[string]any{
		"image": map[string]string{"repository": address + "/triplemesh"},
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
	local := testkit.CheckoutFile(t, "deploy", "helm", "triplemesh", "values", "local.yaml")
	begun := time.Now()
	helm(t, append([]string{"install", release, "--version", version, "--create-namespace", "--values", local,
		"--values", file}, chart...)...)
	waitForRollout(t, append([]string{"model-server"}, stages...)...)
	ready := time.Since(begun)
	if out := helm(t, "test", release, "--timeout", patience.String()); !strings.Contains(out, "Succeeded") {
		t.Errorf("helm test says %s", out)
	}
	figure("chart and images from a registry, with the bundled model, on a bare node", "all pods ready %.0f s after "+
		"helm install, helm test answered after %.0f s", ready.Seconds(), time.Since(begun).Seconds())
}

// upgrades moves a release to other images and settings and back as long as there is load, at least
// once.
func upgrades(t *testing.T, chart []string) {
	for _, file := range []string{"scripted-llm.yaml", "load.yaml"} {
		manifest, err := os.ReadFile(filepath.Join("mesh", file))
		if err != nil {
			t.Fatal(err)
		}
		apply(t, inRepository(string(manifest)))
	}
	waitForRollout(t, "scripted-llm")
	upgrade := append([]string{"upgrade", release, "--reuse-values", "--wait"}, chart...)
	helm(t, append(upgrade, "--version", version, "--values", "chart.yaml")...)
	loadSnapshots(t)
	l := begin(t, "-rate", rateFlag(), "-count", countFlag(1))
	moves := 0
	for l.goesOn() || moves == 0 {
		helm(t, append(upgrade, "--version", nextVersion, "--set", "settings.telemetry.log_repeats=50")...)
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
