package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// ReadNames reads names by id: lines of an id, a tab and a name, the first name
// of an id being the one that counts. Ids of Freebase may be written in any of
// its ways. The published files of SimpleQuestions and QALD hold ids alone, and
// can be asked about and scored by name only with the names beside them.
func ReadNames(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	names, err := parseNames(data)
	if err != nil {
		return nil, fmt.Errorf("read names %s: %w", path, err)
	}
	return names, nil
}

func parseNames(data []byte) (map[string]string, error) {
	text, err := plainText(data)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string)
	var problems []error
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if isBlank(line) {
			continue
		}
		id, name, tab := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if !tab || isBlank(id) || isBlank(name) {
			problems = append(problems, fmt.Errorf("line %d: must be an id, a tab and a name", number))
			if len(problems) == maxProblems {
				break
			}
			continue
		}
		if id = plainID(id); names[id] == "" {
			names[id] = strings.TrimSpace(name)
		}
	}
	return names, errors.Join(problems...)
}

// plainID returns an id as the readers of questions write it.
func plainID(id string) string {
	if isMID(id) {
		return freebaseID(id)
	}
	return strings.TrimSpace(id)
}

// WithNames returns the questions of a dataset with names for ids, as ReadNames reads
// them from a file. The checksum covers both files: with other names the answers
// are others.
func (d Dataset) WithNames(path string) (Dataset, error) {
	names, err := ReadNames(path)
	if err != nil {
		return Dataset{}, err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, d.SHA256)
	for _, id := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(sum, "%s\t%s\n", id, names[id])
	}
	d.SHA256, d.Questions = hex.EncodeToString(sum.Sum(nil)), WithNames(d.Questions, names)
	return d, nil
}

// WithNames returns the questions with the names of their answers and topic
// entities in the place of ids. The id of an answer becomes an alias of it.
// What has no name stays as it is.
func WithNames(questions []Question, names map[string]string) []Question {
	named := make([]Question, len(questions))
	for i, q := range questions {
		answers, aliases := make([]string, len(q.Answers)), make([][]string, len(q.Answers))
		renamed := len(q.Aliases) > 0
		for a, answer := range q.Answers {
			answers[a], aliases[a] = answer, q.NamesOf(a)[1:]
			if name := names[answer]; name != "" {
				answers[a], aliases[a], renamed = name, append(aliases[a], answer), true
			}
		}
		q.Answers = answers
		if renamed {
			q.Aliases = aliases
		}
		topics := make([]string, len(q.TopicEntities))
		for t, topic := range q.TopicEntities {
			topics[t] = topic
			if name := names[topic]; name != "" {
				topics[t] = name
			}
		}
		q.TopicEntities = topics
		named[i] = q
	}
	return named
}
