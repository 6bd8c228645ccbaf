package method

import (
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func triple(subject, relation, object string) *graphv1.Triple {
	return &graphv1.Triple{Subject: subject, Relation: relation, Object: object}
}

// groundOf returns a ground graph with a subject for each triple.
func groundOf(triples []*graphv1.Triple) *graphv1.GroundGraph {
	ground := &graphv1.GroundGraph{}
	for _, one := range triples {
		ground.Subjects = append(ground.Subjects,
			&graphv1.SubjectEvidence{Triples: []*graphv1.ScoredTriple{{Triple: one}}})
	}
	return ground
}

func TestListsOfAGroundGraph(t *testing.T) {
	all := []*graphv1.Triple{
		triple("Per Holm", "member of", "Orla"), triple("Anna Lind", "member of", "Orla"),
		triple("Salt Road", "artist", "Orla"), triple("Orla", "plays in", "Bergen"), triple("Orla", "plays in", "Oslo"),
		triple("Mug", "supplier", "Orla"), triple("Jug", "supplier", "Orla"),
		triple("Anna Lind", "mother", "Eva Lind"), triple("Anna Lind", "father", "Jon Lind"),
		triple("Blue Road", "artist", "Vell Trio"), triple("Blue Road", "artist / nationality", "Norse"),
		triple("Blue Road", "artist / member", "Ann Vell"),
	}
	ground := groundOf(all)
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
		{"somebody beside from where", "Who is Blue Road's artist?", []string{"Norse", "Vell Trio"}, "Vell Trio"},
		{"from where alone", "Who is Blue Road's artist?", []string{"Norse"}, "Norse"},
		{"what the question says of somebody", "Who is the artist or a member of Blue Road?",
			[]string{"Ann Vell", "Vell Trio"}, "Ann Vell, Vell Trio"},
		{"nothing", "What does Orla supply?", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := dropUnsaid(c.question, tripleEvidence(all).support(c.read))
			if got := JoinNames(completeList(c.question, answers, ground)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
