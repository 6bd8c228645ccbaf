package eval

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
)

func TestNamesOfEvaluationsTellThemApart(t *testing.T) {
	t.Parallel()
	base := results.Manifest{Dataset: results.Dataset{Name: "webqsp"}, KG: "freebase", Method: "ger", Seed: 1}
	for _, c := range []struct {
		name   string
		change func(*results.Manifest)
		want   string
	}{
		{"dataset, graph and method", func(*results.Manifest) {}, "webqsp-freebase-ger"},
		{"no graph", func(m *results.Manifest) { m.KG = "" }, "webqsp-ger"},
		{"a snapshot and another graph", func(m *results.Manifest) {
			m.Snapshot, m.OtherKGs = 2,
				[]results.KG{{Name: "wikidata"}}
		}, "webqsp-freebase@2+wikidata-ger"},
		{"gold entities", func(m *results.Manifest) { m.GoldEntities = true }, "webqsp-freebase-ger-gold"},
		{"an ablation", func(m *results.Manifest) { m.Options.Ablation = "no-reflection" },
			"webqsp-freebase-ger-no-reflection"},
		{"given relation paths", func(m *results.Manifest) { m.Options.RelationPaths = "abcdef" },
			"webqsp-freebase-ger-given-paths"},
		{"other options", func(m *results.Manifest) {
			m.Options.Until, m.Options.MaxHops, m.Options.AbstainBelow = "paths", 3, 0.25
		}, "webqsp-freebase-ger-until-paths-max-hops-3-abstain-below-0.25"},
		{"another reader", func(m *results.Manifest) { m.Reader = "oracle:0.2" },
			"webqsp-freebase-ger-reader-oracle_0.2"},
		{"another seed", func(m *results.Manifest) { m.Seed = 7 }, "webqsp-freebase-ger-seed-7"},
		{"what no directory is called", func(m *results.Manifest) { m.Dataset.Name, m.Method = "../my set", "x/y" },
			"_my_set-freebase-x_y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := base
			c.change(&m)
			if got := evaluationName(m); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func planned(t *testing.T, flags ...string) ([]*evaluation, error) {
	t.Helper()
	c := command(t, flags...)
	entries, err := c.entries()
	if err != nil {
		return nil, err
	}
	return c.plan(entries)
}

func TestOneEvaluationHasTheDirectoryToItself(t *testing.T) {
	t.Parallel()
	file := questionsFile(t, nQuestions(2)...)
	for _, c := range []struct {
		name  string
		flags []string
		want  []string
	}{
		{"one method", []string{"--questions", file, "--method", "io", "--out", "/r"}, []string{"/r"}},
		{"two methods", []string{"--questions", file, "--method", "io,cot", "--out", "/r"},
			[]string{"/r/questions-io", "/r/questions-cot"}},
		{"no directory", []string{"--questions", file, "--method", "io,cot"}, []string{"", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			evaluations, err := planned(t, c.flags...)
			if err != nil {
				t.Fatal(err)
			}
			var dirs []string
			for _, e := range evaluations {
				dirs = append(dirs, filepath.ToSlash(e.dir))
			}
			if !slices.Equal(dirs, c.want) {
				t.Errorf("got %v, want %v", dirs, c.want)
			}
		})
	}
}

func TestNamesTakeThePlaceOfIds(t *testing.T) {
	t.Parallel()
	file := questionsFile(t, dataset.Question{ID: "1", Question: "who?", Answers: []string{"m.1"},
		TopicEntities: []string{"m.2"}})
	names := filepath.Join(filepath.Dir(file), "names.tsv")
	suite := filepath.Join(filepath.Dir(file), "suite.yaml")
	for path, text := range map[string]string{
		names: "m.1\tOne\nm.2\tTwo\n",
		suite: "evaluations:\n- {questions: questions.jsonl, names: names.tsv, methods: [io]}\n- {questions: " +
			"questions.jsonl, methods: [io], name: ids}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	evaluations, err := planned(t, "--suite", suite)
	if err != nil {
		t.Fatal(err)
	}
	named, ids := evaluations[0], evaluations[1]
	if q := named.questions[0]; q.Answers[0] != "One" || q.TopicEntities[0] != "Two" ||
		ids.questions[0].Answers[0] != "m.1" {
		t.Errorf("got %+v and %+v", named.questions, ids.questions)
	}
	if named.manifest.Dataset.SHA256 == ids.manifest.Dataset.SHA256 {
		t.Error("the checksum is the same with and without names")
	}
	if _, err := planned(t, "--questions", file, "--names", suite); err == nil || !strings.Contains(err.Error(),
		"suite.yaml") {
		t.Errorf("the error of a file that holds no names is %v", err)
	}
}

func TestSuiteTakesLimitAndSeedOfTheCommandWhereItHasNone(t *testing.T) {
	t.Parallel()
	file := questionsFile(t, nQuestions(9)...)
	suite := filepath.Join(filepath.Dir(file), "suite.yaml")
	text := "evaluations:\n- {questions: questions.jsonl, methods: [io]}\n- {questions: questions.jsonl, methods: " +
		"[cot], limit: 2, seed: 4, name: two}\n"
	if err := os.WriteFile(suite, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	evaluations, err := planned(t, "--suite", suite, "--limit", "5", "--seed", "3")
	if err != nil {
		t.Fatal(err)
	}
	first, second := evaluations[0], evaluations[1]
	if len(first.questions) != 5 || first.manifest.Seed != 3 || len(second.questions) != 2 ||
		second.manifest.Seed != 4 || second.manifest.Dataset.Name != "two" {
		t.Errorf("got %+v and %+v", first.manifest, second.manifest)
	}
}

func TestAnswersAreReferencesWhereTextsAreAskedFor(t *testing.T) {
	t.Parallel()
	questions := nQuestions(2)
	questions[1].Kind = dataset.Set
	evaluations, err := planned(t, "--questions", questionsFile(t, questions...), "--answer-form", "text")
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]dataset.Kind)
	for _, q := range evaluations[0].questions {
		kinds[q.ID] = q.Kind
	}
	if kinds["a"] != dataset.Open || kinds["b"] != dataset.Set {
		t.Errorf("got %v", kinds)
	}
}

func TestPlanFindsWhatIsWrongBeforeAnythingIsAsked(t *testing.T) {
	t.Parallel()
	file := questionsFile(t, nQuestions(2)...)
	dir := filepath.Dir(file)
	for name, text := range map[string]string{
		"paths.jsonl": `{"id": "z", "paths": [["r"]]}`,
		"twice.yaml":  "evaluations:\n- {questions: questions.jsonl, methods: [io, io]}\n",
		"bad.yaml": "evaluations:\n- {questions: gone.jsonl, methods: [io]}\n- {questions: questions.jsonl, kg: " +
			"'x@y', methods: [io]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		flags []string
		want  []string
	}{
		{"relation paths of other questions", []string{"--questions", file, "--relation-paths",
			filepath.Join(dir, "paths.jsonl")}, []string{"--relation-paths:", "none of the questions"}},
		{"another graph beside none", []string{"--questions", file, "--other-kg", "freebase"},
			[]string{"--other-kg: is read beside --kg"}},
		{"a bad graph beside", []string{"--questions", file, "--kg", "a", "--other-kg", "b@0"},
			[]string{"--other-kg:", `"b@0"`}},
		{"an unknown format", []string{"--questions", file, "--format", "xml"}, []string{`"xml"`}},
		{"the same evaluation twice", []string{"--suite", filepath.Join(dir, "twice.yaml")},
			[]string{"two evaluations are called questions-io"}},
		{"several bad evaluations of a suite", []string{"--suite", filepath.Join(dir, "bad.yaml")},
			[]string{"bad.yaml, line 2:", "gone.jsonl", "bad.yaml, line 3: --kg:"}},
		{"a suite and questions", []string{"--suite", filepath.Join(dir, "twice.yaml"), "--questions", file},
			[]string{"--suite, --questions and --dataset: give one"}},
		{"a suite and options", []string{"--suite", filepath.Join(dir, "twice.yaml"), "--ablation", "no-reflection"},
			[]string{"--suite:", "leave the flags out"}},
		{"a set that is not fetched", []string{"--dataset", "qald10"}, []string{"run `triplemesh eval fetch qald10`"}},
		{"a set and questions", []string{"--dataset", "qald10", "--questions", file}, []string{"give one of them"}},
		{"nothing to ask", nil, []string{"--questions, --dataset or --suite"}},
		{"a budget below nothing", []string{"--questions", file, "--max-time=-1s"}, []string{"--max-time"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := planned(t, c.flags...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestAFetchedSetIsAskedByItsNameAndPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	questions := []byte{}
	for i := range 50 {
		questions = fmt.Appendf(questions, `{"id": "%d", "question": "where is %d?", "answers": ["a"]}`+"\n", i, i)
	}
	sum := sha256.Sum256(questions)
	path := filepath.Join(dir, "zsre", "Zero_Shot_RE.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	record := fmt.Sprintf(`{"Zero_Shot_RE.json": {"sha256": "%x"}}`, sum)
	for name, text := range map[string][]byte{path: questions,
		filepath.Join(dir, "zsre", "fetched.json"): []byte(record)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := Command{SetsDir: dir, Part: "report", Seed: 1}
	got, err := c.plan([]Entry{{Dataset: "zsre", Format: "jsonl", Methods: []string{"io"}}})
	if err != nil || len(got) != 1 || got[0].name != "zsre-io-report" || got[0].manifest.Part != "report" {
		t.Fatalf("planned %+v, %v", got, err)
	}
	for _, q := range got[0].questions {
		if q.Part != dataset.Report || dataset.PartOf(q.ID) != dataset.Report {
			t.Errorf("question %s of the part %s is asked", q.ID, q.Part)
		}
	}
	if err := os.WriteFile(path, append(questions, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.plan([]Entry{{Dataset: "zsre", Format: "jsonl", Methods: []string{"io"}}}); err == nil ||
		!strings.Contains(err.Error(), "was changed since it was fetched") {
		t.Errorf("error %v", err)
	}
}
