package propose

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

// Fold makes spellings of one name equal: case, accents, punctuation, "and" for
// "&" and a leading article do not count.
func Fold(name string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(strings.ReplaceAll(name, "&", " and ")))
	words := strings.Fields(kgtext.Fold(bare))
	if len(words) > 1 && slices.Contains([]string{"the", "a", "an"}, words[0]) {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// mostWords is how long a name may be. What is longer describes.
const mostWords = 8

// name is one spelling.
type name struct {
	text  string
	key   string
	words []string
	count int
}

// Alike finds among the names of a folder those that may be other spellings of
// another one, and returns that one for each: a name that is the end of exactly
// one longer name ("Curie", "Marie Curie"), or has initials for its words ("M.
// Curie", "WHO"), and, of names that differ in a letter or in what Fold leaves
// out, those that stand less often. Names with different numbers are never
// alike. It suggests; a person decides.
func Alike(all []string) map[string]string {
	names := distinct(all)
	like := map[string]string{}
	for _, n := range names {
		if better := fuller(n, names); better != "" {
			like[n.text] = better
		}
	}
	// The more frequent and longer names come first, so that each can only be
	// like one before it.
	buckets := map[string][]name{}
	for _, n := range names {
		for _, b := range n.buckets() {
			if like[n.text] != "" {
				break
			}
			for _, other := range buckets[b] {
				if spelt(n, other) {
					like[n.text] = other.text
					break
				}
			}
		}
		for _, b := range n.buckets() {
			buckets[b] = append(buckets[b], n)
		}
	}
	for from, to := range like {
		for hops := 0; like[to] != "" && like[to] != from && hops < mostWords; hops++ {
			to = like[to]
		}
		like[from] = to
	}
	return like
}

// distinct returns the names, best first: the most frequent, of these the longest.
func distinct(all []string) []name {
	counts := map[string]int{}
	for _, text := range all {
		counts[text]++
	}
	var names []name
	for text, count := range counts {
		key := Fold(text)
		words := strings.Fields(key)
		if len(words) > mostWords || strings.IndexFunc(key, unicode.IsLetter) < 0 {
			continue
		}
		names = append(names, name{text, key, words, count})
	}
	slices.SortFunc(names, func(a, b name) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text))
	})
	return names
}

// fuller returns the one longer name that a name is the end or the initials of; empty
// if there is none or more than one.
func fuller(n name, all []name) string {
	first, _ := utf8.DecodeRuneInString(n.text)
	if !unicode.IsUpper(first) || strings.ContainsAny(n.key, "0123456789") {
		return ""
	}
	isInitials := len(n.words) == 1 && len(n.key) >= 3 && n.text == strings.ToUpper(n.text)
	found, key := "", ""
	for _, other := range all {
		// What begins with a small letter describes: "skipper of the Petrel".
		begin, _ := utf8.DecodeRuneInString(other.text)
		if len(other.words) < len(n.words) || unicode.IsLower(begin) || other.key == n.key {
			continue
		}
		if !ends(other.words, n.words) && !abbreviated(other.words, n.words) &&
			(!isInitials || initials(other.words) != n.key) {
			continue
		}
		if found != "" && other.key != key {
			return ""
		}
		if found == "" {
			found, key = other.text, other.key
		}
	}
	return found
}

// ends reports whether a name is the end of a longer one.
func ends(long, short []string) bool {
	return len(long) > len(short) && slices.Equal(long[len(long)-len(short):], short)
}

// abbreviated reports whether a name is another one with initials for some of its
// words: "e thorne" for "edda thorne".
func abbreviated(long, short []string) bool {
	if len(long) != len(short) || len(long) < 2 || long[len(long)-1] != short[len(short)-1] {
		return false
	}
	for i, word := range short {
		if word != long[i] && (utf8.RuneCountInString(word) > 1 || !strings.HasPrefix(long[i], word)) {
			return false
		}
	}
	return true
}

// initials leaves out the little words, as people do.
func initials(words []string) string {
	var b strings.Builder
	for _, w := range words {
		if slices.Contains([]string{"of", "for", "the", "and", "in", "de"}, w) {
			continue
		}
		first, _ := utf8.DecodeRuneInString(w)
		b.WriteRune(first)
	}
	return b.String()
}

// buckets are where names that differ in few letters meet: one of its ends is
// nearly always the same.
func (n name) buckets() []string {
	runes := []rune(n.key)
	head, tail := runes[:min(2, len(runes))], runes[max(0, len(runes)-2):]
	return []string{"^" + string(head), string(tail) + "$"}
}

// spelt reports whether two names differ as spellings do.
func spelt(a, b name) bool {
	if a.key == b.key {
		return true
	}
	if numbers(a.key) != numbers(b.key) {
		return false
	}
	length := min(utf8.RuneCountInString(a.key), utf8.RuneCountInString(b.key))
	switch {
	case length >= 10:
		return withinDistance(a.key, b.key, 2)
	case length >= 5:
		return withinDistance(a.key, b.key, 1)
	}
	return false
}

func numbers(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// withinDistance reports whether most edits make b of a: letters put in, taken out,
// replaced, or swapped with their neighbour.
func withinDistance(a, b string, most int) bool {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > most || len(y)-len(x) > most {
		return false
	}
	older, old, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			replaced := old[j-1]
			if x[i-1] != y[j-1] {
				replaced++
			}
			row[j] = min(old[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(y)] <= most
}
