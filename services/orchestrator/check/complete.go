package check

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// mostCompleted is how many claims are added of what no claim is about to those that a model extracted of one sentence.
const mostCompleted = 8

var (
	// describes matches what makes the name before it the subject of what follows.
	describes = regexp.MustCompile(`(?i)^\W{0,2}(?:which|who|whose|that|where)\b`)
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
	flags, err := c.sayFlags(ctx, q, s, mentions, last, claims)
	if err != nil {
		return nil, err
	}
	added = append(added, flags...)
	parts := len(added)
	claims = append(slices.Clone(claims), added...)
	mentions = slices.DeleteFunc(mentions, mention.isWord)
	for i, m := range mentions {
		if i+1 < len(mentions) && isCalled(s.Text, m, mentions[i+1]) && !areJoined(m, mentions[i+1], claims) {
			added = append(added, locate(s, mentions[i+1], m))
			continue
		}
		if len(added)-parts == mostCompleted || m.isLabel(s.Text) ||
			isClaimed(s, m, claims) && !isPart(s, mentions, i, claims) {
			continue
		}
		if hasMore := contentWord.MatchString(s.Text[m.end:]); hasMore && adjoin(s, mentions, i) {
			added = append(added, locate(s, mentions[i-1], m))
			continue
		}
		wider, err := c.widerPlace(ctx, q, s, mentions, i, claims)
		if err != nil {
			return nil, err
		}
		if wider = cmp.Or(wider, atEvent(s, mentions, i, claims)); wider != nil {
			added = append(added, wider)
			continue
		}
		subject, start := subjectOf(s, mentions, i, claims)
		subject = cmp.Or(subject, last)
		if subject == "" || kgtext.Fold(subject) == kgtext.Fold(m.text) {
			continue
		}
		words := wordsOf(s.Text, mentions, i, start)
		if denied.MatchString(words) {
			continue
		}
		t := &graphv1.Triple{Subject: subject, Relation: words, Object: m.text}
		isDated, err := c.date(ctx, q, s.Text, mentions, i, t)
		if err != nil {
			return nil, err
		}
		if isDated || saysSomething(words) {
			span := spanOf(s, m)
			added = append(added, &generatorv1.ExtractedClaim{Triple: t, Span: span, ObjectSpan: span})
		}
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
		return namesOf(c).Mention(name)
	})
}

// namesOf returns the words of both names of a claim.
func namesOf(c *generatorv1.ExtractedClaim) kgtext.Words {
	return kgtext.FoldWords(c.GetTriple().GetSubject() + " " + c.GetTriple().GetObject())
}

// widerPlace returns the claim of a place that a sentence names as what the place of another claim lies in, its ith
// mention: "is found in Tessen, Orlanda".
func (c *Checker) widerPlace(ctx context.Context, q *question.Question, s kgtext.Sentence, mentions []mention, i int,
	claims []*generatorv1.ExtractedClaim) (*generatorv1.ExtractedClaim, error) {
	m := mentions[i]
	if i == 0 || !m.isName() || s.Text[mentions[i-1].end:m.start] != ", " {
		return nil, nil
	}
	inside := spanOf(s, mentions[i-1])
	at := slices.IndexFunc(claims, func(claim *generatorv1.ExtractedClaim) bool {
		return proto.Equal(claim.GetObjectSpan(), inside) && aboutPlaces.MatchString(claim.GetTriple().GetRelation())
	})
	if at < 0 {
		return nil, nil
	}
	t := proto.CloneOf(claims[at].GetTriple())
	isPlace, relation, err := c.placeRelation(ctx, q, t.GetSubject(), t.GetRelation(), m.text)
	if !isPlace || err != nil {
		return nil, err
	}
	t.Relation, t.Object = relation, m.text
	return deriveClaim(claims[at], t, spanOf(s, m)), nil
}

var (
	// hasForm is what a claim says before the name of what something has or is not.
	hasForm = regexp.MustCompile(`(?i)^(?:(?:has|have|having|with|not|no|the|an?) )*(.+?)$`)
	// isDenial matches the object of a claim that denies its relation.
	isDenial = regexp.MustCompile(`(?i)^(?:no|not|none)$`)
)

// sayFlags returns claims of what the knowledge graph says yes or no of about the subject of a sentence, and which the
// sentence has the words of: "has no pool", "pets are allowed". Claims that a model extracted of it are corrected.
func (c *Checker) sayFlags(ctx context.Context, q *question.Question, s kgtext.Sentence, mentions []mention,
	last string, claims []*generatorv1.ExtractedClaim) (added []*generatorv1.ExtractedClaim, err error) {
	first := slices.IndexFunc(mentions, mention.isName)
	subject := last
	if first >= 0 {
		subject = mentions[first].text
	}
	text := strings.ToLower(s.Text)
	if subject == "" || len(text) != len(s.Text) { // else places in it are not those of the sentence
		return nil, nil
	}
	resp, err := c.listNeighbours(ctx, q, subject, retrieverv1.Direction_DIRECTION_OUT, facts)
	for _, t := range resp.GetTriples() {
		if !kgtext.IsFlag(t.GetObject()) {
			continue
		}
		words := kgtext.Fold(kgtext.VerbaliseRelation(t.GetRelation()))
		said := flagForm(words).FindString(text)
		at := findWords(text, said)
		if at < 0 {
			continue
		}
		span := spanOf(s, mention{said, at, at + len(said)})
		claim := &generatorv1.ExtractedClaim{Triple: &graphv1.Triple{Subject: subject}, Span: span, ObjectSpan: span}
		own := slices.IndexFunc(claims, func(o *generatorv1.ExtractedClaim) bool {
			m := hasForm.FindStringSubmatch(kgtext.Fold(o.GetTriple().GetObject()))
			return m != nil && m[1] == words || isDenial.MatchString(o.GetTriple().GetObject()) &&
				kgtext.Fold(o.GetTriple().GetRelation()) == words
		})
		if own >= 0 {
			claim = claims[own]
		} else {
			added = append(added, claim)
		}
		claim.Triple.Relation, claim.Triple.Object = "is", words
		claim.Negated = claim.GetNegated() || denied.MatchString(clauseEnd(text[:at])+said)
	}
	return added, err
}

// flagForm matches the words of what a thing is or has, and the verb between them: "pets are allowed".
func flagForm(words string) *regexp.Regexp {
	parts := strings.Fields(words)
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile(strings.Join(parts, `(?: (?:is|are|was|were|not))* `))
}

// clauseEnd returns what the last clause of a text has of it.
func clauseEnd(text string) string {
	ends := phraseEnd.FindAllStringIndex(text, -1)
	if len(ends) < 2 { // the last one is the end of the text
		return text
	}
	return text[ends[len(ends)-2][1]:]
}

var (
	// event matches relations of something that happens once, ofEvent what stands between its place and its date.
	event   = regexp.MustCompile(`(?i)\b(birth|death|burial)(?:place|date)?\b`)
	ofEvent = regexp.MustCompile(`^,? ?(?:\(|on |in |at )$`)
)

// atEvent returns the claim of when something happened that a sentence says with its ith mention behind where it did,
// of which another claim is, or of where behind when: "died in Tessen on 3 May 1950".
func atEvent(s kgtext.Sentence, mentions []mention, i int,
	claims []*generatorv1.ExtractedClaim) *generatorv1.ExtractedClaim {
	if i == 0 || !ofEvent.MatchString(s.Text[mentions[i-1].end:mentions[i].start]) {
		return nil
	}
	_, isDate := kgtext.ParseDate(mentions[i].text)
	for _, claim := range claims {
		happened := event.FindStringSubmatch(claim.GetTriple().GetRelation())
		_, isOther := kgtext.ParseDate(claim.GetTriple().GetObject())
		if happened == nil || isOther == isDate || !isDate && !mentions[i].isName() ||
			!proto.Equal(claim.GetObjectSpan(), spanOf(s, mentions[i-1])) {
			continue
		}
		t := proto.CloneOf(claim.GetTriple())
		t.Relation, t.Object = "place of "+strings.ToLower(happened[1]), mentions[i].text
		if isDate {
			t.Relation = "date of " + strings.ToLower(happened[1])
		}
		return deriveClaim(claim, t, spanOf(s, mentions[i]))
	}
	return nil
}

// areJoined reports whether a claim is about both of two names.
func areJoined(a, b mention, claims []*generatorv1.ExtractedClaim) bool {
	return slices.ContainsFunc(claims, func(c *generatorv1.ExtractedClaim) bool {
		names := namesOf(c)
		return names.Mention(kgtext.Fold(a.text)) && names.Mention(kgtext.Fold(b.text))
	})
}

// isPart reports whether claims are about a mention only as a part of the name that it stands behind in brackets.
func isPart(s kgtext.Sentence, mentions []mention, i int, claims []*generatorv1.ExtractedClaim) bool {
	span := spanOf(s, mentions[i])
	return inBrackets(s.Text, mentions, i) && !slices.ContainsFunc(claims, func(c *generatorv1.ExtractedClaim) bool {
		return proto.Equal(c.GetObjectSpan(), span) || kgtext.Fold(c.GetTriple().GetObject()) == mentions[i].text
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

// isWord reports whether a mention may be an ordinary word.
func (m mention) isWord() bool { return !m.isProper() && !strings.Contains(m.text, " ") }

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
