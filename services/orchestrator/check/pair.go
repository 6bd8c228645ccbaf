package check

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// mentions is how many links of a sentence are considered.
const mentions = 24

// mention is a name or a value in a sentence, with its place in bytes.
type mention struct {
	text       string
	start, end int
}

// literals match dates, numbers and codes, which a knowledge graph need not hold for a claim to be about them.
var literals = func() *regexp.Regexp {
	const month = `(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\pL*\.?`
	return regexp.MustCompile(`(?i)\b(?:(?:\d{1,2}(?:st|nd|rd|th)? (?:of )?)?` + month + `,? \d{4}|` + month +
		` \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{4}|\d+(?:-[\dX]+){3,}|\d[\d.,]*\d|\d)\b`)
}()

// findMentions returns the entities that a sentence names in full, other names that it spells out, and
// its dates and numbers, in their order. Of mentions that overlap the longest counts.
func (c *Checker) findMentions(ctx context.Context, q *question.Question, sentence string) ([]mention, error) {
	resp, err := c.Retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: q.KG(), Text: sentence,
		Limit: mentions})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range resp.GetLinks() {
		if l.GetMatch() != graphv1.LinkMatch_LINK_MATCH_FUZZY {
			names = append(names, l.GetMention())
		}
	}
	names = append(names, literals.FindAllString(sentence, -1)...)
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	names = append(names, kgtext.MissingNames(sentence, nil)...)
	var found []mention
	for _, name := range names {
		start := findWords(sentence, name)
		m := mention{name, start, start + len(name)}
		overlaps := func(o mention) bool { return o.start < m.end && m.start < o.end }
		if start >= 0 && !slices.ContainsFunc(found, overlaps) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b mention) int { return a.start - b.start })
	return found, nil
}

// findWords returns where a name stands in a sentence as whole words; -1 if it does not.
func findWords(sentence, name string) int {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	for from := 0; name != ""; {
		at := strings.Index(sentence[from:], name)
		if at < 0 {
			break
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(sentence[:at])
		after, n := utf8.DecodeRuneInString(sentence[at+len(name):])
		if !inWord(before) && !inWord(after) {
			return at
		}
		from = at + max(n, 1)
	}
	return -1
}

// isProper reports whether a mention is a name by its spelling, or a value.
func (m mention) isProper() bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimPrefix(strings.TrimPrefix(m.text, "the "), "The "))
	return !unicode.IsLower(first)
}

// JudgeMentions judges what a yes/no question or a statement claims of two names, read off it without
// a model. Of names in lower case, which may be ordinary words, each is tried. It returns no finding if
// the text names another number of things, or says more of them than one fact.
func (c *Checker) JudgeMentions(ctx context.Context, q *question.Question, text string,
	options *retrieverv1.GroundingOptions) ([]*Finding, error) {
	all, err := c.findMentions(ctx, q, text)
	if err != nil {
		return nil, err
	}
	if f, err := c.judgeDescribed(ctx, q, kgtext.Sentence{Text: text}, all); f != nil || err != nil {
		return []*Finding{f}, err
	}
	var proper []mention
	for _, m := range all {
		if m.isProper() {
			proper = append(proper, m)
		}
	}
	var triples []*graphv1.Triple
	for i, a := range all {
		for _, b := range all[i+1:] {
			if len(proper) > 2 || !containsAll([]mention{a, b}, proper) {
				continue
			}
			if t, ok := claimOf(text, a, b); ok {
				triples = append(triples, t)
			}
		}
	}
	if len(triples) == 0 || len(triples) > mostReadings {
		return nil, nil
	}
	found, err := c.JudgeTriples(ctx, q, text, triples, options)
	if err != nil {
		return nil, err
	}
	return []*Finding{slices.MaxFunc(found, func(a, b *Finding) int { return rank(a) - rank(b) })}, nil
}

// kindForm is "is A a B".
var kindForm = regexp.MustCompile(`(?i)^(?:is|was) (\S.*?) an? (?-i:(\p{Ll}[\p{Ll}-]*))\W*$`)

// JudgeKind judges whether a name is of the kind that a question asks for: "is A a B". Of others it returns no finding.
func (c *Checker) JudgeKind(ctx context.Context, q *question.Question, text string,
	options *retrieverv1.GroundingOptions) ([]*Finding, error) {
	m := kindForm.FindStringSubmatch(text)
	if m == nil {
		return nil, nil
	}
	names, err := c.findMentions(ctx, q, text)
	if err != nil || !slices.ContainsFunc(names, func(n mention) bool { return n.text == m[1] }) {
		return nil, err
	}
	return c.JudgeTriples(ctx, q, text, []*graphv1.Triple{{Subject: m[1], Relation: "instance of", Object: m[2]}},
		options)
}

// mostReadings is how many pairs of names a text may hold for its claim to be read off them.
const mostReadings = 3

// rank orders the readings of one claim: what the knowledge graph says of it before what it does not.
func rank(f *Finding) int {
	switch j := f.Judgement; j.GetVerdict() {
	case verifierv1.Verdict_VERDICT_SUPPORTED:
		return 3
	case verifierv1.Verdict_VERDICT_CONTRADICTED:
		return 2
	default:
		return min(len(j.GetEvidence()), 1)
	}
}

func containsAll(all, some []mention) bool {
	return !slices.ContainsFunc(some, func(m mention) bool { return !slices.Contains(all, m) })
}

var (
	// opening matches what makes a clause a question.
	opening = regexp.MustCompile(`(?i)^(?:(?:and|so|but) )?(?:(?:is it|it is|is this) (?:true|correct|right|so) that|` +
		`is|are|was|were|does|do|did|has|have|had)\b`)
	// copula matches all of what stands between two names that are said to be the same.
	copula = regexp.MustCompile(`(?i)^(?:is|are|was|were|be|been|as|the|an?|\W)*$`)
	// of matches the noun of a relation in front of its subject: "the capital of".
	of = regexp.MustCompile(`(?i)^\W*(?:(?:is|are|was|were)\W+)?(?:the|an?|one of the) (\S.*?) of(?: the)?\W*$`)
	// relative matches the words after which a clause describes the name before it: "Oslo is where X lived".
	relative = regexp.MustCompile(`(?i)\b(?:where|that|which|whom)\b`)
	// acts matches questions of which the first name does something: what it owns is not meant.
	acts = regexp.MustCompile(`(?i)^(?:does|do|did|has|have|had)\b`)
	// joinsVerbs matches what says two facts of two names: "direct and star in".
	joinsVerbs = regexp.MustCompile(`(?i)^\p{L}+(?: \p{L}+)? and \p{L}+`)
	// noun matches a word that may go on with a name in lower case, unlike "well" and "professionally".
	noun = regexp.MustCompile(`^\p{Ll}{4,}[^\P{Ll}y]$`)
	// denied matches words with which a clause says the opposite.
	denied = regexp.MustCompile(`(?i)\b(?:not|never|no|nor|neither|without)\b|n['’]t\b`)
)

// claimOf reads the fact that a text claims of two names, a before b, in any wording. ok is false if the
// text denies it, says two facts, or claims it of something that is only described by one of them ("the wife of a").
func claimOf(text string, a, b mention) (t *graphv1.Triple, ok bool) {
	before := strings.TrimSpace(opening.ReplaceAllString(strings.TrimSpace(text[:a.start]), ""))
	between, after := strings.TrimSpace(text[a.end:b.start]), strings.TrimSpace(strings.TrimRight(text[b.end:], "?.! "))
	if denied.MatchString(text[:a.start]+between+" "+after) || joinsVerbs.MatchString(between) {
		return nil, false
	}
	triple := func(subject mention, relation string, object mention, ok bool) (*graphv1.Triple, bool) {
		words := strings.Join(strings.FieldsFunc(relation, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '-' && r != '\''
		}), " ")
		return &graphv1.Triple{Subject: subject.text, Relation: words, Object: object.text}, ok && words != ""
	}
	if r, owns := strings.CutPrefix(strings.ReplaceAll(between, "’", "'"), "'s "); owns { // "X's R is Y"
		r = strings.TrimSuffix(strings.TrimSuffix(r, " is"), " was")
		return triple(a, r, b, !acts.MatchString(text))
	}
	if r, owns := strings.CutPrefix(strings.ReplaceAll(after, "’", "'"), "'s "); owns { // "Y is X's R"
		return triple(b, r, a, before == "" && copula.MatchString(between))
	}
	if m := of.FindStringSubmatch(before); m != nil { // "the R of X is Y"
		return triple(a, m[1], b, copula.MatchString(between))
	}
	if m := of.FindStringSubmatch(between); m != nil && before == "" && after == "" { // "Y is the R of X"
		return triple(b, m[1], a, true)
	}
	if relative.MatchString(between) {
		a, b = b, a
	} else if !b.isProper() && noun.MatchString(after) { // a heart attack is no heart
		b.text, after = b.text+" "+after, ""
	}
	return triple(a, before+" "+between+" "+after, b, true)
}
