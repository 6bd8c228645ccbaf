// Package tests asks questions of the whole mesh: six services over real gRPC,
// the real encoder, the real store, and a model that answers by script unless
// a test says otherwise.
package tests

import (
	"fmt"
	"os"
	"testing"
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
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "remove the knowledge graphs of the tests:", err)
	}
	os.Exit(code)
}
