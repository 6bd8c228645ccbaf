package main

import (
	"slices"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// about are the entities that the script speaks of: all of their facts are
// taken.
var about = []string{"Robert Stam", "Alexander", "Oliver Stone"}

// sample is one in every nth of the bundled facts, and all those about some
// entities, as TSV.
func sample(nth int) []byte {
	return testkit.Facts(testkit.Process{}, func(n int, fields []string) bool {
		return n%max(nth, 1) == 0 || slices.Contains(about, fields[0]) || slices.Contains(about, fields[2])
	})
}
