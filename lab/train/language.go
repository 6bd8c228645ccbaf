package train

import (
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
)

// checkLanguage refuses questions most of which are in a language that is neither English nor that
// of the labels of their knowledge graph, as far as both can be told.
func checkLanguage(s *Set, relations []string) error {
	foreign := map[string]int{}
	for _, q := range s.Questions {
		language, ok := kgtext.DetectLanguage(q.Question)
		if ok && !language.IsCoveredBy(relations, labels(q)) {
			foreign[language.Name]++
		}
	}
	for language, n := range foreign {
		if 2*n > len(s.Questions) {
			return refuse("%s: the questions are in %s, and the labels of %s are not: the encoder cannot compare "+
				"them; translate the questions, or load the knowledge graph with labels in their language", s.Name,
				language, s.KG.GetName())
		}
	}
	return nil
}

// labels returns the names that a question has of its knowledge graph.
func labels(q dataset.Question) []string {
	return append(q.TopicEntities[:len(q.TopicEntities):len(q.TopicEntities)],
		q.Names()...)
}
