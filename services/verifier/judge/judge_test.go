package judge_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/config"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/verifier/judge"
)

// fact is "subject | relation | object", and the time it holds behind an @:
// "1995..1999".
func fact(t *testing.T, line string) *graphv1.Triple {
	t.Helper()
	line, held, timed := strings.Cut(line, " @")
	parts := strings.Split(line, " | ")
	if len(parts) != 3 {
		t.Fatalf("%q is no fact", line)
	}
	triple := &graphv1.Triple{Subject: parts[0], Relation: parts[1], Object: parts[2]}
	if timed {
		start, end, _ := strings.Cut(held, "..")
		triple.Validity = &graphv1.ValidityInterval{Start: start, End: end}
	}
	return triple
}

// kg is a small knowledge graph.
var kg = []string{
	"Robert Stam | employer | New York University",
	"Reik | place of birth | Velmora", "Reik | place of death | Orla",
	"Orlanda | capital | Brisk", "Brisk | country | Orlanda",
	"Anna | occupation | actress", "Anna | occupation | singer",
	"Tides | director | Erik Halvorsen", "Tides | date of publication | 1998-05-02",
	"Orlanda | height | 1420", "Velmora | population | 48,000", "Velmora | area | 12 square kilometre",
	"Ilse | father | Tomas", "Per | child | Nils", "Ilse | nationality | Austria",
	"Ilse | party | Greens", "Laurel Films | headquarters location | Orla", "Anna | spouse | Reik",
	"Velmora | head of government | Brandt @1998..2006", "Velmora | head of government | Reik @2006..",
	"Lost Tides | production company | Laurel Films",
	"Dana | party | Democratic Party", "Dana | religion | Catholicism", "Dana | date of birth | 1961-04-02",
	"Dana | owns | Velmora", "Reik | employer | Globex", "Reik | party | Greens",
	"Nils | religion | Deism", "Dana | employer | Baptist Church",
	"Reik | influenced by | Anna", "Tides | cast member | Reik",
	"Nils | place of birth | Orla, Orlanda", "Nils | place of birth | Orla",
	"Anna | place of birth | Lund", "Anna | place of birth | Scania", "Globex | owner | Reik",
	"Velmora | continent | Arcania",
	"Globex | language | Orlandish language", "Globex | length | 17068.8 (millimetres)", "Globex | staff size | ~500",
	"Globex | author | Erik Halvorsen", "Globex | tags | pumps", "Globex | county | Tessen County, Orlanda",
	"University of Tessen | location | Tessen", "Velmora | country | Orlanda", "Old Quarter | part of | Velmora",
	"Orlanda | built | May 1950 - August 1956",
	"Nils | captain | no", "Per | captain | yes", "Nils | club | Globex", "Nils | previous club | Laurel Films",
	"Globex | status | sold",
	"Tides | ingredient | Chili pepper", "Tides | ingredient | Tomato", "Acme | party | Green Party (Orlanda)",
	"Acme | licensed by / location | Brisk", "Acme | location / country | Arcania", "Acme | deathPlace | Orla",
	"Acme | base location | Orla", "Acme | base location | Denmark", "Acme | country | United States",
	"Acme | distance to centre (km) | 4.8", "Acme | rooms | 150", "Acme | price (EUR) | 320000",
	"Acme | phone | 555-0105",
	"Acme | revenue (million EUR) | 7800", "Acme | density (g/cm3) | 8.65", "Reik | citizenship | United Kingdom",
	"Acme | club | Hull City A.F.C.", "Acme | supplier | Lorn Ltd.", "Acme | instance of | firm",
}

// near are cosines of relations in other words to those of the knowledge graph.
var near = map[string][]*verifierv1.RelationMatch{
	"works for":      {{Relation: "employer", Score: .7}, {Relation: "occupation", Score: .5}},
	"died in":        {{Relation: "place of death", Score: .8}, {Relation: "place of birth", Score: .62}},
	"formed in":      {{Relation: "headquarters location", Score: .7, TakesObject: true}},
	"passed away in": {{Relation: "place of birth", Score: .6, TakesObject: true}},
	"cost":           {{Relation: "price (EUR)", Score: .4}},
	"revenue":        {{Relation: "revenue (million EUR)", Score: .8}},
	"density":        {{Relation: "density (g/cm3)", Score: .8}},
	"capital of":     {{Relation: "capital", Score: .9}},
	"wrote":          {{Relation: "author", Score: .6}, {Relation: "director", Score: .4}},
	"directed":       {{Relation: "director", Score: .8}},
	"plays in":       {{Relation: "party", Score: .35, TakesObject: true}, {Relation: "employer", Score: .9}},
	"cheers":         {{Relation: "party", Score: .2, TakesObject: true}, {Relation: "employer", Score: .9}},
	"knows of": {{Relation: "party", Score: .35, TakesObject: true},
		{Relation: "employer", Score: .9, TakesObject: true}},
	"teases":      {{Relation: "spouse", Score: .35, TakesObject: true}, {Relation: "employer", Score: .9}},
	"is":          {{Relation: "status", Score: .1}, {Relation: "party", Score: .9}},
	"plays for":   {{Relation: "club", Score: .7}},
	"play in the": {{Relation: "party", Score: .1, TakesObject: true}, {Relation: "employer", Score: .9}},
	"place of death": {{Relation: "place of death", Score: 1, TakesObject: true},
		{Relation: "deathPlace", Score: .8}},
	"played for": {{Relation: "club", Score: .7}, {Relation: "previous club", Score: .5}},
	"taught in":  {{Relation: "employer", Score: .6}, {Relation: "party", Score: .1, TakesObject: true}},
	"unlike":     {{Relation: "employer", Score: .1}},
	"led by":     {{Relation: "head of government", Score: .7}},
	"came from":  {{Relation: "place of birth", Score: .45, TakesObject: true}, {Relation: "employer", Score: .45}},
	"is heir of": {{Relation: "father", Score: .7}},
	"made a living as": {{Relation: "trade", Score: .8}, {Relation: "occupation", Score: .62},
		{Relation: "place of birth", Score: .62}},
	"owner of":     {{Relation: "owner", Score: .9}},
	"lies in":      {{Relation: "continent", Score: .2}},
	"father of":    {{Relation: "father", Score: .9}, {Relation: "child", Score: .8}},
	"son of":       {{Relation: "child", Score: .8}, {Relation: "father", Score: .7}},
	"brother of":   {{Relation: "child", Score: .6}},
	"influenced":   {{Relation: "influenced by", Score: .9}},
	"influence":    {{Relation: "influenced by", Score: .9}},
	"written in":   {{Relation: "author", Score: .7}, {Relation: "binding", Score: .3, TakesObject: true}},
	"written by":   {{Relation: "director", Score: .8}},
	"observed":     {{Relation: "instance of", Score: .6}},
	"is a kind of": {{Relation: "instance of", Score: .6}},
	"influencer":   {{Relation: "influenced by", Score: .9}},
	"acted in":     {{Relation: "cast member", Score: .5}},
	"seat":         {{Relation: "capital", Score: .6, TakesSubject: true}},
	"location of":  {{Relation: "headquarters", Score: .95}, {Relation: "location", Score: .6}},
	"married with": {{Relation: "spouse", Score: .8}},
	"affiliated with": {{Relation: "partner of", Score: .9}, {Relation: "employer", Score: .2},
		{Relation: "party", Score: .3, TakesObject: true, Far: true}},
	"supporter of": {{Relation: "donor to", Score: .9, TakesObject: true},
		{Relation: "party", Score: .5, TakesObject: true, Far: true}},
	"founded in": {{Relation: "location of formation", Score: .9}, {Relation: "headquarters location", Score: .5,
		TakesObject: true, Far: true}},
}

func TestWhatElseASubjectIsOfSaysNothingOfTheClaim(t *testing.T) {
	triple := fact(t, "Tides | director | Erik Halvorsen")
	req := &verifierv1.JudgeClaimsRequest{
		Claims: []*verifierv1.ClaimToJudge{{Triple: fact(t, "Erik Halvorsen | director of | Unknown Shores"),
			Relations: []*verifierv1.RelationMatch{{Relation: "director", Score: .9}}}},
		GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Subject: "Tides",
			Triples: []*graphv1.ScoredTriple{{Triple: triple}}}}},
	}
	got := judge.Judge(req, judge.DefaultConfig())[0]
	if got.GetVerdict() != verifierv1.Verdict_VERDICT_NOT_IN_KG || len(got.GetEvidence()) > 0 {
		t.Errorf("judged %v by %v", got.GetVerdict(), got.GetEvidence())
	}
}

func TestJudge(t *testing.T) {
	uses := []*verifierv1.RelationUse{
		{Relation: "employer", Subjects: 100, Several: 2}, {Relation: "occupation", Subjects: 100, Several: 44},
		{Relation: "country", Subjects: 100, Several: 4}, {Relation: "author", Subjects: 100, Several: 14},
		{Relation: "tags", Subjects: 100, Several: 14}, {Relation: "base location", Subjects: 100, Several: 45},
		{Relation: "place of birth", Subjects: 100, Several: 60},
		{Relation: "instance of", Subjects: 100, Several: 2},
	}
	for _, c := range []struct {
		name, claim string
		negated     bool
		want        string
		correction  string
	}{
		{"what something is rules out no other thing that it does", "Acme | observed | Orla", false, "not-in-kg", ""},
		{"what it is rules out another kind", "Acme | is a kind of | River", false, "contradicted", "firm"},
		{"the same triple", "Robert Stam | employer | New York University", false, "supported", ""},
		{"the same in other words", "robert stam | works for | the New York University", false, "supported", ""},
		{"another object of what holds one", "Robert Stam | works for | Google", false, "contradicted",
			"New York University"},
		{"another object of what holds many", "Anna | occupation | carpenter", false, "not-in-kg", ""},
		{"one object of many", "Anna | occupation | singer", false, "supported", ""},
		{"nothing of the relation", "Robert Stam | place of birth | Orla", false, "not-in-kg", ""},
		{"a subject that is not there", "Ronald Stam | employer | New York University", false, "not-in-kg", ""},
		{"a relation far from all there are", "Robert Stam | unlike | Google", false, "not-in-kg", ""},
		{"the names of another relation", "Reik | died in | Velmora", false, "contradicted", "Orla"},
		{"a relation that the subject lacks beside one it has", "University of Tessen | location of | Orla", false,
			"not-in-kg", ""},
		{"what the subject has in a relation that fits less", "Reik | taught in | Greens", false, "not-in-kg", ""},
		{"unless its own surely is that", "Reik | place of birth | Globex", false, "contradicted", "Velmora"},
		{"what others have in it", "Robert Stam | taught in | Greens", false, "contradicted", "New York University"},
		{"a denial of what is there", "Robert Stam | employer | New York University", true, "contradicted", ""},
		{"a denial of what is not there", "Robert Stam | employer | Google", true, "supported", ""},
		{"a denial of what nobody knows", "Robert Stam | place of birth | Orla", true, "not-in-kg", ""},
		{"a value of a list that is near enough to be shown", "Anna | made a living as | singer", false, "supported",
			""},
		{"not of one that holds a single value", "Reik | made a living as | Velmora", false, "not-in-kg", ""},
		{"of things of one kind, from object to subject", "Tomas | father of | Ilse", false, "supported", ""},
		{"not the other way about", "Ilse | father of | Tomas", false, "not-in-kg", ""},
		{"what acts, by what is acted on", "Anna | influenced | Reik", false, "supported", ""},
		{"not what is acted on, by what acts", "Reik | influenced | Anna", false, "not-in-kg", ""},
		{"… in any form of the verb", "Reik | influence | Anna", false, "not-in-kg", ""},
		{"by the noun for what acts", "Reik | influencer | Anna", false, "supported", ""},
		{"not who directed it, of who wrote it", "Tides | written by | Erik Halvorsen", false, "not-in-kg", ""},
		{"the cast of a work, by its actor", "Reik | acted in | Tides", false, "supported", ""},
		{"read from object to subject", "Brisk | capital of | Orlanda", false, "supported", ""},
		{"a verb in a noun's place", "Erik Halvorsen | directed | Tides", false, "supported", ""},
		{"swapped by the model", "Brisk | capital | Orlanda", false, "supported", ""},
		{"swapped, and wrong", "Velmora | seat | Orlanda", false, "contradicted", "Brisk"},
		{"whose father one is is not one's father", "Tomas | father | Ilse", false, "not-in-kg", ""},
		{"whose child one is is one's father", "Per | father of | Nils", false, "supported", ""},
		{"and not the other way about", "Nils | father of | Per", false, "not-in-kg", ""},
		{"whose father one is is one's child", "Nils | son of | Per", false, "supported", ""},
		{"a child is no sibling", "Per | brother of | Nils", false, "not-in-kg", ""},
		{"spouses are each other's", "Reik | married with | Anna", false, "supported", ""},
		{"a kind of object that tells the relation", "Reik | came from | Tessen", false, "contradicted", "Velmora"},
		{"a date less precise than the graph's", "Tides | date of publication | May 1998", false, "supported", ""},
		{"a date as people write it", "Tides | date of publication | 2 May 1998", false, "supported", ""},
		{"another date", "Tides | date of publication | 1999", false, "contradicted", "1998-05-02"},
		{"a name is no date", "Tides | date of publication | Velmora", false, "not-in-kg", ""},
		{"a number as people write it", "Velmora | population | 48000", false, "supported", ""},
		{"a number that may be a year is one beside others", "Orlanda | height | 70000", false, "contradicted", "1420"},
		{"and beside a unit", "Orlanda | height | 546 metres", false, "contradicted", "1420"},
		{"a quantity in another unit may be the same", "Velmora | area | 3000 acres", false, "not-in-kg", ""},
		{"whoever comes from a country", "Ilse | nationality | Austrian", false, "supported", ""},
		{"from another one", "Ilse | nationality | Australian", false, "contradicted", "Austria"},
		{"and with a profession may be from there", "Ilse | nationality | Austrian painter", false, "not-in-kg", ""},
		{"who follows a party", "Dana | party | Democrat", false, "supported", ""},
		{"or a religion", "Dana | religion | Catholic", false, "supported", ""},
		{"in a short word", "Nils | religion | deist", false, "supported", ""},
		{"a word that the graph lacks, which may be another for the same", "Dana | religion | papistry", false,
			"not-in-kg", ""},
		{"another one", "Dana | religion | Baptist", false, "contradicted", "Catholicism"},
		{"who works for a church does not belong to it", "Dana | employer | Baptists", false, "not-in-kg", ""},
		{"the only relation that has such an object", "Ilse | affiliated with | Greens", false, "supported", ""},
		{"not where another one fits better", "Ilse | supporter of | Greens", false, "not-in-kg", ""},
		{"nor of two places of one thing", "Laurel Films | founded in | Orla", false, "not-in-kg", ""},
		{"a unit in short", "Velmora | area | 12 km²", false, "supported", ""},
		{"another quantity", "Velmora | area | 13 km²", false, "contradicted", "12 square kilometre"},
		{"a number that begins a name", "Lost Tides | production company | 20th Century Films", false, "contradicted",
			"Laurel Films"},
		{"words in another order", "Tessen University | location | Tessen", false, "supported", ""},
		{"a longer name is not another for sure", "Robert Stam | employer | York University", false, "not-in-kg", ""},
		{"a place with what it lies in", "University of Tessen | location | Tessen, Orlanda", false, "supported", ""},
		{"a letter wrong", "Erik Halvorsen | directed | Tides", false, "supported", ""},
		{"a country holds its cities", "Reik | place of birth | Orlanda", false, "supported", ""},
		{"but a denial of it is open", "Reik | place of birth | Orlanda", true, "not-in-kg", ""},
		{"a city has parts", "Reik | place of birth | Old Quarter", false, "not-in-kg", ""},
		{"nobody is born in two cities", "Nils | place of birth | Brisk", false, "contradicted", ""},
		{"or in another than those listed", "Anna | place of birth | Brisk", false, "contradicted", ""},
		{"but in one of these places", "Anna | place of birth | Scania", false, "supported", ""},
		{"or nearer to one", "Nils | place of birth | Old Orla", false, "not-in-kg", ""},
		{"what is owned, by another", "Ilse | owner of | Globex", false, "contradicted", "Reik"},
		{"what a place lies in, whatever that is", "Velmora | lies in | Arcania", false, "supported", ""},
		{"a language without the word", "Globex | language | Orlandish", false, "supported", ""},
		{"a place without what it lies in", "Globex | county | Tessen County", false, "supported", ""},
		{"a value in another unit", "Globex | length | 17.0688 metres", false, "supported", ""},
		{"another value in another unit", "Globex | length | 19 metres", false, "contradicted",
			"17068.8 (millimetres)"},
		{"a rough value", "Globex | staff size | 800", false, "contradicted", "~500"},
		{"one of two names with a comma between them", "Tides | director | Erik Halvorsen, Reik", false,
			"not-in-kg", ""},
		{"a place with what it lies in behind it", "Reik | place of birth | Velmora, Nowhere", false, "supported", ""},
		{"a name with what that lies in", "Dana | owns | Velmora, Orlanda", false, "supported", ""},
		{"a value that rounds to a rough one", "Velmora | population | about 50,000", false, "supported", ""},
		{"a value near to a rough one", "Velmora | population | about 45,000", false, "not-in-kg", ""},
		{"a rough zero", "Velmora | population | about 0", false, "contradicted", "48,000"},
		{"another value than a rough one", "Velmora | population | about 30,000", false, "contradicted", "48,000"},
		{"a value near to an exact one", "Velmora | population | 45,000", false, "contradicted", "48,000"},
		{"the year of a rough one", "Dana | date of birth | circa 1961", false, "supported", ""},
		{"a year near to a rough one", "Dana | date of birth | circa 1965", false, "not-in-kg", ""},
		{"another year than a rough one", "Dana | date of birth | c. 1971", false, "contradicted", "1961-04-02"},
		{"another author, of whom some works have several", "Globex | author | Anna", false, "contradicted",
			"Erik Halvorsen"},
		{"but not what is a thing of another kind", "Globex | written in | hardcover", false, "not-in-kg", ""},
		{"but not of what has many", "Globex | tags | valves", false, "not-in-kg", ""},
		{"another thing of the only relation that has it", "Ilse | plays in | Reds", false, "contradicted", "Greens"},
		{"which the claim is far from", "Ilse | cheers | Reds", false, "not-in-kg", ""},
		{"or one of two that have it", "Ilse | knows of | Reds", false, "not-in-kg", ""},
		{"or at a time", "Ilse | plays in | Reds @1999..1999", false, "not-in-kg", ""},
		{"or of what joins things of one kind", "Anna | teases | Nils", false, "not-in-kg", ""},
		{"a period in other words", "Orlanda | built | May 1950 to Aug. 1956", false, "not-in-kg", ""},
		{"another period", "Orlanda | built | May 1950 to Aug. 1957", false, "contradicted", "May 1950 - August 1956"},
		{"what a relation says yes of", "Per | occupation | a captain", false, "supported", ""},
		{"what it says no of", "Nils | occupation | captain", false, "contradicted", ""},
		{"a denial of that", "Nils | occupation | captain", true, "supported", ""},
		{"no captain is none of a club", "Nils | captain of | Globex", false, "contradicted", ""},
		{"a captain may be one of another club", "Per | captain of | Globex", false, "not-in-kg", ""},
		{"yes stands in the place of no name", "Per | captain | Globex", false, "not-in-kg", ""},
		{"what was so before", "Nils | played for | Laurel Films", false, "supported", ""},
		{"and is so no longer", "Nils | plays for | Laurel Films", false, "contradicted", "Globex"},
		{"a state by the only relation that has it", "Globex | is | sold", false, "supported", ""},
		{"common nouns in the plural", "Tides | ingredient | chili peppers", false, "supported", ""},
		{"in es", "Tides | ingredient | tomatoes", false, "supported", ""},
		{"but no names in the plural", "Tides | ingredient | Tomatoes", false, "not-in-kg", ""},
		{"who follows a party that has namesakes", "Acme | party | Greenist", false, "supported", ""},
		{"what lies where something else does", "Acme | location | Brisk", false, "not-in-kg", ""},
		{"what lies in a place that lies there", "Acme | located in | Arcania", false, "supported", ""},
		{"a relation of the same words as another one", "Acme | place of death | Orla", false, "supported", ""},
		{"another country than the one of several places", "Acme | base location | Sweden", false, "contradicted", ""},
		{"another place than these", "Acme | base location | Brisk", false, "not-in-kg", ""},
		{"a country by another of its names", "Acme | country | the USA", false, "supported", ""},
		{"another country", "Acme | country | Great Britain", false, "contradicted", "United States"},
		{"or a part of that", "Reik | citizenship | Wales", false, "not-in-kg", ""},
		{"a value with the unit of its relation", "Acme | distance from centre | 4,800 m", false, "supported", ""},
		{"another one", "Acme | distance from centre | 8.4 km", false, "contradicted", "4.8"},
		{"in millions", "Acme | revenue | 7.8 billion euros", false, "supported", ""},
		{"in a compound unit", "Acme | density | 6.85 g/cm3", false, "contradicted", "8.65"},
		{"a number of things", "Acme | number of rooms | 105", false, "contradicted", "150"},
		{"the same measure in other words", "Acme | cost | 230,000 euros", false, "contradicted", "320000"},
		{"a code", "Acme | phone number | 555-0150", false, "contradicted", "555-0105"},
		{"a party without the word", "Acme | party | Green", false, "supported", ""},
		{"a club without what sort of club it is", "Acme | club | Hull City", false, "supported", ""},
		{"a company without its legal form", "Acme | supplier | Lorn", false, "supported", ""},
		{"what is founded where it has its headquarters", "Laurel Films | formed in | Orla", false, "not-in-kg", ""},
		{"who is said to have died where they were born", "Reik | passed away in | Velmora", false, "not-in-kg", ""},
		{"what is said of it in few words, by the only relation that has it", "Ilse | play in the | Reds", false,
			"contradicted", "Greens"},
		{"held at that time", "Velmora | led by | Brandt @1999..1999", false, "supported", ""},
		{"held at another time", "Velmora | led by | Brandt @2010..2010", false, "contradicted", "Reik"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ground := &graphv1.GroundGraph{}
			for _, line := range kg {
				triple := fact(t, line)
				ground.Subjects = append(ground.Subjects, &graphv1.SubjectEvidence{
					Subject: triple.GetSubject(), Triples: []*graphv1.ScoredTriple{{Triple: triple}},
				})
			}
			claim := fact(t, c.claim)
			req := &verifierv1.JudgeClaimsRequest{
				Claims: []*verifierv1.ClaimToJudge{{Triple: claim, Negated: c.negated,
					Relations: near[claim.GetRelation()]}},
				GroundGraph: ground, Uses: uses,
			}
			got := judge.Judge(req, judge.DefaultConfig())[0]
			if config.EnumName(got.GetVerdict()) != c.want || got.GetCorrection() != c.correction {
				t.Errorf("got %v", got)
			}
			if got.GetReason() == "" || got.GetConfidence() <= 0 || got.GetConfidence() > 1 {
				t.Errorf("says %q with %f", got.GetReason(), got.GetConfidence())
			}
			listed := strings.Contains(got.GetReason(), " lists ")
			if decided := c.want != "not-in-kg"; (decided || listed) != (len(got.GetEvidence()) > 0) {
				t.Errorf("rests on %v", got.GetEvidence())
			}
		})
	}
}

func TestAnEntityMayHaveOtherNames(t *testing.T) {
	req := &verifierv1.JudgeClaimsRequest{
		Claims: []*verifierv1.ClaimToJudge{{
			Triple: fact(t, "Bob Stam | employer | NYU"),
			Objects: []*graphv1.EntityLink{{Entity: "New York University", Mention: "NYU",
				Match: graphv1.LinkMatch_LINK_MATCH_ALIAS}},
			Subjects: []*graphv1.EntityLink{
				{Entity: "Robert Stam", Mention: "Bob Stam", Match: graphv1.LinkMatch_LINK_MATCH_ALIAS},
			},
		}},
		GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{
			{Subject: "Robert Stam", Triples: []*graphv1.ScoredTriple{{Triple: fact(t, kg[0])}}},
		}},
	}
	if got := judge.Judge(req, judge.DefaultConfig())[0]; got.GetVerdict() != verifierv1.Verdict_VERDICT_SUPPORTED {
		t.Errorf("got %v", got)
	}
	req.Claims[0].Subjects[0].Mention = "Stam" // a part of the name is not the name
	if got := judge.Judge(req, judge.DefaultConfig())[0]; got.GetVerdict() != verifierv1.Verdict_VERDICT_NOT_IN_KG {
		t.Errorf("got %v", got)
	}
}

func TestTheKnowledgeGraphIsNamedWhereThereAreSeveral(t *testing.T) {
	held := fact(t, kg[0])
	held.KgName = "staff"
	got := judge.Judge(&verifierv1.JudgeClaimsRequest{
		Claims: []*verifierv1.ClaimToJudge{{Triple: fact(t, kg[0])}},
		GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Subject: "Robert Stam",
			Triples: []*graphv1.ScoredTriple{{Triple: held}}}}},
	}, judge.DefaultConfig())[0]
	if !strings.Contains(got.GetReason(), "staff") || got.GetEvidence()[0].GetTriple().GetKgName() != "staff" {
		t.Errorf("got %v", got)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("Reik", "place of birth", "3 May 1951", "Reik", "date of birth", "1951-05-03")
	f.Add("\u0130", "", "20th x", "i̇", "of", "-0 %")
	f.Add("a b", "x of", "1e999", "A, B", "not", "99999999999999999999999")
	f.Fuzz(func(t *testing.T, s, r, o, s2, r2, o2 string) {
		req := &verifierv1.JudgeClaimsRequest{
			Claims: []*verifierv1.ClaimToJudge{{Triple: &graphv1.Triple{Subject: s, Relation: r, Object: o}}},
			GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Triples: []*graphv1.ScoredTriple{
				{Triple: &graphv1.Triple{Subject: s2, Relation: r2, Object: o2}},
			}}}},
		}
		got := judge.Judge(req, judge.DefaultConfig())
		if len(got) != 1 || got[0].GetVerdict() == verifierv1.Verdict_VERDICT_UNSPECIFIED ||
			!(got[0].GetConfidence() >= 0 && got[0].GetConfidence() <= 1) {
			t.Errorf("got %v", got)
		}
	})
}
