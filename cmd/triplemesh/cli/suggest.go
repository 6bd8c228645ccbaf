package cli

import "github.com/triplemesh/triplemesh/cmd/triplemesh/probe"

// didYouMean is the nearest of the known words, as a part of a sentence; empty
// where none is near.
func didYouMean(word string, known []string) string {
	if near := probe.Nearest(word, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}
