package cypher_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	gherkin "github.com/cucumber/gherkin/go/v33"
	messages "github.com/cucumber/messages/go/v28"
)

// tally counts the scenarios of one clause.
type tally struct{ passed, all int }

func (t tally) share() float64 { return 100 * float64(t.passed) / float64(max(t.all, 1)) }

// mainClauses are the ones that generated code consists of: they have to
// reach this share in every folder of features.
var mainClauses = []string{"create", "merge", "match"}

const mainShare = 90.0

// TestScenariosOfOurOwnPass runs features of testdata in the language of the TCK.
func TestScenariosOfOurOwnPass(t *testing.T) {
	tallies := runFeatures(t, filepath.Join("testdata", "features"))
	for clause, tally := range tallies {
		if tally.passed != tally.all {
			t.Errorf("%s: %d of %d scenarios pass", clause, tally.passed, tally.all)
		}
	}
	if len(tallies) < 9 {
		t.Errorf("%d clauses", len(tallies))
	}
}

func TestAScenarioWithAnotherResultFails(t *testing.T) {
	const feature = "Feature: wrong\n  Scenario: %s\n    Given any graph\n    When executing query:\n" +
		"      \"\"\"\n      %s\n      \"\"\"\n    Then the result should be, in any order:\n" +
		"      | n |\n      | 2 |\n    And no side effects\n"
	for name, query := range map[string]string{"another value": "RETURN 1 AS n", "another column": "RETURN 2 AS m",
		"another number of rows": "UNWIND [2, 2] AS n RETURN n", "an error": "RETURN n",
		"a side effect": "CREATE (x) RETURN 2 AS n"} {
		path := filepath.Join(t.TempDir(), "wrong.feature")
		if err := os.WriteFile(path, fmt.Appendf(nil, feature, name, query), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, scenario := range scenarios(t, path) {
			if run(scenario) == nil {
				t.Errorf("%s passes", name)
			}
		}
	}
}

// TestPublishedScenariosPassPerClause runs the features of the Technology Compatibility Kit of openCypher
// (https://github.com/opencypher/openCypher/tree/master/tck), which are data beside the checkout; without
// them there is nothing to run.
func TestPublishedScenariosPassPerClause(t *testing.T) {
	dir, floors := sharedFeatures(t)
	if dir == "" {
		t.Log("no published features: name a folder of them in TCK_DIR")
		return
	}
	tallies := runFeatures(t, dir)
	report(tallies)
	for clause, tally := range tallies {
		floor := floors[clause]
		if slices.Contains(mainClauses, clause) {
			floor = max(floor, mainShare)
		}
		if tally.share() < floor {
			t.Errorf("%s: %.1f %% of the scenarios pass, and %.1f %% should", clause, tally.share(), floor)
		}
	}
}

// runFeatures runs the features of a folder and counts them by clause.
func runFeatures(t *testing.T, dir string) map[string]*tally {
	t.Helper()
	tallies := map[string]*tally{}
	for _, path := range featureFiles(t, dir) {
		clause := filepath.Base(filepath.Dir(path))
		if tallies[clause] == nil {
			tallies[clause] = &tally{}
		}
		for _, scenario := range scenarios(t, path) {
			tallies[clause].all++
			if err := run(scenario); err != nil {
				t.Logf("%s: %s: %v", strings.TrimSuffix(filepath.Base(path), ".feature"), scenario.Name, err)
				continue
			}
			tallies[clause].passed++
		}
	}
	if len(tallies) == 0 {
		t.Fatalf("no .feature file under %s", dir)
	}
	return tallies
}

func report(tallies map[string]*tally) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "clause\tpassed\tof\tshare\t")
	total := tally{}
	var names []string
	for name := range tallies {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		one := tallies[name]
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f %%\t\n", name, one.passed, one.all, one.share())
		total.passed += one.passed
		total.all += one.all
	}
	fmt.Fprintf(w, "all\t%d\t%d\t%.1f %%\t\n", total.passed, total.all, total.share())
	w.Flush()
}

// sharedFeatures returns the folder of the published features: that of TCK_DIR, or the one beside the
// checkout with the floors that were recorded from it. It is empty if there is none.
func sharedFeatures(t *testing.T) (dir string, floors map[string]float64) {
	if dir := os.Getenv("TCK_DIR"); dir != "" {
		return dir, nil
	}
	dir = filepath.Join("..", "..", "..", "shared", "data", "opencypher-tck")
	if _, err := os.Stat(dir); err != nil {
		return "", nil
	}
	return dir, readFloors(t)
}

func readFloors(t *testing.T) map[string]float64 {
	text, err := os.ReadFile(filepath.Join("testdata", "tck_floors.txt"))
	if err != nil {
		t.Fatal(err)
	}
	floors := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		clause, share, _ := strings.Cut(strings.TrimSpace(line), " ")
		if floors[clause], err = strconv.ParseFloat(share, 64); err != nil {
			t.Fatalf("tck_floors.txt: %q: %v", line, err)
		}
	}
	return floors
}

func featureFiles(t *testing.T, dir string) []string {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".feature") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// scenarios reads a feature: backgrounds are put before each scenario and
// outlines are filled in from their examples.
func scenarios(t *testing.T, path string) []*messages.Pickle {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	newID := func() string { n++; return strconv.Itoa(n) }
	doc, err := gherkin.ParseGherkinDocument(file, newID)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return gherkin.Pickles(*doc, path, newID)
}
