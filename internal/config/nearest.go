package config

import (
	"fmt"
	"strings"
)

// unknownKey is the error of a key that is none of the known ones.
func unknownKey(key string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown key %s", key)
	}
	return fmt.Errorf("unknown key %s; the nearest known key is %s", key, nearest(key, known))
}

// nearest is the first of the known keys with the fewest edits from word to it
// or to its last part: who writes "model" means "llm.model".
func nearest(word string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		d := min(distance(word, k), distance(word, k[strings.LastIndex(k, ".")+1:]))
		if least < 0 || d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func prefixed(prefix string, words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = prefix + w
	}
	return all
}
