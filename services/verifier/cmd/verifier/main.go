// Command verifier serves the stage that corrects pseudo-graphs.
package main

import (
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/verifier"
)

func main() { config.Main("verifier", verifier.DefaultConfig(), verifier.Run) }
