package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// tutorials are the pages of docs/tutorials that a test can follow, with the script of the model
// that answers their questions.
var tutorials = map[string]func(*testkit.LLM){
	"csv.md": func(m *testkit.LLM) {
		onTopic(m, "Yuki Arnesen").
			drafts(`CREATE (:Person {name: "Yuki Arnesen"})-[:ROLE]->(:Role {name: "Software Engineer"})`).
			answers("Yuki Arnesen plays the role of {optics engineer}.")
		onTopic(m, "Leila Haddad").walks("office -> country", "Portugal")
		for question, plan := range map[string]string{
			"engineering team": `Person(team="engineering").count()`,
			"each team":        `Team().count()`,
			"joined first":     `Person().least("joined")`,
			"after 2018":       `Person().where("joined", ">", 2018)`,
		} {
			onTopic(m, question).onTask("query-plan").Reply(plan)
		}
	},
	"rdf.md": func(m *testkit.LLM) {
		onTopic(m, "Triton").
			drafts(`CREATE (:Moon {name: "Triton"})-[:ORBITS]->(:Planet {name: "Neptune"})`).
			answers("Triton orbits {Neptune}.")
		onTopic(m, "Titania").walks("discovered by -> place of birth", "Hanover")
	},
	"wikidata.md": func(m *testkit.LLM) {
		onTopic(m, "Irène Joliot-Curie").
			drafts(`CREATE (:Person {name: "Irène Joliot-Curie"})-[:BORN_IN]->(:City {name: "Paris"})`).
			answers("Irène Joliot-Curie was born in {Paris}.")
		onTopic(m, "In which country was Marie Curie").walks("place of birth -> country", "Poland")
	},
	"text.md": notesOfVesselBay,
}

// topic scripts the model for inputs that contain a name.
type topic struct {
	model *testkit.LLM
	name  string
}

func onTopic(m *testkit.LLM, name string) topic { return topic{m, name} }

func (t topic) onTask(task string) *testkit.Rule {
	return t.model.On(testkit.Task(task),
		func(r testkit.Request) bool { return strings.Contains(r.LastUser(), t.name) })
}

func (t topic) drafts(cypher string) topic {
	t.onTask("pseudo-graph").Reply(cypher)
	return t
}

func (t topic) answers(text string) topic {
	t.onTask("answer").Reply(text)
	return t
}

// walks plans a relation path, takes one candidate from its end, and judges it to be correct.
func (t topic) walks(path, answer string) topic {
	t.onTask("relation-paths").Reply(path)
	t.onTask("candidate-answers").Reply("{" + answer + "}")
	t.onTask("evaluate-question").ReplyJSON(map[string]any{"reason": "it is all there", "correct": true,
		"incomplete": false})
	t.onTask("evaluate-answer").ReplyChoice(map[string]float64{"yes": .9, "no": .1})
	t.onTask("reflect").ReplyJSON(map[string]any{"answers": []string{answer}})
	return t
}

func TestTutorials(t *testing.T) {
	for file, script := range tutorials {
		t.Run(file, func(t *testing.T) {
			all := blocks(t, "docs/tutorials/"+file)
			model := testkit.NewLLM(t)
			script(model)
			s := newShell(t, start(t, options{model: model, data: t.TempDir(), http: true}))
			if ran := s.runAll(all); ran < 4 {
				t.Errorf("the tutorial has %d blocks that are run, want 4 or more", ran)
			}
		})
	}
}

func TestEveryTutorialIsListedAndFollowed(t *testing.T) {
	index, err := os.ReadFile(testkit.CheckoutFile(t, "docs", "tutorials", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(testkit.CheckoutFile(t, "docs", "tutorials"), "*.md"))
	if err != nil || len(pages) < 2 {
		t.Fatalf("found %q, %v", pages, err)
	}
	for _, page := range pages {
		name := filepath.Base(page)
		_, followed := tutorials[name]
		if name == "README.md" || name == "neo4j.md" {
			followed = true
		}
		if !followed || name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("%s: followed %v, or it is not listed", name, followed)
		}
	}
}
