package k8s

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTheREADMEHasEveryComponentAndOverlay(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ = strings.Cut(name, "`")
			listed = append(listed, name)
		}
	}
	for _, name := range slices.Concat(names(t, "components"), names(t, "overlays")) {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is not in the README", name)
		}
	}
	for _, name := range listed {
		there := slices.Contains(names(t, "components"), name) || slices.Contains(names(t, "overlays"), name)
		if !there && !strings.HasPrefix(name, "triplemesh-") {
			t.Errorf("the README has %s, which is not there", name)
		}
	}
}
