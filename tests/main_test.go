// Package tests asks questions of the whole mesh: six services over real gRPC, the real encoder and
// store, and by default a scripted model.
package tests

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// built is the directory of the knowledge graphs loaded by this test run.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "triplemesh-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the knowledge graphs of the tests:", err)
		os.Exit(1)
	}
	built = dir
	// No test may leak a goroutine.
	options := append(pipes(), goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "remove the knowledge graphs of the tests:", err)
		}
		os.Exit(code)
	}))
	goleak.VerifyTestMain(m, options...)
}

// pipes are the goroutines that the fault proxy leaks if a connection ends during a fault.
func pipes() (ignored []goleak.Option) {
	const proxy = "github.com/Shopify/toxiproxy/v2"
	for _, function := range []string{"/toxics.(*ToxicStub).Run", ".(*ToxicLink).read", ".(*ToxicLink).write",
		".(*ToxicLink).RemoveToxic.func1"} {
		ignored = append(ignored, goleak.IgnoreAnyFunction(proxy+function))
	}
	return ignored
}
