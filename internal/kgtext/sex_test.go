package kgtext_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func TestTheSexThatARelativeIsAskedToBeOf(t *testing.T) {
	for question, want := range map[string]kgtext.Sex{
		"Who are the daughters of Anna Lind?": kgtext.Female,
		"Who is Anna Lind's brother?":         kgtext.Male,
		"who were the wives of Per Holm":      kgtext.Female,
		"Which actors are sons of Anna Lind?": kgtext.Male,
		"Who are the children of Anna Lind?":  "",
		"Who wrote the Mother of All Rivers?": "",
		"Where was the son of Anna Lind born": "", // asks for a place
	} {
		if got := kgtext.AskedSex(question); got != want {
			t.Errorf("%q asks for %q, want %q", question, got, want)
		}
	}
}

func TestTheSexThatRelationsAndTriplesSay(t *testing.T) {
	for relation, want := range map[string]kgtext.Sex{"daughter": kgtext.Female, "hasSon": kgtext.Male,
		"people.person.children": "", "mother or father": "", "daughters of": kgtext.Female} {
		if got := kgtext.SexSaid(relation); got != want {
			t.Errorf("%s says %q", relation, got)
		}
	}
	for _, c := range []struct {
		relation, object string
		want             kgtext.Sex
	}{
		{"sex or gender", "female", kgtext.Female}, {"people.person.gender", "Male", kgtext.Male},
		{"hasGender", "F", kgtext.Female}, {"sex", "unknown", ""}, {"nickname", "man", ""},
	} {
		if got := kgtext.StatedSex(&graphv1.Triple{Relation: c.relation, Object: c.object}); got != c.want {
			t.Errorf("%s %s says %q, want %q", c.relation, c.object, got, c.want)
		}
	}
}

func TestTheSexOfPeopleOfAKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]kgtext.Sex{"woman": kgtext.Female, "Boy": kgtext.Male, "m": "", "person": ""} {
		if got := kgtext.SexOf(kind); got != want {
			t.Errorf("SexOf(%q) = %q, want %q", kind, got, want)
		}
	}
}

func TestRelativesThatRelationsSay(t *testing.T) {
	for _, c := range []struct {
		relation  string
		isInverse bool
		want      string
	}{
		{"father", false, "parent"}, {"hasFather", true, "child"}, {"father of", false, "child"},
		{"people.person.sibling", true, "sibling"}, {"grandmother of", true, "grandparent"}, {"aunt", true, "nephew"},
		{"number of children", false, ""}, {"mother tongue", false, ""}, {"", false, ""},
	} {
		if got := kgtext.KinRole(c.relation, c.isInverse); got != c.want {
			t.Errorf("%q, inverse %v: %q, want %q", c.relation, c.isInverse, got, c.want)
		}
	}
}
