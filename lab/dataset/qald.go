package dataset

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// qaldQuestion is a question of QALD (Usbeck et al., "QALD-10", Semantic Web
// journal 2023; the format is that of all since QALD-6).
type qaldQuestion struct {
	ID       word `json:"id"`
	Question []struct {
		Language string `json:"language"`
		Text     string `json:"string"`
	} `json:"question"`
	Query struct {
		SPARQL string `json:"sparql"`
	} `json:"query"`
	Answers []struct {
		Boolean *bool `json:"boolean"`
		Results struct {
			Bindings []map[string]struct {
				Type  string `json:"type"`
				Value word   `json:"value"`
			} `json:"bindings"`
		} `json:"results"`
	} `json:"answers"`
}

// wikidataEntity finds the entities that a query names.
var wikidataEntity = regexp.MustCompile(`\b(?:wd:|www\.wikidata\.org/entity/)(Q[0-9]+)\b`)

// readQALD reads the questions in English, or in their first language where
// there is no English. Entities are ids, Q42, for the files hold no names.
// Topic entities are those that the query names.
func readQALD(text []byte) ([]item, error) {
	return readElements(text, "questions", func(from qaldQuestion, _ int) (Question, error) {
		q := Question{ID: string(from.ID), Kind: Set}
		for i, wording := range from.Question {
			if i == 0 || wording.Language == "en" {
				q.Question = wording.Text
			}
			if wording.Language == "en" {
				break
			}
		}
		for _, entity := range wikidataEntity.FindAllStringSubmatch(from.Query.SPARQL, -1) {
			q.TopicEntities = append(q.TopicEntities, entity[1])
		}
		q.TopicEntities = Distinct(q.TopicEntities)
		for _, answer := range from.Answers {
			if answer.Boolean != nil {
				q.Answers = append(q.Answers, map[bool]string{true: "yes", false: "no"}[*answer.Boolean])
			}
			for _, binding := range answer.Results.Bindings {
				for _, variable := range slices.Sorted(maps.Keys(binding)) {
					q.Answers = append(q.Answers, parseEntity(binding[variable].Type, string(binding[variable].Value)))
				}
			}
		}
		if q.Answers = Distinct(q.Answers); len(q.Answers) == 0 {
			return q, errUnanswered
		}
		return q, nil
	})
}

// parseEntity returns the value of a binding: of an address its last part, which for
// DBpedia is a name.
func parseEntity(kind, value string) string {
	if kind != "uri" {
		return value
	}
	name := value[strings.LastIndexAny(value, "/#")+1:]
	if strings.Contains(value, "dbpedia.org/resource/") {
		return strings.ReplaceAll(name, "_", " ")
	}
	return name
}
