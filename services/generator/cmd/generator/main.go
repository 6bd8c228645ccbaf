// Command generator serves the stage that writes.
package main

import (
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/generator"
)

func main() { config.Main("generator", generator.DefaultConfig(), generator.Run) }
