package check

import (
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
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

// correctClaim mends what small models get wrong of a claim that they extract, with the names that the sentence spells,
// and returns the claims that it holds beside its own: of each thing of a list, and each place.
func (c *Checker) correctClaim(ctx context.Context, q *question.Question, s kgtext.Sentence, mentions []mention,
	claim *generatorv1.ExtractedClaim) (added []*generatorv1.ExtractedClaim, err error) {
	completeSubject(s, mentions, claim)
	trimSince(claim)
	completeObject(s, mentions, claim)
	correctKind(claim)
	added = splitList(s, mentions, claim)
	places, err := c.splitPlaces(ctx, q, s, mentions, claim)
	return slices.Concat(added, places, splitAdjunct(s, mentions, claim)), err
}

// completeSubject gives a claim the whole of a name that the sentence spells, where the model left off a part:
// "Clematis" of "1101 Clematis".
func completeSubject(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) {
	at := claim.GetSubjectSpan()
	for _, m := range mentions {
		span := spanOf(s, m)
		if m.isName() && overlap(at, span) && covers(span, at) {
			claim.Triple.Subject, claim.SubjectSpan = m.text, span
		}
	}
}

// covers reports whether all of a span is in another one.
func covers(whole, part *graphv1.TextSpan) bool {
	return whole.GetStart() <= part.GetStart() && part.GetEnd() <= whole.GetEnd()
}

// trimSince takes the date since when something is so for a value, which it is, and no bound.
func trimSince(claim *generatorv1.ExtractedClaim) {
	const word = "since "
	date, isSince := strings.CutPrefix(claim.GetTriple().GetObject(), word)
	if at := claim.GetObjectSpan(); isSince && at != nil {
		claim.Triple.Object = date
		at.Start += uint32(len(word))
	}
}

// completeObject gives a claim the whole of a date of which the model left off the day, or of a name such as "J. P." of
// "J. P. Stam". A name with a comma is one of a place and what that lies in, of which each may be meant.
func completeObject(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) {
	at := claim.GetObjectSpan()
	said, isDate := kgtext.ParseDate(claim.GetTriple().GetObject())
	for _, m := range mentions {
		span := spanOf(s, m)
		if !overlap(at, span) || overlap(claim.GetSubjectSpan(), span) {
			continue
		}
		whole, ok := kgtext.ParseDate(m.text)
		isDay := isDate && ok && whole.Agrees(said) && whole.MorePreciseThan(said)
		isPart := m.isName() && covers(span, at)
		if isDay || isPart && !strings.Contains(m.text, ",") {
			claim.Triple.Object, claim.ObjectSpan = m.text, span
			return
		}
	}
}

// happens matches relations of when or where something happens once.
var happens = regexp.MustCompile(`(?i)^(date|place) of (birth|death|burial)$`)

// correctKind gives a claim of when something happened the relation of where it did if a place is named, and the other
// way round.
func correctKind(claim *generatorv1.ExtractedClaim) {
	m := happens.FindStringSubmatch(claim.GetTriple().GetRelation())
	if m == nil {
		return
	}
	_, isDate := kgtext.ParseDate(claim.GetTriple().GetObject())
	_, isNumber := kgtext.ParseQuantity(claim.GetTriple().GetObject())
	switch isPlace := strings.EqualFold(m[1], "place"); {
	case isPlace && isDate:
		claim.Triple.Relation = "date of " + m[2]
	case !isPlace && !isDate && !isNumber:
		claim.Triple.Relation = "place of " + m[2]
	}
}

// conjunction matches what joins the things of a list.
var conjunction = regexp.MustCompile(`,? (?:and|&) (?:the )?|, (?:the )?`)

// splitList cuts the object of a claim that lists several things down to the first, and returns a claim for each of the
// others. Parts of a list are names, or what the knowledge graph has.
func splitList(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) (
	added []*generatorv1.ExtractedClaim) {
	object := claim.GetObjectSpan()
	if object == nil {
		return nil
	}
	start, end := byteAt(s, object.GetStart()), byteAt(s, object.GetEnd())
	isMentioned := func(start, end int) bool {
		return slices.ContainsFunc(mentions, func(m mention) bool { return m.start == start && m.end == end })
	}
	text := s.Text[start:end]
	joints := conjunction.FindAllStringIndex(text, -1)
	if !strings.Contains(text, " & ") && !strings.Contains(text, " and ") || isMentioned(start, end) {
		return nil // commas alone join a place to what it lies in
	}
	var parts []mention
	from := 0
	for _, joint := range append(joints, []int{len(text), len(text)}) {
		m := mention{text[from:joint[0]], start + from, start + joint[0]}
		if m.text == "" || !m.isName() && !isMentioned(m.start, m.end) {
			return nil
		}
		parts, from = append(parts, m), joint[1]
	}
	claim.Triple.Object, claim.ObjectSpan = parts[0].text, spanOf(s, parts[0])
	for _, m := range parts[1:] {
		t := proto.CloneOf(claim.GetTriple())
		t.Object = m.text
		added = append(added, deriveClaim(claim, t, spanOf(s, m)))
	}
	return added
}

// deriveClaim returns what a claim says of another object, which stands at a span.
func deriveClaim(claim *generatorv1.ExtractedClaim, t *graphv1.Triple,
	object *graphv1.TextSpan) *generatorv1.ExtractedClaim {
	return &generatorv1.ExtractedClaim{Negated: claim.GetNegated(), Span: claim.GetSpan(), Triple: t,
		SubjectSpan: claim.GetSubjectSpan(), ObjectSpan: object}
}

// adjoins matches what stands between a thing and where it is.
var adjoins = regexp.MustCompile(`^,? (?:in|at|near)(?: the)? $`)

// adjoin reports whether the name before the ith mention is followed by that as the place where it is.
func adjoin(s kgtext.Sentence, mentions []mention, i int) bool {
	return i > 0 && mentions[i-1].isName() && mentions[i].isName() &&
		adjoins.MatchString(s.Text[mentions[i-1].end:mentions[i].start])
}

// splitAdjunct cuts names of a claim such as "the Harbour Hotel in Tessen" down to the thing, and returns a claim of
// where it is.
func splitAdjunct(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) (
	added []*generatorv1.ExtractedClaim) {
	for i, m := range mentions {
		if !adjoin(s, mentions, i) {
			continue
		}
		thing := spanOf(s, mentions[i-1])
		ends := func(span *graphv1.TextSpan) bool {
			return span != nil && span.GetStart() <= thing.GetStart() && span.GetEnd() == spanOf(s, m).GetEnd() &&
				span.GetEnd() > thing.GetEnd()
		}
		switch t := claim.GetTriple(); {
		case ends(claim.GetSubjectSpan()):
			t.Subject, claim.SubjectSpan = mentions[i-1].text, thing
		case ends(claim.GetObjectSpan()):
			t.Object, claim.ObjectSpan = mentions[i-1].text, thing
		default:
			continue
		}
		added = append(added, locate(s, mentions[i-1], m))
	}
	return added
}

// locate returns the claim that one thing of a sentence lies in the other.
func locate(s kgtext.Sentence, thing, place mention) *generatorv1.ExtractedClaim {
	at, in := spanOf(s, thing), spanOf(s, place)
	return &generatorv1.ExtractedClaim{
		Triple: &graphv1.Triple{Subject: thing.text, Relation: "location", Object: place.text},
		Span:   &graphv1.TextSpan{Start: at.GetStart(), End: in.GetEnd()}, SubjectSpan: at, ObjectSpan: in,
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
		added = append(added, deriveClaim(claim,
			&graphv1.Triple{Subject: t.GetSubject(), Relation: relation, Object: m.text}, span))
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
