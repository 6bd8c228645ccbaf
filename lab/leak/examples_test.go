package leak

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestExamples(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"plan.yaml": {Data: []byte("system: s\nexamples:\n  - data: {Question: \"who?\", Lines: [a]}\n    " +
			"assistant: me\n  - data: {Facts: [x]}\n  - data: {Question: \"when?\"}\n")},
		"bare.yaml":   {Data: []byte("system: s\n")},
		"prompts.txt": {Data: []byte("examples: [")},
	}
	got, err := Examples("generator", files)
	want := []Text{{"generator/plan 1", "who?"}, {"generator/plan 3", "when?"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	files["bad.yaml"] = &fstest.MapFile{Data: []byte("examples: [")}
	if _, err := Examples("generator", files); err == nil || !strings.Contains(err.Error(),
		"read the prompt bad.yaml of the generator") {
		t.Errorf("error %v does not name the file", err)
	}
}
