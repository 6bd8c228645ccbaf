package claims

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
)

func TestQuestionsHaveTheAnswersOfTheGraph(t *testing.T) {
	c := Command{Facts: world(t), Claims: 8, Seed: 1}
	items, err := Make(c.Facts, c.Claims, c.Seed)
	if err != nil {
		t.Fatal(err)
	}
	known, err := readFacts(c.Facts)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	n, err := c.WriteQuestions(&out)
	if err != nil {
		t.Fatal(err)
	}
	read, err := dataset.Parse(out.Bytes(), "")
	if err != nil {
		t.Fatalf("eval does not read them: %v\n%s", err, out.String())
	}
	if n != len(read.Questions) {
		t.Errorf("%d questions are written, %d read", n, len(read.Questions))
	}
	byID := map[string]dataset.Question{}
	for _, q := range read.Questions {
		byID[q.ID] = q
	}
	for _, item := range items {
		whether, asked := byID[item.ID+"-whether"]
		what := byID[item.ID+"-what"]
		if asked != (item.Kind != Open) {
			t.Errorf("%s is asked: %v", item.ID, asked)
		}
		if !asked {
			continue
		}
		want := map[string][]string{True: {"Yes"}, Swapped: {"No"}}[item.Kind]
		if !slices.Equal(whether.Answers, want) || whether.Unanswerable != (want == nil) {
			t.Errorf("%q is answered by %q, unanswerable %v; want %q", whether.Question, whether.Answers,
				whether.Unanswerable, want)
		}
		if !kgtext.IsYesNo(whether.Question) || strings.Contains(whether.Question, ".?") {
			t.Errorf("%q is no yes/no question", whether.Question)
		}
		listed := known.objects[[2]string{item.Subject, item.Relation}]
		if !slices.Equal(what.Answers, listed) || what.Unanswerable != (len(listed) == 0) {
			t.Errorf("%q is answered by %q, want %q", what.Question, what.Answers, listed)
		}
		if (item.Kind == Strange) != (len(what.TopicEntities) == 0) {
			t.Errorf("%q is about %q", what.Question, what.TopicEntities)
		}
	}
}

func TestQuestionsOfNoClaimsAreRefused(t *testing.T) {
	c := Command{Facts: world(t)}
	if _, err := c.WriteQuestions(&bytes.Buffer{}); err == nil {
		t.Error("no claims make questions")
	}
}
