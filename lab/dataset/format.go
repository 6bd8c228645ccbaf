package dataset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The names of the formats.
const (
	jsonLines       = "jsonl"
	open            = "open"
	webQSP          = "webqsp"
	cwq             = "cwq"
	simpleQuestions = "simplequestions"
	qald            = "qald"
	kilt            = "kilt"
	metaQA          = "metaqa"
	pathQuestion    = "pathquestion"
	webQuestions    = "webquestions"
	tog             = "tog"
)

// Format is a way in which questions are published.
type Format struct {
	// Name is what Read takes.
	Name string
	// Holds says in a few words what a file of it looks like.
	Holds string
	read  func(text []byte) ([]item, error)
}

// Formats returns the formats that can be read.
func Formats() []Format {
	return []Format{
		{jsonLines, "a JSON object a line with id, question, answers and topic_entities", readJSONL},
		{open, "the same, with reference texts as answers", readOpen},
		{webQSP, "the JSON of WebQuestionsSP: Questions, each with Parses", readWebQSP},
		{cwq, "the JSON list of ComplexWebQuestions: ID, question and answers", readCWQ},
		{simpleQuestions, "lines of subject, relation, object and question, split by tabs", readSimpleQuestions},
		{qald, "the JSON of QALD: questions, each in several languages", readQALD},
		{kilt, "the JSON lines of KILT and its zsRE: input and output", readKILT},
		{metaQA, "lines of a question with its [entity], a tab and the answers split by |", readMetaQA},
		{pathQuestion, "lines of question, answer(all/answers/) and path#of#the#answer, split by tabs",
			readPathQuestion},
		{webQuestions, "the JSON list of WebQuestions: utterance, targetValue and url", readWebQuestions},
		{tog, "the JSON lists that were published with ToG: question, answer and topic_entity", readToG},
	}
}

func byName(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("there is no format %q; choose one of %s", name, names())
}

func names() string {
	var all []string
	for _, f := range Formats() {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

// Parse reads questions as Read does, from the bytes of a file.
func Parse(data []byte, name string) (Dataset, error) {
	text, err := plainText(data)
	if err != nil {
		return Dataset{}, err
	}
	told := tell(text)
	f, err := byName(cmp.Or(name, told, jsonLines))
	if err != nil {
		return Dataset{}, err
	}
	d := Dataset{Format: f.Name}
	items, err := f.read(text)
	if err == nil {
		d.Questions, d.Unanswered, err = collect(items)
	}
	if err != nil {
		return Dataset{}, advise(err, f.Name, name, told)
	}
	return d, nil
}

// advise adds to an error what to do about the format that a text was read in,
// where that is likely the reason: asked is the one that was asked for and told
// the one that the content tells, both "" if there is none.
func advise(err error, read, asked, told string) error {
	switch {
	case errors.Is(err, errEmpty):
		return err
	case asked == "" && told == "":
		return fmt.Errorf("%w\nthe content does not tell its format; name it: %s", err, names())
	case told != "" && told != read && (told != jsonLines || read != open):
		return fmt.Errorf("%w\nthe file was read as %s and looks like %s; give the format %s", err, read, told, told)
	}
	return err
}

// tell names the format that a text is likely in, "" if none is.
func tell(text []byte) string {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return ""
	case text[0] == '{':
		return tellByKeys(text, jsonLines)
	case text[0] == '[':
		list := bytes.TrimSpace(text[1:])
		if len(list) == 0 || list[0] != '{' {
			return ""
		}
		if told := tellByKeys(list, tog); told != kilt { // which is no list
			return told
		}
		return tog
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	columns := bytes.Split(bytes.TrimRight(line, "\r"), []byte("\t"))
	switch {
	case len(columns) == 4 && isMID(string(columns[0])):
		return simpleQuestions
	case len(columns) == 3 && bytes.IndexByte(columns[2], '#') > 0:
		return pathQuestion
	case len(columns) == 2 && bytes.IndexByte(columns[0], '[') >= 0:
		return metaQA
	}
	return ""
}

// tellByKeys tells the format by the first key of an object that only one of
// them has. It is otherwise if there is none.
func tellByKeys(object []byte, otherwise string) string {
	telling := map[string]string{
		"Questions": webQSP, "QuestionId": webQSP, "RawQuestion": webQSP, "Parses": webQSP,
		"ID": cwq, "compositionality_type": cwq,
		"questions": qald,
		"input":     kilt, "output": kilt,
		"utterance": webQuestions, "targetValue": webQuestions,
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return otherwise
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			break
		}
		if name, ok := key.(string); ok && telling[name] != "" {
			return telling[name]
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			break
		}
	}
	return otherwise
}
