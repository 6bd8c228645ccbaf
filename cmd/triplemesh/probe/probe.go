// Package probe finds out whether what a mesh is to use is there and works: a
// model endpoint, a file of triples, a Neo4j, a Weaviate. It changes nothing.
// Its errors say what to change.
package probe

import (
	"strings"
)

// Nearest is the known word that a slip of the finger makes out of another:
// with the fewest characters wrong, and no more than a third of them. It is
// empty where no word is near.
func Nearest(word string, known []string) string {
	best, least := "", len([]rune(word))/3+2
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is how many characters must be put in, left out, replaced or swapped
// with the next to make one word of another.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(y)]
}
