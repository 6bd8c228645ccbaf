package k8s

import (
	"os"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// checkReferences requires that every object referred to exists or is a Secret that the operator
// creates and the README names: without it, a pod stays in CreateContainerConfigError or
// ContainerCreating, with an event that names the Secret.
func checkReferences(t *testing.T, o objects) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	issued := certificates(o)
	require := func(kind, name, by string) {
		t.Helper()
		if o[id(kind, name)] == nil &&
			!(kind == "Secret" && (issued[name] || strings.Contains(string(readme), "`"+name+"`"))) {
			t.Errorf("there is no %s", describeReference(kind, name, by))
		}
	}
	for by, pod := range templates(o) {
		if account := pod.Spec.ServiceAccountName; account != "" {
			require("ServiceAccount", account, by)
		}
		for _, v := range pod.Spec.Volumes {
			switch {
			case v.ConfigMap != nil:
				require("ConfigMap", v.ConfigMap.Name, by)
			case v.Secret != nil:
				require("Secret", v.Secret.SecretName, by)
			case v.PersistentVolumeClaim != nil:
				require("PersistentVolumeClaim", v.PersistentVolumeClaim.ClaimName, by)
			}
		}
		for _, c := range containers(pod.Spec) {
			for _, v := range c.Env {
				if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil {
					require("Secret", v.ValueFrom.SecretKeyRef.Name, by)
				}
				if v.ValueFrom != nil && v.ValueFrom.ConfigMapKeyRef != nil {
					require("ConfigMap", v.ValueFrom.ConfigMapKeyRef.Name, by)
				}
			}
			for _, m := range c.VolumeMounts {
				if !hasVolume(pod.Spec, m.Name) && !claims(o, by, m.Name) {
					t.Errorf("there is no %s", describeReference("volume", m.Name, by))
				}
			}
		}
	}
	for by, b := range objectsOf[*rbacv1.RoleBinding](o) {
		require("Role", b.RoleRef.Name, by)
		require("ServiceAccount", b.Subjects[0].Name, by)
	}
	for by, h := range objectsOf[*autoscalingv2.HorizontalPodAutoscaler](o) {
		require(h.Spec.ScaleTargetRef.Kind, h.Spec.ScaleTargetRef.Name, by)
	}
}

// certificates returns the Secrets that cert-manager creates.
func certificates(o objects) map[string]bool {
	issued := map[string]bool{}
	for key, object := range o {
		if spec, ok := object.(map[string]any); ok && strings.HasPrefix(key, "Certificate/") {
			name, _ := spec["spec"].(map[string]any)["secretName"].(string)
			issued[name] = true
		}
	}
	return issued
}

func hasVolume(p corev1.PodSpec, name string) bool {
	for _, v := range p.Volumes {
		if v.Name == name {
			return true
		}
	}
	return false
}
