package check

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// mostCompleted is how many claims are added of what no claim is about to those that a model extracted of one sentence.
const mostCompleted = 8

var (
	// describes matches what makes the name before it the subject of what follows.
	describes = regexp.MustCompile(`(?i)^\W{0,2}(?:which|who|whose|that)\b`)
	// phraseEnd ends the words that belong to a name or value.
	phraseEnd = regexp.MustCompile(`(?i)[,;:.()]| and | or | but | which | who | whose | that |$`)
	// labelled matches what follows the number of a line.
	labelled = regexp.MustCompile(`^[.)\]:]`)
	// contentWord matches a word, emptyWords those that say nothing of a relation.
	contentWord = regexp.MustCompile(`(?i)\b\pL{3,}`)
	emptyWords  = regexp.MustCompile(`(?i)\b(?:the|an?|and|or|but|also|its?|his|her|their|was|were|is|are|has|have|` +
		`had|for|from|with|which|who|that|whose|into|onto|upon|than|then|as|of|in|on|at|by|to)\b`)
)

// complete returns claims of the names, dates and numbers of a sentence that no extracted claim is about:
// small models read some of the facts of a long sentence, and what they pass over would pass for checked.
// Subject and words are read off the sentence, as in JudgeMentions. last is the subject of the sentences before,
// of which a sentence without names says something.
func (c *Checker) complete(ctx context.Context, q *question.Question, s kgtext.Sentence, last string,
	claims []*generatorv1.ExtractedClaim) (added []*generatorv1.ExtractedClaim, err error) {
	if len(s.Text) > longest {
		return nil, nil
	}
	mentions, err := c.findMentions(ctx, q, s.Text)
	if err != nil {
		return nil, err
	}
	for _, claim := range claims {
		parts, err := c.correctClaim(ctx, q, s, mentions, claim)
		if err != nil {
			return nil, err
		}
		added = append(added, parts...)
	}
	parts := len(added)
	claims = append(slices.Clone(claims), added...)
	for i, m := range mentions {
		isWord := !m.isProper() && !strings.Contains(m.text, " ")
		if len(added)-parts == mostCompleted || isWord || m.isLabel(s.Text) || isClaimed(s, m, claims) {
			continue
		}
		if hasMore := contentWord.MatchString(s.Text[m.end:]); hasMore && adjoin(s, mentions, i) {
			added = append(added, locate(s, mentions[i-1], m))
			continue
		}
		subject, start := subjectOf(s, mentions, i, claims)
		subject = cmp.Or(subject, last)
		if subject == "" || kgtext.Fold(subject) == kgtext.Fold(m.text) {
			continue
		}
		words := wordsOf(s.Text, mentions, i, start)
		if !saysSomething(words) || denied.MatchString(words) {
			continue
		}
		span := spanOf(s, m)
		added = append(added, &generatorv1.ExtractedClaim{
			Triple: &graphv1.Triple{Subject: subject, Relation: words, Object: m.text}, Span: span, ObjectSpan: span,
		})
	}
	return added, nil
}

// isClaimed reports whether an extracted claim is about a mention.
func isClaimed(s kgtext.Sentence, m mention, claims []*generatorv1.ExtractedClaim) bool {
	span, name := spanOf(s, m), kgtext.Fold(m.text)
	date, isDate := kgtext.ParseDate(m.text)
	return slices.ContainsFunc(claims, func(c *generatorv1.ExtractedClaim) bool {
		if overlap(c.GetObjectSpan(), span) || overlap(c.GetSubjectSpan(), span) {
			return true
		}
		if claimed, ok := kgtext.ParseDate(c.GetTriple().GetObject()); isDate && ok && claimed.Agrees(date) {
			return true
		}
		return kgtext.FoldWords(c.GetTriple().GetSubject() + " " + c.GetTriple().GetObject()).Mention(name)
	})
}

// subjectOf returns whom a sentence says something of with its ith mention, and where its name ends, in
// bytes: the name before "which" or "who", else the subject of the claims before it, else of those after
// it; the first name of a sentence without claims.
func subjectOf(s kgtext.Sentence, mentions []mention, i int, claims []*generatorv1.ExtractedClaim) (string, int) {
	if i > 0 && describes.MatchString(s.Text[mentions[i-1].end:]) && mentions[i-1].isName() {
		return mentions[i-1].text, mentions[i-1].end
	}
	subject, start := "", 0
	for _, c := range claims {
		if _, isNumber := kgtext.ParseQuantity(c.GetTriple().GetSubject()); isNumber {
			continue // "1,202 days is its orbital period" is read the wrong way about
		}
		at := c.GetSubjectSpan()
		end := byteAt(s, at.GetEnd())
		switch {
		case at == nil: // a pronoun, or a name of the sentence before
			end = 0
		case end > mentions[i].start && subject != "":
			continue
		}
		if subject == "" || end >= start && end <= mentions[i].start {
			subject, start = c.GetTriple().GetSubject(), end
		}
	}
	if subject != "" {
		return subject, start
	}
	for _, m := range mentions {
		if m.isName() {
			return m.text, m.end
		}
	}
	return "", 0
}

// isName reports whether a mention is a name by its spelling, not a value.
func (m mention) isName() bool { return m.isProper() && literals.FindString(m.text) != m.text }

// isLabel reports whether a number belongs to a name or counts lines and footnotes: "RS-3", "[3]", "3. ".
func (m mention) isLabel(text string) bool {
	return !m.isName() && (m.start == 0 && labelled.MatchString(text[m.end:]) ||
		m.start > 0 && strings.ContainsRune("-[#/", rune(text[m.start-1])))
}

// wordsOf returns the words of a sentence that tie its ith mention to a subject whose name ends at start:
// those after the mention before it, and those behind it up to the end of the phrase if it is a number or
// nothing else is said.
func wordsOf(text string, mentions []mention, i, start int) string {
	m, from, to := mentions[i], 0, len(text)
	if i > 0 {
		from = mentions[i-1].end
	}
	if start <= m.start {
		from = max(from, start)
	}
	if i+1 < len(mentions) {
		to = mentions[i+1].start
	}
	before, after := text[from:m.start], text[m.end:to]
	after = after[:phraseEnd.FindStringIndex(after)[0]]
	_, isNumber := kgtext.ParseQuantity(m.text)
	if !isNumber && saysSomething(before) {
		after = ""
	}
	if cut := strings.LastIndexAny(before, ";:("); cut >= 0 {
		before = before[cut+1:]
	}
	return strings.Join(strings.FieldsFunc(before+" "+after, func(r rune) bool {
		return strings.ContainsRune(" \t\n,.;:()\"", r)
	}), " ")
}

// saysSomething reports whether words say more than where something stands.
func saysSomething(words string) bool {
	return contentWord.MatchString(emptyWords.ReplaceAllString(words, ""))
}

// spanOf returns where a mention stands in the whole text.
func spanOf(s kgtext.Sentence, m mention) *graphv1.TextSpan {
	start := s.Start + utf8.RuneCountInString(s.Text[:m.start])
	return &graphv1.TextSpan{Start: uint32(start), End: uint32(start + utf8.RuneCountInString(m.text))}
}

// byteAt returns the byte of a sentence at which a character of the whole text stands.
func byteAt(s kgtext.Sentence, at uint32) int {
	n := int(at) - s.Start
	for i := range s.Text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s.Text)
}
