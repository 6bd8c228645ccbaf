package main

import (
	"slices"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// about are the entities in the script: all of their facts are loaded.
var about = []string{"Robert Stam", "Alexander", "Oliver Stone"}

// sample returns every nth of the bundled facts and all those about some entities, as TSV.
func sample(nth int) []byte {
	return testkit.Facts(testkit.Process{}, func(n int, fields []string) bool {
		return n%max(nth, 1) == 0 || slices.Contains(about, fields[0]) || slices.Contains(about, fields[2])
	})
}
