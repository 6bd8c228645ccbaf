// Command orchestrator serves the API of the mesh: it takes questions through the stages.
package main

import (
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/orchestrator"
)

func main() { config.Main("orchestrator", orchestrator.DefaultConfig(), orchestrator.Run) }
