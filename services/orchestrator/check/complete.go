package check

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

// mostCompleted is how many claims are added to those that a model extracted of one sentence.
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
// Subject and words are read off the sentence, as in JudgeMentions.
func (c *Checker) complete(ctx context.Context, q *question.Question, s kgtext.Sentence,
	claims []*generatorv1.ExtractedClaim) (added []*generatorv1.ExtractedClaim, err error) {
	if len(s.Text) > longest {
		return nil, nil
	}
	mentions, err := c.findMentions(ctx, q, s.Text)
	if err != nil {
		return nil, err
	}
	for _, claim := range claims {
		completeSubject(s, mentions, claim)
		parts, err := c.splitPlaces(ctx, q, s, mentions, claim)
		if err != nil {
			return nil, err
		}
		added = append(added, parts...)
	}
	claims = append(slices.Clone(claims), added...)
	for i, m := range mentions {
		isWord := !m.isProper() && !strings.Contains(m.text, " ")
		if len(added) == mostCompleted || isWord || m.isLabel(s.Text) || isClaimed(s, m, claims) {
			continue
		}
		subject, start := subjectOf(s, mentions, i, claims)
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

// completeSubject gives a claim the whole of a name that the sentence spells, where the model left off a part:
// "Clematis" of "1101 Clematis".
func completeSubject(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) {
	at := claim.GetSubjectSpan()
	for _, m := range mentions {
		span := spanOf(s, m)
		if m.isName() && overlap(at, span) && span.GetStart() <= at.GetStart() && at.GetEnd() <= span.GetEnd() {
			claim.Triple.Subject, claim.SubjectSpan = m.text, span
		}
	}
}

// splitPlaces cuts the object of a claim about a place, such as "Tessen, Orlanda" or "the Tessen valley of
// Orlanda", down to its first place, and returns a claim for each place that it is said to lie in. The
// country that something comes from is its country.
func (c *Checker) splitPlaces(ctx context.Context, q *question.Question, s kgtext.Sentence, mentions []mention,
	claim *generatorv1.ExtractedClaim) (added []*generatorv1.ExtractedClaim, err error) {
	t := claim.GetTriple()
	if !aboutPlaces.MatchString(t.GetRelation()) {
		return nil, nil
	}
	for _, m := range slices.Backward(mentions) {
		span, object := spanOf(s, m), claim.GetObjectSpan()
		if span.GetEnd() != object.GetEnd() || span.GetStart() < object.GetStart() || !m.isName() {
			continue // object is nil where the sentence does not spell it
		}
		head := joinsPlaces.FindStringSubmatch(s.Text[byteAt(s, object.GetStart()):m.start])
		isWhole := span.GetStart() == object.GetStart()
		if head == nil && !(isWhole && originates.MatchString(t.GetRelation())) {
			break
		}
		isPlace, relation, err := c.placeRelation(ctx, q, t.GetRelation(), m.text)
		switch {
		case !isPlace || err != nil:
			return added, err
		case isWhole:
			t.Relation = relation
			return added, nil
		}
		added = append(added, &generatorv1.ExtractedClaim{Negated: claim.GetNegated(), Span: claim.GetSpan(),
			Triple:      &graphv1.Triple{Subject: t.GetSubject(), Relation: relation, Object: m.text},
			SubjectSpan: claim.GetSubjectSpan(), ObjectSpan: span})
		t.Object = head[1]
		claim.ObjectSpan = &graphv1.TextSpan{Start: object.GetStart(),
			End: object.GetStart() + uint32(utf8.RuneCountInString(head[1]))}
	}
	return added, nil
}

var (
	// aboutPlaces matches relations to places, originates those of things to where they come from.
	aboutPlaces = regexp.MustCompile(`(?i)place|birth|born|death|died|locat|resid|live|headquarter|based|` +
		`hometown|city|` + originates.String())
	originates = regexp.MustCompile(`(?i)origin|comes? from|region|country`)
	// joinsPlaces matches a place and what stands between it and the one that it lies in.
	joinsPlaces = regexp.MustCompile(`^(.*\pL.*?)(?:,| in| of)(?: the)? $`)
)

// placeRelation reports whether things in the knowledge graph are in a place of this name, and returns the
// relation by which a claim says so: that of countries if it is one, unless the graph has the claim's own.
func (c *Checker) placeRelation(ctx context.Context, q *question.Question, phrase, name string) (isPlace bool,
	relation string, err error) {
	resp, err := c.Retriever.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{Kg: q.KG(), Entity: name,
		Direction: retrieverv1.Direction_DIRECTION_IN, Limit: 1})
	if sources.IsEntityNotFound(err) {
		return false, phrase, nil
	}
	relation = phrase
	for _, r := range resp.GetRelations() {
		words := kgtext.VerbaliseRelation(r.GetRelation())
		switch isPlace = isPlace || aboutPlaces.MatchString(words); {
		case kgtext.Fold(words) == kgtext.Fold(phrase):
			return isPlace, phrase, nil
		case kgtext.Fold(words) == "country" && originates.MatchString(phrase):
			relation = r.GetRelation()
		}
	}
	return isPlace, relation, err
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
