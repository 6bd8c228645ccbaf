package k8s

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/config"
	"sigs.k8s.io/yaml"
)

var composeDir = filepath.Join("..", "compose")

// loadCompose loads deploy/compose as `docker compose config` does: with the schema of the specification, with
// interpolation of the variables, and with checks of what services refer to.
func loadCompose(t *testing.T, env types.Mapping) *types.Project {
	t.Helper()
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: composeDir, Environment: env,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(composeDir, "compose.yaml")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestTheComposeFileIsValid(t *testing.T) {
	project := loadCompose(t, nil)
	want := []string{"evaluator", "generator", "model-files", "model-server", "orchestrator", "otel-collector",
		"prometheus", "reflector", "retriever", "verifier", "volumes"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(project.Services))); diff != "" {
		t.Error(diff)
	}
}

func TestVariablesSelectImagesAndModel(t *testing.T) {
	project := loadCompose(t, types.Mapping{"REGISTRY": "registry.example.com/a", "VERSION": "v9", "MODEL": "big",
		"MODEL_BASE_URL": "https://models.example.com/v1", "MODEL_API_KEY": "k"})
	verifier := project.Services["verifier"]
	if verifier.Image != "registry.example.com/a/verifier:v9" {
		t.Errorf("image %s", verifier.Image)
	}
	for name, want := range map[string]string{"TRIPLEMESH_LLM_MODEL": "big", "TRIPLEMESH_LLM_API_KEY": "k",
		"TRIPLEMESH_LLM_BASE_URL": "https://models.example.com/v1"} {
		if got := verifier.Environment[name]; got == nil || *got != want {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
}

func TestTheREADMEListsTheVariables(t *testing.T) {
	used := map[string]bool{}
	file, readme := readText(t, composeDir, "compose.yaml"), readText(t, composeDir, "README.md")
	for _, m := range regexp.MustCompile(`[^$]\$\{([A-Z_]+)`).FindAllStringSubmatch(file, -1) {
		used[m[1]] = true
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|").FindAllStringSubmatch(readme, -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(used)), listed); diff != "" {
		t.Errorf("variables in the file (-) and in the README (+):\n%s", diff)
	}
}

func TestContainersHaveNoMoreRightsThanTheyNeed(t *testing.T) {
	for name, s := range loadCompose(t, nil).Services {
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to other machines", name, p.Published)
			}
		}
		if _, tag, ok := strings.Cut(filepath.Base(s.Image), ":"); !ok || tag == "latest" {
			t.Errorf("%s: image %s has no tag", name, s.Image)
		}
		if s.Privileged || len(s.CapAdd) > 0 || name != "volumes" && strings.HasPrefix(s.User, "0") {
			t.Errorf("%s has more rights than it needs", name)
		}
		if strings.Contains(s.Image, "triplemesh") && (!s.ReadOnly || s.User != "65532:65532" ||
			!slices.Equal(s.CapDrop, []string{"ALL"})) {
			t.Errorf("%s: user %s, read-only %v, dropped %v", name, s.User, s.ReadOnly, s.CapDrop)
		}
	}
}

func TestPrometheusTakesItsConfigurationAndScrapesEveryStage(t *testing.T) {
	project := loadCompose(t, nil)
	cfg, err := config.Load(project.Configs["prometheus"].Content, promslog.NewNopLogger())
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.ScrapeConfigs) != 1 {
		t.Fatalf("%d scrape configurations", len(cfg.ScrapeConfigs))
	}
	for name, s := range project.Services {
		target := name + strings.TrimPrefix(variableOf(s, "TRIPLEMESH_SERVER_METRICS_ADDR"), "")
		if strings.HasPrefix(target, name+":") && !strings.Contains(project.Configs["prometheus"].Content, target) {
			t.Errorf("%s is not scraped at %s", name, target)
		}
	}
}

func variableOf(s types.ServiceConfig, name string) string {
	if v := s.Environment[name]; v != nil {
		return *v
	}
	return ""
}

func readText(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What Kubernetes runs and Compose runs too is not to drift apart: the images that are not ours, the
// collector's configuration and the model.
func TestComposeRunsWhatKubernetesRuns(t *testing.T) {
	project, components := loadCompose(t, nil), "components"
	llama := readText(t, components, "model-server-llama", "model-server.yaml")
	collector := readText(t, components, "otel-collector", "collector.yaml")
	for name, manifest := range map[string]string{
		"model-server": llama, "model-files": llama, "otel-collector": collector,
	} {
		if image := project.Services[name].Image; !strings.Contains(manifest, "image: "+image+"\n") {
			t.Errorf("%s: Kubernetes does not run %s", name, image)
		}
	}
	pins := readText(t, components, "model-server-llama", "kustomization.yaml")
	for _, name := range []string{"URL", "SHA256"} {
		if v := variableOf(project.Services["model-files"], name); v == "" || !strings.Contains(pins, v+"\n") {
			t.Errorf("Kubernetes fetches another model than %s", v)
		}
	}
	var ours, theirs any
	if err := yaml.Unmarshal([]byte(project.Configs["otel-collector"].Content), &ours); err != nil {
		t.Fatal(err)
	}
	inKubernetes := readText(t, components, "otel-collector", "collector-config.yaml")
	if err := yaml.Unmarshal([]byte(inKubernetes), &theirs); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("the collector in Kubernetes (-) and here (+):\n%s", diff)
	}
}
