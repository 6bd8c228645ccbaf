package dataset

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// readSimpleQuestions reads the lines of SimpleQuestions (Bordes et al.,
// "Large-scale simple question answering with memory networks", 2015):
// subject, relation, object and question. Entities are Freebase ids without a
// name, written as m.0abc. The list with names that was published with ToG is
// read too.
func readSimpleQuestions(text []byte) ([]item, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return readToG(text)
	}
	return readLines(text, func(line []byte, number int) (Question, error) {
		columns := strings.Split(string(line), "\t")
		if len(columns) != 4 {
			return Question{}, fmt.Errorf("has %d columns, must have subject, relation, object and question, split "+
				"by tabs", len(columns))
		}
		for i, name := range []string{"subject", "relation", "object"} {
			if isBlank(columns[i]) {
				return Question{}, fmt.Errorf("field %q: missing or empty", name)
			}
		}
		return Question{
			ID: strconv.Itoa(number), Question: strings.TrimSpace(columns[3]),
			Answers: []string{freebaseID(columns[2])}, TopicEntities: []string{freebaseID(columns[0])},
			Kind: Alternatives, Hops: 1, Paths: [][]string{{freebaseID(columns[1])}},
		}, nil
	}), nil
}

// freebaseID returns an id without the address it was published under, with dots
// for slashes: m.0abc, film.film.genre.
func freebaseID(text string) string {
	text = strings.Trim(strings.TrimSpace(text), "<>")
	for _, prefix := range []string{"http://", "https://", "www.freebase.com/", "rdf.freebase.com/ns/", "fb:"} {
		text = strings.TrimPrefix(text, prefix)
	}
	return strings.ReplaceAll(strings.Trim(text, "/"), "/", ".")
}

// isMID reports whether a text is an id of a Freebase entity.
func isMID(text string) bool {
	id := freebaseID(text)
	return strings.HasPrefix(id, "m.") || strings.HasPrefix(id, "g.")
}
