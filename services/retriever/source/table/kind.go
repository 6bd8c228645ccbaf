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
// names that says it counts ("customer" of "customer_id"), else a name of the file in the plural ("animal" of
// "zoo-animals.csv"). It is empty if none does. Each row is then an instance of that.
func KindOf(file string, headings ...string) string {
	ofFile := kindOfFile(file)
	for _, heading := range headings {
		if ofFile != "" && heading == ofFile {
			break
		}
		if kind := kindOfHeading(heading); kind != "" {
			return kind
		}
	}
	return ofFile
}

func kindOfHeading(heading string) string {
	heading = strings.ReplaceAll(kgtext.SplitCamelCase(heading), "_", " ")
	kind := strings.ToLower(strings.Join(strings.Fields(unkind.ReplaceAllString(strings.TrimSpace(heading), "")), " "))
	if len(kind) < 3 || !kindForm.MatchString(kind) {
		return ""
	}
	return kind
}

// pluralFile is a word in the plural at the end of a file's name.
var pluralFile = regexp.MustCompile(`\pL{2,}[^\PLsui]s$`)

// ofFiles are plurals that say what files have, not what their rows are.
var ofFiles = strings.Fields("facts triples details values lists tables files exports imports contents samples tests " +
	"examples results columns cells reports statistics stats outputs inputs dumps backups news series species")

// kindOfFile returns what the rows of a file are by its name.
func kindOfFile(file string) string {
	stem, _, _ := strings.Cut(strings.ToLower(filepath.Base(file)), ".")
	words := strings.FieldsFunc(stem, func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return ""
	}
	word := words[len(words)-1]
	if i := slices.Index([]string{"people", "children"}, word); i >= 0 {
		return []string{"person", "child"}[i]
	}
	if !pluralFile.MatchString(word) || slices.Contains(ofFiles, word) {
		return ""
	}
	if base, found := strings.CutSuffix(word, "ies"); found && len(base) > 3 {
		return base + "y"
	}
	for _, ending := range []string{"ches", "shes", "sses", "xes"} {
		if strings.HasSuffix(word, ending) {
			return strings.TrimSuffix(word, "es")
		}
	}
	word = strings.TrimSuffix(word, "s")
	if word == "item" && len(words) > 1 {
		return words[len(words)-2] + " " + word // of an order, which it is not
	}
	return kindOfHeading(word)
}
