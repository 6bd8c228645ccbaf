package table

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

// kindRelation is the relation of a row's entity to what the rows are.
const kindRelation = "instance of"

// unkind is the end of a heading of keys that does not say what the rows are, or all of it.
var unkind = regexp.MustCompile(`(?i)(?:(?:^|[ _-]+)(?:(?:full |first |last |given |family |common |short )?names?|` +
	`titles?|ids?|keys?|codes?|labels?|items?|entit(?:y|ies)|subjects?|rows?|no\.?|nr\.?|numbers?|` +
	`ranks?|pos|position|place|index|uuid|sku|url|iri|uri|e-?mail|dates?|times?|who|what|things?|entry|records?|` +
	`years?|months?|days?|seasons?|weeks?))*[ _-]*$`)

// kindForm is one to three words.
var kindForm = regexp.MustCompile(`^[\pL'-]+(?: [\pL'-]+){0,2}$`)

// KindOf returns what the rows of a file are, in lower case: "mountain". The first of the headings of their keys and
// names that says it counts ("customer" of "customer_id"), unless it is short for that of the file ("appt_no"), else a
// name of the file in the plural ("animal" of "zoo-animals.csv"). It is empty if none does. Each row is then an
// instance of that.
func KindOf(file string, headings ...string) string {
	ofFile := kindOfFile(file)
	for _, heading := range headings {
		if ofFile != "" && heading == ofFile {
			break
		}
		if kind := kindOfHeading(heading); kind != "" && !abbreviates(kind, ofFile) {
			return kind
		}
	}
	return ofFile
}

// otherKindOf returns what the name of a file says that its rows are, beside the kind that a heading says: cars.csv has
// a column "model". It is empty if that is the same, or the noun of a column: prices.csv has one of prices.
func otherKindOf(file, kind string, headings []string) string {
	ofFile := kindOfFile(file)
	isSaid := func(heading string) bool { return kgtext.SharesWord(ofFile, heading) }
	if kind == "" || kgtext.SharesWord(ofFile, kind) || slices.ContainsFunc(headings, isSaid) {
		return ""
	}
	return ofFile
}

// abbreviates reports whether a word is short for another, of which it has some letters: "appt" for "appointment".
func abbreviates(short, word string) bool {
	letters := regexp.MustCompile("^" + strings.Join(strings.Split(short, ""), ".*"))
	return len(short) <= 4 && len(short) < len(word) && letters.MatchString(word)
}

func kindOfHeading(heading string) string {
	heading = kgtext.SplitIdentifiers(heading)
	kind := strings.ToLower(strings.Join(strings.Fields(unkind.ReplaceAllString(strings.TrimSpace(heading), "")), " "))
	if len(kind) < 3 || !kindForm.MatchString(kind) {
		return ""
	}
	return kind
}

// ofFiles are plurals that say what files have, not what their rows are.
var ofFiles = strings.Fields("facts triples details values lists tables files exports imports contents samples tests " +
	"examples results columns cells reports statistics stats outputs inputs dumps backups news series species data")

// kindOfFile returns what the rows of a file are by its name.
func kindOfFile(file string) string {
	stem, _, _ := strings.Cut(strings.ToLower(filepath.Base(file)), ".")
	words := strings.FieldsFunc(stem, func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return ""
	}
	plural := words[len(words)-1]
	word := kgtext.Singular(plural)
	if word == plural || len(plural) < 4 || slices.Contains(ofFiles, plural) {
		return ""
	}
	if word == "item" && len(words) > 1 {
		return words[len(words)-2] + " " + word // of an order, which it is not
	}
	return kindOfHeading(word)
}
