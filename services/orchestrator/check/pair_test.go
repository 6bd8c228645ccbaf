package check

import (
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

func TestAClaimOfTwoNamesIsReadInAnyWording(t *testing.T) {
	for text, want := range map[string]string{
		"Did [Reik] direct [Tides]?":                             "Reik | direct | Tides",
		"Is it true that [Reik] grew up in [Orla]?":              "Reik | grew up in | Orla",
		"Is [Orla] where [Reik] worked?":                         "Reik | where worked | Orla",
		"Is it true that it was in [Orla] that [Reik] died?":     "Reik | it was in that died | Orla",
		"Is the capital of [Orlanda] [Brisk]?":                   "Orlanda | capital | Brisk",
		"Is it true that the owner of [Tides] is [Reik]?":        "Tides | owner | Reik",
		"Is it true that [Brisk] is the capital of [Orlanda]?":   "Orlanda | capital | Brisk",
		"Was [Reik]'s employer [Globex]?":                        "Reik | employer | Globex",
		"Is it so that [Reik]’s first wife was [Ilse]?":          "Reik | first wife | Ilse",
		"Is [Globex] [Reik]'s employer?":                         "Reik | employer | Globex",
		"[K2] is in [Nepal].":                                    "K2 | is in | Nepal",
		"Is it true that in 1998, [Reik] was hired by [Globex]?": "Reik | in 1998 was hired by | Globex",
		"Did [Reik] die of a [heart] attack?":                    "Reik | die of a | heart attack",
		"Did [Reik] play the [lute] professionally?":             "Reik | play the professionally | lute",
		// Not said of the names, but of what they describe.
		"Did [Reik]'s first wife direct [Tides]?":        "",
		"Was the director of [Tides] born in [Orla]?":    "",
		"Is the wife of [Reik] [Globex]'s founder?":      "",
		"Is it true that [Reik] was not born in [Orla]?": "",
		"Did [Reik] direct and star in [Tides]?":         "",
		"Hasn't [Reik] been to [Orla]?":                  "",
		"Is [Reik] [Tides]?":                             "",
	} {
		a, b := mentionAt(t, text, 0), mentionAt(t, text, 1)
		got := ""
		if claim, ok := claimOf(unmarked.Replace(text), a, b); ok {
			got = claim.GetSubject() + " | " + claim.GetRelation() + " | " + claim.GetObject()
		}
		if got != want {
			t.Errorf("%s claims %q, want %q", text, got, want)
		}
	}
}

var unmarked = strings.NewReplacer("[", "", "]", "")

// mentionAt is the nth marked name of a text.
func mentionAt(t *testing.T, text string, n int) mention {
	t.Helper()
	parts := strings.SplitAfter(text, "[")
	before := unmarked.Replace(strings.Join(parts[:n+1], ""))
	name, _, ok := strings.Cut(parts[n+1], "]")
	if !ok {
		t.Fatalf("%q marks no name %d", text, n)
	}
	return mention{name, len(before), len(before) + len(name)}
}

func TestAReadingThatTheGraphHoldsIsPreferred(t *testing.T) {
	finding := func(verdict verifierv1.Verdict, evidence ...*graphv1.ScoredTriple) *Finding {
		return &Finding{Judgement: &verifierv1.Judgement{Verdict: verdict, Evidence: evidence}}
	}
	order := []*Finding{finding(verifierv1.Verdict_VERDICT_NOT_IN_KG),
		finding(verifierv1.Verdict_VERDICT_NOT_IN_KG, &graphv1.ScoredTriple{}),
		finding(verifierv1.Verdict_VERDICT_CONTRADICTED), finding(verifierv1.Verdict_VERDICT_SUPPORTED)}
	for i := range order[1:] {
		if rank(order[i]) >= rank(order[i+1]) {
			t.Errorf("finding %d is not preferred to the one before", i+1)
		}
	}
}

func TestWhatARelationHoldsElsewhereCountsIfItIsNear(t *testing.T) {
	claim := &verifierv1.ClaimToJudge{
		Objects: []*graphv1.EntityLink{{Entity: "Orla"}},
		Relations: []*verifierv1.RelationMatch{{Relation: "place of birth", Score: .4},
			{Relation: "place of death", Score: .2}},
	}
	found := map[string]surroundings{"Orla": {takes: map[string]bool{"place of birth": true, "place of death": true}}}
	for _, m := range matches(claim, found, map[string]bool{"place of birth": true}) {
		if !m.GetTakesObject() || m.GetFar() != (m.GetRelation() == "place of death") {
			t.Errorf("%s takes the object: %v, far: %v", m.GetRelation(), m.GetTakesObject(), m.GetFar())
		}
	}
}

func TestNamesAreFoundAsWholeWords(t *testing.T) {
	for _, c := range []struct {
		sentence, name string
		at             int
	}{
		{"Orlanda is no Orla.", "Orla", 14}, {"Orlanda", "Orla", -1}, {"Éa and a", "a", 8}, {"a", "", -1},
		{"", "a", -1},
		{"K2, K", "K", 4},
	} {
		if got := findWords(c.sentence, c.name); got != c.at {
			t.Errorf("%q is at %d of %q, want %d", c.name, got, c.sentence, c.at)
		}
	}
}

func FuzzClaimOf(f *testing.F) {
	f.Add("Is Oslo the capital of Norway?", "Oslo", "Norway")
	f.Add("'s of 's", "", "s")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		first, second := findWords(text, a), findWords(text, b)
		if first < 0 || second < first+len(a) {
			return
		}
		claim, ok := claimOf(text, mention{a, first, first + len(a)}, mention{b, second, second + len(b)})
		if ok && (claim.GetRelation() == "" || claim.GetSubject() == claim.GetObject() && a != b) {
			t.Errorf("%q claims %v", text, claim)
		}
	})
}
