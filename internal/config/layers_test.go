package config

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestTheHighestLayerThatSaysASettingWins says settings in any of the layers, a
// value of its own in each: the last of them in this order holds.
func TestTheHighestLayerThatSaysASettingWins(t *testing.T) {
	layers := []string{"default", "shared section", "section of the stage", "shared variable", "variable of the stage",
		"shared flag", "flag of the stage"}
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		want := map[string]string{"model": defaults().LLM.Model, "base_url": defaults().LLM.BaseURL}
		sections, own := "", ""
		var src Sources
		src.Set = map[string]string{}
		for _, key := range []string{"model", "base_url"} {
			for n, layer := range layers[1:] {
				if !rapid.Bool().Draw(r, key+" in "+layer) {
					continue
				}
				value := fmt.Sprint("value ", n)
				want[key] = value
				switch layer {
				case "shared section":
					sections += fmt.Sprintf("  %s: %s\n", key, value)
				case "section of the stage":
					own += fmt.Sprintf("    %s: %s\n", key, value)
				case "shared variable":
					src.Env = append(src.Env, envName("llm."+key)+"="+value)
				case "variable of the stage":
					src.Env = append(src.Env, envName("verifier.llm."+key)+"="+value)
				case "shared flag":
					src.Set["llm."+key] = value
				case "flag of the stage":
					src.Set["verifier.llm."+key] = value
				}
			}
		}
		src.Env = rapid.Permutation(src.Env).Draw(r, "environment")
		src.File = filepath.Join(dir, "triplemesh.yaml")
		if err := os.WriteFile(src.File, []byte("llm:\n"+sections+"verifier:\n  llm:\n"+own), 0o600); err != nil {
			r.Fatal(err)
		}
		got, err := Load("verifier", defaults(), src)
		if err != nil {
			r.Fatal(err)
		}
		if got.LLM.Model != want["model"] || got.LLM.BaseURL != want["base_url"] {
			r.Fatalf("model %q and base_url %q, want %v", got.LLM.Model, got.LLM.BaseURL, want)
		}
	})
}
