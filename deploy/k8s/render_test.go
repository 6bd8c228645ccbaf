// Package k8s holds the manifests, and the tests that need no cluster.
package k8s

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// needs are the components that another one builds on.
var needs = map[string][]string{
	"autoscale-in-flight": {"autoscale"},
	"auth-jwt":            {"mtls"},
	"auth-tokens":         {"mtls"},
}

// objects are what a kustomization renders to, by kind and name.
type objects map[string]any

func id(kind, name string) string { return kind + "/" + name }

// of are the objects of a type.
func of[T any](o objects) map[string]T {
	out := map[string]T{}
	for _, object := range o {
		if t, ok := object.(T); ok {
			out[nameOf(object)] = t
		}
	}
	return out
}

func nameOf(object any) string { return object.(interface{ GetName() string }).GetName() }

// ours makes an object of each kind that Kubernetes itself has.
var ours = map[string]func() any{
	"ConfigMap":               func() any { return &corev1.ConfigMap{} },
	"Deployment":              func() any { return &appsv1.Deployment{} },
	"HorizontalPodAutoscaler": func() any { return &autoscalingv2.HorizontalPodAutoscaler{} },
	"Ingress":                 func() any { return &networkingv1.Ingress{} },
	"Namespace":               func() any { return &corev1.Namespace{} },
	"NetworkPolicy":           func() any { return &networkingv1.NetworkPolicy{} },
	"PersistentVolume":        func() any { return &corev1.PersistentVolume{} },
	"PersistentVolumeClaim":   func() any { return &corev1.PersistentVolumeClaim{} },
	"PodDisruptionBudget":     func() any { return &policyv1.PodDisruptionBudget{} },
	"Role":                    func() any { return &rbacv1.Role{} },
	"RoleBinding":             func() any { return &rbacv1.RoleBinding{} },
	"Service":                 func() any { return &corev1.Service{} },
	"ServiceAccount":          func() any { return &corev1.ServiceAccount{} },
	"StatefulSet":             func() any { return &appsv1.StatefulSet{} },
}

// others are kinds that something else brings; their fields are not known here.
var others = map[string]bool{
	"Certificate": true, "Issuer": true, "GRPCRoute": true, "PodMonitor": true, "PrometheusRule": true,
}

// render renders a directory. What Kubernetes would not know is an error.
func render(t *testing.T, dir string) objects {
	t.Helper()
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("render %s: %v", dir, err)
	}
	all := objects{}
	for _, r := range rendered.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		key := id(r.GetKind(), r.GetName())
		switch known := ours[r.GetKind()]; {
		case all[key] != nil:
			t.Errorf("%s: %s is there twice", dir, key)
		case known != nil:
			object := known()
			if err := yaml.UnmarshalStrict(text, object); err != nil {
				t.Errorf("%s: %s: %v", dir, key, err)
			}
			all[key] = object
		case others[r.GetKind()]:
			object := map[string]any{}
			if err := yaml.Unmarshal(text, &object); err != nil {
				t.Errorf("%s: %s: %v", dir, key, err)
			}
			all[key] = object
		default:
			t.Errorf("%s: %s is of an unknown kind", dir, key)
		}
	}
	return all
}

// with renders the base with components.
func with(t *testing.T, components ...string) objects {
	t.Helper()
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// Below a symbolic link, .. leads elsewhere.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	to, err := filepath.Rel(dir, here)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "resources: [%s]\n", filepath.Join(to, "base"))
	if len(components) > 0 {
		text.WriteString("components:\n")
	}
	for _, c := range components {
		fmt.Fprintf(&text, "- %s\n", filepath.Join(to, "components", c))
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return render(t, dir)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, e.Name())
		}
	}
	return all
}

// TestManifests checks the base, the base with each component, and each overlay.
func TestManifests(t *testing.T) {
	check := func(name string, render func(*testing.T) objects) {
		t.Run(name, func(t *testing.T) {
			o := render(t)
			t.Run("every pod is hardened", func(t *testing.T) { everyPodIsHardened(t, o) })
			t.Run("every Service is headless and has pods", func(t *testing.T) { everyServiceIsHeadlessAndHasPods(t, o) })
			t.Run("stages give way in order", func(t *testing.T) { stagesGiveWayInOrder(t, o) })
			t.Run("every stage takes its settings", func(t *testing.T) { everyStageTakesItsSettings(t, o) })
			t.Run("what is referred to is there", func(t *testing.T) { whatIsReferredToIsThere(t, o) })
		})
	}
	check("base", func(t *testing.T) objects { return with(t) })
	for _, c := range names(t, "components") {
		check("base with "+c, func(t *testing.T) objects { return with(t, append(needs[c], c)...) })
	}
	for _, o := range names(t, "overlays") {
		check("overlay "+o, func(t *testing.T) objects { return render(t, filepath.Join("overlays", o)) })
	}
}
