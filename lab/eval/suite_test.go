package eval

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/results"
)

const goodSuite = `evaluations:
  - questions: zsre.jsonl
    kg: wikidata
    methods: [io, pg-akv]
  - name: webqsp
    questions: /data/webqsp.jsonl
    format: webqsp
    kg: freebase@2
    other_kgs: [wikidata]
    methods: [ger]
    limit: 15
    seed: 3
    gold_entities: true
    relation_paths: rog.jsonl
    options:
      ablation: no-reflection
      max_hops: 3
      abstain_below: 0.25
`

func TestSuite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "suite.yaml")
	if err := os.WriteFile(path, []byte(goodSuite), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readSuite(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	want := []Entry{
		{Questions: filepath.Join(dir, "zsre.jsonl"), KG: "wikidata", Methods: []string{"io", "pg-akv"},
			where: "line 2"},
		{
			Name: "webqsp", Questions: "/data/webqsp.jsonl", Format: "webqsp", KG: "freebase@2",
			OtherKGs: []string{"wikidata"},
			Methods:  []string{"ger"}, Limit: 15, Seed: 3, GoldEntities: true,
			RelationPaths: filepath.Join(dir, "rog.jsonl"),
			Options:       results.Options{Ablation: "no-reflection", MaxHops: 3, AbstainBelow: 0.25}, where: "line 5",
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if _, err := readSuite(path + ".gone"); err == nil || !strings.Contains(err.Error(), "suite.yaml.gone") {
		t.Errorf("error %v does not name the file", err)
	}
}

func TestSuiteNamesTheLineOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"an empty file", "", []string{"names no evaluations", "evaluations"}},
		{"no list", "evaluations:\n", []string{"names no evaluations"}},
		{"no YAML", "evaluations: [", []string{"line 1"}},
		{"another key", "evaluation: []\n", []string{"line 1: field evaluation is not known; see docs/methods.md"}},
		{"a misspelt key", "evaluations:\n- questions: q\n  method: [io]\n",
			[]string{"line 3: field method is not known"}},
		{"a misspelt option", "evaluations:\n- questions: q\n  methods: [io]\n  options:\n    ablations: x\n",
			[]string{"line 5: field ablations is not known"}},
		{"a text for a number", "evaluations:\n- questions: q\n  methods: [io]\n  limit: many\n",
			[]string{"line 4:", "many"}},
		{"one method that is no list", "evaluations:\n- questions: q\n  methods: io\n", []string{"line 3:", "io"}},
		{"no questions", "evaluations:\n\n- methods: [io]\n", []string{"line 3: questions: missing"}},
		{"no methods", "evaluations:\n- questions: q\n", []string{"line 2: methods: missing"}},
		{"an empty method", "evaluations:\n- questions: q\n  methods: ['']\n",
			[]string{"line 2: methods: one of them is empty"}},
		{"fewer than no questions", "evaluations:\n- questions: q\n  methods: [io]\n  limit: -1\n",
			[]string{"line 2: limit: must be at least 0"}},
		{"an unknown ablation", "evaluations:\n- questions: q\n  methods: [io]\n  options: {ablation: all}\n",
			[]string{"line 2: options: --ablation: unknown value"}},
		{"two bad evaluations", "evaluations:\n- methods: [io]\n- questions: q\n", []string{"line 2:", "line 3:"}},
		{"two documents", goodSuite + "---\n" + goodSuite, []string{"more than one YAML document"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			entries, err := parseSuite(strings.NewReader(c.in))
			if err == nil || entries != nil {
				t.Fatalf("got %+v, %v", entries, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "eval.") {
				t.Errorf("error %q speaks of Go's types", err)
			}
		})
	}
}

func FuzzSuite(f *testing.F) {
	f.Add(goodSuite)
	f.Add("evaluations:\n- &a {questions: q, methods: [io]}\n- *a\n- <<: *a\n  limit: 3\n")
	f.Add("evaluations: {}\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := parseSuite(strings.NewReader(text))
		if (err == nil) != (len(entries) > 0) {
			t.Fatalf("%d entries and error %v", len(entries), err)
		}
		for _, e := range entries {
			if e.Questions == "" || len(e.Methods) == 0 || !strings.HasPrefix(e.where, "line ") {
				t.Fatalf("let pass %+v", e)
			}
		}
	})
}
