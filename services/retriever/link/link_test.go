package link

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var world = storetest.NewGraph(append(towns(), [][3]string{
	{"Barack Obama", "people.person.spouse", "Michelle Obama"},
	{"Barack Obama", "people.person.profession", "Politician"},
	{"Barack Obama", "people.person.place_of_birth", "Honolulu"},
	{"Malia Obama", "people.person.profession", "Student"},
	{"Simon", "music.track.artist", "Simon & Garfunkel"},
	{"Looking for Simon", "film.film.country", "France"},
	{"The Artist", "film.film.country", "France"},
	{"Dr. Seuss", "people.person.language", "English"},
	{"Malmö", "location.location.country", "Sweden"},
	{"Country", "music.genre.artist", "Johnny Cash"},
	{"m.0aaaa1", "people.person.profession", "Politician"},
	{"The Who", "music.track.artist", "Pete"},
	{"Paris", "location.location.country", "France"},
	{"Paris (Texas)", "location.location.country", "Texas"},
	{"Boston", "location.location.country", "United States of America"},
	{"Saint George", "people.person.place_of_birth", "Lydda"},
	{"Thomas Robert Malthus", "people.person.profession", "Economist"},
	{"You and Me", "film.film.director", "Fritz Lang"},
	{"Beacon", "software.language", "Go"},
}...)...).WithAlias("Dr. Seuss", "Theodor Geisel").WithAlias("Paris (Texas)", "Paris")

// towns give France a high degree.
func towns() [][3]string {
	var triples [][3]string
	for i := range 300 {
		triples = append(triples, [3]string{fmt.Sprintf("town%d", i), "location.location.country", "France"})
	}
	return triples
}

func linkText(t *testing.T, text string) []Link {
	t.Helper()
	links, err := Entities(context.Background(), world, &storetest.WordEncoder{}, text, 5)
	if err != nil {
		t.Fatal(err)
	}
	return links
}

func TestEntities(t *testing.T) {
	tests := []struct {
		name, text, entity, mention string
		match                       Match
	}{
		{"letter for letter", "Where was Barack Obama born?", "Barack Obama", "Barack Obama", Exact},
		{"in lower case", "where was barack obama born", "Barack Obama", "barack obama", Normalised},
		{"without accents and punctuation", "which country is malmo in", "Malmö", "malmo", Normalised},
		{"with a full stop that a question lacks", "what language did dr seuss write", "Dr. Seuss",
			"dr seuss", Normalised},
		{"by an alias", "Which language did Theodor Geisel write?", "Dr. Seuss", "Theodor Geisel", Alias},
		{"with a slip of the pen", "Where was Barrack Obbama born?", "Barack Obama", "Barrack Obbama", Fuzzy},
		{"by a surname, the better known first", "where was obama born", "Barack Obama", "obama", Fuzzy},
		{"before a possessive", "who is barack obama's wife", "Barack Obama", "barack obama", Normalised},
		{"the longest mention wins", "where was looking for simon filmed", "Looking for Simon", "looking for simon",
			Normalised},
		{"by a plural", "who are the politicians", "Politician", "politicians", Fuzzy},
		{"by the adjective of a place", "what language do swedish people speak", "Sweden", "swedish", Fuzzy},
		{"by an adjective that follows no rule", "who is the french president", "France", "french", Fuzzy},
		{"by another name of a state", "where is the usa", "United States of America", "usa", Alias},
		{"by initials", "who recorded YAM", "You and Me", "YAM", Fuzzy},
		{"with a word cut short", "when was st george born", "Saint George", "st george", Fuzzy},
		{"without the middle name", "who was thomas malthus", "Thomas Robert Malthus", "thomas malthus", Fuzzy},
		{"a name of words that only hold sentences together", "who is the film director of you and me", "You and Me",
			"you and me", Normalised},
		{"a stop word in a capital", "Which services are written in Go?", "Go", "Go", Exact},
		{"a stop word in a capital that is all there is", "Go", "Go", "Go", Exact},
		{"a name before an alias of the same spelling", "where is paris", "Paris", "paris", Normalised},
		{"a mention alone", "Simon & Garfunkel", "Simon & Garfunkel", "Simon & Garfunkel", Exact},
		{"a word of the schema is no topic where a name is there", "what country is looking for simon from",
			"Looking for Simon", "looking for simon", Normalised},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			links := linkText(t, tt.text)
			if len(links) == 0 {
				t.Fatalf("nothing linked in %q", tt.text)
			}
			got := links[0]
			if name := world.EntityName(got.Entity); name != tt.entity || got.Mention != tt.mention ||
				got.Match != tt.match {
				t.Errorf("%q links %q by %q (%d, %.2f), want %q by %q (%d)", tt.text, name, got.Mention, got.Match,
					got.Score, tt.entity, tt.mention, tt.match)
			}
		})
	}
}

func TestAFullNameIsNotCrowdedOutBySimilarNamesOfBetterKnownThings(t *testing.T) {
	triples := [][3]string{{"Anna Norman Lind", "profession", "Painter"}}
	for _, word := range []string{"Anna", "Norman", "Lind", "Art"} {
		for i := range 30 {
			for j := range 40 { // a higher degree
				triples = append(triples, [3]string{fmt.Sprintf("%s %s%c", word, "Sk", 'a'+i), "part", fmt.Sprint(j)})
			}
		}
	}
	crowd := storetest.NewGraph(triples...)
	links, err := Entities(t.Context(), crowd, &storetest.WordEncoder{}, "what is the art of anna norman lind", 3)
	if err != nil || len(links) == 0 || crowd.EntityName(links[0].Entity) != "Anna Norman Lind" {
		t.Errorf("got %v, %v", links, err)
	}
}

func TestEntitiesReturnsNothingIfNothingFits(t *testing.T) {
	for _, text := range []string{"what is it", "who", "", "?!", "\xff\xfe", "qwertyuiop zxcvbnm",
		strings.Repeat("and then ", 500)} {
		if links := linkText(t, text); len(links) != 0 {
			t.Errorf("%q links %q", text, world.EntityName(links[0].Entity))
		}
	}
}

func TestUnlikelyCandidatesAreNotLinked(t *testing.T) {
	for _, text := range []string{"why does everything take so long here", "is this the long way round"} {
		candidates, err := Gather(t.Context(), world, &storetest.WordEncoder{}, text)
		if err != nil || len(candidates) == 0 {
			t.Fatalf("%q: gathered %v, %v; want a name like one of its words", text, candidates, err)
		}
		for _, c := range candidates {
			if score := Weigh(c.Evidence); score >= minScore {
				t.Errorf("%q: %q scores %v", text, world.EntityName(c.Entity), score)
			}
		}
		if links := linkText(t, text); len(links) != 0 {
			t.Errorf("%q links %q", text, world.EntityName(links[0].Entity))
		}
	}
}

func TestLinksAreLimitedAndOrdered(t *testing.T) {
	text := "Did Barack Obama, Malia Obama, Dr. Seuss and Johnny Cash visit Malmö, France, Honolulu or Sweden?"
	links := linkText(t, text)
	if len(links) != 5 {
		t.Fatalf("%d links, want the limit of 5", len(links))
	}
	seen := map[store.EntityID]bool{}
	for i, l := range links {
		if l.Score <= 0 || l.Score > 1 || seen[l.Entity] || !strings.Contains(text, l.Mention) {
			t.Errorf("link %+v", l)
		}
		if i > 0 && l.Score > links[i-1].Score {
			t.Errorf("link %d scores more than the one before it", i)
		}
		seen[l.Entity] = true
	}
}

func TestTheQuestionDisambiguatesHomonyms(t *testing.T) {
	phoenix := storetest.NewGraph([][3]string{
		{"Phoenix (city)", "location.city.mayor", "Kate Gallego"},
		{"Phoenix (city)", "location.location.state", "Arizona"},
		{"Phoenix (band)", "music.artist.album", "United"},
		{"Phoenix (band)", "music.artist.genre", "Indie rock"},
		{"Mayor", "office.holder", "Kate Gallego"},
	}...).WithAlias("Phoenix (city)", "Phoenix").WithAlias("Phoenix (band)", "Phoenix")
	for text, want := range map[string][]string{
		"which album did phoenix record": {"Phoenix (band)", "Phoenix (city)"},
		"who is the mayor of phoenix":    {"Phoenix (city)", "Phoenix (band)"},
	} {
		links, err := Entities(t.Context(), phoenix, &storetest.WordEncoder{}, text, 2)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range links {
			got = append(got, phoenix.EntityName(l.Entity))
			if l.Mention != "phoenix" || l.Match != Alias {
				t.Errorf("%q: %+v", text, l)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q links %q, want %q", text, got, want)
		}
	}
}

func TestGraphsWithoutVectorsAreLinkedByNames(t *testing.T) {
	encoder := &storetest.WordEncoder{Err: errDown}
	links, err := Entities(t.Context(), graphWithoutVectors{world}, encoder, "where was barack obama born", 1)
	if err != nil || len(links) != 1 || world.EntityName(links[0].Entity) != "Barack Obama" || len(encoder.Texts) > 0 {
		t.Errorf("got %+v, %v, encoded %q", links, err, encoder.Texts)
	}
	if _, err := Entities(t.Context(), world, encoder, "where was barack obama born", 1); !errors.Is(err, errDown) {
		t.Errorf("error %v, want %v", err, errDown)
	}
}

// graphWithoutVectors is a graph without vectors.
type graphWithoutVectors struct{ *storetest.Graph }

func (b graphWithoutVectors) Info() store.Info {
	info := b.Graph.Info()
	info.Encoder, info.Dims = "", 0
	return info
}

func TestMoreEvidenceGivesAHigherScore(t *testing.T) {
	base := Evidence{bias: 1, nameMatch: 1, likeness: 1, knownLetters: 1, letters: 0.6, words: 0.5, bestMeaning: 0.4,
		meanMeaning: 0.3}
	for name, change := range map[string]func(*Evidence){
		"it is nearer to the question":      func(e *Evidence) { e[bestMeaning] += 0.1 },
		"its mention is longer":             func(e *Evidence) { e[letters] += 0.1 },
		"it is the best known of that name": func(e *Evidence) { e[fameGap] -= 0.1 },
		"fewer of its words are the schema": func(e *Evidence) { e[schema] -= 0.1 },
	} {
		more := base
		change(&more)
		if low, high := Weigh(base), Weigh(more); high <= low || low < 0 || high > 1 {
			t.Errorf("%s: %v is not over %v", name, high, low)
		}
	}
}

type brokenGraph struct{ *storetest.Graph }

var errDown = errors.New("store is down")

func (brokenGraph) Match(context.Context, string) ([]store.EntityID, error) { return nil, errDown }

func TestEntitiesReturnsStoreErrors(t *testing.T) {
	if _, err := Entities(context.Background(), brokenGraph{world}, &storetest.WordEncoder{}, "Obama",
		5); !errors.Is(err,
		errDown) {
		t.Errorf("error %v, want %v", err, errDown)
	}
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Who is Polk's wife?":         {"Who", "is", "Polk", "wife"},
		"the U.S. Senate":             {"the", "U.S.", "Senate"},
		"AC/DC (band)":                {"AC", "DC", "band"},
		"James’ brothers' names.":     {"James", "brothers", "names"},
		"Shaquille O'Neal, 7 ft tall": {"Shaquille", "O'Neal", "7", "ft", "tall"},
		"  ":                          nil,
	} {
		var got []string
		for _, w := range splitWords(text) {
			got = append(got, text[w.start:w.end])
		}
		if !slices.Equal(got, want) {
			t.Errorf("split(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzEntities(f *testing.F) {
	for _, seed := range []string{"Where was Barack Obama born?", "malmö’s", "\xff", "a.b.c's '' ’’", "Ünïcödé 𝔘𝔫"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		links, err := Entities(context.Background(), world, &storetest.WordEncoder{}, text, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if !strings.Contains(text, l.Mention) || l.Score < 0 || l.Score > 1 ||
				(utf8.ValidString(text) && !utf8.ValidString(l.Mention)) {
				t.Errorf("link %+v of %q", l, text)
			}
		}
	})
}

func BenchmarkEntities(b *testing.B) {
	encoder := &storetest.WordEncoder{}
	for b.Loop() {
		if _, err := Entities(b.Context(), world, encoder, "where was barack obama's wife born", 5); err != nil {
			b.Fatal(err)
		}
	}
}
