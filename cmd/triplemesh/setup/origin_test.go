package setup

import (
	"regexp"
	"strings"
	"testing"
)

func TestEverythingFetchedHasASumAndALicence(t *testing.T) {
	sum := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for system, want := range map[string]int{"linux/amd64": 7, "linux/arm64": 6, "darwin/arm64": 6, "darwin/amd64": 5} {
		goos, goarch, _ := strings.Cut(system, "/")
		pins := Pins(goos, goarch)
		if len(pins) != want {
			t.Fatalf("%d pins for %s; want the encoder, its vocabulary, ONNX Runtime where there is one, the model, "+
				"wheels with a server and llama.cpp", len(pins), system)
		}
		for _, p := range pins {
			if p.Name == "" || p.Version == "" || p.Licence == "" || p.Home == "" {
				t.Errorf("nobody says of %+v whose it is", p.Origin)
			}
			if !sum.MatchString(p.SHA256) {
				t.Errorf("the sum of %s is %q", p.Name, p.SHA256)
			}
			for _, pkg := range p.Packages {
				if !sum.MatchString(pkg.SHA256) || pkg.Version == "" || pkg.Size == 0 {
					t.Errorf("%s is not pinned: %+v", p.Name, pkg)
				}
			}
		}
	}
}
