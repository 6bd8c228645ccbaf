package report

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/report/reporttest"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func right(_ int, q dataset.Question) (*orchestratorv1.Run, error) {
	return reporttest.IO(q, q.Answers[0]), nil
}

func writeResults(t *testing.T, root string, change func(*results.Manifest), name, kg, method string) string {
	t.Helper()
	m := reporttest.Manifest(name, kg, method)
	if change != nil {
		change(&m)
	}
	return reporttest.Write(t, root, m, reporttest.Lines(3, right)...)
}

func TestDirs(t *testing.T) {
	root := t.TempDir()
	one := writeResults(t, root, nil, "zsre", "wikidata", "io")
	two := writeResults(t, filepath.Join(root, "deeper"), nil, "zsre", "wikidata", "ger")
	empty := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(one, link); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		paths []string
		want  []string
		err   error
	}{
		{"a results directory is itself", []string{one}, []string{one}, nil},
		{"a parent holds all below it", []string{root}, []string{two, one}, nil},
		{"a link is what it leads to", []string{link}, []string{link}, nil},
		{"what is named twice counts once", []string{root, one, two}, []string{two, one}, nil},
		{"a directory without results is an error", []string{root, empty}, nil, ErrNoResults},
		{"a directory that is not there is an error", []string{filepath.Join(root, "none")}, nil, os.ErrNotExist},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ResultDirs(test.paths)
			if !errors.Is(err, test.err) || !slices.Equal(got, test.want) {
				t.Errorf("found %v (%v), want %v (%v)", got, err, test.want, test.err)
			}
		})
	}
}

func TestOpenRefusesResultsOfAnotherFormat(t *testing.T) {
	dir := writeResults(t, t.TempDir(), nil, "zsre", "wikidata", "io")
	manifest := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifest, []byte(strings.Replace(string(text), `"format": 3`, `"format": 1`, 1)),
		0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenEvaluations([]string{dir}); err == nil || !strings.Contains(err.Error(), "format 1") {
		t.Errorf("the error is %v, want one that names the format", err)
	}
}

func titles(t *testing.T, root string) (all []string, groups []*Group) {
	t.Helper()
	evaluations, err := OpenEvaluations([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	groups = GroupEvaluations(evaluations)
	for _, g := range groups {
		var names []string
		for _, e := range g.Evaluations {
			names = append(names, e.Name)
		}
		all = append(all, g.Title()+": "+strings.Join(names, " / "))
	}
	return all, groups
}

func TestGroups(t *testing.T) {
	root := t.TempDir()
	writeResults(t, root, nil, "webq", "wikidata", "ger")
	writeResults(t, root, func(m *results.Manifest) { m.Options.Ablation = "no-reflection" }, "webq", "wikidata", "ger")
	writeResults(t, root, func(m *results.Manifest) { m.OtherKGs = []results.KG{{Name: "freebase"}} }, "webq",
		"wikidata", "pg-akv")
	writeResults(t, root, nil, "webq", "freebase", "pg-akv")
	writeResults(t, root, nil, "webq", "", "io")
	writeResults(t, root, nil, "zsre", "", "io")
	writeResults(t, root, nil, "zsre", "", "stranger")
	got, _ := titles(t, root)
	want := []string{
		"webq on freebase: io / pg-akv",
		"webq on wikidata: io / pg-akv +freebase / ger / ger no-reflection",
		"zsre: io / stranger",
	}
	if !slices.Equal(got, want) {
		t.Errorf("groups are %q, want %q", got, want)
	}
}

func TestEvaluationsOfOneNameAreToldApart(t *testing.T) {
	root := t.TempDir()
	writeResults(t, filepath.Join(root, "a"), nil, "webq", "wikidata", "ger")
	writeResults(t, filepath.Join(root, "b"), func(m *results.Manifest) { m.GoldEntities = true }, "webq",
		"wikidata", "ger")
	writeResults(t, filepath.Join(root, "c"), func(m *results.Manifest) { m.GoldEntities, m.Seed = true, 2 }, "webq",
		"wikidata", "ger")
	got, _ := titles(t, root)
	want := []string{"webq on wikidata, gold entities: ger, seed 1 / ger, seed 2", "webq on wikidata: ger"}
	if !slices.Equal(got, want) {
		t.Errorf("groups are %q, want %q", got, want)
	}
}

func TestNeitherPartsNorEntitiesOfTwoKindsAreInOneTable(t *testing.T) {
	root := t.TempDir()
	for _, part := range []string{"tune", "report"} {
		inPart := func(gold bool) func(*results.Manifest) {
			return func(m *results.Manifest) { m.Part, m.GoldEntities = part, gold }
		}
		writeResults(t, filepath.Join(root, part, "io"), inPart(false), "webq", "", "io")
		writeResults(t, filepath.Join(root, part, "gold"), inPart(true), "webq", "wikidata", "ger")
		writeResults(t, filepath.Join(root, part, "linked"), inPart(false), "webq", "wikidata", "ger")
	}
	got, _ := titles(t, root)
	want := []string{
		"webq (report) on wikidata, gold entities: io / ger", "webq (report) on wikidata: io / ger",
		"webq (tune) on wikidata, gold entities: io / ger", "webq (tune) on wikidata: io / ger",
	}
	if !slices.Equal(got, want) {
		t.Errorf("groups are %q, want %q", got, want)
	}
}

func TestWhatDoesNotCompareIsWarnedOf(t *testing.T) {
	tests := []struct {
		name   string
		change func(*results.Manifest)
		want   string
	}{
		{"other snapshots", func(m *results.Manifest) { m.Snapshot = 2 },
			"different knowledge graph snapshots: wikidata@2; wikidata@1"},
		{"other versions", func(m *results.Manifest) { m.Version = "v2" },
			"different versions of triplemesh: v2; v1.2.3"},
		{"other models, without their directories",
			func(m *results.Manifest) { m.Models = []string{"/home/me/large-model"} },
			"different models: large-model; small-model"},
		{"other samples", func(m *results.Manifest) { m.Seed = 2 }, "different samples: seed 2; seed 1"},
		{"an evaluation under way", func(m *results.Manifest) { m.Asked = 40 },
			"tog is not finished: 3 of 40 questions have been asked"},
		{"nothing", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			writeResults(t, root, nil, "webq", "wikidata", "ger")
			writeResults(t, root, test.change, "webq", "wikidata", "tog")
			_, groups := titles(t, root)
			got := strings.Join(groups[0].Warnings, "; ")
			if got != test.want {
				t.Errorf("warned of %q, want %q", got, test.want)
			}
		})
	}
}
