package dataset

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestWithNames(t *testing.T) {
	t.Parallel()
	questions := []Question{
		{ID: "1", Answers: list("m.1", "m.2"), TopicEntities: list("m.3", "m.4")},
		{ID: "2", Answers: list("Q1"), Aliases: [][]string{{"first"}}},
		{ID: "3", Answers: list("1999")},
	}
	got := WithNames(questions, map[string]string{"m.1": "One", "m.3": "Three", "Q1": "universe"})
	want := []Question{
		{ID: "1", Answers: list("One", "m.2"), Aliases: [][]string{{"m.1"}, {}}, TopicEntities: list("Three", "m.4")},
		{ID: "2", Answers: list("universe"), Aliases: [][]string{{"first", "Q1"}}, TopicEntities: []string{}},
		{ID: "3", Answers: list("1999"), TopicEntities: []string{}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if questions[0].Answers[0] != "m.1" || questions[0].TopicEntities[0] != "m.3" || len(questions[1].Aliases[0]) != 1 {
		t.Errorf("the questions given were changed: %+v", questions)
	}
}

func TestReadNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "names.tsv")
	text := "\ufeffwww.freebase.com/m/0abc\tOne \r\n\nQ42\tDouglas Adams\nQ42\tDNA\nm.1\ta\tb\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadNames(path)
	want := map[string]string{"m.0abc": "One", "Q42": "Douglas Adams", "m.1": "a\tb"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := ReadNames(path + ".gone"); err == nil || !strings.Contains(err.Error(), "names.tsv.gone") {
		t.Errorf("error %v does not name the file", err)
	}
	if err := os.WriteFile(path, []byte("Q42\n\tno id\nQ1\tuniverse\nQ2\t \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = ReadNames(path)
	for _, want := range list("names.tsv", "line 1: must be an id, a tab and a name", "line 2:", "line 4:") {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

func FuzzParseNames(f *testing.F) {
	f.Add([]byte("m.1\tone\n\tno id\n"))
	f.Add([]byte("\xff\xfe"))
	f.Fuzz(func(t *testing.T, data []byte) {
		names, err := parseNames(data)
		for id, name := range names {
			if err == nil && (isBlank(id) || isBlank(name)) {
				t.Fatalf("let pass %q as %q", id, name)
			}
		}
	})
}
