// Package dataset reads questions with their right answers from the files in
// which they were published.
package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Question is one question of a dataset.
type Question struct {
	// ID names it; no two questions of a dataset share one. Where a dataset
	// has none, it is the number of the question's line in the file, from 1
	// on, or of the question itself in a file that is not made of lines.
	ID string `json:"id"`
	// Question is what is asked.
	Question string `json:"question"`
	// Answers are the right answers; Kind says how they belong together.
	Answers []string `json:"answers"`
	// TopicEntities are the entities the question is about, as the knowledge
	// graph names them; may be empty.
	TopicEntities []string `json:"topic_entities"`
	// Kind says what the answers are; empty where the dataset does not say.
	Kind Kind `json:"answer_kind,omitempty"`
	// Aliases are other names of each answer, in the order of Answers; nil
	// if there are none.
	Aliases [][]string `json:"aliases,omitempty"`
	// Unanswerable says that no answer is right: what is asked is not in the knowledge graph, or
	// there is none. Right is to say so.
	Unanswerable bool `json:"unanswerable,omitempty"`
	// Hops is the number of triples between a topic entity and an answer; 0
	// where the dataset does not say.
	Hops int `json:"hops,omitempty"`
	// Paths are the gold relation paths, each from a topic entity to an
	// answer; nil where the dataset has none.
	Paths [][]string `json:"paths,omitempty"`
	// Cluster names what several questions share, such as their template; empty where the dataset does
	// not say: see ClusterKey.
	Cluster string `json:"cluster,omitempty"`
	// Part is the question's part; empty before Select.
	Part Part `json:"-"`
}

// NamesOf returns the names of answer i: the answer and its aliases.
func (q Question) NamesOf(i int) []string {
	if i < len(q.Aliases) {
		return append(q.Answers[i:i+1:i+1], q.Aliases[i]...)
	}
	return q.Answers[i : i+1 : i+1]
}

// Names returns the names of all answers.
func (q Question) Names() []string {
	if len(q.Aliases) == 0 {
		return q.Answers
	}
	var names []string
	for i := range q.Answers {
		names = append(names, q.NamesOf(i)...)
	}
	return names
}

// Kind says what the answers of a question are.
type Kind string

const (
	// Set is a full set: every answer belongs to what is right.
	Set Kind = "set"
	// Alternatives are different right answers of which any one will do.
	Alternatives Kind = "alternatives"
	// Open are reference texts, which a free answer is compared with.
	Open Kind = "open"
)

// Dataset is a file of questions.
type Dataset struct {
	// Path is the file it was read from.
	Path string
	// Format is the name of its format.
	Format string
	// SHA256 is the checksum of the file's bytes, in hexadecimal.
	SHA256 string
	// Questions are in the order of the file.
	Questions []Question
	// Unanswered is the number of questions that were left out because they
	// were published with no right answer, as some of WebQSP and QALD are.
	Unanswered int
}

// maxFile bounds a file of questions, in bytes.
const maxFile = 1 << 30

// Read reads a file of questions in a format (see Formats), or in the one that
// its content tells where format is empty. The error names up to ten bad
// places, each with what is wrong there.
func Read(path, format string) (Dataset, error) {
	d, err := readFile(path, format)
	if err != nil {
		return Dataset{}, fmt.Errorf("read questions %s: %w", path, err)
	}
	return d, nil
}

func readFile(path, format string) (Dataset, error) {
	file, err := os.Open(path)
	if err != nil {
		return Dataset{}, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > maxFile {
		return Dataset{}, fmt.Errorf("has %d MiB, at most %d are read; give a part of it", info.Size()>>20, maxFile>>20)
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return Dataset{}, err
	}
	d, err := Parse(data, format)
	if err != nil {
		return Dataset{}, err
	}
	sum := sha256.Sum256(data)
	d.Path, d.SHA256 = path, hex.EncodeToString(sum[:])
	if d.Format == metaQA {
		setHops(d.Questions, path)
	}
	return d, nil
}
