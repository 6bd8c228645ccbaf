package k8s

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

var chartDir = filepath.Join("..", "helm", "triplemesh")

var readChart = sync.OnceValues(func() (*chart.Chart, error) { return loader.Load(chartDir) })

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := readChart()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// renderChart renders the chart with values in YAML, as `helm template` does: hooks are in tests.
func renderChart(t *testing.T, values string) (installed, tests []map[string]any, err error) {
	t.Helper()
	c := loadChart(t)
	given := map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		t.Fatal(err)
	}
	release := common.ReleaseOptions{Name: "mesh", Namespace: "triplemesh", IsInstall: true}
	all, err := util.ToRenderValues(c, given, release, common.DefaultCapabilities)
	if err != nil {
		return nil, nil, err
	}
	texts, err := engine.Render(c, all)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasSuffix(name, "NOTES.txt") {
			continue
		}
		for _, doc := range strings.Split(texts[name], "\n---\n") {
			object := map[string]any{}
			if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
				t.Fatalf("%s: %v: %s", name, err, doc)
			}
			switch {
			case len(object) == 0:
			case strings.Contains(name, "/tests/"):
				tests = append(tests, object)
			default:
				installed = append(installed, object)
			}
		}
	}
	return installed, tests, nil
}

// hashed matches the hash that kustomize adds to the names of ConfigMaps.
var hashed = regexp.MustCompile(`\b((?:triplemesh-\w+|model-server|otel-collector))-[0-9a-z]{10}\b`)

// normalize returns objects by kind and name in a form in which only what differs in the cluster
// differs: kustomize's hashes and Helm's checksum, which both restart pods, and Helm's policy of claims
// are left out, and named lists are sorted.
func normalize(t *testing.T, all []map[string]any) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, object := range all {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		text = hashed.ReplaceAll(text, []byte("$1"))
		same := map[string]any{}
		if err := json.Unmarshal(text, &same); err != nil {
			t.Fatal(err)
		}
		metadata := same["metadata"].(map[string]any)
		delete(metadata, "namespace")
		if same["kind"] == "PersistentVolumeClaim" {
			delete(metadata, "annotations")
		}
		if template, ok := lookUp(same, "spec", "template", "metadata", "annotations").(map[string]any); ok {
			delete(template, "checksum/config")
		}
		if text, ok := lookUp(same, "data", "triplemesh.yaml").(string); ok {
			var settings any
			if err := yaml.Unmarshal([]byte(text), &settings); err != nil {
				t.Fatal(err)
			}
			same["data"].(map[string]any)["triplemesh.yaml"] = settings
		}
		key := fmt.Sprintf("%s/%s", same["kind"], metadata["name"])
		if out[key] != nil {
			t.Errorf("%s is there twice", key)
		}
		out[key] = sortNamed(same)
	}
	return out
}

func lookUp(value any, path ...string) any {
	for _, key := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[key]
	}
	return value
}

// sortNamed sorts the lists of items with names. The order of variables only matters for those that
// refer to others, which TestVariablesAreDefinedBeforeTheirUse checks.
func sortNamed(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = sortNamed(item)
		}
	case []any:
		for i, item := range v {
			v[i] = sortNamed(item)
		}
		slices.SortStableFunc(v, func(a, b any) int {
			nameOfA, _ := lookUp(a, "name").(string)
			nameOfB, _ := lookUp(b, "name").(string)
			return strings.Compare(nameOfA, nameOfB)
		})
	}
	return value
}

// kustomize renders the base with components and a further piece of kustomization, without the
// namespace, which Helm creates itself.
func kustomize(t *testing.T, more string, components ...string) map[string]any {
	t.Helper()
	return normalize(t, listObjects(t, renderRaw(t, kustomization(t, "namespace: triplemesh\n"+more, components...))))
}

// valuesFor are the values of the chart for a component, with what it needs.
func valuesFor(components ...string) string {
	var all strings.Builder
	all.WriteString("components: {model-server-llama: " +
		fmt.Sprint(slices.Contains(components, "model-server-llama")))
	for _, c := range components {
		if c != "model-server-llama" {
			fmt.Fprintf(&all, ", %s: true", c)
		}
	}
	all.WriteString("}\nimage: {repository: localhost/triplemesh}\ntest: {enabled: false}\n" +
		"storage:\n  kg: {size: 50Gi, accessModes: [ReadWriteMany]}\n" +
		"  runs: {size: 10Gi, accessModes: [ReadWriteMany]}\n" +
		// What the components have as examples, which the chart does not take for granted.
		"model: {baseURL: \"https://api.openai.com/v1\"}\njwt: {issuer: \"https://id.example.com\"}\n" +
		"host: triplemesh.example.com\n")
	return all.String()
}

func compare(t *testing.T, want map[string]any, values string) {
	t.Helper()
	installed, _, err := renderChart(t, values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, normalize(t, installed)); diff != "" {
		t.Errorf("kustomize (-) and the chart (+) differ:\n%s", diff)
	}
}

func TestTheChartInstallsWhatKustomizeApplies(t *testing.T) {
	t.Run("base", func(t *testing.T) { compare(t, kustomize(t, ""), valuesFor()) })
	for _, c := range names(t, "components") {
		if c == "namespace" {
			continue
		}
		all := append(needs[c], c)
		t.Run("base with "+c, func(t *testing.T) { compare(t, kustomize(t, "", all...), valuesFor(all...)) })
	}
	every := []string{"auth-jwt", "auth-tokens", "autoscale", "autoscale-in-flight", "ingress-gateway", "ingress-nginx",
		"model-endpoint", "monitoring", "mtls", "network-policies", "otel-collector", "quotas", "volumes-host-path",
		"weaviate"}
	t.Run("base with much", func(t *testing.T) { compare(t, kustomize(t, "", every...), valuesFor(every...)) })
}

func TestTheChartHasAValueForEveryComponent(t *testing.T) {
	components, ok := loadChart(t).Values["components"].(map[string]any)
	if !ok {
		t.Fatal("values.yaml has no components")
	}
	want := slices.DeleteFunc(names(t, "components"), func(c string) bool { return c == "namespace" })
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(components))); diff != "" {
		t.Error(diff)
	}
}

func overlay(t *testing.T, name string) map[string]any {
	t.Helper()
	return normalize(t, listObjects(t, renderRaw(t, filepath.Join("overlays", name))))
}

func valuesFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartDir, "values", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheValuesFilesInstallTheOverlays(t *testing.T) {
	t.Run("production", func(t *testing.T) { compare(t, overlay(t, "production"), valuesFile(t, "production")) })
	t.Run("local", func(t *testing.T) {
		// The overlay leaves the model server to a component beside it.
		const own = "components: {model-server-llama: false}\nimage: {repository: localhost/triplemesh}\n"
		compare(t, overlay(t, "local"), own+valuesFile(t, "local"))
	})
}

// objectsFrom returns rendered objects in their Kubernetes types; an unknown field is an error.
func objectsFrom(t *testing.T, installed []map[string]any) objects {
	t.Helper()
	all := objects{}
	for _, object := range installed {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		kind := fmt.Sprint(object["kind"])
		all.add(t, kind, fmt.Sprint(lookUp(object, "metadata", "name")), text)
	}
	return all
}

func TestEveryValuesFileInstallsASoundMesh(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(chartDir, "values", "*.yaml"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d values files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			installed, tests, err := renderChart(t, valuesFile(t, name))
			if err != nil {
				t.Fatal(err)
			}
			o := objectsFrom(t, installed)
			everyPodIsHardened(t, o)
			everyServiceIsHeadlessAndHasPods(t, o)
			stagesGiveWayInOrder(t, o)
			everyStageTakesItsSettings(t, o)
			if len(tests) != 2 {
				t.Errorf("%d objects for helm test, want a ConfigMap and a Pod", len(tests))
			}
			objectsFrom(t, tests)
		})
	}
}

func TestVariablesAreDefinedBeforeTheirUse(t *testing.T) {
	use := regexp.MustCompile(`\$\(([A-Z_]+)\)`)
	installed, _, err := renderChart(t, valuesFile(t, "production"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, pod := range templates(objectsFrom(t, installed)) {
		for _, c := range pod.Spec.Containers {
			defined := map[string]bool{}
			for _, v := range c.Env {
				for _, m := range use.FindAllStringSubmatch(v.Value, -1) {
					seen++
					if !defined[m[1]] {
						t.Errorf("%s: %s uses %s before its definition", name, v.Name, m[1])
					}
				}
				defined[v.Name] = true
			}
		}
	}
	if seen == 0 {
		t.Error("no variable uses another")
	}
}

func TestValuesReachTheirObjects(t *testing.T) {
	installed, _, err := renderChart(t, `
image: {repository: registry.example.com/a, tag: v9, pullPolicy: Always}
imagePullSecrets: [{name: registry}]
components: {ingress-nginx: true, ingress-gateway: true, neo4j: true, quotas: true, model-server-llama: false,
  model-endpoint: true}
host: kg.example.com
gateway: {name: public, namespace: gateways}
model: {baseURL: "https://models.example.com/v1", name: big, maxInFlight: 7}
settings: {verifier: {mode: edits}}
neo4j: {graphs: {m: {uri: "bolt://n:1"}}}
quotas: {acme: {questions_per_day: 5}}
sharedTenant: public
storage: {kg: {size: 1Ti, accessModes: [ReadWriteMany], storageClass: nfs}}
stages:
  verifier: {replicas: 3, resources: {limits: {memory: 1Gi}}, env: {TRIPLEMESH_LLM_TIMEOUT: 9s},
    nodeSelector: {disk: ssd}, priorityClassName: high}
patches:
  Service/orchestrator: {metadata: {annotations: {example.com/a: b}}}
`)
	if err != nil {
		t.Fatal(err)
	}
	all := normalize(t, installed)
	for path, want := range map[string]any{
		"Deployment/verifier spec replicas":                                         3.0,
		"Deployment/verifier spec template spec nodeSelector disk":                  "ssd",
		"Deployment/verifier spec template spec priorityClassName":                  "high",
		"Service/orchestrator metadata annotations example.com/a":                   "b",
		"ConfigMap/triplemesh-model data model":                                     "big",
		"ConfigMap/triplemesh-model data max-in-flight":                             "7",
		"ConfigMap/triplemesh-config data triplemesh.yaml verifier mode":            "edits",
		"ConfigMap/triplemesh-config data triplemesh.yaml llm base_url":             "http://model-server:8080/v1",
		"ConfigMap/triplemesh-neo4j data graphs":                                    `{"m":{"uri":"bolt://n:1"}}`,
		"ConfigMap/triplemesh-quotas data quotas":                                   `{"acme":{"questions_per_day":5}}`,
		"ConfigMap/triplemesh-quotas data shared":                                   "public",
		"PersistentVolumeClaim/triplemesh-kg spec storageClassName":                 "nfs",
		"PersistentVolumeClaim/triplemesh-kg spec resources requests storage":       "1Ti",
		"PersistentVolumeClaim/triplemesh-runs spec resources requests storage":     "5Gi",
		"Deployment/verifier spec template metadata labels app.kubernetes.io/name":  "verifier",
		"Deployment/verifier spec template metadata annotations prometheus.io/port": "8080",
		"Deployment/verifier spec template metadata annotations checksum/config":    nil,
		"Deployment/orchestrator spec template spec automountServiceAccountToken":   true,
		"Deployment/retriever spec template spec terminationGracePeriodSeconds":     330.0,
		"ConfigMap/triplemesh-config data triplemesh.yaml orchestrator http addr":   ":9080",
		"ConfigMap/triplemesh-config data triplemesh.yaml retriever store dir":      "/var/lib/triplemesh/kg",
		"ConfigMap/triplemesh-config data triplemesh.yaml server drain_timeout":     "5m",
		"ConfigMap/triplemesh-config data triplemesh.yaml telemetry log_format":     "json",
		"ConfigMap/triplemesh-config metadata labels app.kubernetes.io/part-of":     "triplemesh",
		"ServiceAccount/verifier automountServiceAccountToken":                      false,
		"PersistentVolumeClaim/triplemesh-runs spec storageClassName":               nil,
		"GRPCRoute/triplemesh metadata labels app.kubernetes.io/part-of":            "triplemesh",
		"Deployment/generator spec template spec nodeSelector":                      nil,
		"Deployment/generator metadata labels app.kubernetes.io/component":          "stage",
		"Deployment/generator spec template spec serviceAccountName":                "generator",
		"Deployment/generator spec template spec securityContext runAsNonRoot":      true,
	} {
		parts := strings.Fields(path)
		if got := lookUp(all, parts...); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	o := objectsFrom(t, installed)
	verifier := templates(o)["verifier"].Spec
	c := verifier.Containers[0]
	if c.Image != "registry.example.com/a/verifier:v9" || c.ImagePullPolicy != corev1.PullAlways ||
		c.Resources.Limits.Memory().String() != "1Gi" || c.Resources.Requests.Memory().String() != "64Mi" ||
		verifier.ImagePullSecrets[0].Name != "registry" {
		t.Errorf("container %s, %s, %v, secrets %v", c.Image, c.ImagePullPolicy, c.Resources, verifier.ImagePullSecrets)
	}
	if !slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool {
		return v.Name == "TRIPLEMESH_LLM_TIMEOUT" && v.Value == "9s"
	}) {
		t.Errorf("variables %v", c.Env)
	}
	text := fmt.Sprint(all["GRPCRoute/triplemesh"], all["Ingress/triplemesh"])
	if strings.Count(text, "kg.example.com") != strings.Count(text, "example.com") ||
		!strings.Contains(text, "gateways") {
		t.Errorf("routes: %s", text)
	}
}

func TestWrongValuesAreRefusedWithTheReason(t *testing.T) {
	for values, want := range map[string]string{
		"components: {mtsl: true}":                             "mtsl",
		"stages: {verifyer: {}}":                               "verifyer",
		"stages: {verifier: {replicas: many}}":                 "replicas",
		"storage: {kg: {size: large, accessModes: []}}":        "size",
		"components: {auth-jwt: true}\ntest: {enabled: false}": "components.auth-jwt needs components.mtls",
		"components: {autoscale: true, autoscale-keda: true}":  "exclude each other",
		"components: {model-server-vllm: true}":                "exclude each other",
		"components: {mtls: true, auth-tokens: true}":          "test.tokenSecret.name is empty",
		"components: {ingress-nginx: true}":                    "components.ingress-nginx needs host",
		"components: {ingress-gateway: true}":                  "components.ingress-gateway needs host",
		"model: {baseURL: models.example.com}":                 "baseURL",
		"patches: {orchestrator: {}}":                          "orchestrator",
		"image: {repository: ''}":                              "repository",
		"settings: [a]":                                        "settings",
		"components: {autoscale-in-flight: true}":              "autoscale-in-flight needs components.autoscale",
		"imagePullSecrets: [registry]":                         "imagePullSecrets",
		"stages: {verifier: {env: {lower-case: x}}}":           "lower-case",

		"components: {mtls: true, auth-jwt: true}\ntest: {enabled: false}": "components.auth-jwt needs jwt.issuer",
		"components: {model-endpoint: true, model-server-llama: false}":    "needs model.baseURL",

		"components: {model-endpoint: true}\nmodel: {baseURL: \"https://m.example.com\"}": "exclude each other",
	} {
		if _, _, err := renderChart(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not contain %q", values, err, want)
		}
	}
}

func TestHelmTestAsksTheWayTheMeshIsSecured(t *testing.T) {
	_, tests, err := renderChart(t, valuesFile(t, "production"))
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	for _, object := range tests {
		if object["kind"] != "Pod" {
			continue
		}
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, pod); err != nil {
			t.Fatal(err)
		}
	}
	steps := containers(pod.Spec)
	var args []string
	for _, c := range steps {
		args = append(args, c.Args[0]+" "+c.Args[1])
		env := fmt.Sprint(c.Env)
		if !strings.Contains(env, "TRIPLEMESH_CA") || !strings.Contains(env, "triplemesh-test-token") {
			t.Errorf("%s has neither certificate nor token: %s", c.Name, env)
		}
		if c.Image != "registry.example.com/triplemesh/triplemesh:v1" {
			t.Errorf("%s: image %s", c.Name, c.Image)
		}
	}
	if got := strings.Join(args, "; "); got != "kg load; ask What institution employed Robert Stam?; kg drop" {
		t.Errorf("the test runs %s", got)
	}
}

// flatten returns the values that have no further keys, in JSON, by path.
func flatten(t *testing.T, path string, value any, into map[string]string) {
	t.Helper()
	if m, ok := value.(map[string]any); ok && len(m) > 0 {
		for key, v := range m {
			flatten(t, strings.TrimPrefix(path+"."+key, "."), v, into)
		}
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	into[path] = string(text)
}

func TestTheREADMEListsEveryValueWithItsDefault(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "helm", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Values\n")
	listed := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]*)` \\| .+ \\|$")
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		listed[m[1]] = m[2]
	}
	want := map[string]string{}
	flatten(t, "", loadChart(t).Values, want)
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("values.yaml (-) and the README (+):\n%s", diff)
	}
}
