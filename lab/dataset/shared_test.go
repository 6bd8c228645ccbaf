package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSharedQuestions reads the question sets of the evaluation data, which are beside the checkout or
// where TRIPLEMESH_DATA says; format_test.go reads small ones of our own in every format.
func TestSharedQuestions(t *testing.T) {
	t.Parallel()
	if !hasData(t) {
		return
	}
	for name, c := range map[string]struct {
		asked, told string
		questions   int
		hops        int // of the first
	}{
		"freebase/webqsp.jsonl":          {told: jsonLines, questions: 802},
		"freebase/cwq.jsonl":             {told: jsonLines, questions: 586},
		"freebase/simplequestions.jsonl": {told: jsonLines, questions: 466},
		"wikidata/zsre.jsonl":            {told: jsonLines, questions: 1866},
		"wikidata/qald10.jsonl":          {told: jsonLines, questions: 172},
		"multisource/webquestions.jsonl": {told: jsonLines, questions: 137},
		"webnlg/open.jsonl":              {asked: open, told: open, questions: 148},
		"metaqa/qa_2-hop.txt":            {told: metaQA, questions: 500, hops: 2},
		"metaqa/qa_3-hop.txt":            {told: metaQA, questions: 500, hops: 3},
		"geoquery/questions.jsonl":       {told: jsonLines, questions: 438},
		"operations/questions.jsonl":     {told: jsonLines, questions: 300},
		"wikitables/questions.jsonl":     {told: jsonLines, questions: 235},
		"pathquestion/PQ-2H.txt":         {told: pathQuestion, questions: 1908, hops: 2},
		"pathquestion/PQ-3H.txt":         {told: pathQuestion, questions: 5198, hops: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Read(filepath.Join(dataDir(), filepath.FromSlash(name)), c.asked)
			if err != nil {
				t.Fatal(err)
			}
			if d.Format != c.told || len(d.Questions) != c.questions || d.Unanswered != 0 ||
				d.Questions[0].Hops != c.hops {
				t.Errorf("read %d questions of %d hops as %s, and %d without an answer", len(d.Questions),
					d.Questions[0].Hops, d.Format, d.Unanswered)
			}
		})
	}
}

// TestPathQuestionFitsItsGraph looks the topic entities, the relations of the
// gold paths and the answers up in the graph that was published with them.
func TestPathQuestionFitsItsGraph(t *testing.T) {
	t.Parallel()
	if !hasData(t) {
		return
	}
	for graph, questions := range map[string]string{"2H-kb.tsv": "PQ-2H.txt", "3H-kb.tsv": "PQ-3H.txt"} {
		t.Run(questions, func(t *testing.T) {
			t.Parallel()
			triples, err := os.ReadFile(filepath.Join(dataDir(), "pathquestion", graph))
			if err != nil {
				t.Fatal(err)
			}
			entities, relations := make(map[string]bool), make(map[string]bool)
			for line := range strings.Lines(string(triples)) {
				triple := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
				entities[triple[0]], relations[triple[1]], entities[triple[2]] = true, true, true
			}
			d, err := Read(filepath.Join(dataDir(), "pathquestion", questions), "")
			if err != nil {
				t.Fatal(err)
			}
			missing := 0
			for _, q := range d.Questions {
				for _, name := range append(q.TopicEntities, q.Answers...) {
					if !entities[name] {
						missing++
						t.Logf("question %s: the graph has no %q", q.ID, name)
					}
				}
				for _, relation := range q.Paths[0] {
					if !relations[relation] {
						t.Fatalf("question %s: the graph has no relation %q", q.ID, relation)
					}
				}
			}
			if missing > 0 {
				t.Errorf("%d names are not in the graph", missing)
			}
		})
	}
}

// dataDir returns the directory of the evaluation data.
func dataDir() string {
	if dir := os.Getenv("TRIPLEMESH_DATA"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared", "data")
}

// hasData reports whether there are evaluation data.
func hasData(t *testing.T) bool {
	if _, err := os.Stat(dataDir()); err != nil {
		t.Logf("no evaluation data: %v", err)
		return false
	}
	return true
}
