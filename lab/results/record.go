package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/triplemesh/triplemesh/lab/dataset"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Record is what is kept of a question that was asked: either its measures or
// the failure it ended in.
type Record struct {
	// ID is the question's id.
	ID string `json:"id"`
	// Question is what was asked.
	Question string `json:"question"`
	// Answers are the right answers.
	Answers []string `json:"answers"`
	// Part is the question's part of its dataset, Cluster what it shares with others.
	Part    dataset.Part `json:"part,omitempty"`
	Cluster string       `json:"cluster,omitempty"`
	// Kind says what the answers are; empty where the dataset does not say.
	Kind dataset.Kind `json:"answer_kind,omitempty"`
	// Unanswerable says that right is to answer that there is no answer.
	Unanswerable bool `json:"unanswerable,omitempty"`
	// TopicEntities are the dataset's; may be empty.
	TopicEntities []string `json:"topic_entities,omitempty"`
	// Hops is the number of triples between a topic entity and the nearest
	// answer: the dataset's own, else the knowledge graph's. 0 says that no walk
	// joins them; nil, that it is not known.
	Hops *int `json:"hops,omitempty"`
	// Measures are what was measured; unset where the question failed.
	Measures *Measures `json:"measures,omitempty"`
	// Failure is why there is no run; unset if there is one.
	Failure *Failure `json:"failure,omitempty"`
}

// ClusterKey names the questions that share a subject with it: see dataset.Question.
func (r Record) ClusterKey() string {
	if key := (dataset.Question{Question: r.Question, Cluster: r.Cluster}).ClusterKey(); key != "" {
		return key
	}
	return r.ID
}

// Failure is the error that a question ended in.
type Failure struct {
	// Code is the gRPC code, such as "Unavailable".
	Code string `json:"code"`
	// Message says what went wrong.
	Message string `json:"message"`
}

// Line is a record as a results file holds it: with the run in the JSON form
// of its protocol buffer message.
type Line struct {
	Record
	// Run is the run; nil where the question failed.
	Run json.RawMessage `json:"run,omitempty"`
}

// NewLine makes the line of a question that was asked. A run that cannot be
// written down is a failure.
func NewLine(q dataset.Question, hops *int, run *orchestratorv1.Run, err error) Line {
	l := Line{Record: Record{
		ID: q.ID, Question: q.Question, Answers: q.Answers, Kind: q.Kind, TopicEntities: q.TopicEntities, Hops: hops,
		Unanswerable: q.Unanswerable, Part: q.Part, Cluster: q.Cluster,
	}}
	if err == nil {
		l.Run, err = protojson.Marshal(run)
		if err != nil {
			err = fmt.Errorf("the run cannot be written as JSON: %w", err)
		}
	}
	if err != nil {
		s := status.Convert(err)
		l.Failure = &Failure{Code: s.Code().String(), Message: s.Message()}
		return l
	}
	measures := Measure(q, run)
	l.Measures = &measures
	return l
}

// encode returns the line as it stands in the file, its end included.
func (l Line) encode() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(l)
	return text.Bytes(), err
}

// runMark begins the run of a line. Nothing else does in what this package
// writes: no other object has a field of that name, and within texts the
// quotation marks are escaped.
var runMark = []byte(`,"run":`)

// parseRecord reads a line's record and, where it can, none of its run: runs
// are nearly all of a file. head is the number of bytes before the run, 0 where
// the line has none or is not as this package writes it.
func parseRecord(line []byte) (record Record, head int, err error) {
	if head := bytes.Index(line, runMark); head > 0 && bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), []byte("}}")) {
		err := json.Unmarshal(append(bytes.Clone(line[:head]), '}'), &record)
		if err == nil && record.check() == nil {
			return record, head, nil
		}
	}
	record = Record{}
	if err := json.Unmarshal(line, &record); err != nil {
		return Record{}, 0, err
	}
	return record, 0, record.check()
}

func (r Record) check() error {
	if r.ID == "" || (r.Measures == nil) == (r.Failure == nil) {
		return errors.New("it needs an id, and either measures or a failure")
	}
	return nil
}
