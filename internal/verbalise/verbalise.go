// Package verbalise turns triples, relations and paths into words. For the
// encoder, loading and querying use the same words, so that a pseudo-triple and
// the fact it means land close together; in prompts, every stage shows facts
// and paths alike.
package verbalise

import (
	"strings"
	"unicode"
)

// Triple returns "subject relation object" with the relation in its words.
func Triple(subject, relation, object string) string {
	return subject + " " + Relation(relation) + " " + object
}

// Relation returns a relation's name in words. A dotted identifier is shown by
// its last part ("people.person.place_of_birth" is "place of birth"), a
// compound one by the last part of each half ("a.b.film / c.d.actor" is "film
// actor"); underscores and joined capitals become spaces. Names already in
// words stay as they are.
func Relation(name string) string { return words(name, 1) }

// RelationInContext is Relation with the last two parts of a dotted
// identifier ("person place of birth"): more to go by where a relation stands
// alone, with no subject and object beside it.
func RelationInContext(name string) string { return words(name, 2) }

func words(name string, parts int) string {
	var out []string
	for half := range strings.SplitSeq(name, " / ") {
		half = strings.TrimSpace(half)
		if dotted(half) {
			all := strings.Split(half, ".")
			half = strings.Join(all[max(0, len(all)-parts):], " ")
		}
		if w := readable(half); w != "" && (len(out) == 0 || out[len(out)-1] != w) {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return strings.TrimSpace(name)
	}
	return strings.Join(out, " ")
}

// dotted tells identifiers such as "film.film.genre" from words with a full
// stop in them, such as "U.S. state" or "no. of pages".
func dotted(s string) bool {
	if !strings.Contains(s, ".") {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "" {
			return false
		}
		for _, r := range part {
			if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return false
			}
		}
	}
	return true
}

// readable spaces out snake_case, SCREAMING_CASE and camelCase.
func readable(s string) string {
	spaced := strings.ReplaceAll(s, "_", " ")
	identifier := !strings.Contains(s, " ")
	if identifier && strings.ToUpper(spaced) == spaced && strings.Contains(s, "_") {
		spaced = strings.ToLower(spaced)
	}
	if identifier {
		spaced = splitCapitals(spaced)
	}
	return strings.Join(strings.Fields(spaced), " ")
}

func splitCapitals(s string) string {
	var b strings.Builder
	var before rune
	for _, r := range s {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
