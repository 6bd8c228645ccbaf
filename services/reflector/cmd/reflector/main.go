// Command reflector serves the stage that decides on the final answers.
package main

import (
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/reflector"
)

func main() { config.Main("reflector", reflector.DefaultConfig(), reflector.Run) }
