package claim

import (
	"regexp"
	"strings"
	"unicode"
)

// Draft is a claim as the model wrote it.
type Draft struct {
	Subject, Relation, Object string
	// Negated tells that the text says it is not so.
	Negated bool
}

const (
	// maxDrafts is far more than a part of a text states and less than a model
	// that runs wild writes.
	maxDrafts = 64
	// maxPart is more bytes than a name has; what is longer is prose.
	maxPart = 400
)

// instanceOf is the relation of a thing to its kind.
const instanceOf = "instance of"

// Parse reads claims off a model's text: one a line, its parts between bars,
// list marks and fences passed over. A line of two parts says what its subject
// is. Each is returned once.
func Parse(text string) []Draft {
	var drafts []Draft
	seen := map[Draft]bool{}
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		d, ok := parseLine(line)
		if !ok || seen[d] {
			continue
		}
		seen[d] = true
		if drafts = append(drafts, d); len(drafts) == maxDrafts {
			break
		}
	}
	return drafts
}

func parseLine(line string) (Draft, bool) {
	line = strings.Trim(listMark.ReplaceAllString(strings.TrimSpace(line), ""), "|")
	parts := strings.Split(line, "|")
	for i := range parts {
		if parts[i] = clean(parts[i]); parts[i] == "" || len(parts[i]) > maxPart {
			return Draft{}, false
		}
	}
	d := Draft{Subject: parts[0]}
	switch len(parts) {
	case 2:
		d.Relation, d.Object = instanceOf, parts[1]
	case 3:
		d.Relation, d.Object = parts[1], parts[2]
	default:
		return Draft{}, false
	}
	d.Relation, d.Negated = affirm(d.Relation)
	return d, d.Subject != "" && d.Relation != "" && !strings.EqualFold(d.Subject, d.Object) && !nothing[strings.ToLower(d.Object)]
}

// nothing are words by which a model says that it has no object.
var nothing = map[string]bool{"none": true, "nothing": true, "nobody": true, "unknown": true, "n/a": true, "not specified": true, "not mentioned": true}

// listMark is what a model puts before the lines of a list; numbers belong to
// names more often ("1. FC Velmora"), so that only marks are taken off.
var listMark = regexp.MustCompile(`^(?:[-*•]+|\(?\d+\))\s+`)

// clean strips quotes, brackets and space from a part of a line.
func clean(part string) string {
	part = strings.Join(strings.FieldsFunc(part, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	return strings.TrimSpace(strings.Trim(part, "\"`{}"))
}

// denials are the words with which a relation says that it does not hold.
var denials = regexp.MustCompile(`(?i)^(?:is |was |are |were |has |have |had |did |does |do )?(?:not|never|no longer)\s+(?:been |be |a |an |the )?|^(?:is|was|are|were|has|have|had|did|does|do)n['’]t\s+`)

// denial is a word by which a sentence says that something is not so, in the
// languages of Latin letters that models know best.
var denial = regexp.MustCompile(`(?i)\b(?:not|never|no|nor|neither|none|nobody|without|cannot|refused?|denie[ds]|nicht|kein\w*|nie|niemals|ne|pas|jamais|nunca|non|mai|não|niet|geen|inte|ikke|aldrig)\b|n['’]t\b`)

// denies tells whether a text may deny something. Small models see denials where
// there are none, since an example has one; of scripts whose words are not known
// they are believed.
func denies(text string) bool {
	return denial.MatchString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) })
}

// affirm takes a denial off a relation.
func affirm(relation string) (string, bool) {
	if at := denials.FindStringIndex(relation); at != nil {
		return strings.TrimSpace(relation[at[1]:]), true
	}
	return relation, false
}
