package load

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Question is a question of a file.
type Question struct {
	Question      string   `json:"question"`
	TopicEntities []string `json:"topic_entities"`
}

// ReadQuestions reads a file with a question on each line: as JSON with
// "question" and perhaps "topic_entities", or as it is.
func ReadQuestions(path string) ([]Question, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Question
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		asked := Question{Question: text}
		if strings.HasPrefix(text, "{") {
			asked = Question{}
			if err := json.Unmarshal([]byte(text), &asked); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
		}
		if text == "" {
			continue
		}
		if asked.Question == "" {
			return nil, fmt.Errorf("%s:%d: it has no question", path, n)
		}
		all = append(all, asked)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: it has no questions", path)
	}
	return all, nil
}

// Rotate asks questions by methods in turns, each question by each method, over
// a knowledge graph. What is asked is not kept as runs.
func Rotate(questions []Question, methods []string,
	kg *graphv1.KnowledgeGraphRef) func(n int) *orchestratorv1.AskRequest {
	questions, methods = slices.Clone(questions), slices.Clone(methods)
	return func(n int) *orchestratorv1.AskRequest {
		q := questions[n/len(methods)%len(questions)]
		return &orchestratorv1.AskRequest{
			Question: q.Question, TopicEntities: q.TopicEntities, Method: methods[n%len(methods)], Kg: kg,
			Options: &orchestratorv1.AskOptions{NoRecord: true},
		}
	}
}
