package tck

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

func TestScenariosPassPerClause(t *testing.T) {
	dir, floors := features(t)
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
		t.Fatalf("no .feature file under %s: name a folder that has some in TCK_DIR", dir)
	}
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

// features gives the folder of features, and the recorded floors where it is
// the one they were recorded from.
func features(t *testing.T) (dir string, floors map[string]float64) {
	if dir := os.Getenv("TCK_DIR"); dir != "" {
		return dir, nil
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.work")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			t.Skip("not inside the checkout: name a folder of features in TCK_DIR")
		}
		root = filepath.Dir(root)
	}
	dir = filepath.Join(filepath.Dir(root), "shared", "data", "opencypher-tck")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no features: name a folder of them in TCK_DIR (%v)", err)
	}
	return dir, readFloors(t)
}

func readFloors(t *testing.T) map[string]float64 {
	text, err := os.ReadFile("floors.txt")
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
			t.Fatalf("floors.txt: %q: %v", line, err)
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
