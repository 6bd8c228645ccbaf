package claims

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
)

const rivers = "Tessen\tmouth\tMid Sea\nTessen\tlength\t90\nOrla\tlength\t70\nHarn\tmouth\tTessen\nHarn\tlength\t40\n" +
	"Velmora\tcapital\tSankt Orla\n"

func TestLackingQuestionsAskAnotherEntityForWhatItLacks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "facts.tsv")
	if err := os.WriteFile(path, []byte(rivers), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		question dataset.Question
		want     string
	}{
		{"the only other river without a mouth", dataset.Question{Question: "Where does the Harn end?",
			TopicEntities: []string{"Harn"}, Answers: []string{"Tessen"}}, "Where does the Orla end?"},
		{"in lower case", dataset.Question{Question: "where does the harn end", TopicEntities: []string{"Harn"},
			Answers: []string{"Tessen"}}, "where does the orla end"},
		{"an answer that points to the entity", dataset.Question{Question: "What flows into Tessen?",
			TopicEntities: []string{"Tessen"}, Answers: []string{"Harn"}}, "What flows into "},
		{"a name that is not spelt out", dataset.Question{Question: "Where does it end?",
			TopicEntities: []string{"Harn"}, Answers: []string{"Tessen"}}, ""},
		{"an answer that is farther away", dataset.Question{Question: "Where does Harn's water end?",
			TopicEntities: []string{"Harn"}, Answers: []string{"Mid Sea"}}, ""},
		{"nothing is of its kind", dataset.Question{Question: "What is the capital of Velmora?",
			TopicEntities: []string{"Velmora"}, Answers: []string{"Sankt Orla"}}, ""},
		{"two entities", dataset.Question{Question: "Do Harn and Tessen meet?",
			TopicEntities: []string{"Harn", "Tessen"}, Answers: []string{"Tessen"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, err := MakeLacking([]dataset.Question{c.question}, path, 5, 1)
			if c.want == "" {
				if err == nil {
					t.Errorf("got %q", made[0].Question)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			q := made[0]
			if !strings.HasPrefix(q.Question, c.want) || q.Question == c.question.Question || !q.Unanswerable ||
				len(q.Answers) > 0 || len(q.TopicEntities) != 1 {
				t.Errorf("got %+v, want %q", q, c.want)
			}
		})
	}
}

func TestLackingQuestionsPreferEntitiesWithANeighbourThatHasWhatTheyLack(t *testing.T) {
	facts := "Jon\tplace of birth\tOrla\nJon\toccupation\tmason\nPer\tplace of birth\tHarn\n" +
		"Anna\toccupation\tmason\nAnna\tspouse\tPer\n"
	for _, name := range []string{"Bo", "Kim", "Lea", "Tor", "Una"} {
		facts += name + "\toccupation\tmason\n"
	}
	path := filepath.Join(t.TempDir(), "facts.tsv")
	if err := os.WriteFile(path, []byte(facts), 0o600); err != nil {
		t.Fatal(err)
	}
	for seed := range int64(5) {
		made, err := MakeLacking([]dataset.Question{{Question: "Where was Jon born?", TopicEntities: []string{"Jon"},
			Answers: []string{"Orla"}}}, path, 5, seed)
		if err != nil || made[0].Question != "Where was Anna born?" {
			t.Fatalf("seed %d: %v, %v", seed, made, err)
		}
		made, err = MakeLackingByWordings(path, dataset.All, 5, seed)
		if err != nil || len(made) == 0 || len(made) > 5 {
			t.Fatalf("seed %d, by wordings: %v, %v", seed, made, err)
		}
		seen := map[string]bool{}
		for _, q := range made {
			if seen[q.Question] || !q.Unanswerable || strings.Contains(q.Question, "{s}") {
				t.Errorf("seed %d asks %q", seed, q.Question)
			}
			seen[q.Question] = true
		}
	}
}
