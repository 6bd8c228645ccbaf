package dataset

import "slices"

// webQSPQuestion is a question of WebQuestionsSP (Yih et al., "The value of
// semantic parse labeling", ACL 2016).
type webQSPQuestion struct {
	QuestionID        string `json:"QuestionId"`
	RawQuestion       string
	ProcessedQuestion string
	Parses            []struct {
		TopicEntityName  word
		InferentialChain []string
		Answers          []struct {
			AnswerArgument word
			EntityName     word
		}
	}
	// TopicEntities are names by Freebase id, added by those who published the
	// set with ToG as a list.
	TopicEntities words `json:"topic_entity"`
}

// readWebQSP reads the published JSON. The answers are those of all parses: by
// name, or as they are where they are values. A chain counts each relation as
// a hop, those to and from mediators too.
func readWebQSP(text []byte) ([]item, error) {
	return readElements(text, "Questions", func(from webQSPQuestion, _ int) (Question, error) {
		q := Question{ID: from.QuestionID, Question: from.RawQuestion, Kind: Set}
		if isBlank(q.Question) {
			q.Question = from.ProcessedQuestion
		}
		topics := slices.Clone([]string(from.TopicEntities))
		for _, parse := range from.Parses {
			topics = append(topics, string(parse.TopicEntityName))
			for _, answer := range parse.Answers {
				name := answer.EntityName
				if isBlank(string(name)) {
					name = answer.AnswerArgument
				}
				q.Answers = append(q.Answers, string(name))
			}
			chain := parse.InferentialChain
			if len(chain) == 0 || slices.ContainsFunc(q.Paths,
				func(path []string) bool { return slices.Equal(path, chain) }) {
				continue
			}
			q.Paths = append(q.Paths, chain)
			if q.Hops == 0 || len(chain) < q.Hops {
				q.Hops = len(chain)
			}
		}
		q.Answers, q.TopicEntities = Distinct(q.Answers), Distinct(topics)
		if len(q.Answers) == 0 {
			return q, errUnanswered
		}
		return q, nil
	})
}
