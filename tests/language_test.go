package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
)

// TestEnglishQuestionSetsAreEnglish counts the questions of the published sets, which are full of
// foreign names, that are taken for another language. Without the shared data it is skipped.
func TestEnglishQuestionSetsAreEnglish(t *testing.T) {
	root := os.Getenv("TRIPLEMESH_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(root); err != nil {
		t.Skip("TRIPLEMESH_DATA names no directory of question sets")
	}
	total, foreign := 0, 0
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		switch filepath.Base(path) {
		default:
			return err
		case "webqsp.jsonl", "cwq.jsonl", "simplequestions.jsonl", "zsre.jsonl", "qald10.jsonl", "webquestions.jsonl",
			"open.jsonl", "questions.jsonl", "qa_2-hop.txt", "qa_3-hop.txt", "PQ-2H.txt", "PQ-3H.txt":
		}
		format := ""
		if filepath.Base(path) == "open.jsonl" {
			format = "open"
		}
		set, err := dataset.Read(path, format)
		if err != nil {
			return err
		}
		n := 0
		for _, q := range set.Questions {
			if l, ok := kgtext.DetectLanguage(q.Question); ok {
				n++
				t.Logf("%s: %q is taken for %s", path, q.Question, l.Name)
			}
		}
		t.Logf("%s: %d of %d", path, n, len(set.Questions))
		total, foreign = total+len(set.Questions), foreign+n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d English questions are taken for another language", foreign, total)
	if 1000*foreign > total {
		t.Errorf("that is more than one in a thousand")
	}
}
