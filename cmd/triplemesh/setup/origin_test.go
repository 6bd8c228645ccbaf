package setup

import (
	"regexp"
	"testing"
)

func TestEverythingFetchedHasASumAndALicence(t *testing.T) {
	sum := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for arch, want := range map[string]int{"amd64": 7, "arm64": 6} {
		pins, err := Pins("linux", arch)
		if err != nil || len(pins) != want {
			t.Fatalf("%d pins for %s, %v; want the encoder, its vocabulary, ONNX Runtime, the model, "+
				"wheels with a server and llama.cpp",
				len(pins), arch, err)
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
	if pins, err := Pins("plan9", "amd64"); err == nil {
		t.Errorf("there are pins for Plan 9: %v", pins)
	}
}
