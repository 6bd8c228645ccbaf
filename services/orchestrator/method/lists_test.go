package method

import (
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func TestListsOfAGroundGraph(t *testing.T) {
	triple := func(subject, relation, object string) *graphv1.Triple {
		return &graphv1.Triple{Subject: subject, Relation: relation, Object: object}
	}
	all := []*graphv1.Triple{
		triple("Per Holm", "member of", "Orla"), triple("Anna Lind", "member of", "Orla"),
		triple("Salt Road", "artist", "Orla"), triple("Orla", "plays in", "Bergen"), triple("Orla", "plays in", "Oslo"),
		triple("Mug", "supplier", "Orla"), triple("Jug", "supplier", "Orla"),
		triple("Anna Lind", "mother", "Eva Lind"), triple("Anna Lind", "father", "Jon Lind"),
	}
	ground := &graphv1.GroundGraph{}
	for _, one := range all {
		ground.Subjects = append(ground.Subjects,
			&graphv1.SubjectEvidence{Triples: []*graphv1.ScoredTriple{{Triple: one}}})
	}
	for _, c := range []struct {
		name, question string
		read           []string
		want           string
	}{
		{"what is said and what is not", "Who are the members of Orla?", []string{"Per Holm", "Salt Road", "Anna Lind"},
			"Per Holm, Anna Lind"},
		{"nothing that is said", "Who belongs to Orla?", []string{"Per Holm", "Salt Road", "Anna Lind"},
			"Per Holm, Salt Road, Anna Lind"},
		{"some of those of whom it is said", "Who is a member of Orla?", []string{"Per Holm"}, "Per Holm, Anna Lind"},
		{"… beside what is not said", "Who is a member of Orla?", []string{"Per Holm", "Salt Road"},
			"Per Holm, Anna Lind"},
		{"some of what it does", "Where does Orla play?", []string{"Bergen"}, "Bergen"},
		{"some of all that it does", "Which cities does Orla play in?", []string{"Bergen"}, "Bergen, Oslo"},
		{"some of all by whose relation it is said", "What does Orla supply?", []string{"Mug"}, "Mug, Jug"},
		{"what a relation in other words says", "What does Orla drink from?", []string{"Mug"}, "Mug"},
		{"a name beside when something was", "When was Orla founded?", []string{"Per Holm", "1984"}, "1984"},
		{"one of both parents", "Who are the parents of Anna Lind?", []string{"Eva Lind"}, "Eva Lind, Jon Lind"},
		{"nothing", "What does Orla supply?", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := dropUnsaid(c.question, tripleEvidence(all).support(c.read))
			if got := joinNames(completeList(c.question, answers, ground)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFindSaid(t *testing.T) {
	triple := func(subject, relation, object string) *graphv1.Triple {
		return &graphv1.Triple{Subject: subject, Relation: relation, Object: object}
	}
	all := []*graphv1.Triple{
		triple("Press 9", "operator", "Emil Sandor"), triple("Press 9", "maintained by", "Tomas Reyl"),
		triple("Press 9", "power (kW)", "60"), triple("Press 7", "operator", "Nadia Brandt"),
		triple("Lathe 2", "operator", "Greta Holm"), triple("Mill 4", "operator", "Greta Holm"),
		triple("Greta Holm", "supervisor", "Olof Lind"), triple("Olof Lind", "supervisor", "Hanna Weiss"),
		triple("Leak 1", "cause", "worn bearing"), triple("Leak 1", "reported by", "Tomas Reyl"),
	}
	ground := &graphv1.GroundGraph{}
	for _, one := range all {
		ground.Subjects = append(ground.Subjects,
			&graphv1.SubjectEvidence{Triples: []*graphv1.ScoredTriple{{Triple: one}}})
	}
	for _, c := range []struct {
		name, question, read, want string
	}{
		{"another relation was read", "Who operates Press 9?", "Tomas Reyl", "Emil Sandor"},
		{"nothing of the graph was read", "Who operates Press 9?", "John Doe", "Emil Sandor"},
		{"the object is asked for", "What caused Leak 1?", "Tomas Reyl", "worn bearing"},
		{"all subjects of the relation are asked for", "What does Greta Holm operate?", "Olof Lind", "Lathe 2, Mill 4"},
		{"what the relation leads to is asked for", "Which operators are like Greta Holm?", "Olof Lind", ""},
		{"what the question says was read", "Who maintains Press 9?", "Tomas Reyl", ""},
		{"no relation is said", "Who repaired Press 9?", "Tomas Reyl", ""},
		{"both directions are said", "Who is the supervisor of Olof Lind?", "Emil Sandor", ""},
		{"the same is asked twice", "Who is the supervisor of Greta Holm's supervisor?", "Emil Sandor", ""},
		{"the thing is described by another", "Who maintains the machine that Greta Holm operates?", "Olof Lind", ""},
		{"the place of what it leads to is asked for", "In which city is the operator of Press 9 based?", "Tomas Reyl", ""},
		{"… in few words", "Where is Press 9's operator?", "Tomas Reyl", ""},
		{"it is asked for by its noun", "Who is the operator of Press 9?", "Tomas Reyl", "Emil Sandor"},
		{"what the thing does is asked for", "What is maintained by Press 9?", "Emil Sandor", ""},
		{"a number is no one", "Who powers Press 9?", "Tomas Reyl", ""},
		{"a name is no number", "How many operators has Press 9?", "Tomas Reyl", ""},
		{"something is to be computed", "Who operates the most machines in Press 9?", "Tomas Reyl", ""},
		{"yes or no is asked for", "Does Emil Sandor operate Press 9?", "Tomas Reyl", ""},
		{"nothing was read", "Who operates Press 9?", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var read []string
			if c.read != "" {
				read = []string{c.read}
			}
			said := findSaid(c.question, tripleEvidence(all).support(read), ground)
			if got := joinNames(said); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
