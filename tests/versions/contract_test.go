//go:build versions

package versions

import (
	"os/exec"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// TestTheContractBreaksNothing compares the protos with those of each version.
func TestTheContractBreaksNothing(t *testing.T) {
	for _, old := range previous(t) {
		buf := exec.Command(testkit.Cache(t, "bin", "buf"), "breaking", "--against", old.source)
		buf.Dir = root(t)
		if out, err := buf.CombinedOutput(); err != nil {
			t.Errorf("since %s: %v\n%s", old, err, out)
		}
	}
}
