package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/leak"
	"github.com/triplemesh/triplemesh/services/retriever"
)

func TestFewShotHasTheExamplesOfEveryStage(t *testing.T) {
	t.Parallel()
	got, err := leak.FewShot(promptFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, prompt := range []string{
		"generator/pseudo_graph", "generator/answer_chain_of_thought", "generator/relation_paths_choose",
		"generator/candidate_answers",
		"verifier/edits", "verifier/rewrite", "evaluator/evaluate_question", "evaluator/evaluate_answer",
		"reflector/reflect",
	} {
		if !slices.ContainsFunc(got.Texts, func(t leak.Text) bool { return strings.HasPrefix(t.ID, prompt+" ") }) {
			t.Errorf("%s has no example with a question", prompt)
		}
	}
}

// TestFewShotIsInNoQuestionSet checks the examples of every prompt against the
// question sets of the evaluation data, which are no part of the repository:
// TRIPLEMESH_DATA names the directory they are in.
func TestFewShotIsInNoQuestionSet(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("TRIPLEMESH_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	examples, err := leak.FewShot(promptFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"freebase/webqsp.jsonl", "freebase/cwq.jsonl", "freebase/simplequestions.jsonl", "wikidata/zsre.jsonl",
		"wikidata/qald10.jsonl",
		"multisource/webquestions.jsonl", "webnlg/open.jsonl", "metaqa/qa_2-hop.txt", "metaqa/qa_3-hop.txt",
		"pathquestion/PQ-2H.txt", "pathquestion/PQ-3H.txt",
	} {
		d, err := dataset.Read(filepath.Join(dir, filepath.FromSlash(name)), "")
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("%v: set TRIPLEMESH_DATA to the directory of the evaluation data", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range leak.Check(examples, leak.NewSet(name, d, d.Questions)) {
			t.Error(pair)
		}
	}
}

func TestTheRetrieverReadsWhatCalibrateWrites(t *testing.T) {
	file := filepath.Join(t.TempDir(), "triplemesh.yaml")
	text := "retriever:\n  grounding:\n    mine:\n      preset: default\n      max_facts: 12\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load("retriever", retriever.DefaultConfig(), config.Sources{File: file})
	if got := cfg.Grounding["mine"]; err != nil || got.MaxFacts != 12 || got.Preset != "default" {
		t.Errorf("got %+v, %v", got, err)
	}
}
