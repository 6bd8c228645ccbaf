package propose_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/propose"
)

func TestAlike(t *testing.T) {
	for name, c := range map[string]struct {
		names, want string
	}{
		"case, accents, punctuation and articles": {"Zoë Müller|Zoë Müller|zoe muller|The " +
			"Harbour|Harbour|St. John|St John", "zoe muller=Zoë Müller|Harbour=The Harbour|St John=St. John"},
		"the more frequent one is the better": {"Andersen|Anderson|Anderson", "Andersen=Anderson"},
		"a letter in names of five":           {"Hannah|Hanna|Bob|Rob", "Hanna=Hannah"},
		"two in names of ten": {"Lindqvist Marine|Lindkvist Marin",
			"Lindkvist Marin=Lindqvist Marine"},
		"the end of one longer name": {"Curie|Marie Curie|Curie|Curie", "Curie=Marie Curie"},
		"but not of two":             {"Curie|Marie Curie|Pierre Curie", ""},
		"and not its beginning":      {"New York|New York University", ""},
		"a description is no name":   {"Petrel|skipper of the Petrel", ""},
		"an initial": {"E. Thorne|Edda Thorne|Thor",
			"E. Thorne=Edda Thorne"},
		"an initial of two": {"E. Thorne|Edda Thorne|Emil Thorne", ""},
		"and in letters": {"Hollis & Sons|Hollis and Sons|Hollis & Sons",
			"Hollis and Sons=Hollis & Sons"},
		"initials": {"WHO|World Health Organization|UN",
			"WHO=World Health Organization"},
		"of a longer name with little words": {"USA|United States of America",
			"USA=United States of America"},
		"words in small letters are no names": {"city|capital city", ""},
		"numbers tell names apart":            {"Apollo 11|Apollo 12|Pump KP-40|Pump KP-41", ""},
		"numbers alone are no names":          {"1900|1901|1900", ""},
		"long texts are none either":          {"b c d e f g h i j|b c d e f g h i k", ""},
		"what is like a name that is like another is like that": {"Curie|Curie|Curie|Curei|Marie Curie",
			"Curie=Marie Curie|Curei=Marie Curie"},
		"different names are different": {"Mara Lindqvist|Tomasz Brandt|Porto|Halden", ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{}
			for pair := range strings.SplitSeq(c.want, "|") {
				if from, to, ok := strings.Cut(pair, "="); ok {
					want[from] = to
				}
			}
			if got := propose.Alike(strings.Split(c.names, "|")); !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func FuzzAlike(f *testing.F) {
	f.Add("Curie|Marie Curie|Curei")
	f.Add("a|\xff|É|AB C|ABC")
	f.Fuzz(func(t *testing.T, names string) {
		all := strings.Split(names, "|")
		for from, to := range propose.Alike(all) {
			if from == to || to == "" {
				t.Errorf("%q is like %q", from, to)
			}
		}
	})
}

func BenchmarkAlike(b *testing.B) {
	var names []string
	for i := range 4000 {
		names = append(names, fmt.Sprintf("%c%c%c Name%c%c", 'A'+i%26, 'a'+i/26%26, 'a'+i/7%26,
			'a'+i/3%26, 'a'+i/676%26))
	}
	for b.Loop() {
		propose.Alike(names)
	}
}
