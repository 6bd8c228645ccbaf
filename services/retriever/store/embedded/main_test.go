package embedded

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// A history makes hundreds of files: RAPID_CHECKS asks for more than these.
	if os.Getenv("RAPID_CHECKS") == "" {
		if err := flag.Set("rapid.checks", "10"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
