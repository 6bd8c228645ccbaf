package k8s

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/evaluator"
	"github.com/triplemesh/triplemesh/services/generator"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/reflector"
	"github.com/triplemesh/triplemesh/services/retriever"
	"github.com/triplemesh/triplemesh/services/verifier"
)

// shared is the part of the settings that all stages have.
type shared struct {
	Server    server.Config
	Telemetry telemetry.Config
	// HTTP is the orchestrator's HTTP address; empty for the other stages.
	HTTP string
}

// settings returns the settings of a stage in its pod, read from the pod's file and variables as
// the stage itself reads them.
func settings(t *testing.T, o objects, stage string) shared {
	t.Helper()
	d := objectsOf[*appsv1.Deployment](o)[stage]
	if d == nil {
		t.Fatalf("there is no Deployment %s", stage)
	}
	src := source(t, o, d.Spec.Template.Spec)
	switch stage {
	case "orchestrator":
		c := load(t, stage, orchestrator.DefaultConfig(), src)
		return shared{c.Server, c.Telemetry, c.HTTP.Addr}
	case "generator":
		c := load(t, stage, generator.DefaultConfig(), src)
		return shared{Server: c.Server, Telemetry: c.Telemetry}
	case "retriever":
		c := load(t, stage, retriever.DefaultConfig(), src)
		return shared{Server: c.Server, Telemetry: c.Telemetry}
	case "verifier":
		c := load(t, stage, verifier.DefaultConfig(), src)
		return shared{Server: c.Server, Telemetry: c.Telemetry}
	case "evaluator":
		c := load(t, stage, evaluator.DefaultConfig(), src)
		return shared{Server: c.Server, Telemetry: c.Telemetry}
	default:
		c := load(t, stage, reflector.DefaultConfig(), src)
		return shared{Server: c.Server, Telemetry: c.Telemetry}
	}
}

func load[C any](t *testing.T, stage string, defaults C, src config.Sources) C {
	t.Helper()
	c, err := config.Load(stage, defaults, src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// source writes the file that the pod's TRIPLEMESH_CONFIG names, and returns its variables. Values
// of Secrets are made up.
func source(t *testing.T, o objects, pod corev1.PodSpec) (src config.Sources) {
	t.Helper()
	c := pod.Containers[0]
	for _, v := range c.Env {
		value := v.Value
		if from := v.ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
			value = configMap(t, o, from.ConfigMapKeyRef.Name)[from.ConfigMapKeyRef.Key]
			if value == "" {
				t.Errorf("%s: ConfigMap %s has no key %s", v.Name, from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key)
			}
		} else if from != nil {
			value = "made-up"
		}
		if v.Name == "TRIPLEMESH_CONFIG" {
			src.File = mounted(t, o, pod, value)
			continue
		}
		src.Env = append(src.Env, v.Name+"="+value)
	}
	if src.File == "" {
		t.Fatalf("container %s has no TRIPLEMESH_CONFIG", c.Name)
	}
	return src
}

// mounted writes a file that a pod mounts at a path to a local path.
func mounted(t *testing.T, o objects, pod corev1.PodSpec, path string) string {
	t.Helper()
	for _, mount := range pod.Containers[0].VolumeMounts {
		if mount.MountPath != filepath.Dir(path) {
			continue
		}
		for _, v := range pod.Volumes {
			if v.Name != mount.Name || v.ConfigMap == nil {
				continue
			}
			text, ok := configMap(t, o, v.ConfigMap.Name)[filepath.Base(path)]
			if !ok {
				t.Fatalf("ConfigMap %s has no %s", v.ConfigMap.Name, filepath.Base(path))
			}
			file := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	t.Fatalf("nothing is mounted at %s", path)
	return ""
}

func configMap(t *testing.T, o objects, name string) map[string]string {
	t.Helper()
	m, ok := o[id("ConfigMap", name)].(*corev1.ConfigMap)
	if !ok {
		t.Fatalf("there is no ConfigMap %s", name)
	}
	return m.Data
}

func everyStageTakesItsSettings(t *testing.T, o objects) {
	for _, stage := range stages {
		pod := objectsOf[*appsv1.Deployment](o)[stage].Spec.Template.Spec
		cfg := settings(t, o, stage)
		for _, port := range []struct{ name, addr string }{
			{"grpc", cfg.Server.Addr}, {"metrics", cfg.Server.MetricsAddr}, {"health", cfg.Server.HealthAddr},
		} {
			if want := containerPort(pod, port.name); !listensOn(port.addr, want) {
				t.Errorf("%s: port %s is %d, and the stage listens at %q", stage, port.name, want, port.addr)
			}
		}
		if want := containerPort(pod, "http"); (want != 0 || cfg.HTTP != "") && !listensOn(cfg.HTTP, want) {
			t.Errorf("%s: port http is %d, and the stage serves HTTP at %q", stage, want, cfg.HTTP)
		}
		for _, probe := range []*corev1.Probe{pod.Containers[0].StartupProbe, pod.Containers[0].ReadinessProbe,
			pod.Containers[0].LivenessProbe} {
			if probe.GRPC == nil || probe.GRPC.Port != containerPort(pod, "health") {
				t.Errorf("%s: a probe does not use the plain-text health port", stage)
			}
		}
		for _, file := range []string{cfg.Server.TLS.CertFile, cfg.Server.TLS.KeyFile, cfg.Server.TLS.CAFile,
			cfg.Server.Auth.TokensFile, cfg.Server.Auth.MeshTokenFile} {
			if file != "" && !isMounted(pod, file) {
				t.Errorf("%s: nothing is mounted where %s should be", stage, file)
			}
		}
	}
}

func containerPort(p corev1.PodSpec, name string) int32 {
	for _, port := range p.Containers[0].Ports {
		if port.Name == name {
			return port.ContainerPort
		}
	}
	return 0
}

func listensOn(addr string, port int32) bool {
	host, p, err := net.SplitHostPort(addr)
	return err == nil && host == "" && p == strconv.Itoa(int(port))
}

func isMounted(p corev1.PodSpec, file string) bool {
	for _, m := range p.Containers[0].VolumeMounts {
		if m.MountPath == filepath.Dir(file) {
			return true
		}
	}
	return false
}

func TestAuthLeavesNoStageOpen(t *testing.T) {
	for _, component := range []string{"auth-jwt", "auth-tokens"} {
		o := renderWith(t, "mtls", component)
		for _, stage := range stages {
			cfg := settings(t, o, stage)
			if !cfg.Server.Auth.Enabled() || !cfg.Server.TLS.Enabled() {
				t.Errorf("%s: %s does not authenticate callers", component, stage)
			}
			front := stage == "orchestrator" || stage == "retriever"
			if takes := cfg.Server.Auth.TokensFile != "" || cfg.Server.Auth.JWT.Issuer != ""; takes != front {
				t.Errorf("%s: %s takes tokens: %v, want %v", component, stage, takes, front)
			}
		}
	}
}

// describeReference names a reference in an error.
func describeReference(kind, name, by string) string {
	return fmt.Sprintf("%s %s, which %s refers to", kind, name, by)
}
