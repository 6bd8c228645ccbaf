package dataset

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const goodLine = `{"id": "1", "question": "who?", "answers": ["A"], "topic_entities": ["T"]}`

func TestReadJSONL(t *testing.T) {
	t.Parallel()
	one := []Question{{ID: "1", Question: "who?", Answers: []string{"A"}, TopicEntities: []string{"T"}}}
	for _, c := range []struct{ name, in string }{
		{"one question a line", goodLine + "\n"},
		{"a last line without its end", goodLine},
		{"line ends of Windows", goodLine + "\r\n"},
		{"a byte order mark", "\ufeff" + goodLine + "\n"},
		{"blank lines", "\n  \n" + goodLine + "\r\n\r\n"},
		{"fields that say the least", `{"hops": 0, "open": false, "references": [], "answer_kind": "", ` +
			goodLine[1:]},
		{"other fields are passed over", `{"colour": 2, ` + goodLine[1:] + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(c.in), jsonLines)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Questions, one) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestReadJSONLNamesLineAndField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"an empty file", "", []string{"no question"}},
		{"a file of blank lines", "\n\n", []string{"no question"}},
		{"a line that is no JSON", goodLine + "\nwho?", []string{"line 2: is no JSON, at byte 1"}},
		{"a line that is cut", goodLine[:20], []string{"line 1: is no JSON, at byte 20", "unexpected end"}},
		{"a line that is a list", `["1", "who?"]`, []string{"line 1: is a JSON array, not an object"}},
		{"two questions on a line", goodLine + goodLine, []string{"line 1: is no JSON", "after top-level value"}},
		{"no id", `{"question": "who?", "answers": ["A"]}`, []string{`line 1: field "id": missing`}},
		{"an id that is a number", `{"id": 1, "question": "who?", "answers": ["A"]}`, []string{`line 1: field "id"`,
			"JSON number", "must be text"}},
		{"no question", `{"id": "1", "answers": ["A"]}`, []string{`line 1: field "question": missing`}},
		{"a misspelt field", `{"id": "1", "question": "who?", "answer": ["A"]}`,
			[]string{`line 1: field "answers": missing`}},
		{"no answers", `{"id": "1", "question": "who?"}`, []string{`line 1: field "answers": missing or empty`}},
		{"answers to what cannot be answered", `{"id": "1", "question": "who?", "answers": ["A"], "answerable": false}`,
			[]string{`line 1: fields "answers" and "answerable"`}},
		{"answers that are one text", `{"id": "1", "question": "who?", "answers": "A"}`,
			[]string{`line 1: field "answers"`, "JSON string", "a list of texts"}},
		{"an answer that is empty", `{"id": "1", "question": "who?", "answers": ["A", " "]}`,
			[]string{`line 1: field "answers": item 2 is empty`}},
		{"a topic entity that is empty", `{"id": "1", "question": "who?", "answers": ["A"], "topic_entities": [""]}`,
			[]string{`line 1: field "topic_entities": item 1 is empty`}},
		{"an id used twice", goodLine + "\n\n" + goodLine, []string{`line 3: field "id": "1" is the id of line 1 too`}},
		{"bytes that are not UTF-8", "{\"id\": \"\xff\"}", []string{"line 1, byte 9: is not UTF-8"}},
		{"a file in UTF-16", "\xff\xfe{\x00", []string{"is UTF-16; save the file as UTF-8"}},
		{"several bad lines", "{\n" + goodLine + "\n[", []string{"line 1:", "line 3:"}},
		{"answers and references", `{"id": "1", "question": "who?", "answers": ["A"], "references": ["B"]}`,
			[]string{`fields "answers" and "references": give one`}},
		{"a kind that there is not", `{"id": "1", "question": "who?", "answers": ["A"], "answer_kind": "list"}`,
			[]string{`field "answer_kind": is "list", must be set, alternatives or open`}},
		{"aliases of other answers", `{"id": "1", "question": "who?", "answers": ["A"], "aliases": [[], []]}`,
			[]string{`field "aliases": has 2 lists, must have one for each of the 1 answers`}},
		{"hops below 0", `{"id": "1", "question": "who?", "answers": ["A"], "hops": -1}`,
			[]string{`field "hops": is -1`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse([]byte(c.in), jsonLines)
			if err == nil || d.Questions != nil {
				t.Fatalf("got %+v, error %v", d.Questions, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestReadJSONLStopsAfterTenBadLines(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte(strings.Repeat("x\n", 1000)), jsonLines)
	if got := strings.Count(err.Error(), "line "); got != maxProblems {
		t.Errorf("the error names %d lines, want %d", got, maxProblems)
	}
}

func TestReadJSONLKnowsAllFields(t *testing.T) {
	t.Parallel()
	want := Question{
		ID: "1", Question: "who?", Answers: []string{"A", "B"}, TopicEntities: []string{"T"}, Kind: Set,
		Aliases: [][]string{{"a"}, nil}, Hops: 2, Paths: [][]string{{"r", "s"}},
	}
	line, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(line, "")
	if err != nil || !reflect.DeepEqual(got.Questions, []Question{want}) {
		t.Errorf("wrote %s, read %+v, %v", line, got.Questions, err)
	}
}

func TestReadJSONLTellsOpenQuestions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, format, in string }{
		{"by a field", jsonLines, `{"open": true, ` + goodLine[1:]},
		{"by references in the place of answers", jsonLines, `{"id": "1", "question": "who?", "references": ["A"]}`},
		{"by the kind", jsonLines, `{"answer_kind": "open", ` + goodLine[1:]},
		{"by the format", open, goodLine},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse([]byte(c.in), c.format)
			if err != nil || d.Questions[0].Kind != Open || d.Questions[0].Answers[0] != "A" {
				t.Errorf("got %+v, %v", d.Questions, err)
			}
		})
	}
}

func TestQuestionsWithoutAnAnswerAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in string }{
		{"an empty list", `{"id": "1", "question": "who?", "answers": []}`},
		{"an empty list and a reason", `{"id": "1", "question": "who?", "answers": [], "empty": "none"}`},
		{"marked", `{"id": "1", "question": "who?", "answerable": false}`},
		{"both", `{"id": "1", "question": "who?", "answers": [], "answerable": false, "absent": "entity"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(c.in), "")
			if err != nil || len(got.Questions) != 1 || !got.Questions[0].Unanswerable || got.Unanswered != 0 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
