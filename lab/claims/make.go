package claims

import (
	"embed"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

//go:embed wordings.yaml
var files embed.FS

// wording is how a relation is said.
type wording struct {
	About string   `yaml:"about"`
	Kind  string   `yaml:"kind"`
	Say   []string `yaml:"say"`
	Ask   []string `yaml:"ask"`
}

func readWordings() (wordings map[string]wording, err error) {
	text, err := files.ReadFile("wordings.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &wordings)
	}
	if err != nil {
		return nil, fmt.Errorf("read the wordings of claims: %w", err)
	}
	return wordings, nil
}

// The share of a relation's subjects with several objects up to which it is
// taken to hold one, and from which on to hold many. What lies between is in no
// claim whose verdict depends on it.
const (
	single = 0.05
	many   = 0.2
)

// Item is a claim with the verdict it should get.
type Item struct {
	ID       string             `json:"id"`
	Kind     string             `json:"kind"`
	Sentence string             `json:"sentence"`
	Subject  string             `json:"subject"`
	Relation string             `json:"relation"`
	Object   string             `json:"object"`
	Gold     verifierv1.Verdict `json:"gold"`
	// Topic is the entity that the text is about; several sentences may share it. Empty for claims of
	// templates, which share none.
	Topic string `json:"topic,omitempty"`
	// original is the sentence before an error was seeded.
	original string
	// listed are the objects that the knowledge graph holds of the subject in the relation.
	listed []string
}

// Kinds of claims.
const (
	// True ones are triples of the knowledge graph.
	True = "true"
	// Swapped ones have another object of the relation, where the knowledge graph
	// has one for the subject and the relation holds one.
	Swapped = "swapped"
	// Open ones too, but of a relation that holds many: that the knowledge graph
	// does not list it does not make it wrong.
	Open = "open"
	// Lacking ones say of a subject of the knowledge graph what it has nothing
	// of, in this relation or in one about the same.
	Lacking = "lacking"
	// Crossed ones say of a subject and object of the knowledge graph another
	// relation than the one that it holds between them: who was born there died
	// there. It has nothing of the subject in that relation.
	Crossed = "crossed"
	// Strange ones are about a person whom the knowledge graph does not hold: the
	// first name of one and the last name of another of those it does.
	Strange = "strange"
)

// kindOfClaim is a kind with the verdict that it should get.
type kindOfClaim struct {
	name string
	gold verifierv1.Verdict
}

var kinds = []kindOfClaim{
	{True, verifierv1.Verdict_VERDICT_SUPPORTED}, {Swapped, verifierv1.Verdict_VERDICT_CONTRADICTED},
	{Open, verifierv1.Verdict_VERDICT_NOT_IN_KG}, {Crossed, verifierv1.Verdict_VERDICT_NOT_IN_KG},
	{Lacking, verifierv1.Verdict_VERDICT_NOT_IN_KG}, {Strange, verifierv1.Verdict_VERDICT_NOT_IN_KG},
}

// crossings are relations between things of the same kinds, which none of them
// follows from.
var crossings = map[string][]string{
	"place of birth":        {"place of death", "work location"},
	"place of death":        {"place of birth", "work location"},
	"work location":         {"place of birth", "place of death"},
	"headquarters location": {"location of formation"},
	"location of formation": {"headquarters location"},
}

// maker makes claims.
type maker struct {
	facts    *facts
	wordings map[string]wording
	random   *rand.Rand
	seen     map[string]bool
	singles  []string // relations that hold one object
	manifold []string // relations that hold many
}

// Make makes n claims of each verdict from the facts of a file, by a seed. Claims
// that are not in the knowledge graph are a quarter of each kind. Relations are
// drawn first and facts of them next, so that rare ones count as much as common
// ones.
func Make(path string, n int, seed int64) ([]Item, error) {
	known, err := readFacts(path)
	if err != nil {
		return nil, err
	}
	m := &maker{facts: known, random: rand.New(rand.NewPCG(uint64(seed), 7)), seen: map[string]bool{}}
	if m.wordings, err = readWordings(); err != nil {
		return nil, err
	}
	for relation := range m.wordings {
		switch share := known.several(relation); {
		case len(known.byRelation[relation]) < 10:
		case share <= single:
			m.singles = append(m.singles, relation)
		case share >= many:
			m.manifold = append(m.manifold, relation)
		}
	}
	slices.Sort(m.singles)
	slices.Sort(m.manifold)
	if len(m.singles) == 0 || len(m.manifold) == 0 {
		return nil, fmt.Errorf("make claims from %s: it has too few facts of the relations there are wordings for",
			path)
	}
	var items []Item
	for _, k := range kinds {
		want := n
		if k.gold == verifierv1.Verdict_VERDICT_NOT_IN_KG {
			want = (n + 3) / 4
		}
		for tries := 0; want > 0; tries++ {
			if tries > 10000 {
				return nil, fmt.Errorf("make claims from %s: it has no room for %d more of the kind %s",
					path, want, k.name)
			}
			item, ok := m.makeItem(k.name)
			if !ok || m.seen[item.Subject] {
				continue
			}
			m.seen[item.Subject] = true
			item.ID, item.Kind, item.Gold = fmt.Sprintf("%s-%d", k.name, want), k.name, k.gold
			items = append(items, item)
			want--
		}
	}
	m.random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items, nil
}

// makeItem tries to make a claim of a kind.
func (m *maker) makeItem(kind string) (Item, bool) {
	relations := m.singles
	if kind == Open || kind == True && m.random.IntN(4) == 0 {
		relations = m.manifold
	}
	if kind == Crossed {
		relations = slices.Sorted(maps.Keys(crossings))
	}
	relation := pick(m.random, relations)
	if len(m.facts.byRelation[relation]) == 0 {
		return Item{}, false
	}
	t := pick(m.random, m.facts.byRelation[relation])
	other := pick(m.random, m.facts.byRelation[relation])
	switch kind {
	case True:
	case Swapped, Open:
		listed := m.facts.objects[[2]string{t.subject, relation}]
		if kind == Swapped && len(listed) != 1 || m.mayOverlap(other.object, listed) ||
			m.facts.joins(t.subject, other.object) {
			return Item{}, false
		}
		t.object = other.object
	case Crossed:
		relation = pick(m.random, crossings[relation])
		if len(m.facts.objects[[2]string{t.subject, relation}]) > 0 {
			return Item{}, false
		}
	case Lacking:
		about := m.wordings[relation].About
		t.subject = m.peer(t.subject)
		if t.subject == "" || m.facts.joins(t.subject, t.object) || slices.ContainsFunc(m.facts.relations[t.subject],
			func(r string) bool {
				return r == relation || m.wordings[r].About == about || sharesWord(r, relation) || sharesWord(r, about)
			}) {
			return Item{}, false
		}
	case Strange:
		first, last := strings.Fields(t.subject), strings.Fields(other.subject)
		if m.wordings[relation].Kind != "person" || len(first) != 2 || len(last) != 2 {
			return Item{}, false
		}
		t.subject = first[0] + " " + last[1]
		if m.facts.hasName(t.subject) {
			return Item{}, false
		}
	}
	if !sayable(t.subject) || !sayable(t.object) {
		return Item{}, false
	}
	say := pick(m.random, m.wordings[relation].Say)
	return Item{
		Sentence: strings.NewReplacer("{s}", t.subject, "{o}", t.object, "the The ", "The ").Replace(say),
		Subject:  t.subject, Relation: relation, Object: t.object,
		listed: m.facts.objects[[2]string{t.subject, relation}],
	}, true
}

// peer returns a subject of the same kind as another: one that shares a relation with
// it.
func (m *maker) peer(subject string) string {
	r := pick(m.random, m.facts.relations[subject])
	if m.wordings[r].Kind == "any" {
		return ""
	}
	return pick(m.random, m.facts.byRelation[r]).subject
}

// mayOverlap reports whether an object may mean one of others, or lie in it.
func (m *maker) mayOverlap(object string, others []string) bool {
	words := strings.Fields(kgtext.Fold(object))
	return slices.ContainsFunc(others, func(o string) bool {
		held := strings.Fields(kgtext.Fold(o))
		return m.facts.joins(object, o) || slices.ContainsFunc(words, func(w string) bool {
			return len(w) > 2 &&
				slices.Contains(held, w)
		})
	})
}

// sharesWord reports whether two relations share a word that says what they are
// about.
func sharesWord(a, b string) bool {
	words := strings.Fields(kgtext.Fold(a))
	return slices.ContainsFunc(strings.Fields(kgtext.Fold(b)), func(w string) bool {
		return len(w) > 3 &&
			slices.Contains(words, w)
	})
}

// sayable reports whether a name can stand in a sentence: not too long, and no
// code.
func sayable(name string) bool {
	return len(name) <= 60 && strings.ContainsFunc(name, unicode.IsLetter) || len(name) <= 20
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }
