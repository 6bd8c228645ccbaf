package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, text string) *bench {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "q.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &bench{data: dir, limit: 2}
}

const five = `{"id":"a","question":"qa","answers":["x"]}
{"id":"b","question":"qb"}
{"id":"c","question":"qc"}
{"id":"d","question":"qd"}
{"id":"e","question":"qe"}
`

func TestTheTestPartIsKeptFromTheDevPart(t *testing.T) {
	b := write(t, five)
	dev, err := b.questions("q.jsonl", 2)
	if err != nil {
		t.Fatal(err)
	}
	b.test = true
	test, err := b.questions("q.jsonl", 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(test) != 2 || len(dev) != 2 {
		t.Fatalf("%d test and %d dev questions, want 2 of each", len(test), len(dev))
	}
	for _, q := range dev {
		if slices.ContainsFunc(test, func(o question) bool { return o.ID == q.ID }) {
			t.Errorf("question %s is in both parts", q.ID)
		}
	}
	if all, err := b.questions("q.jsonl", 99); err != nil || len(all) != 5 {
		t.Errorf("%d questions, error %v; want all 5 held", len(all), err)
	}
}

func TestABadLineIsNamed(t *testing.T) {
	_, err := write(t, "{\"id\":\"a\"}\nnonsense\n").questions("q.jsonl", 1)
	if err == nil || !strings.Contains(err.Error(), "q.jsonl:2") {
		t.Errorf("error %v does not name the line", err)
	}
}

func TestRightFoldsNames(t *testing.T) {
	q := question{Answers: []string{"São Paulo"}}
	if !q.isAnswer("sao paulo") || q.isAnswer("Rio") {
		t.Error("an answer is right whatever its accents, and no other is")
	}
}

func TestDraftGuessesOnlyTheObject(t *testing.T) {
	q := question{Question: "Over what river does Mapo Bridge cross?", TopicEntities: []string{"Mapo Bridge"},
		Answers: []string{"Han River"}}
	pseudo := draft(q, question{Answers: []string{"Berlin"}})
	if len(pseudo) != 1 || pseudo[0].Subject != "mapo bridge" || pseudo[0].Relation != "over river cross" ||
		pseudo[0].Object != "Berlin" {
		t.Errorf("draft %+v", pseudo)
	}
}

func TestMisspeltLeavesOutALetter(t *testing.T) {
	for name, want := range map[string]string{"malmö": "mamö", "ab": "a", "é": ""} {
		if got := misspell(name); got != want {
			t.Errorf("misspelt(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestRunSaysWhatItWants(t *testing.T) {
	for _, args := range [][]string{nil, {"-data", "x"}, {"-data", "x", "dreams"}, {"paths"}} {
		if err := run(t.Context(), args, &strings.Builder{}); err == nil || !strings.Contains(err.Error(),
			"want -data DIR") {
			t.Errorf("%q: error %v", args, err)
		}
	}
}
