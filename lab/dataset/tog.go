package dataset

import (
	"slices"
	"strconv"
)

// togQuestion is a question of the lists that were published with ToG (Sun et
// al., "Think-on-Graph", ICLR 2024). Each set has its fields in other words.
type togQuestion struct {
	ID                word     `json:"id"`
	Question          string   `json:"question"`
	RawQuestion       string   `json:"RawQuestion"`
	Input             string   `json:"input"` // of slot filling, as in KILT
	TemplateQuestions []string `json:"template_questions"`
	Answer            words    `json:"answer"`
	Answers           words    `json:"answers"`
	Aliases           words    `json:"alias"` // of the one answer
	TopicEntities     words    `json:"topic_entity"`
	WikidataTopics    words    `json:"qid_topic_entity"`
	URL               string   `json:"url"`
}

// readToG reads such a list. Answers and topic entities are by name; of topic
// entities in two knowledge graphs those of Freebase are taken, with those of
// Wikidata if there are none.
func readToG(text []byte) ([]item, error) {
	return readElements(text, "", func(from togQuestion, number int) (Question, error) {
		q := Question{
			ID: string(from.ID), Question: from.Question,
			Answers: Distinct(append(from.Answer, from.Answers...)), TopicEntities: Distinct(from.TopicEntities),
		}
		if isBlank(q.ID) {
			q.ID = strconv.Itoa(number)
		}
		if isBlank(q.Question) {
			q.Question = from.RawQuestion
		}
		if isBlank(q.Question) {
			q.Question, _ = slot(from.Input, from.TemplateQuestions)
		}
		if len(q.TopicEntities) == 0 {
			q.TopicEntities = Distinct(from.WikidataTopics)
		}
		if len(q.TopicEntities) == 0 {
			q.TopicEntities = pageTopic(from.URL)
		}
		if len(q.Answers) == 0 {
			return q, errUnanswered
		}
		if aliases := slices.DeleteFunc(Distinct(from.Aliases),
			func(alias string) bool { return alias == q.Answers[0] }); len(q.Answers) == 1 && len(aliases) > 0 {
			q.Aliases = [][]string{aliases}
		}
		return q, nil
	})
}
