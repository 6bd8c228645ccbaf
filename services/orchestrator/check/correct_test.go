package check_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/check"
)

const (
	supported    = verifierv1.Verdict_VERDICT_SUPPORTED
	contradicted = verifierv1.Verdict_VERDICT_CONTRADICTED
	notInKG      = verifierv1.Verdict_VERDICT_NOT_IN_KG
)

// about returns a finding on the first occurrence of words in a text.
func about(text, words string, verdict verifierv1.Verdict, correction string) *check.Finding {
	before, _, _ := strings.Cut(text, words)
	start := utf8.RuneCountInString(before)
	return &check.Finding{
		Extracted: &generatorv1.ExtractedClaim{ObjectSpan: &graphv1.TextSpan{
			Start: uint32(start), End: uint32(start + utf8.RuneCountInString(words)),
		}},
		Judgement: &verifierv1.Judgement{Verdict: verdict, Correction: correction},
	}
}

func TestCorrect(t *testing.T) {
	const text = "Stam (né Štam) works at Google,\r\nin Orla; Reik works at Google too."
	denied := about(text, "Google", contradicted, "NYU")
	denied.Extracted.Negated = true
	turned := about(text, "Orla", contradicted, "Reik")
	turned.Extracted.SubjectSpan, turned.Judgement.CorrectsSubject = about(text, "Stam", contradicted,
		"").Extracted.GetObjectSpan(), true
	lost := about(text, "Orla", contradicted, "Velmora")
	lost.Extracted.ObjectSpan = nil
	beyond := about(text, "Orla", contradicted, "Velmora")
	beyond.Extracted.ObjectSpan.End = 9999
	for _, c := range []struct {
		name     string
		findings []*check.Finding
		want     string
	}{
		{"nothing is wrong", []*check.Finding{about(text, "Google", supported, ""), about(text, "Orla", notInKG, "")},
			text},
		{"one object is", []*check.Finding{about(text, "Google", contradicted, "Űniversity")},
			strings.Replace(text, "Google", "Űniversity", 1)},
		{"two are, in any order", []*check.Finding{about(text, "Orla", contradicted, "Velmora"), about(text, "Google",
			contradicted, "NYU")}, strings.NewReplacer("at Google,", "at NYU,", "Orla", "Velmora").Replace(text)},
		{"a claim that is not judged changes nothing", []*check.Finding{{Extracted: lost.Extracted}}, text},
		{"several things in its place are none", []*check.Finding{about(text, "Google", contradicted, "")}, text},
		{"a denial is not put right by a name", []*check.Finding{denied}, text},
		{"an object in other words stays", []*check.Finding{lost}, text},
		{"a place that is not there stays", []*check.Finding{beyond}, text},
		{"another spelling is no change", []*check.Finding{about(text, "Google", contradicted, "google!")}, text},
		{"a claim the other way about has its subject changed", []*check.Finding{turned},
			strings.Replace(text, "Stam", "Reik", 1)},
		{"words that another claim has right stay", []*check.Finding{about(text, "Google", contradicted, "NYU"),
			about(text, "Google", supported, "")}, text},
		{"words that two would change in two ways stay", []*check.Finding{about(text, "Google", contradicted, "NYU"),
			about(text, "at Google", contradicted, "at home")}, text},
		{"words that two would change alike are changed once", []*check.Finding{about(text, "Google", contradicted,
			"NYU"), about(text, "Google", contradicted, "NYU")}, strings.Replace(text, "Google", "NYU", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, changes := check.Correct(text, c.findings)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			fits(t, text, got, changes)
		})
	}
}

// fits checks that the corrections' spans are right in both texts and the rest is unchanged.
func fits(t *testing.T, text, corrected string, changes []*orchestratorv1.Correction) {
	t.Helper()
	before, after := []rune(text), []rune(corrected)
	read, written := uint32(0), uint32(0)
	for _, c := range changes {
		if c.GetSpan().GetStart() < read ||
			string(before[c.GetSpan().GetStart():c.GetSpan().GetEnd()]) != c.GetBefore() {
			t.Fatalf("%v is not in the text", c)
		}
		if string(after[c.GetCorrectedSpan().GetStart():c.GetCorrectedSpan().GetEnd()]) != c.GetAfter() {
			t.Fatalf("%v is not in the corrected text", c)
		}
		if string(before[read:c.GetSpan().GetStart()]) != string(after[written:c.GetCorrectedSpan().GetStart()]) {
			t.Fatalf("what stands before %v changed", c)
		}
		read, written = c.GetSpan().GetEnd(), c.GetCorrectedSpan().GetEnd()
	}
	if string(before[read:]) != string(after[written:]) {
		t.Fatal("the end of the text changed")
	}
}

func FuzzCorrect(f *testing.F) {
	f.Add("Stam works at Google.", "NYU", uint32(14), uint32(20), uint32(15), uint32(21))
	f.Add("aé他b", "", uint32(0), uint32(9), uint32(1), uint32(1))
	f.Fuzz(func(t *testing.T, text, name string, a, b, c, d uint32) {
		if !utf8.ValidString(text) || !utf8.ValidString(name) {
			return // the contract carries none
		}
		var findings []*check.Finding
		for _, s := range [][2]uint32{{a, b}, {c, d}} {
			findings = append(findings, &check.Finding{
				Extracted: &generatorv1.ExtractedClaim{ObjectSpan: &graphv1.TextSpan{Start: s[0], End: s[1]}},
				Judgement: &verifierv1.Judgement{Verdict: contradicted, Correction: name},
			})
		}
		corrected, changes := check.Correct(text, findings)
		fits(t, text, corrected, changes)
	})
}
