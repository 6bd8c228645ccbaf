// Package k8s contains the manifests, and the tests that need no cluster.
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
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// needs lists the components that each component depends on.
var needs = map[string][]string{
	"autoscale-in-flight": {"autoscale"},
	"auth-jwt":            {"mtls"},
	"auth-tokens":         {"mtls"},
}

// objects is what a kustomization renders to, by kind and name.
type objects map[string]any

func id(kind, name string) string { return kind + "/" + name }

// objectsOf returns the objects of a type.
func objectsOf[T any](o objects) map[string]T {
	out := map[string]T{}
	for _, object := range o {
		if t, ok := object.(T); ok {
			out[nameOf(object)] = t
		}
	}
	return out
}

func nameOf(object any) string { return object.(interface{ GetName() string }).GetName() }

// ours returns a new object of each kind built into Kubernetes.
var ours = map[string]func() any{
	"ConfigMap":               func() any { return &corev1.ConfigMap{} },
	"Deployment":              func() any { return &appsv1.Deployment{} },
	"HorizontalPodAutoscaler": func() any { return &autoscalingv2.HorizontalPodAutoscaler{} },
	"Ingress":                 func() any { return &networkingv1.Ingress{} },
	"Namespace":               func() any { return &corev1.Namespace{} },
	"NetworkPolicy":           func() any { return &networkingv1.NetworkPolicy{} },
	"PersistentVolume":        func() any { return &corev1.PersistentVolume{} },
	"PersistentVolumeClaim":   func() any { return &corev1.PersistentVolumeClaim{} },
	"Pod":                     func() any { return &corev1.Pod{} },
	"PodDisruptionBudget":     func() any { return &policyv1.PodDisruptionBudget{} },
	"Role":                    func() any { return &rbacv1.Role{} },
	"RoleBinding":             func() any { return &rbacv1.RoleBinding{} },
	"Service":                 func() any { return &corev1.Service{} },
	"ServiceAccount":          func() any { return &corev1.ServiceAccount{} },
	"StatefulSet":             func() any { return &appsv1.StatefulSet{} },
}

// others are kinds defined by custom resources; their fields are not checked.
var others = map[string]bool{
	"Certificate": true, "Issuer": true, "GRPCRoute": true, "PodMonitor": true, "PrometheusRule": true,
	"ScaledObject": true,
}

// renderRaw renders a directory.
func renderRaw(t *testing.T, dir string) resmap.ResMap {
	t.Helper()
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("render %s: %v", dir, err)
	}
	return rendered
}

// listObjects returns the objects without the namespace itself.
func listObjects(t *testing.T, rendered resmap.ResMap) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, r := range rendered.Resources() {
		object, err := r.Map()
		if err != nil {
			t.Fatal(err)
		}
		if r.GetKind() != "Namespace" {
			all = append(all, object)
		}
	}
	return all
}

// render renders a directory. A field that Kubernetes does not know is an error.
func render(t *testing.T, dir string) objects {
	t.Helper()
	all := objects{}
	for _, r := range renderRaw(t, dir).Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		all.add(t, r.GetKind(), r.GetName(), text)
	}
	return all
}

// add adds an object in the type of its kind.
func (o objects) add(t *testing.T, kind, name string, text []byte) {
	t.Helper()
	key := id(kind, name)
	switch known := ours[kind]; {
	case o[key] != nil:
		t.Errorf("%s is there twice", key)
	case known != nil:
		object := known()
		if err := yaml.UnmarshalStrict(text, object); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		o[key] = object
	case others[kind]:
		object := map[string]any{}
		if err := yaml.Unmarshal(text, &object); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		o[key] = object
	default:
		t.Errorf("%s is of an unknown kind", key)
	}
}

// renderWith renders the base with components.
func renderWith(t *testing.T, components ...string) objects {
	t.Helper()
	return render(t, kustomization(t, "", components...))
}

// kustomization writes a kustomization of the base with components, and returns its directory.
func kustomization(t *testing.T, more string, components ...string) string {
	t.Helper()
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// Below a symbolic link, .. resolves to another directory.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	to, err := filepath.Rel(dir, here)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString(more)
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
	return dir
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
			t.Run("every Service is headless and has pods",
				func(t *testing.T) { everyServiceIsHeadlessAndHasPods(t, o) })
			t.Run("stages give way in order", func(t *testing.T) { stagesGiveWayInOrder(t, o) })
			t.Run("every stage takes its settings", func(t *testing.T) { everyStageTakesItsSettings(t, o) })
			t.Run("every reference resolves", func(t *testing.T) { checkReferences(t, o) })
		})
	}
	check("base", func(t *testing.T) objects { return renderWith(t) })
	for _, c := range names(t, "components") {
		check("base with "+c, func(t *testing.T) objects { return renderWith(t, append(needs[c], c)...) })
	}
	for _, o := range names(t, "overlays") {
		check("overlay "+o, func(t *testing.T) objects { return render(t, filepath.Join("overlays", o)) })
	}
}
