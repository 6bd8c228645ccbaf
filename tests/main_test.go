// Package tests asks questions of the whole mesh: six services over real gRPC,
// the real encoder, the real store, and a model that answers by script unless
// a test says otherwise.
package tests

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// built is where a test run keeps the knowledge graphs it loaded.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "triplemesh-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the knowledge graphs of the tests:", err)
		os.Exit(1)
	}
	built = dir
	// No test may leave anything running.
	options := append(pipes(), goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "remove the knowledge graphs of the tests:", err)
		}
		os.Exit(code)
	}))
	goleak.VerifyTestMain(m, options...)
}

// pipes are what the fault proxy itself leaves running where a connection ends
// while a fault is in its way.
func pipes() (ignored []goleak.Option) {
	const proxy = "github.com/Shopify/toxiproxy/v2"
	for _, function := range []string{"/toxics.(*ToxicStub).Run", ".(*ToxicLink).read", ".(*ToxicLink).write", ".(*ToxicLink).RemoveToxic.func1"} {
		ignored = append(ignored, goleak.IgnoreAnyFunction(proxy+function))
	}
	return ignored
}
