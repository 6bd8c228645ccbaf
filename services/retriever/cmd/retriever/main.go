// Command retriever serves the stage that finds triples, paths and entities.
package main

import (
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/retriever"
)

func main() { config.Main("retriever", retriever.DefaultConfig(), retriever.Run) }
