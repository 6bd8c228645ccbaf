package main

import (
	"reflect"
	"testing"
)

func TestFormats(t *testing.T) {
	tests := []struct {
		name, line string
		read       func(string) (question, error)
		want       question
		bad        bool
	}{
		{"MetaQA", "who wrote [Heat] first\tAnn|Bo\r", fromMetaQA, question{Question: "who wrote Heat first",
			Answers: []string{"Ann", "Bo"}, TopicEntities: []string{"Heat"}}, false},
		{"MetaQA without an entity", "who wrote\tAnn", fromMetaQA, question{}, true},
		{"MetaQA without answers", "who wrote [Heat]", fromMetaQA, question{}, true},
		{"PathQuestion", "the sex of ann_b ?\tmale(male/female/)\tann_b#gender#male#<end>#male", fromPathQuestion,
			question{Question: "the sex of ann_b ?", Answers: []string{"male", "female"},
				TopicEntities: []string{"ann_b"}}, false},
		{"PathQuestion without a path", "the sex of ann_b ?\tmale(male/)", fromPathQuestion, question{}, true},
		{"JSON", `{"id":"1","question":"q","answers":["a"],"topic_entities":["t"]}`, fromJSON,
			question{ID: "1", Question: "q", Answers: []string{"a"}, TopicEntities: []string{"t"}}, false},
		{"no JSON", "q", fromJSON, question{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.read(tt.line)
			if (err != nil) != tt.bad || (!tt.bad && !reflect.DeepEqual(got, tt.want)) {
				t.Errorf("got %+v, error %v", got, err)
			}
		})
	}
}
