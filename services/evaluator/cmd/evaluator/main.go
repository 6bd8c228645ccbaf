// Command evaluator serves the stage that judges candidate answers.
package main

import (
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/evaluator"
)

func main() { config.Main("evaluator", evaluator.DefaultConfig(), evaluator.Run) }
