package claims

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// prose returns a file of texts about the people of world, two sentences each.
func prose(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range 40 {
		person := fmt.Sprintf("Given%c%c Family%c%c", 'a'+i%26, 'a'+i/26, 'z'-i%26, 'a'+i/26)
		fmt.Fprintf(&b, `{"id": "%d", "question": "Tell me about %s.", "topic_entities": ["%[2]s"], "answers": `+
			`["%[2]s, it is said, came from Town%[3]c by the sea. %[2]s worked as a craft%[4]c for years."]}`+"\n", i,
			person, 'A'+i%20, 'a'+i%20)
	}
	path := filepath.Join(t.TempDir(), "open.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSentencesThatPeopleWroteGetErrors(t *testing.T) {
	facts, texts := world(t), prose(t)
	items, err := MakeProse(texts, facts, dataset.All, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	known, err := readFacts(facts)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, item := range items {
		counts[item.Kind]++
		listed := slices.Contains(known.objects[[2]string{item.Subject, item.Relation}], item.Object)
		changed := item.Sentence != item.original
		if findName(item.Sentence, item.Subject) < 0 || findName(item.Sentence, item.Object) < 0 {
			t.Errorf("%+v lacks one of its names", item)
		}
		switch item.Kind {
		case True:
			if !listed || changed || item.Gold != verifierv1.Verdict_VERDICT_SUPPORTED {
				t.Errorf("%+v", item)
			}
		case Swapped:
			if listed || !changed || item.Relation != "place of birth" ||
				item.Gold != verifierv1.Verdict_VERDICT_CONTRADICTED {
				t.Errorf("%+v", item)
			}
		case Strange:
			if known.hasName(item.Subject) || !changed || item.Gold != verifierv1.Verdict_VERDICT_NOT_IN_KG ||
				strings.Contains(item.Sentence, item.Topic) {
				t.Errorf("%+v", item)
			}
		}
	}
	if counts[True] != 8 || counts[Swapped] != 8 || counts[Strange] != 8 {
		t.Errorf("made %v", counts)
	}
	again, err := MakeProse(texts, facts, dataset.All, 8, 1)
	if err != nil || !slices.EqualFunc(items, again, func(a, b Item) bool { return a.Sentence == b.Sentence }) {
		t.Errorf("the same seed makes other sentences, %v", err)
	}
}

func TestProseOfAPartIsOfItsQuestionsAlone(t *testing.T) {
	facts, texts := world(t), prose(t)
	set, err := dataset.ReadPart(texts, "open", dataset.Report)
	if err != nil {
		t.Fatal(err)
	}
	topics := map[string]bool{}
	for _, q := range set.Questions {
		topics[q.TopicEntities[0]] = true
	}
	items, err := MakeProse(texts, facts, dataset.Report, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if !topics[item.Topic] {
			t.Errorf("%s is of another part", item.Topic)
		}
	}
	if _, err := MakeProse(texts, facts, dataset.All, 1000, 1); err == nil ||
		!strings.Contains(err.Error(), "--claims") {
		t.Errorf("too many: error %v", err)
	}
}

func TestNamesAreFoundAsWordsOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		sentence, name string
		want           bool
	}{
		{"It opened in 1987.", "1987", true},
		{"Born on 1987-05-09, she sings.", "1987", false},
		{"It weighs 7.5 kg.", "7", false},
		{"It weighs 7. Nothing else is known.", "7", true},
		{"Vellburg is a town.", "Vell", false},
		{"He came from Vell, a lake.", "Vell", true},
		{"He came from Vell", "", false},
	} {
		if got := findName(c.sentence, c.name) >= 0; got != c.want {
			t.Errorf("%q in %q: %v", c.name, c.sentence, got)
		}
	}
	if got := replaceName("Ann met Ann.", "Ann", "Bo $1"); got != "Bo $1 met Bo $1." {
		t.Errorf("replaced: %q", got)
	}
}

func TestOtherClaimsOfASentenceAreNoVerdictOnTheOneInQuestion(t *testing.T) {
	claim := func(object string) *orchestratorv1.Claim {
		return &orchestratorv1.Claim{Verdict: verifierv1.Verdict_VERDICT_SUPPORTED,
			Triple: &graphv1.Triple{Subject: "Ann Lee", Relation: "r", Object: object}}
	}
	item := Item{Subject: "Ann Lee", Object: "Vell", Topic: "Ann Lee", Gold: verifierv1.Verdict_VERDICT_SUPPORTED}
	c := &Command{Timeout: 1 << 40}
	for object, want := range map[string]verifierv1.Verdict{"Vell": verifierv1.Verdict_VERDICT_SUPPORTED,
		"Sund": verifierv1.Verdict_VERDICT_UNSPECIFIED} {
		r := c.checkItem(t.Context(), func(context.Context,
			*orchestratorv1.CheckRequest) (*orchestratorv1.CheckResponse,
			error) {
			return &orchestratorv1.CheckResponse{Check: &orchestratorv1.Check{Claims: []*orchestratorv1.Claim{
				claim("Olm"), claim(object)}}}, nil
		}, nil, item)
		if r.Said != want || r.Others != 1 {
			t.Errorf("%s: %+v", object, r)
		}
	}
}

func FuzzReplaceName(f *testing.F) {
	f.Add("Ann met Ann.", "Ann", "Bo $1")
	f.Add("on 1987-05-09 (7.5)", "7.5", "\\1")
	f.Add("\xff[a]", "[a]", "")
	f.Fuzz(func(t *testing.T, sentence, name, by string) {
		at := findName(sentence, name)
		if at >= 0 && !strings.Contains(sentence[at:], name) {
			t.Fatalf("%q is not in %q at %d", name, sentence, at)
		}
		if replaced := replaceName(sentence, name, by); name != "" && (replaced != sentence) && at < 0 {
			t.Fatalf("%q is not in %q and became %q", name, sentence, replaced)
		}
	})
}
