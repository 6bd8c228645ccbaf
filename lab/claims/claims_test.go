package claims

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// world returns a file of facts about forty people: born, dead, at work and employed
// in one place each, with several occupations and instruments.
func world(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range 40 {
		person := fmt.Sprintf("Given%c%c Family%c%c", 'a'+i%26, 'a'+i/26, 'z'-i%26, 'a'+i/26)
		fmt.Fprintf(&b, "%s\tplace of birth\tTown%c\n", person, 'A'+i%20)
		if i%2 == 0 {
			fmt.Fprintf(&b, "%s\temployer\tGuild%c\n", person, 'A'+i%20)
		}
		if i%4 < 2 {
			fmt.Fprintf(&b, "%s\tplace of death\tVillage%c\n", person, 'A'+i%20)
		}
		for j := range 2 {
			fmt.Fprintf(&b, "%s\toccupation\tcraft%c\n", person, 'a'+(i+j*7)%20)
		}
	}
	path := filepath.Join(t.TempDir(), "facts.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestClaimsAreWhatTheirKindSays(t *testing.T) {
	path := world(t)
	items, err := Make(path, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	known, err := readFacts(path)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, item := range items {
		count[item.Kind]++
		listed := known.objects[[2]string{item.Subject, item.Relation}]
		held := false
		for _, o := range listed {
			held = held || o == item.Object
		}
		var right bool
		switch item.Kind {
		case True:
			right = held
		case Swapped:
			right = !held && len(listed) == 1
		case Open:
			right = !held && len(listed) > 1
		case Crossed, Lacking:
			right = len(listed) == 0 && known.names[kgtext.Fold(item.Subject)]
		case Strange:
			right = !known.names[kgtext.Fold(item.Subject)]
		}
		if !right || !strings.Contains(item.Sentence, item.Subject) || !strings.Contains(item.Sentence, item.Object) ||
			strings.ContainsAny(item.Sentence, "{}") {
			t.Errorf("%+v, where the facts have %q", item, listed)
		}
	}
	if want := map[string]int{True: 8, Swapped: 8, Open: 2, Crossed: 2, Lacking: 2,
		Strange: 2}; !reflect.DeepEqual(count, want) {
		t.Errorf("made %v, want %v", count, want)
	}
	again, err := Make(path, 8, 1)
	if other, _ := Make(path, 8, 2); err != nil || !reflect.DeepEqual(items, again) || reflect.DeepEqual(items, other) {
		t.Error("a seed makes other claims the second time, or two seeds make the same")
	}
}

func TestFactsThatCannotBeUsed(t *testing.T) {
	for name, text := range map[string]string{"2 columns": "a\tb\n", "too few facts": "a\tplace of birth\tb\n"} {
		path := filepath.Join(t.TempDir(), "facts.tsv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Make(path, 3, 1); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := Make(filepath.Join(t.TempDir(), "none.tsv"), 3, 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestMeasure(t *testing.T) {
	const s, c, n, none = verifierv1.Verdict_VERDICT_SUPPORTED, verifierv1.Verdict_VERDICT_CONTRADICTED,
		verifierv1.Verdict_VERDICT_NOT_IN_KG, verifierv1.Verdict_VERDICT_UNSPECIFIED
	var results []Result
	for _, r := range [][2]verifierv1.Verdict{{s, s}, {s, s}, {s, n}, {c, c}, {c, s}, {n, n}, {n, none}, {n, n}} {
		results = append(results, Result{Item: Item{Gold: r[0], Kind: map[verifierv1.Verdict]string{s: True, c: Swapped,
			n: Open}[r[0]]}, Said: r[1]})
	}
	f := Measure(results, 200, 1)
	for i, want := range [][3]float64{{2. / 3, 2. / 3, 2. / 3}, {1, .5, 2. / 3}, {2. / 3, 2. / 3, 2. / 3}} {
		got := f.Verdicts[i]
		if got.Precision.Mean != want[0] || got.Recall.Mean != want[1] || got.F1.Mean != want[2] ||
			got.F1.Low > got.F1.Mean || got.F1.High < got.F1.Mean {
			t.Errorf("%+v, want %v", got, want)
		}
	}
	if f.Claims != 8 || f.Accuracy.Mean != 5./8 || f.Kinds[0].Right.N != 3 || f.Kinds[1].Right.Mean != .5 {
		t.Errorf("got %+v", f)
	}
}

func TestRunGoesOnWhereItStopped(t *testing.T) {
	cmd := Command{Facts: world(t), Claims: 4, Seed: 1, Out: t.TempDir(), Parallel: 3, Timeout: patience}
	var asked atomic.Int32
	fail := true
	check := func(_ context.Context, req *orchestratorv1.CheckRequest) (*orchestratorv1.CheckResponse, error) {
		if n := asked.Add(1); fail && n > 5 {
			return nil, errors.New("down")
		}
		return &orchestratorv1.CheckResponse{Check: &orchestratorv1.Check{Claims: []*orchestratorv1.Claim{
			{Triple: &graphv1.Triple{Subject: "?", Relation: "?", Object: req.GetText()},
				Verdict: verifierv1.Verdict_VERDICT_SUPPORTED},
		}}}, nil
	}
	var out bytes.Buffer
	var done atomic.Int32
	run := func() {
		t.Helper()
		out.Reset()
		if err := cmd.Run(t.Context(), check, &graphv1.KnowledgeGraphRef{Name: "world"}, &out,
			func(int, int) { done.Add(1) }); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if !strings.Contains(out.String(), "12 claims, 7 failed") || done.Load() != 12 {
		t.Errorf("after %d: %s", done.Load(), out.String())
	}
	asked.Store(0)
	fail = false
	run()
	if asked.Load() != 7 || !strings.Contains(out.String(), "12 claims, 0 failed; right: 33.3") ||
		!strings.Contains(out.String(), "contradicted") {
		t.Errorf("asked %d again: %s", asked.Load(), out.String())
	}
	cmd.JSON = true
	run()
	if asked.Load() != 7 || !strings.Contains(out.String(), `"verdict": "supported"`) {
		t.Errorf("asked %d: %s", asked.Load(), out.String())
	}
	cmd.Parallel = 0
	if err := cmd.Run(t.Context(), check, nil, &out, func(int, int) {}); err == nil {
		t.Error("nothing is asked at a time, and no error is told")
	}
}

const patience = 60e9
