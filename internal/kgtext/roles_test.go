package kgtext_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func TestOtherRole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, question, steps, want string }{
		{"another kin", "Who is the mother of Anna Lind?", "spouse", "spouse"},
		{"the same by another word", "Who is Anna Lind's husband?", "spouse", ""},
		{"the parent by an inverse child", "Who is the father of Anna Lind?", "^child", ""},
		{"the child by an inverse child", "Who is the daughter of Anna Lind?", "^child", "parent"},
		{"the child by an inverse parent", "Who is the son of Anna Lind?", "^people.person.parents", ""},
		{"the mother by what she is the mother of", "Who is the mother of Anna Lind?", "^mother of", ""},
		{"the child by what somebody is the father of", "Who is the child of Anna Lind?", "father of", ""},
		{"the father by his own", "Who is the father of Anna Lind?", "father of", "child"},
		{"whose mother somebody is", "Who is Anna Lind the mother of?", "mother of", ""},
		{"whose mother somebody is, by her own", "Who is Anna Lind the mother of?", "^mother of", "parent"},
		{"who stands beside a leader", "Who is the deputy leader of Anna Lind?", "leader", "leader"},
		{"… by a relation of its own", "Who is the deputy leader of Anna Lind?", "deputy leader", ""},
		{"who invented what somebody makes", "Who invented Orlin?", "manufacturer", "maker"},
		{"where somebody lives", "Where does Anna Lind live?", "place of birth", "birth"},
		{"what the question also asks for", "Where was the wife of Anna Lind born?", "spouse", ""},
		{"another of the crew", "who directed The Grey Door", "screenwriter", "writer"},
		{"whom somebody works for", "Which company did Anna Lind found?", "employer", "employer"},
		{"where somebody studied", "Who employed Anna Lind?", "educated at", "education"},
		{"a fact over a mediator", "who is the sister of Anna Lind",
			"people.person.sibling_s; people.sibling.sibling", ""},
		{"who has the same parent", "who is the sister of Anna Lind", "mother; ^mother", ""},
		{"who has the same child", "who is the sister of Anna Lind", "^mother; mother", "child"},
		{"the child of who has the same parent", "who is the cousin of Anna Lind",
			"mother; father; ^father; ^mother", ""},
		{"another measure", "How deep is the Anna Lind?", "Length (km)", "length"},
		{"the same measure", "How tall is Anna Lind?", "elevation", ""},
		{"who made what somebody designed", "Who designed the Anna Lind?", "manufacturer", "maker"},
		{"who designed what somebody built", "Who built the Anna Lind?", "architect", ""},
		{"when it ended by when it began", "When was the Anna Lind discontinued?", "year introduced", "introduction"},
		{"when it began in another word", "When was the Anna Lind launched?", "year introduced", ""},
		{"who lost what somebody won", "Who won the Anna Lind?", "LOSER", "loser"},
		{"who came second", "Who won the Anna Lind?", "runner-up", "loser"},
		{"what somebody won", "What did Anna Lind win?", "award won", ""},
		{"another relation of states", "Is Orla a neighbour of Anna Lind?", "diplomatic relation", "diplomacy"},
		{"the same relation of states", "Is Orla a neighbour of Anna Lind?", "shares border with", ""},
		{"who owns it by its subsidiary", "Which company owns Anna Lind?", "subsidiary", "subsidiary"},
		{"who owns it by a verb", "Which company owns Anna Lind?", "^owns", ""},
		{"what somebody owns", "What does Anna Lind own?", "owns", ""},
		{"who owns it by being one", "Which company owns Anna Lind?", "^subsidiary", ""},
		{"who came before by who came after", "Who was the predecessor of Anna Lind?", "successor", "successor"},
		{"who came before by having come after", "Who was the predecessor of Anna Lind?", "^successor", ""},
		{"who succeeded somebody", "Who succeeded Anna Lind?", "successor", ""},
		{"whom somebody succeeded", "Who succeeded Anna Lind?", "^successor", "predecessor"},
		{"what comes before by what comes next", "Which station comes before Anna Lind?", "next station", "successor"},
		{"what comes after", "Which station comes after Anna Lind?", "next station", ""},
		{"what is named after it", "Which stop is named after Anna Lind?", "^named after", ""},
		{"who owns it by who leads it", "Who owns Anna Lind?", "CEO", "leader"},
		{"who leads it", "Who runs Anna Lind?", "director", ""},
		{"what it earns by what it sells", "What is the profit of Anna Lind?", "revenue", "revenue"},
		{"another temperature", "At what temperature does Anna Lind boil?", "melting point", "melting"},
		{"a code of an area", "What is the area of Anna Lind?", "areaCode", "code"},
		{"the area in total", "What is the area of Anna Lind?", "areaTotal", ""},
		{"a density of population", "What is the population of Anna Lind?", "populationDensity", "density"},
		{"who published it", "Who is the publisher of Anna Lind?", "author", "writer"},
		{"who translated it", "Who translated Anna Lind?", "Author", "writer"},
		{"a lead, where members are asked for", "Who is in the Anna Lind team?", "team lead", "lead"},
		{"a lead of a kind", "Which doctors work in Anna Lind?", "head_doctor", "head"},
		{"leads themselves", "Which heads work in Anna Lind?", "head_doctor", ""},
		{"who works there", "Who works on Anna Lind?", "^manager of", "manager"},
		{"members", "Who is in the Anna Lind team?", "^member of", ""},
		{"a lead, where one is asked for", "Who is the head of Anna Lind?", "team lead", ""},
		{"a parent is no grandparent", "Who is the grandmother of Anna Lind?", "mother", "parent"},
		{"a parent's parent is one", "Who is the grandmother of Anna Lind?", "father; mother", ""},
		{"by one relation too", "Who is the grandmother of Anna Lind?", "father / mother", ""},
		{"a child is no in-law", "Who is the mother-in-law of Anna Lind?", "child", "child"},
		{"nor is a spouse", "Who is Anna Lind's brother-in-law?", "spouse", "spouse"},
		{"a relation says it", "Who is the mother-in-law of Anna Lind?", "mother-in-law", ""},
		{"a spouse's mother is one", "Who is the mother-in-law of Anna Lind?", "spouse; mother", ""},
		{"a child's child is none", "Who is the grandmother of Anna Lind?", "child; child", "child"},
		{"an aunt is a parent's sibling", "Who is the aunt of Anna Lind?", "mother; sister", ""},
		{"the spouse of a parent", "Who is the spouse of Anna Lind?", "father; ^spouse", "parent"},
		{"the mother of a spouse", "Who is the mother-in-law of Anna Lind?", "spouse; mother", ""},
		{"what both facts are asked for", "Who is the spouse of the mother of Anna Lind?", "mother; spouse", ""},
		{"where something leaves from", "Which flights depart from Anna Lind?", "destination", "destination"},
		{"where it goes", "Where does Anna Lind arrive?", "origin", "origin"},
		{"where somebody comes from", "Where does Anna Lind live?", "country of origin", "origin"},
		{"what is no role", "Who is the mother of Anna Lind?", "employer", ""},
		{"a question without a role", "What does Anna Lind do?", "spouse", ""},
		{"a role in the name of the topic", "Where is Anna Lind Born Lives?", "residence", ""},
		{"a relation without a name", "Who is the mother of Anna Lind?", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var steps []*graphv1.RelationStep
			for part := range strings.SplitSeq(c.steps, "; ") {
				relation, inverse := strings.CutPrefix(part, "^")
				steps = append(steps, &graphv1.RelationStep{Relation: relation, Inverse: inverse})
			}
			topic := "Anna Lind"
			if strings.Contains(c.question, "Born Lives") {
				topic = "Anna Lind Born Lives"
			}
			if got := kgtext.OtherRole(c.question, topic, steps); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLacksKin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question, relation string
		want               bool
	}{
		{"Who was the grandfather of Anna Lind?", "dynasty", true},
		{"Who is Anna Lind's uncle?", "employer", true},
		{"Who was the grandfather of Anna Lind?", "father / father", false},
		{"Who is the mother of Anna Lind?", "parent", false},
		{"Who directed The Father of Anna?", "directed by", false}, // it names no relative behind who
		{"Which film is about the mother of Anna Lind?", "subject", false},
	} {
		if got := kgtext.LacksKin(c.question, c.relation); got != c.want {
			t.Errorf("%q by %q: %v", c.question, c.relation, got)
		}
	}
}

func TestIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, question, relation string
		want                     bool
	}{
		{"a word of the relation", "Who directed Orla?", "director", true},
		{"its role", "Where was Anna Lind born?", "place of birth", true},
		{"a synonym", "Who makes Orla?", "manufacturer", true},
		{"a synonym in a compound", "Where did Anna Lind study?", "almaMater", true},
		{"another verb", "Who reported Orla?", "resolved by", false},
		{"another noun", "Who designed Orla?", "supplier", false},
	} {
		if got := kgtext.IsSaid(c.relation, c.question); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestSharesRole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"born", "Date of birth", true}, {"born", "date of death", false}, {"wife", "spouse", true},
		{"", "spouse", false}, {"cost", "ticketPrice", true}, {"passed away in", "place of death", true},
		{"founded in", "location of formation", true}, {"founded in", "headquarters location", false},
	} {
		if got := kgtext.SharesRole(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

func TestSharesMeasure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"cost", "price (EUR)", true}, {"manager", "head", false}, {"height", "length", false},
	} {
		if got := kgtext.SharesMeasure(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

func TestExcludesRole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, phrase, relation string
		want                   bool
	}{
		{"another one of the group", "is run by", "owner", true},
		{"the same one", "is run by", "manager", false},
		{"one of two that the phrase names", "wrote and directed", "director", false},
		{"none at all", "is in", "owner", false},
		{"one that may be said of the other side", "succeeded", "predecessor", false},
		{"a relative", "the son of", "father", false},
	} {
		if got := kgtext.ExcludesRole(c.phrase, c.relation); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestUnitOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"distance (km)": "km", "distance": "", "length (m) of hall": ""} {
		if got := kgtext.UnitOf(name); got != want {
			t.Errorf("%q has %q", name, got)
		}
	}
}

func TestSaysFormer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"previous club": true, "formerTeam": true, "club": false,
		"Which club did Mara Vell play for before?": true, "Who used to play for Orla?": true,
		"Where did Mara Vell use to work?": true, "What is Orlin used to treat?": false,
		"Did Mara Vell join before Per Holm?": false, "Who preceded Mara Vell?": false} {
		if got := kgtext.SaysFormer(text); got != want {
			t.Errorf("%q says what was before: %v", text, got)
		}
	}
}

func TestIsPast(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"Did Mara Vell play for Orla?": true, "Mara Vell played for Orla.": true,
		"Does Mara Vell play for Orla?": false, "Mara Vell plays for Orla.": false, "Who has been there?": true} {
		if got := kgtext.IsPast(text); got != want {
			t.Errorf("%q is in the past tense: %v", text, got)
		}
	}
}

func TestAsksAgain(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]bool{
		"Who manages Anna Lind's manager?":                 true,
		"Who is the father of the father of Anna Lind?":    true,
		"Who is the father of the mother of Anna Lind?":    false,
		"Who manages Anna Lind?":                           false,
		"Which city is the capital city of Anna Lind?":     false,
		"What is Anna Lind's favourite colour?":            false,
		"What is the capital of the country of Anna Lind?": false,
		"Who is it?": false,
	} {
		if got := kgtext.AsksAgain(question, "Anna Lind"); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}

func TestIsTurned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question, relation string
		inverse, want      bool
	}{
		{"Who influenced Anna Lind?", "influenced by", false, false},
		{"Who influenced Anna Lind?", "influenced by", true, true},
		{"Who was influenced by Anna Lind?", "influenced by", true, false},
		{"Who was influenced by the Anna Lind?", "influenced by", false, true},
		{"Who was influenced by Lind?", "influenced by", false, true},
		{"Who was influenced by Anna?", "influenced by", false, false},
		{"Whom did Anna Lind influence?", "person.influenced_by", false, true},
		{"Whom did Anna Lind influence?", "influenced by", true, false},
		{"Which films were directed by Anna Lind?", "directed_by", true, false},
		{"Which films by director Anna Lind are there?", "directed_by", true, false},
		{"By whom was Anna Lind influenced?", "influenced by", false, false},
		{"Who are the influences of Anna Lind?", "influenced by", false, false},
		{"Who is the mentor of Anna Lind?", "mentor", true, false},
		{"Who influenced her?", "influenced by", true, false},
	} {
		step := &graphv1.RelationStep{Relation: c.relation, Inverse: c.inverse}
		if got := kgtext.IsTurned(c.question, "Anna Lind", step); got != c.want {
			t.Errorf("%q by %q, inverse %v: %v", c.question, c.relation, c.inverse, got)
		}
	}
}

func TestTurnsRole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question, relation string
		inverse, want      bool
	}{
		{"Who defended Anna Lind?", "defendant", true, true},
		{"Who defended Anna Lind?", "defendant", false, false},
		{"Who defended Anna Lind?", "inverse of born in / inverse of head of the defenders", false, true},
		{"Who defended Anna Lind?", "counsel", true, false},
		{"Who coaches Anna Lind?", "coach", true, true},
		{"Who coaches Anna Lind?", "coach", false, false},
		{"Who coaches Anna Lind?", "former coaches", true, false},
		{"Who captains Anna Lind?", "CAPTAIN_OF", true, false},
		{"Who manages Anna Lind?", "manager of", true, false},
		{"Who manages Anna Lind?", "manager of", false, true},
		{"Who was defended by Anna Lind?", "defender", true, false},
		{"Who did Anna Lind defend?", "defender", true, false},
		{"Who employs Anna Lind?", "engineer", true, false},
		{"Which cases did Anna Lind defend?", "defender", true, false},
	} {
		step := &graphv1.RelationStep{Relation: c.relation, Inverse: c.inverse}
		if got := kgtext.TurnsRole(c.question, step); got != c.want {
			t.Errorf("%q by %q, inverse %v: %v", c.question, c.relation, c.inverse, got)
		}
	}
}

func TestIsRoleOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, words, relation string
		isRole, isNoun        bool
	}{
		{"who does it", "director", "directed_by", true, false},
		{"one of the words", "film writers", "film.written_by", true, false},
		{"the noun of the relation", "instruments", "instrument", false, true},
		{"… with a word that says nothing", "genre", "has_genre", false, true},
		{"the noun of its subjects", "capital", "capital of", false, false},
		{"a noun among others", "instrument", "instrument maker", false, false},
		{"another noun", "instrument", "genre", false, false},
		{"kin, who have such kin too", "parents", "parents", false, false},
	} {
		if kgtext.IsRoleOf(c.words, c.relation) != c.isRole || kgtext.IsNounOf(c.words, c.relation) != c.isNoun {
			t.Errorf("%s: of %q %q is a role %v, a noun %v", c.name, c.relation, c.words, !c.isRole, !c.isNoun)
		}
	}
}
