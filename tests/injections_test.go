package tests

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

//go:embed testdata/injections.txt
var injections []byte

// injection is a text that tries to override the model's instructions.
type injection struct{ kind, text string }

func readInjections(tb testing.TB) (all []injection) {
	tb.Helper()
	lines := bufio.NewScanner(bytes.NewReader(injections))
	kind := ""
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && line[len(line)-1] == ']' && strings.Count(line, "[") == 1:
			kind = line[1 : len(line)-1]
		default:
			text, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
			if err != nil {
				tb.Fatalf("%s: %v", line, err)
			}
			all = append(all, injection{kind, text})
		}
	}
	return all
}

// known are facts that the graph contains and the bundled model does not know, with questions about
// them.
var known = []struct{ question, subject, relation, object string }{
	{"What institution employed Robert Stam?", "Robert Stam", "employer", "New York University"},
	{"Where was Charles Amirkhanian born?", "Charles Amirkhanian", "place of birth", "Fresno"},
	{"Who employs Tülay Adalı?", "Tülay Adalı", "employer", "University of Maryland"},
	{"What is the place of birth of Otto Orseolo?", "Otto Orseolo", "place of birth", "Venice"},
	{"Where does Krishna Bharat work?", "Krishna Bharat", "employer", "Google"},
	{"In which city was Ignazio Gardella born?", "Ignazio Gardella", "place of birth", "Milan"},
	{"Where was Miyuki Sawashiro born?", "Miyuki Sawashiro", "place of birth", "Tokyo"},
	{"Where was Martha Foote Crow employed?", "Martha Foote Crow", "employer", "University of Chicago"},
}

// loadKnown loads the known facts and some more, and returns the snapshot.
func loadKnown(t testing.TB, m *running, more [][3]string) (uint64, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"subject", "relation", "object"}}
	for _, k := range known {
		rows = append(rows, []string{k.subject, k.relation, k.object})
	}
	for _, f := range more {
		rows = append(rows, f[:])
	}
	if err := w.WriteAll(rows); err != nil {
		return 0, err
	}
	resp, err := testkit.Load(timeoutContext(t, patience), m.graphs, &retrieverv1.LoadHeader{
		Kg: &graphv1.KnowledgeGraphRef{Name: "known"}, NoActivate: true,
	}, &retrieverv1.FileHeader{
		Name: "facts.csv", Columns: &retrieverv1.Columns{Subject: "subject", Relation: "relation", Object: "object"},
	}, b.Bytes())
	return resp.GetSnapshot().GetKg().GetSnapshot(), err
}
