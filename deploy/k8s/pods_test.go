package k8s

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// templates returns the pods of all Deployments and StatefulSets, by name.
func templates(o objects) map[string]corev1.PodTemplateSpec {
	all := map[string]corev1.PodTemplateSpec{}
	for name, d := range objectsOf[*appsv1.Deployment](o) {
		all[name] = d.Spec.Template
	}
	for name, s := range objectsOf[*appsv1.StatefulSet](o) {
		all[name] = s.Spec.Template
	}
	return all
}

func containers(p corev1.PodSpec) []corev1.Container {
	return slices.Concat(p.InitContainers, p.Containers)
}

var stages = []string{"orchestrator", "generator", "retriever", "verifier", "evaluator", "reflector"}

func everyPodIsHardened(t *testing.T, o objects) {
	for name, pod := range templates(o) {
		wrong := func(what string) { t.Errorf("%s: %s", name, what) }
		s := pod.Spec.SecurityContext
		switch {
		case s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser == 0:
			wrong("may run as root")
		case s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault:
			wrong("has no seccomp profile")
		}
		if token := pod.Spec.AutomountServiceAccountToken; name != "orchestrator" && token != nil && *token {
			wrong("mounts a token of the API server")
		}
		if pod.Spec.EnableServiceLinks == nil || *pod.Spec.EnableServiceLinks {
			wrong("is given variables of all Services")
		}
		if pod.Spec.HostNetwork || pod.Spec.HostPID || pod.Spec.HostIPC {
			wrong("shares namespaces with its node")
		}
		for _, v := range pod.Spec.Volumes {
			if v.HostPath != nil {
				wrong("volume " + v.Name + " is a path of the node")
			}
		}
		for _, c := range containers(pod.Spec) {
			s := c.SecurityContext
			if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
				s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
				s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
				len(s.Capabilities.Add) > 0 {
				wrong("container " + c.Name + " may more than it has to")
			}
			image, tag, tagged := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], ":")
			if !tagged || tag == "" || tag == "latest" || image == "" {
				wrong("image " + c.Image + " has no tag")
			}
			for _, r := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, limit := c.Resources.Requests[r], c.Resources.Limits[r]
				if request.IsZero() || limit.IsZero() {
					wrong("container " + c.Name + " has no request or limit of " + string(r))
				}
			}
		}
		for _, c := range pod.Spec.Containers {
			if c.StartupProbe == nil || c.ReadinessProbe == nil || c.LivenessProbe == nil {
				wrong("container " + c.Name + " lacks a probe")
			}
		}
	}
}

func everyServiceIsHeadlessAndHasPods(t *testing.T, o objects) {
	pods := templates(o)
	for name, s := range objectsOf[*corev1.Service](o) {
		if s.Spec.ClusterIP != corev1.ClusterIPNone {
			t.Errorf("Service %s is not headless: its callers would stay with one pod", name)
		}
		found := false
		for _, pod := range pods {
			if !selects(s.Spec.Selector, pod.Labels) {
				continue
			}
			found = true
			for _, port := range s.Spec.Ports {
				if !hasPort(pod.Spec, port.TargetPort.StrVal) {
					t.Errorf("Service %s leads to port %s, which its pods do not name", name, port.TargetPort.StrVal)
				}
			}
		}
		if !found {
			t.Errorf("Service %s selects no pod", name)
		}
	}
	for name, b := range objectsOf[*policyv1.PodDisruptionBudget](o) {
		if !slices.ContainsFunc(stages, func(s string) bool {
			return selects(b.Spec.Selector.MatchLabels, pods[s].Labels)
		}) && pods[name].Labels == nil {
			t.Errorf("PodDisruptionBudget %s selects no pod", name)
		}
	}
}

func selects(selector, labels map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return len(selector) > 0
}

func hasPort(p corev1.PodSpec, name string) bool {
	return slices.ContainsFunc(p.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
	})
}

func stagesGiveWayInOrder(t *testing.T, o objects) {
	deployments, budgets := objectsOf[*appsv1.Deployment](o), objectsOf[*policyv1.PodDisruptionBudget](o)
	for _, name := range stages {
		d := deployments[name]
		if d == nil || budgets[name] == nil || o[id("ServiceAccount", name)] == nil {
			t.Fatalf("%s lacks its Deployment, budget or account", name)
		}
		r := d.Spec.Strategy.RollingUpdate
		if r == nil || r.MaxUnavailable.IntValue() != 0 || r.MaxSurge.IntValue() != 1 {
			t.Errorf("%s: a rollout takes pods away before new ones are ready", name)
		}
		if d.Spec.Template.Spec.ServiceAccountName != name {
			t.Errorf("%s runs as %s", name, d.Spec.Template.Spec.ServiceAccountName)
		}
		cfg := settings(t, o, name)
		needed := cfg.Server.DrainDelay + cfg.Server.DrainTimeout + cfg.Telemetry.FlushTimeout
		if grace := d.Spec.Template.Spec.TerminationGracePeriodSeconds; grace == nil ||
			time.Duration(*grace)*time.Second <= needed {
			t.Errorf("%s is killed before the %s that it needs to end", name, needed)
		}
		if cfg.Server.DrainDelay == 0 {
			t.Errorf("%s stops before its callers know", name)
		}
		if cfg.Server.DrainTimeout < cfg.Server.Timeout {
			t.Errorf("%s cuts questions after %s that may take %s", name, cfg.Server.DrainTimeout, cfg.Server.Timeout)
		}
	}
}

// claims reports whether a StatefulSet creates a volume for each of its pods.
func claims(o objects, statefulSet, volume string) bool {
	s, ok := o[id("StatefulSet", statefulSet)].(*appsv1.StatefulSet)
	return ok && slices.ContainsFunc(s.Spec.VolumeClaimTemplates,
		func(c corev1.PersistentVolumeClaim) bool { return c.Name == volume })
}
