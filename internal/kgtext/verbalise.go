// Package kgtext is the text of and about a knowledge graph: triples, relations and paths in
// words, the values (dates, quantities) in their objects, sentences of a text, and the form that
// a question's answer takes.
//
// Loading and querying verbalise alike, so that the encoder places a pseudo-triple close to the
// fact it means; prompts of all stages show facts and paths alike.
package kgtext

import (
	"regexp"
	"strings"
	"unicode"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// InverseOf precedes the name of a relation that a joined fact follows from object to subject.
const InverseOf = "inverse of "

// Joint stands between the relations of the facts that a relation joins.
const Joint = " / "

// VerbaliseTriple returns "subject relation object" with the relation in words.
func VerbaliseTriple(subject, relation, object string) string {
	return subject + " " + VerbaliseRelation(relation) + " " + object
}

// VerbaliseRelation returns a relation's name in words: of a dotted identifier the last part
// ("people.person.place_of_birth" is "place of birth"), of a compound one the last part of each
// half ("a.b.film / c.d.actor" is "film actor"). snake_case and camelCase are split. Names
// already in words are unchanged. An inverse half reads "is parent of".
func VerbaliseRelation(name string) string { return verbaliseName(name, 1) }

// VerbaliseRelationInContext is VerbaliseRelation with the last two parts of a dotted identifier
// ("person place of birth"), for a relation shown without subject and object.
func VerbaliseRelationInContext(name string) string { return verbaliseName(name, 2) }

func verbaliseName(name string, parts int) string {
	var out []string
	for half := range strings.SplitSeq(name, Joint) {
		half, inverse := strings.CutPrefix(strings.TrimSpace(half), InverseOf)
		if isDottedIdentifier(half) {
			all := strings.Split(half, ".")
			half = strings.Join(all[max(0, len(all)-parts):], " ")
		}
		w := splitIdentifier(half)
		if w != "" && inverse {
			w = "is " + w + " of"
		}
		if w != "" && (len(out) == 0 || out[len(out)-1] != w) {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return strings.TrimSpace(name)
	}
	return strings.Join(out, " ")
}

// isDottedIdentifier distinguishes identifiers such as "film.film.genre" from words with a full
// stop, such as "U.S. state" or "no. of pages".
func isDottedIdentifier(s string) bool {
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

// splitIdentifier splits snake_case, SCREAMING_CASE and camelCase into words.
func splitIdentifier(s string) string {
	spaced := strings.ReplaceAll(s, "_", " ")
	identifier := !strings.Contains(s, " ")
	if identifier && strings.ToUpper(spaced) == spaced && strings.Contains(s, "_") {
		spaced = strings.ToLower(spaced)
	}
	if identifier {
		spaced = splitCapitals(spaced)
	}
	return strings.Join(strings.Fields(SplitIdentifiers(spaced)), " ")
}

// camelCase begins an identifier of several words: "birthPlace", and neither "iPhone" nor "YouTube".
var camelCase = regexp.MustCompile(`\b\p{Ll}{2,}\p{Lu}\p{L}*`)

// SplitIdentifiers splits the words of a text that are identifiers in camelCase or snake_case. Most texts have none,
// which is seen sooner without the expression.
func SplitIdentifiers(text string) string {
	text = strings.ReplaceAll(text, "_", " ")
	var before rune
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			return camelCase.ReplaceAllStringFunc(text, splitCapitals)
		}
		before = r
	}
	return text
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

// Fold normalises a name for comparison: lower case, words separated by single spaces, no
// punctuation.
func Fold(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	}), " ")
}

// Mentions reports whether a text contains a name as whole words, both folded. It is false for a name
// without letters and digits.
func Mentions(text, name string) bool { return FoldWords(text).Mention(Fold(name)) }

// Words are the folded words of a text with a space on either side, so that names are found in them as
// whole words. A text that is searched for many names is folded once.
type Words string

// FoldWords returns the words of a text.
func FoldWords(text string) Words { return Words(" " + Fold(text) + " ") }

// Mention reports whether the words contain those of a folded name. It is false for the empty name.
func (w Words) Mention(folded string) bool {
	return folded != "" && strings.Contains(string(w), " "+folded+" ")
}

// FormatFact returns a triple as a line of a prompt, "subject | relation | object", with its
// validity if known.
func FormatFact(t *graphv1.Triple) string {
	return t.GetSubject() + " | " + VerbaliseRelation(t.GetRelation()) + " | " + FormatObject(t)
}

// FormatObject returns the object of a triple with the triple's validity if known:
// "Brandt (1998 to 2006)".
func FormatObject(t *graphv1.Triple) string {
	line := t.GetObject()
	start, end := t.GetValidity().GetStart(), t.GetValidity().GetEnd()
	switch {
	case start != "" && end != "":
		return line + " (" + start + " to " + end + ")"
	case start != "":
		return line + " (since " + start + ")"
	case end != "":
		return line + " (until " + end + ")"
	}
	return line
}

// ownAnswer precedes the model's own answer after the statement that the knowledge graph does not
// say.
const ownAnswer = "The model's own answer: "

// MarkOwnAnswer precedes a text that rests on the model's own knowledge by the statement that the
// sources do not say: "the knowledge graph NAME", or several in the plural. A text that says so itself
// stays as it is; of an empty one that statement is left.
func MarkOwnAnswer(sources string, plural bool, text string) string {
	first, _, _ := strings.Cut(text, ". ")
	if first = strings.ToLower(first); strings.HasPrefix(first, "the knowledge graph") &&
		(strings.Contains(first, "not say") || strings.Contains(first, "not contain")) {
		return text
	}
	verb := " does not say. "
	if plural {
		verb = " do not say. "
	}
	statement := "T" + strings.TrimPrefix(sources, "t") + verb
	if text == "" {
		return strings.TrimSpace(statement)
	}
	return statement + ownAnswer + text
}

// TrimOwnAnswer returns the text that MarkOwnAnswer was given.
func TrimOwnAnswer(text string) string {
	before, own, found := strings.Cut(text, " not say. "+ownAnswer)
	if !found || !strings.HasPrefix(before, "The knowledge graph") {
		return text
	}
	return own
}

// LocalName returns what follows the last # or / of an IRI, or all of it if nothing does.
func LocalName(iri string) string {
	trimmed := strings.TrimRight(iri, "/#")
	if i := strings.LastIndexAny(trimmed, "/#"); i >= 0 && i+1 < len(trimmed) {
		return trimmed[i+1:]
	}
	return iri
}

// Disambiguate returns a name with what distinguishes its entity from others of the same name:
// "Springfield (Q28515)".
func Disambiguate(name, distinction string) string { return name + " (" + distinction + ")" }
